//! Calls that have no other place, counted by function: for all threads and processes of a family.

use super::sync::{AtomicU64, Ordering};

/// Bits of a key for the address; the module's number is above.
const ADDRESS_BITS: u32 = 48;

/// What a function is found by: its address, and the number of its module, 0 = not known.
pub const fn key(function: u64, module: u32) -> u64 {
    let module = if module >> (u64::BITS - ADDRESS_BITS) == 0 { module as u64 } else { 0 };
    module << ADDRESS_BITS | function & ((1 << ADDRESS_BITS) - 1)
}

/// Function and module of a key.
pub const fn of_key(key: u64) -> (u64, u32) {
    (key & ((1 << ADDRESS_BITS) - 1), (key >> ADDRESS_BITS) as u32)
}

/// Places that a function may have: a table that is full may not make each call look through all of it.
const MOST: usize = 64;

/// Counts a call. `slot` gives the words of a place: key and calls; there are `slots` of them. False if those of this one are
/// taken.
pub fn count<'a>(slots: usize, slot: impl Fn(usize) -> (&'a AtomicU64, &'a AtomicU64), key: u64) -> bool {
    let first = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
    for step in 0..slots.min(MOST) {
        let (place, calls) = slot(first.wrapping_add(step) % slots);
        let found = match place.load(Ordering::Acquire) {
            0 => {
                place.compare_exchange(0, key, Ordering::AcqRel, Ordering::Acquire).map_or_else(|found| found, |_| key)
            }
            found => found,
        };
        if found == key {
            calls.fetch_add(1, Ordering::Relaxed);
            return true;
        }
    }
    false
}

#[cfg(all(test, not(loom)))]
mod tests {
    use core::cell::Cell;

    use super::*;

    #[test]
    fn a_full_table_is_not_searched_whole_at_each_call() {
        const SLOTS: usize = 1000;
        let table: [[AtomicU64; 2]; SLOTS] = [const { [AtomicU64::new(0), AtomicU64::new(0)] }; SLOTS];
        let looks = Cell::new(0);
        let slot = |index: usize| {
            looks.set(looks.get() + 1);
            (&table[index][0], &table[index][1])
        };
        let counted = (1..=2000).filter(|function| count(SLOTS, slot, key(function << 4, 1))).count();
        assert!(counted > SLOTS * 9 / 10, "{counted} of {SLOTS}");
        looks.set(0);
        assert!(!count(SLOTS, slot, key(0x12_3450, 1)));
        assert_eq!(looks.get(), MOST);
    }
}
