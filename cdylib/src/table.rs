//! A thread's private index into its arena: from what a record is looked up by to its [`Ref`].
//!
//! Open addressing, with slots to spare. The records themselves hold the keys; a slot has a part of the hash too, so that
//! others' records are seldom looked at.
//!
//! It may be looked up in the middle of a change, and a lookup may be interrupted by a change. So one word tells where the
//! slots are and how many; a record that is not found is looked for again before another is made for it; and slots that
//! were in use stay mapped.

use crate::field::Field;
use crate::sys;
use core::ptr;
use profile::Ref;
use profile::node::SKIPPED;

/// An index.
#[repr(C)]
pub struct Table {
    /// Where the slots are, which begin a page, and in its low bits 64 minus the logarithm of their number.
    root: Field<usize>,
    /// Slots in use.
    used: Field<u32>,
    /// Those of them whose record was removed.
    gone: Field<u32>,
    /// Where other slots are, as many, that were in use before: empty. 0 if there are none.
    other: Field<usize>,
}

/// Slots: a record, and above it a part of its hash. A power of two of them, 0 = empty.
#[derive(Clone, Copy)]
struct Slots {
    first: *mut u64,
    shift: u32,
}

const FIRST: usize = 1024;

/// Stands in a slot for a record that was removed: lookups go on behind it. No record has that name.
const GONE: Ref = SKIPPED;
const SHIFT_BITS: usize = 63;

impl Slots {
    fn new(first: *mut u64, count: usize) -> Self {
        Self { first, shift: 64 - count.ilog2() }
    }

    #[inline(always)]
    fn of(root: usize) -> Self {
        Self { first: ptr::with_exposed_provenance_mut(root & !SHIFT_BITS), shift: (root & SHIFT_BITS) as u32 }
    }

    fn root(self) -> usize {
        self.first.expose_provenance() | self.shift as usize
    }

    /// One less than their number.
    #[inline(always)]
    fn mask(self) -> usize {
        usize::MAX >> self.shift
    }

    fn size(self) -> usize {
        (self.mask() + 1) * size_of::<u64>()
    }

    /// Empties them. Where they are many, in no more time than where they are few: a forked child would copy its parent's, page by
    /// page, if it wrote to them.
    ///
    /// # Safety
    /// They must be the index's; who looks something up in them meanwhile finds nothing.
    unsafe fn empty(self) {
        // SAFETY: the caller's slots.
        unsafe {
            let is_small = self.size() <= Table::FIRST_SIZE;
            if is_small || !sys::forget_pages(self.first.cast(), self.size()) {
                ptr::write_bytes(self.first, 0, self.mask() + 1);
            }
        }
    }

    #[inline(always)]
    fn first_of(self, hash: u64) -> usize {
        (hash >> self.shift) as usize
    }

    fn insert(self, key: u64, record: Ref) {
        let hash = hash(key);
        let mut slot = self.first_of(hash);
        // SAFETY: `first_of` and the mask stay below the number of slots, some of which are empty.
        unsafe {
            while *self.first.add(slot) != 0 {
                slot = (slot + 1) & self.mask();
            }
            self.first.add(slot).write_volatile(hash << 32 | u64::from(record));
        }
    }
}

