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
use crate::path;
use crate::sys;
use crate::thread::Thread;
use core::ptr;
use profile::node::ROOT;
use profile::{GRANULE, NodeRecord, Ref, UNIT};

/// Children that a line has room for.
const ROOM: usize = 7;

/// What a line holds.
mod holds {
    /// Nothing: the index has all children, as those of a node that this process has not made, or whose code is gone.
    pub const NONE: u32 = 0;
    /// All children.
    pub const ALL: u32 = 1;
    /// Some of them; the others are in the index.
    pub const SOME: u32 = 2;
}

/// The children of a node.
#[repr(C, align(32))]
pub struct Line {
    /// Each in one of the two slots that its function, call site and hook choose; 0 = none.
    slots: [Field<Ref>; ROOM],
    /// See [`holds`].
    holds: Field<u32>,
}

/// What a line knows of a child.
pub enum Known {
    /// It is this node.
    Is(Ref),
    /// It has never been met.
    IsNew,
    /// Nothing: the index is to be asked.
    Nothing,
}

/// Lines for all nodes of a file of this size, none of them with memory yet but the first. Null if there is no address space
/// for them, or if a fork could not wipe them.
pub fn reserve(file: usize) -> *mut Line {
    let size = (file / size_of::<NodeRecord>() * size_of::<Line>()).next_multiple_of(GRANULE);
    let Ok(lines) = sys::reserve_memory(size) else { return ptr::null_mut() };
    // SAFETY: the range is new.
    let is_ready = unsafe { sys::wipe_on_fork(lines, size).and_then(|()| sys::commit_memory(lines, GRANULE)) };
    if is_ready.is_err() {
        // SAFETY: nobody has seen it.
        unsafe { sys::unmap(lines, size) };
        return ptr::null_mut();
    }
    lines.cast()
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

/// Where a node's line begins.
#[inline(always)]
fn byte_of(node: Ref) -> usize {
    const UNITS: Ref = (size_of::<NodeRecord>() / UNIT) as Ref;
    (node / UNITS) as usize * size_of::<Line>()
}

/// The line of a node of the thread's. `None` of what is called from no node: its children are every thread's.
#[inline(always)]
fn line(thread: &Thread, node: Ref) -> Option<&Line> {
    let lines = thread.children.get();
    if lines.is_null() || node <= ROOT {
        return None;
    }
    // SAFETY: the nodes of the thread's arena, and of the parent process's, have lines with memory.
    Some(unsafe { &*lines.byte_add(byte_of(node)) })
}

/// The two slots that a child may be in.
#[inline(always)]
fn slots(function: usize, site: usize, hook: usize) -> [usize; 2] {
    let child = (function >> 4).wrapping_add(site).wrapping_add(hook) as u32;
    let first = (u64::from(child.wrapping_mul(0x9e37_79b1)) * ROOM as u64 >> 32) as usize;
    [first, if first == ROOM - 1 { 0 } else { first + 1 }]
}

/// Looks for a child of a node.
#[inline(always)]
pub fn find(thread: &Thread, parent: Ref, function: usize, site: usize, hook: usize) -> Known {
    let Some(line) = line(thread, parent) else { return Known::Nothing };
    let holds = line.holds.get();
    if holds == holds::NONE {
        return Known::Nothing;
    }
    for slot in slots(function, site, hook) {
        let node = line.slots[slot].get();
        // SAFETY: children are nodes of the arena; 0 is the file's header, and no node.
        if unsafe { path::is(thread.node(node), parent, function, site, hook) } {
            return Known::Is(node);
        }
    }
    if holds == holds::ALL { Known::IsNew } else { Known::Nothing }
}

/// Whether a line has a slot for a new child.
pub fn has_room(thread: &Thread, parent: Ref, function: usize, site: usize, hook: usize) -> bool {
    line(thread, parent).is_some_and(|line| {
        line.holds.get() != holds::NONE && slots(function, site, hook).iter().any(|&slot| line.slots[slot].get() == 0)
    })
}

/// Puts a new child, which has no children yet, into the line of its parent. False if there is no slot for it: it must be in
/// the index.
pub fn insert(thread: &Thread, parent: Ref, child: Ref, function: usize, site: usize, hook: usize) -> bool {
    if let Some(line) = line(thread, child) {
        line.holds.set(holds::ALL);
        used(thread).set(1);
    }
    let Some(line) = line(thread, parent) else { return false };
    if line.holds.get() == holds::NONE {
        return false;
    }
    let free = slots(function, site, hook).into_iter().find(|&slot| line.slots[slot].get() == 0);
    match free {
        Some(slot) => line.slots[slot].set(child),
        None => line.holds.set(holds::SOME),
    }
    free.is_some()
}

/// Whether this process has made a node, or knows it to be a child of one that it has made.
pub fn has(thread: &Thread, parent: Ref, node: Ref) -> bool {
    line(thread, node).is_some_and(|line| line.holds.get() != holds::NONE)
        || line(thread, parent).is_some_and(|line| line.slots.iter().any(|slot| slot.get() == node))
}

/// Fetches the line of a node's children, as the next call will ask for one of them.
#[inline(always)]
pub fn prefetch(thread: &Thread, node: Ref) {
    arch::prefetch(thread.children.get().cast::<u8>().wrapping_add(byte_of(node)));
}

/// Forgets the children of a node of the thread's arena: the index is to have them.
pub fn forget(thread: &Thread, node: Ref) {
    let Some(line) = line(thread, node) else { return };
    // A process that has made no node yet, as a forked child, has no lines to touch.
    if used(thread).get() != 0 && line.holds.get() != holds::NONE {
        line.holds.set(holds::NONE); // first: a signal handler may ask in between
        line.slots.iter().for_each(|slot| slot.set(0));
    }
}

/// A word that says whether this process has made any node: in the line of the file's header.
fn used(thread: &Thread) -> &Field<u32> {
    // SAFETY: the first line has memory, where there are lines.
    unsafe { &(*thread.children.get()).holds }
}
