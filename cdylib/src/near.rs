//! What a thread looks a call's node up in where it has many: the children that each parent has called, near those of its
//! neighbours.
//!
//! The index of all paths ([`crate::table`]) is one miss of the cache for a slot that lies anywhere, and another for the
//! node. Here a line of the cache belongs to two nodes that were made one after the other, as those of one
//! subtree are as a rule: where a program goes through millions of paths, a call finds its line where its caller or a
//! sibling has just been. The line as a whole is searched for a part of the hash, so that no other node has to be touched to see
//! that it is another.
//!
//! It forgets: whoever finds nothing here asks the index. So it may be lost or overwritten at any instruction. A slot is one
//! word, which is written at once and names a node of the thread's arena, whose key is compared before it is used. And each
//! search looks at sixteen slots, whatever they hold.
//!
//! A thread begins without lines. It gets them when its arena has many nodes, and more when that has outgrown them, in memory
//! that a fork wipes: a child has other nodes, and its parent need not copy a page at each call.

use crate::arch;
use crate::field::Field;
use crate::sys;
use core::ptr;
use profile::{NodeRecord, Ref, UNIT};

const SLOTS: usize = 16;
/// Parents that share a line. One for each would find a little more, in twice the memory.
const PARENTS: usize = 2;
const NODE_UNITS: usize = size_of::<NodeRecord>() / UNIT;
/// Fewer nodes are found in the index as fast: it is in the cache, too.
const FEW: usize = 4096;
/// How many times more lines there are when there are too few.
const GROWTH: usize = 4;

/// Slots: a node's number, and above it a part of its hash; 0 = empty.
#[repr(C, align(64))]
pub struct Line([Field<u32>; SLOTS]);

/// A thread's lines.
#[repr(C)]
pub struct Near {
    /// One less than their number, a power of two.
    mask: Field<usize>,
    lines: Field<*const Line>,
    /// The bits of a slot that are a node's number.
    numbers: Field<u32>,
    /// With so many nodes there are too few.
    enough_for: Field<usize>,
    /// While there are few nodes; nothing is ever in it.
    none: Line,
}

impl Near {
    /// Begins with nothing in it, in a state that stays where it is and is zeroed, for a file that may become so large.
    pub fn start(&self, file_size: usize) {
        self.numbers.set((file_size / (UNIT * NODE_UNITS)).next_power_of_two().wrapping_sub(1) as u32);
        self.lines.set(&raw const self.none);
        self.mask.set(0);
        self.enough_for.set(FEW);
    }

    /// Whether there are no lines yet.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.mask.get() == 0
    }

    /// The line that calls of a parent are looked up in.
    #[inline(always)]
    pub fn line(&self, parent: Ref) -> &Line {
        // In this order: a handler in between may make them more, and the smaller mask fits the new ones, too.
        let mask = self.mask.get();
        let lines = self.lines.get();
        // SAFETY: there are as many as the mask says, or more, and they stay mapped.
        unsafe { &*lines.add((parent as usize / (NODE_UNITS * PARENTS)) & mask) }
    }

    #[inline(always)]
    fn node(&self, slot: u32) -> Ref {
        (slot & self.numbers.get()) * NODE_UNITS as u32
    }

    /// The node in a line that `is_it` says yes to.
    #[inline(always)]
    pub fn find(&self, line: &Line, hash: u64, is_it: impl Fn(Ref) -> bool) -> Option<Ref> {
        let hashes = !self.numbers.get();
        // SAFETY: a line has sixteen words.
        let mut found = unsafe { arch::equal_words(ptr::from_ref(line).cast(), hashes, part_of(hash) & hashes) };
        while found != 0 {
            let node = self.node(line.0[found.trailing_zeros() as usize % SLOTS].get());
            if is_it(node) {
                return Some(node);
            }
            found &= found - 1;
        }
        None
    }

    /// Has a node found from now on: in a slot that is empty, or that `chance` tells.
    #[inline(always)]
    pub fn keep(&self, line: &Line, hash: u64, node: Ref, chance: u64) {
        // SAFETY: a line has sixteen words.
        let empty = unsafe { arch::equal_words(ptr::from_ref(line).cast(), u32::MAX, 0) };
        let place = if empty == 0 { chance } else { empty.trailing_zeros().into() };
        let slot = part_of(hash) & !self.numbers.get() | (node / NODE_UNITS as u32);
        line.0[place as usize % SLOTS].set(slot);
    }

    /// Sees to it that there are lines enough for so many nodes, or as many as there is memory for.
    ///
    /// The thread's state must be [`crate::busy`].
    #[inline(always)]
    pub fn make_room(&self, nodes: usize) {
        if nodes > self.enough_for.get() {
            self.grow(nodes);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&self, nodes: usize) {
        self.enough_for.set(nodes * 2); // where there is no memory now, it is asked for then
        let (old, old_count) = (self.lines.get(), self.mask.get() + 1);
        let most = (self.numbers.get() as usize + 1).div_ceil(PARENTS);
        let wanted = (old_count * GROWTH).max(nodes.div_ceil(PARENTS).next_power_of_two());
        let count = wanted.min(most.next_power_of_two());
        if count <= old_count {
            return self.enough_for.set(usize::MAX);
        }
        let size = count * size_of::<Line>();
        let Ok(lines) = sys::map_memory(size) else { return };
        // SAFETY: the mapping is new.
        if unsafe { sys::wipe_on_fork(lines, size) }.is_err() {
            // SAFETY: as above.
            return unsafe { sys::unmap(lines, size) };
        }
        // In this order: see `place`.
        self.lines.set(lines.cast());
        self.mask.set(count - 1);
        self.enough_for.set(count * PARENTS);
        if old_count > 1 {
            // A hook that a signal handler has interrupted may go on in the old ones, so they stay mapped: it finds
            // nothing there, and what it writes is lost.
            // SAFETY: nobody needs what they hold.
            let _ = unsafe { sys::forget_pages(old.cast_mut().cast(), old_count * size_of::<Line>()) };
        }
    }

    /// Forgets all nodes.
    pub fn clear(&self) {
        if self.is_empty() {
            return;
        }
        let (lines, count) = (self.lines.get(), self.mask.get() + 1);
        // Without memory to each page, as in a forked child there is none: unless the program has locked it all.
        // SAFETY: nobody needs what they hold.
        if unsafe { sys::forget_pages(lines.cast_mut().cast(), count * size_of::<Line>()) }.is_err() {
            // SAFETY: the lines are ours, and there are so many.
            let lines = unsafe { core::slice::from_raw_parts(lines, count) };
            lines.iter().flat_map(|line| &line.0).for_each(|slot| slot.set(0));
        }
    }

    /// Gives memory back.
    pub fn free(&self) {
        if !self.is_empty() {
            // SAFETY: whoever frees the lines uses them no more.
            unsafe { sys::unmap(self.lines.get().cast_mut().cast(), (self.mask.get() + 1) * size_of::<Line>()) };
        }
    }
}

fn part_of(hash: u64) -> u32 {
    (hash >> 32) as u32
}
