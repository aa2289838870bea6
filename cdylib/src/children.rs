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
use crate::path;
use crate::sys;
use crate::thread::Thread;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};
use profile::node::ROOT;
use profile::{GRANULE, NodeRecord, Ref, UNIT};

/// Children that a line has room for.
const ROOM: usize = 7;

/// What a line holds, in the low bits of [`Line::state`].
mod holds {
    /// All children.
    pub const ALL: u32 = 0;
    /// Some of them; the others are in the index.
    pub const SOME: u32 = 1;
    /// Those bits.
    pub const BITS: u32 = 1;
}

/// The children of a node.
#[repr(C, align(32))]
pub struct Line {
    /// Each in one of the two slots that its function, call site and hook choose; 0 = none.
    slots: [Field<Ref>; ROOM],
    /// [`Thread::lines`] of the thread that has made the node, and [`holds`]. Lines of any other number hold nothing, and the
    /// index has the children: those that the thread has made for another arena, or before code that it knew was gone; and
    /// those of a parent process, which a hook that forked in the middle may go on to write.
    state: Field<u32>,
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

/// Address space for the lines of all nodes of a file of this size. Null if there is none, or if a fork could not wipe it.
pub fn reserve(file: usize) -> *mut Line {
    let size = (file / size_of::<NodeRecord>() * size_of::<Line>()).next_multiple_of(GRANULE);
    let Ok(lines) = sys::reserve_memory(size) else { return ptr::null_mut() };
    // SAFETY: the range is new.
    if unsafe { sys::wipe_on_fork(lines, size) }.is_err() {
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

/// Does without lines, in this process and in those that it forks: a node may have one without memory.
pub fn give_up(thread: &Thread) {
    thread.family.children.store(ptr::null_mut(), Ordering::Relaxed);
    thread.children.set(ptr::null_mut());
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
    const _: () = assert!(NOTED == Ref::MAX); // no node either
    let lines = thread.children.get();
    if lines.is_null() || node.wrapping_add(1) <= ROOT + 1 {
        return None;
    }
    // SAFETY: the nodes of the thread's arena, and of the parent process's, have lines with memory.
    Some(unsafe { &*lines.byte_add(byte_of(node)) })
}

/// The two slots that a child may be in.
#[inline(always)]
fn slots(function: usize, site: usize, hook: usize) -> [usize; 2] {
    let child = (function >> 4).wrapping_add(site).wrapping_add(hook) as u32;
    let first = ((u64::from(child.wrapping_mul(0x9e37_79b1)) * ROOM as u64) >> 32) as usize;
    [first, if first == ROOM - 1 { 0 } else { first + 1 }]
}

/// Has all lines of the thread hold nothing from now on.
pub fn forget(thread: &Thread) {
    static LAST: AtomicU32 = AtomicU32::new(0);
    // A forked child goes on from its parent's numbers.
    thread.lines.set(LAST.fetch_add(1 + holds::BITS, Ordering::Relaxed).wrapping_add(1 + holds::BITS));
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
    for slot in slots(function, site, hook) {
        let node = line.slots[slot].get();
        // SAFETY: children are nodes of the arena; 0 is the file's header, and no node.
        if unsafe { path::is(thread.node(node), parent, function, site, hook) } {
            return Known::Is(node);
        }
    }
    if holds == holds::ALL { Known::IsNew } else { Known::Nothing }
}

/// The slot for a new child in the line of its parent, if there is one.
fn free(thread: &Thread, parent: Ref, function: usize, site: usize, hook: usize) -> Option<&Field<Ref>> {
    let line = line(thread, parent)?;
    holds(thread, line)?;
    slots(function, site, hook).into_iter().map(|slot| &line.slots[slot]).find(|slot| slot.get() == 0)
}

/// Whether there is one.
pub fn has_room(thread: &Thread, parent: Ref, function: usize, site: usize, hook: usize) -> bool {
    free(thread, parent, function, site, hook).is_some()
}

/// Puts a new child, which has no children yet, into the line of its parent. False if there is no slot for it: it must be in
/// the index.
pub fn insert(thread: &Thread, parent: Ref, child: Ref, function: usize, site: usize, hook: usize) -> bool {
    let number = thread.lines.get(); // once: a signal handler may fork
    if let Some(line) = line(thread, child) {
        line.slots.iter().for_each(|slot| slot.set(0));
        line.state.set(number | holds::ALL);
    }
    let free = free(thread, parent, function, site, hook);
    match free {
        Some(slot) => slot.set(child),
        None => {
            if let Some(line) = line(thread, parent).filter(|line| line.state.get() & !holds::BITS == number) {
                line.state.set(number | holds::SOME);
            }
        }
    }
    free.is_some()
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
