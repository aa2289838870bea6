//! Of each node, its first children: where a call path is looked for before the index is asked, which has the others.
//!
//! An index has the children of one node in as many places, each in a cache line and a page of its own, and a program of
//! millions of paths finds none of them in its caches. Here they share a line, beside those of nodes made at about the same
//! time, which is where such a program goes next. A line knows whether all children of its node are in it: then no index is
//! asked for one that is new, and none has it.
//!
//! Private memory of the process, which a fork wipes. Where a node's line is, its name says: address space is reserved for all
//! nodes that the file has room for, and memory is put behind it block by block.

use crate::arch;
use crate::field::Field;
use crate::frame::NOTED;
use crate::line::{Line, byte_of, holds};
use crate::node;
use crate::sys;
use crate::thread::Thread;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};
use profile::node::ROOT;
use profile::{GRANULE, Ref, UNIT};

/// What a line knows of a child.
pub enum Known {
    /// It is this node.
    Is(Ref),
    /// It has never been met.
    IsNew,
    /// Nothing: the index is to be asked.
    Nothing,
}

/// Puts memory behind the lines of a block's nodes. False if there is none.
pub fn make_room(thread: &Thread, block: Ref, size: usize) -> bool {
    let lines = thread.children.get();
    if lines.is_null() {
        return true;
    }
    let start = lines.cast::<u8>().wrapping_add(byte_of(block) & !(GRANULE - 1));
    let end = byte_of(block + (size / UNIT) as Ref).next_multiple_of(GRANULE);
    let size = lines.addr() + end - start.addr();
    // SAFETY: the range lies in what is reserved; parts of it that have memory already keep it.
    unsafe { sys::commit_memory(start, size) }.is_ok()
}

/// Does without lines, in this process and in those that it forks: a node may have one without memory.
pub fn give_up(thread: &Thread) {
    thread.family.children.store(ptr::null_mut(), Ordering::Relaxed);
    thread.children.set(ptr::null_mut());
}

/// The line of a node of the thread's. `None` of what is called from no node: its children are every thread's.
#[inline(always)]
fn line(thread: &Thread, node: Ref) -> Option<&Line> {
    const _: () = assert!(NOTED == Ref::MAX); // no node either
    let lines = thread.children.get();
    if lines.is_null() || node.wrapping_add(1) <= ROOT + 1 {
        return None;
    }
    // SAFETY: the nodes of the thread's arena, and of the parent process's, have lines with memory.
    Some(unsafe { &*lines.byte_add(byte_of(node)) })
}

/// Has all lines of the thread hold nothing from now on.
pub fn forget(thread: &Thread) {
    const STEP: u32 = 1 + holds::BITS;
    static LAST: AtomicU32 = AtomicU32::new(0); // a forked child goes on from its parent's
    thread.lines.set(LAST.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP));
}

/// What a line holds of the thread's; none if that is nothing.
#[inline(always)]
fn holds(thread: &Thread, line: &Line) -> Option<u32> {
    let state = line.state.get();
    (state & !holds::BITS == thread.lines.get()).then_some(state & holds::BITS)
}

/// Looks for a child of a node.
#[inline(always)]
pub fn find(thread: &Thread, parent: Ref, function: usize, site: usize, hook: usize) -> Known {
    let Some(line) = line(thread, parent) else { return Known::Nothing };
    let Some(holds) = holds(thread, line) else { return Known::Nothing };
    for slot in line.slots_of(function, site, hook) {
        let node = slot.get();
        // SAFETY: children are nodes of the arena; 0 is the file's header, and no node.
        if unsafe { node::is(thread.node(node), parent, function, site, hook) } {
            return Known::Is(node);
        }
    }
    if holds == holds::ALL { Known::IsNew } else { Known::Nothing }
}

/// The slot for a new child in the line of its parent, if there is one.
fn free(line: &Line, function: usize, site: usize, hook: usize) -> Option<&Field<Ref>> {
    line.slots_of(function, site, hook).into_iter().find(|slot| slot.get() == 0)
}

/// Whether the line of a parent takes a new child.
pub fn has_room(thread: &Thread, parent: Ref, function: usize, site: usize, hook: usize) -> bool {
    let line = line(thread, parent).filter(|line| holds(thread, line).is_some());
    line.is_some_and(|line| free(line, function, site, hook).is_some())
}

/// Puts a new child, which has no children yet, into the line of its parent. False if there is no slot for it: it must be in
/// the index.
pub fn insert(thread: &Thread, parent: Ref, child: Ref, function: usize, site: usize, hook: usize) -> bool {
    let number = thread.lines.get(); // once: a signal handler may fork
    if let Some(line) = line(thread, child) {
        line.slots.iter().for_each(|slot| slot.set(0));
        line.state.set(number | holds::ALL);
    }
    let Some(line) = line(thread, parent).filter(|line| holds(thread, line).is_some()) else { return false };
    let free = free(line, function, site, hook);
    match free {
        Some(slot) => slot.set(child),
        None => line.state.set(number | holds::SOME),
    }
    free.is_some()
}

/// Takes a child out of the line of its parent. False if it is not in it.
pub fn remove(thread: &Thread, parent: Ref, child: Ref, function: usize, site: usize, hook: usize) -> bool {
    let line = line(thread, parent).filter(|line| holds(thread, line).is_some());
    let slots = line.map(|line| line.slots_of(function, site, hook));
    let found = slots.into_iter().flatten().find(|slot| slot.get() == child);
    found.is_some_and(|slot| {
        slot.set(0);
        true
    })
}

/// Whether a node is one that the thread has made for its present arena, as far as its line can tell.
pub fn is_own(thread: &Thread, node: Ref) -> bool {
    line(thread, node).is_some_and(|line| holds(thread, line).is_some())
}

/// Fetches the line of a node's children, as the next call will ask for one of them.
#[inline(always)]
pub fn prefetch(thread: &Thread, node: Ref) {
    arch::prefetch(thread.children.get().cast::<u8>().wrapping_add(byte_of(node)));
}
