//! The addresses of roots and excluded functions.

use crate::settings::Settings;
use crate::sys;
use core::sync::atomic::AtomicPtr;
use profile::pattern;

/// The addresses; replaced as a whole, never changed.
pub struct Filter {
    /// Roots, if not everything is recorded.
    pub roots: Option<Set>,
    /// Functions that are not recorded.
    pub excluded: Option<Set>,
    /// Another that was in use before: all of them stay.
    pub earlier: AtomicPtr<Filter>,
}

/// A set of addresses.
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
            let larger = self.copied_where((self.mask + 1) * 2, |_| true)?;
            core::mem::replace(self, larger).give_back();
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

    /// Those of its addresses that are to be kept, and all of another.
    pub fn kept_with(&self, keep: impl Fn(usize) -> bool, others: Option<&Self>) -> sys::Result<Self> {
        let mut both = self.copied_where(self.mask + 1, keep)?;
        for address in others.into_iter().flat_map(Self::addresses) {
            both.insert(address)?;
        }
        Ok(both)
    }

    fn copied_where(&self, slots: usize, keep: impl Fn(usize) -> bool) -> sys::Result<Self> {
        let mut copy = Self::with_slots(slots)?;
        for address in self.addresses().filter(|&address| keep(address)) {
            copy.insert(address)?;
        }
        Ok(copy)
    }

    /// All of them.
    pub fn addresses(&self) -> impl Iterator<Item = usize> {
        // SAFETY: the table has `mask` + 1 slots.
        let slots = (0..=self.mask).map(|slot| unsafe { *self.slots.add(slot) });
        slots.filter(|&address| address != 0)
    }

    /// Whether another has the same addresses.
    fn is_same(&self, other: &Self) -> bool {
        self.used == other.used && self.addresses().all(|address| other.has(address))
    }

    /// Gives its memory back. Nobody else may have it.
    fn give_back(self) {
        // SAFETY: the table has `mask` + 1 slots, and is mapped for this alone.
        unsafe { sys::unmap(self.slots.cast(), (self.mask + 1) * size_of::<usize>()) };
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
        Ok(Self { roots: set(settings.root)?, excluded: set(settings.exclude)?, earlier: AtomicPtr::default() })
    }

    /// Those of its addresses that are to be kept, and all of another.
    pub fn kept_with(&self, keep: impl Fn(usize) -> bool, others: Option<&Self>) -> sys::Result<Self> {
        let both = |set: &Option<Set>, others: Option<&Option<Set>>| {
            let others = others.and_then(Option::as_ref);
            set.as_ref().map(|set| set.kept_with(&keep, others)).transpose()
        };
        let roots = both(&self.roots, others.map(|others| &others.roots))?;
        let excluded = both(&self.excluded, others.map(|others| &others.excluded))?;
        Ok(Self { roots, excluded, earlier: AtomicPtr::default() })
    }

    /// Whether another has the same addresses.
    pub fn is_same(&self, other: &Self) -> bool {
        let are_same = |one: &Option<Set>, other: &Option<Set>| match (one, other) {
            (Some(one), Some(other)) => one.is_same(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        are_same(&self.roots, &other.roots) && are_same(&self.excluded, &other.excluded)
    }

    /// Gives its memory back. Nobody else may have it.
    pub fn give_back(self) {
        [self.roots, self.excluded].into_iter().flatten().for_each(Set::give_back);
    }
}
