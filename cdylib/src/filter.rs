//! The addresses of roots and excluded functions.

use crate::settings::Settings;
use crate::sys;
use profile::pattern;

/// The addresses; replaced as a whole, never changed.
#[derive(Clone, Copy)]
pub struct Filter {
    /// Roots, if not everything is recorded.
    pub roots: Option<Set>,
    /// Functions that are not recorded.
    pub excluded: Option<Set>,
}

/// A set of addresses.
#[derive(Clone, Copy)]
pub struct Set {
    /// A power of two of them, 0 = empty.
    pub slots: *mut usize,
    /// One less than their number.
    pub mask: usize,
    used: usize,
}

/// Whether a set has an address.
///
/// # Safety
/// The slots must be as many as the mask says, or null.
#[inline(always)]
pub unsafe fn contains(slots: *const usize, mask: usize, address: usize) -> bool {
    if slots.is_null() {
        return false;
    }
    let mut slot = place(address) & mask;
    loop {
        // SAFETY: the caller's promise.
        let found = unsafe { *slots.add(slot) };
        if found == address {
            return true;
        }
        if found == 0 {
            return false;
        }
        slot = (slot + 1) & mask;
    }
}

#[inline(always)]
fn place(address: usize) -> usize {
    address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
}

impl Set {
    fn with_slots(slots: usize) -> sys::Result<Self> {
        Ok(Self { slots: sys::map_memory(slots * size_of::<usize>())?.cast(), mask: slots - 1, used: 0 })
    }

    /// Adds an address.
    pub fn insert(&mut self, address: usize) -> sys::Result<()> {
        // At most a quarter full: almost every question is answered by the first slot.
        if (self.used + 1) * 4 > self.mask + 1 {
            *self = self.copied((self.mask + 1) * 2)?;
        }
        // SAFETY: the slots are as many as the mask says, and three quarters are empty.
        unsafe {
            if !contains(self.slots, self.mask, address) {
                let mut slot = place(address) & self.mask;
                while *self.slots.add(slot) != 0 {
                    slot = (slot + 1) & self.mask;
                }
                *self.slots.add(slot) = address;
                self.used += 1;
            }
        }
        Ok(())
    }

    /// The addresses of both.
    pub fn with(&self, others: &Self) -> sys::Result<Self> {
        let mut both = self.copied(self.mask + 1)?;
        for slot in 0..=others.mask {
            // SAFETY: the table has `mask` + 1 slots.
            match unsafe { *others.slots.add(slot) } {
                0 => {}
                address => both.insert(address)?,
            }
        }
        Ok(both)
    }

    fn copied(&self, slots: usize) -> sys::Result<Self> {
        self.copied_where(slots, |_| true)
    }

    /// Those of them that are to be kept.
    pub fn kept(&self, keep: impl Fn(usize) -> bool) -> sys::Result<Self> {
        self.copied_where(self.mask + 1, keep)
    }

    fn copied_where(&self, slots: usize, keep: impl Fn(usize) -> bool) -> sys::Result<Self> {
        let mut copy = Self::with_slots(slots)?;
        for slot in 0..=self.mask {
            // SAFETY: the table has `mask` + 1 slots.
            let address = unsafe { *self.slots.add(slot) };
            if address != 0 && keep(address) {
                copy.insert(address)?;
            }
        }
        Ok(copy)
    }

    /// Whether it has an address.
    pub fn has(&self, address: usize) -> bool {
        // SAFETY: the table has `mask` + 1 slots, and `find` stays among them.
        unsafe { contains(self.slots, self.mask, address) }
    }
}

impl Filter {
    /// The filter that the settings ask for, with no address in it yet.
    pub fn new(settings: &Settings) -> sys::Result<Self> {
        let set = |patterns: &str| pattern::split(patterns).next().map(|_| Set::with_slots(512)).transpose();
        Ok(Self { roots: set(settings.root)?, excluded: set(settings.exclude)? })
    }
}
