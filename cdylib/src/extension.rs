//! What few nodes have ([`profile::Extension`]): counters of calls inside a folded recursion, a position of their own, calls left
//! without an exit.
//!
//! A node that has got an extension keeps it, whatever path it is of later. One that leads to a call site gets it where it is first
//! needed, by one store: it has the same facts in the same places.

use crate::arch;
use crate::arena;
use crate::family::at;
use crate::node::{extension, facts};
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
    let node = thread.node(name);
    // SAFETY: the caller's node.
    unsafe { extension(thread.base, node).is_some() || make(thread, node, name) }
}

unsafe fn make(thread: &Thread, node: *mut NodeRecord, position: Ref) -> bool {
    let Some((reference, extension)) = arena::record::<Extension>(thread, true) else { return false };
    // SAFETY: the caller's node; the record is new, zeroed and the thread's.
    unsafe {
        let more = AtomicU32::from_ptr(&raw mut (*node).more);
        let site = more.load(Ordering::Relaxed);
        (*extension).facts = *facts(thread.base, node);
        (*extension).position = position;
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
            (*extension).facts = (*at::<CallSite>(thread.base, site)).facts;
            (*extension).position = position;
            return true;
        }
        (*node).more = site;
        position == name || make(thread, node, position)
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
