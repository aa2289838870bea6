//! What few nodes have ([`profile::Extension`]): counters of calls inside a folded recursion, a position of their own, calls left
//! without an exit.
//!
//! A node that has got an extension keeps it, whatever path it is of later; while it is free, another may take it. One that leads to a call
//! site gets it where it is first needed, by one store: the extension leads there, too, and has the function's record in the same place.

use crate::arch;
use crate::arena;
use crate::family::at;
use crate::free_nodes;
use crate::node::{extension, record};
use crate::thread::Thread;
use core::sync::atomic::{AtomicU32, Ordering};
use profile::{CallSite, Extension, NodeRecord, Ref};

/// Makes sure that a node has an extension. False if there is no room.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
///
/// # Safety
/// The node must be one of the thread's arena, and complete.
pub unsafe fn ensure(thread: &Thread, name: Ref) -> bool {
    // SAFETY: the caller's promise.
    unsafe { has_or_gets(thread, name, false) }
}

/// The same of a node that takes the sums of paths that give way: it may have the last room.
///
/// # Safety
/// As for [`ensure`].
pub unsafe fn ensure_of_sums(thread: &Thread, name: Ref) -> bool {
    // SAFETY: the caller's promise.
    unsafe { has_or_gets(thread, name, true) }
}

unsafe fn has_or_gets(thread: &Thread, name: Ref, be_it_the_last: bool) -> bool {
    let node = thread.node(name);
    // SAFETY: the caller's node.
    unsafe { extension(thread.base, node).is_some() || make(thread, node, name, be_it_the_last) }
}

/// Whether there may be room for one. Where there is none this is asked at every call: nothing is asked of the kernel.
pub fn may_be_made(thread: &Thread) -> bool {
    !thread.is_short_of_room() || !thread.is_short_of_spare_room() || free_nodes::has_some(thread)
}

unsafe fn make(thread: &Thread, node: *mut NodeRecord, position: Ref, be_it_the_last: bool) -> bool {
    let Some((reference, extension)) = arena::small_record::<Extension>(thread, be_it_the_last) else { return false };
    // SAFETY: the caller's node; the record is the thread's, and nothing leads to it.
    unsafe {
        let more = AtomicU32::from_ptr(&raw mut (*node).more);
        let site = more.load(Ordering::Relaxed);
        let record = record(thread.base, node);
        extension.write(Extension { site, position, record, ..Extension::default() });
        // If a signal handler has forked in the middle of this, parent and child both come here: the first one's is it.
        let _ = more.compare_exchange(site, reference, Ordering::Release, Ordering::Relaxed);
    }
    true
}

/// Has a node that no path has yet lead to a call site, and its calls be made from a position: its own, unless it says otherwise.
/// False if there is no room for that.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
///
/// # Safety
/// The node must be the thread's, and nothing lead to it.
pub unsafe fn begin(thread: &Thread, name: Ref, site: Ref, position: Ref) -> bool {
    let node = thread.node(name);
    // SAFETY: the caller's node; the call site is the arena's.
    unsafe {
        if let Some(extension) = extension(thread.base, node) {
            ((*extension).site, (*extension).position) = (site, position);
            (*extension).record = (*at::<CallSite>(thread.base, site)).facts.record;
            return true;
        }
        (*node).more = site;
        position == name || make(thread, node, position, false)
    }
}

/// Counts a call of a node that was left without an exit. False if it has no place for that.
///
/// # Safety
/// The node must be in the mapping.
pub unsafe fn count_left(thread: &Thread, node: *const NodeRecord) -> bool {
    // SAFETY: the caller's node.
    unsafe {
        let Some(extension) = extension(thread.base, node) else { return false };
        arch::add(&raw mut (*extension).unwound, 1);
        true
    }
}
