//! A line: a node's first children, side by side in private memory ([`crate::children`] tells what for).

use crate::field::Field;
use crate::sys;
use core::ptr;
use profile::{GRANULE, NodeRecord, Ref, UNIT};

/// Children that a line has room for.
const ROOM: usize = 7;

/// What a line holds, in the low bits of [`Line::state`].
pub mod holds {
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
    pub slots: [Field<Ref>; ROOM],
    /// [`Thread::lines`](crate::thread::Thread::lines) of the thread that has made the node, and [`holds`]. Lines of any other
    /// number hold nothing, and the index has the children: those that the thread has made for another arena, or before code
    /// that it knew was gone; and those of a parent process, which a hook that forked in the middle may go on to write.
    pub state: Field<u32>,
}

impl Line {
    /// The two slots that a child may be in.
    #[inline(always)]
    pub fn slots_of(&self, function: usize, site: usize, hook: usize) -> [&Field<Ref>; 2] {
        let child = (function >> 4).wrapping_add(site).wrapping_add(hook) as u32;
        let first = ((u64::from(child.wrapping_mul(0x9e37_79b1)) * ROOM as u64) >> 32) as usize;
        [&self.slots[first], &self.slots[if first == ROOM - 1 { 0 } else { first + 1 }]]
    }
}

/// Where among all lines a node's begins, in bytes.
#[inline(always)]
pub fn byte_of(node: Ref) -> usize {
    const UNITS: Ref = (size_of::<NodeRecord>() / UNIT) as Ref;
    (node / UNITS) as usize * size_of::<Line>()
}

/// Address space for the lines of all nodes of a file of this size. Null if there is none, or if a fork could not wipe it.
pub fn reserve(file: usize) -> *mut Line {
    let size = byte_of((file / UNIT) as Ref).next_multiple_of(GRANULE);
    let Ok(lines) = sys::reserve_memory(size) else { return ptr::null_mut() };
    // SAFETY: the range is new.
    if unsafe { sys::wipe_on_fork(lines, size) }.is_err() {
        // SAFETY: nobody has seen it.
        unsafe { sys::unmap(lines, size) };
        return ptr::null_mut();
    }
    lines.cast()
}