/// What a key is found by: the first slot to look at in its high bits, and in its low half what the slot says.
#[inline(always)]
fn hash(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Table {
    /// Bytes of an empty index.
    pub const FIRST_SIZE: usize = FIRST * size_of::<u64>();

    /// Makes this an empty index in these pages, which are zeroed and its own from now on.
    pub fn start(&self, pages: *mut u8) {
        self.root.set(Slots::new(pages.cast(), FIRST).root());
        self.used.set(0);
        self.gone.set(0);
        self.other.set(0);
    }

    /// The record that `is_it` says yes to.
    #[inline(always)]
    pub fn find(&self, key: u64, is_it: impl Fn(Ref) -> bool) -> Option<Ref> {
        let slots = Slots::of(self.root.get());
        let hash = hash(key);
        let mut slot = slots.first_of(hash);
        loop {
            // SAFETY: as in `insert`.
            let found = unsafe { *slots.first.add(slot) };
            if found == 0 {
                return None;
            }
            if (found >> 32) as u32 == hash as u32 && is_it(found as Ref) {
                return Some(found as Ref);
            }
            slot = (slot + 1) & slots.mask();
        }
    }

    /// Makes room for one more record: at most half of the slots are used; without memory to grow five eighths, and for
    /// `spare` ones, which have no other place, seven. `key_of` tells the key of a record. False if there is no room.
    pub fn make_room(&self, spare: bool, key_of: impl Fn(Ref) -> u64) -> bool {
        let slots = Slots::of(self.root.get()).mask() + 1;
        let wanted = self.used.get() as usize + 1;
        let is_enough = |wanted: usize| wanted * 8 <= slots * if spare { 7 } else { 5 };
        if wanted * 2 <= slots {
            return true;
        }
        let is_half_gone = self.gone.get() > self.used.get() / 2;
        (is_half_gone && self.sweep(&key_of)) || self.grow(&key_of) || is_enough(wanted)
    }

    /// Makes room for so many more records, now or never.
    pub fn make_room_for(&self, more: usize, key_of: impl Fn(Ref) -> u64) {
        let wanted = self.used.get() as usize + more;
        while wanted * 2 > Slots::of(self.root.get()).mask() + 1 && self.grow(&key_of) {}
    }

    fn grow(&self, key_of: impl Fn(Ref) -> u64) -> bool {
        let old = Slots::of(self.root.get());
        let Ok(larger) = sys::map_memory(old.size() * 2) else { return false };
        let other = self.other.get();
        self.other.set(0);
        if other != 0 {
            // SAFETY: as in `move_to`; no lookup began in these since they were in use.
            unsafe { Slots::of(other).empty() };
        }
        self.move_to(Slots::new(larger.cast(), (old.mask() + 1) * 2), key_of);
        true
    }

    /// Moves all records to other slots, as many, without those that were removed.
    fn sweep(&self, key_of: impl Fn(Ref) -> u64) -> bool {
        let old = Slots::of(self.root.get());
        let new = match self.other.get() {
            0 => match sys::map_memory(old.size()) {
                Ok(slots) => Slots::new(slots.cast(), old.mask() + 1),
                Err(_) => return false,
            },
            other => Slots::of(other),
        };
        self.move_to(new, key_of);
        self.other.set(old.root());
        true
    }

    fn move_to(&self, new: Slots, key_of: impl Fn(Ref) -> u64) {
        let old = Slots::of(self.root.get());
        let mut used = 0;
        for slot in 0..=old.mask() {
            // SAFETY: the old slots are as many as before.
            let record = unsafe { *old.first.add(slot) } as Ref;
            if record != 0 && record != GONE {
                new.insert(key_of(record), record);
                used += 1;
            }
        }
        self.root.set(new.root());
        self.used.set(used);
        self.gone.set(0);
        // SAFETY: a lookup that a signal handler has interrupted may go on in the old slots, and finds nothing there, or what is
        // put there later: it asks again, or is right.
        unsafe { old.empty() };
    }

    /// Adds a record that is not in it, after [`Self::make_room`].
    pub fn insert(&self, key: u64, record: Ref) {
        self.used.set(self.used.get() + 1);
        Slots::of(self.root.get()).insert(key, record);
    }

    /// Removes a record, if it is in it.
    pub fn remove(&self, key: u64, record: Ref) {
        let slots = Slots::of(self.root.get());
        let hash = hash(key);
        let mut slot = slots.first_of(hash);
        // SAFETY: as in `insert`.
        unsafe {
            loop {
                let place = slots.first.add(slot);
                match *place {
                    0 => return,
                    found if found as Ref == record => {
                        place.write_volatile(hash << 32 | u64::from(GONE));
                        return self.gone.set(self.gone.get() + 1);
                    }
                    _ => slot = (slot + 1) & slots.mask(),
                }
            }
        }
    }

    /// Forgets all records.
    pub fn clear(&self) {
        if self.used.get() == 0 {
            return; // no page is touched for it
        }
        let slots = Slots::of(self.root.get());
        // SAFETY: the slots are ours.
        unsafe { slots.empty() };
        self.used.set(0);
        self.gone.set(0);
    }

    /// Gives the memory back.
    pub fn free(&self) {
        let slots = Slots::of(self.root.get());
        // SAFETY: whoever frees the index uses it no more.
        unsafe { sys::unmap(slots.first.cast(), slots.size()) };
    }
}
