//! A thread's private index into its arena: from what a record is looked up by to its [`Ref`].
//!
//! Open addressing, with slots to spare. The records themselves hold the keys; a slot has a part of the hash too, so that
//! others' records are seldom looked at.

use crate::sys;
use core::ptr;
use profile::Ref;

/// An index.
#[repr(C)]
pub struct Table {
    /// Slots: a record, and above it a part of its hash. A power of two of them, 0 = empty.
    pub slots: *mut u64,
    /// 64 minus the logarithm of the number of slots.
    pub shift: u32,
    /// Slots in use.
    used: u32,
}

const FIRST: usize = 1024;

impl Table {
    /// Bytes of an empty index.
    pub const FIRST_SIZE: usize = FIRST * size_of::<u64>();

    /// An empty index in these pages, which are zeroed and its own from now on.
    pub fn new(pages: *mut u8) -> Self {
        Self { slots: pages.cast(), shift: 64 - FIRST.ilog2(), used: 0 }
    }

    /// One less than the number of slots.
    #[inline(always)]
    pub fn mask(&self) -> usize {
        usize::MAX >> self.shift
    }

    /// What a key is found by: the first slot to look at in its high bits, and in its low half what the slot says.
    #[inline(always)]
    fn hash(key: u64) -> u64 {
        key.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    #[inline(always)]
    fn first(&self, hash: u64) -> usize {
        (hash >> self.shift) as usize
    }

    /// The record that `is_it` says yes to.
    #[inline(always)]
    pub fn find(&self, key: u64, is_it: impl Fn(Ref) -> bool) -> Option<Ref> {
        let hash = Self::hash(key);
        let mut slot = self.first(hash);
        loop {
            // SAFETY: `first` and the mask stay below the number of slots.
            let found = unsafe { *self.slots.add(slot) };
            if found == 0 {
                return None;
            }
            if (found >> 32) as u32 == hash as u32 && is_it(found as Ref) {
                return Some(found as Ref);
            }
            slot = (slot + 1) & self.mask();
        }
    }

    /// Makes room for one more record: at most half of the slots are used; without memory to grow five eighths, and for
    /// `spare` ones, which have no other place, seven. `key_of` tells the key of a record. False if there is no room.
    pub fn make_room(&mut self, spare: bool, key_of: impl Fn(Ref) -> u64) -> bool {
        let slots = self.mask() + 1;
        let wanted = self.used as usize + 1;
        wanted * 2 <= slots || self.grow(key_of) || wanted * 8 <= slots * if spare { 7 } else { 5 }
    }

    fn grow(&mut self, key_of: impl Fn(Ref) -> u64) -> bool {
        let slots = self.mask() + 1;
        let Ok(larger) = sys::map_memory(slots * 2 * size_of::<u64>()) else { return false };
        let old = core::mem::replace(self, Self { slots: larger.cast(), shift: self.shift - 1, used: 0 });
        for slot in 0..slots {
            // SAFETY: the old slots are as many as before.
            let record = unsafe { *old.slots.add(slot) } as Ref;
            if record != 0 {
                self.insert(key_of(record), record);
            }
        }
        // SAFETY: signals are blocked wherever an index grows, so nothing reads the old slots.
        unsafe { sys::unmap(old.slots.cast(), slots * size_of::<u64>()) };
        true
    }

    /// Adds a record that is not in it, after [`Self::make_room`].
    pub fn insert(&mut self, key: u64, record: Ref) {
        let hash = Self::hash(key);
        let mut slot = self.first(hash);
        // SAFETY: as in `find`; some of the slots are empty.
        unsafe {
            while *self.slots.add(slot) != 0 {
                slot = (slot + 1) & self.mask();
            }
            *self.slots.add(slot) = hash << 32 | u64::from(record);
        }
        self.used += 1;
    }

    /// Forgets all records.
    pub fn clear(&mut self) {
        // SAFETY: the slots are ours.
        unsafe { ptr::write_bytes(self.slots, 0, self.mask() + 1) };
        self.used = 0;
    }

    /// Gives the memory back.
    pub fn free(&mut self) {
        // SAFETY: whoever frees the index uses it no more.
        unsafe { sys::unmap(self.slots.cast(), (self.mask() + 1) * size_of::<u64>()) };
    }
}
