//! Roots and excluded functions: names become addresses when a module appears.

use crate::family::Family;
use crate::image::Image;
use crate::memory;
use crate::settings::Settings;
use crate::symbols::{self, Beginnings, Name, Pattern};
use crate::sys;
use core::sync::atomic::{AtomicU32, Ordering};
use profile::header::ROOT_PATTERNS;
use profile::pattern;

/// The addresses; replaced as a whole, never changed.
#[derive(Clone, Copy)]
pub struct Filter {
    /// Roots, if not everything is recorded.
    pub roots: Option<Set>,
    /// Functions that are not recorded.
    excluded: Option<Set>,
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

    fn insert(&mut self, address: usize) -> sys::Result<()> {
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
    fn with(&self, others: &Self) -> sys::Result<Self> {
        let mut both = self.copied(self.mask + 1)?;
        for slot in 0..=others.mask {
            // SAFETY: as above.
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

    fn copied_where(&self, slots: usize, keep: impl Fn(usize) -> bool) -> sys::Result<Self> {
        let mut copy = Self::with_slots(slots)?;
        for slot in 0..=self.mask {
            // SAFETY: as above.
            let address = unsafe { *self.slots.add(slot) };
            if address != 0 && keep(address) {
                copy.insert(address)?;
            }
        }
        Ok(copy)
    }

    fn has(&self, address: usize) -> bool {
        // SAFETY: as above.
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

fn current(family: &Family) -> Option<&Filter> {
    // SAFETY: what was published stays.
    unsafe { family.filter.load(Ordering::Acquire).as_ref() }
}

/// Whether a function was named as a root.
pub fn is_root(family: &Family, function: usize) -> bool {
    current(family).and_then(|filter| filter.roots.as_ref()).is_some_and(|roots| roots.has(function))
}

/// Whether a function was named as one not to record.
pub fn is_excluded(family: &Family, function: usize) -> bool {
    current(family).and_then(|filter| filter.excluded.as_ref()).is_some_and(|excluded| excluded.has(function))
}

/// Looks for roots and excluded functions in a module.
pub fn meet(family: &Family, path: &[u8], image: &Image) {
    let Some(before) = current(family) else { return };
    if before.roots.is_none() && before.excluded.is_none() {
        return;
    }
    if memory::with_scratch(|| extend(family, path, image)).flatten().is_none() {
        family.warn(&[path, b": its symbols could not be read, so no root was looked for in it"]);
    }
}

/// Forgets what was found in modules that are gone.
pub fn forget(family: &Family, is_there: impl Fn(usize) -> bool) {
    replace(family, |before| {
        let kept = |set: Option<Set>| set.map(|set| set.copied_where(set.mask + 1, &is_there)).transpose().ok();
        Some(Filter { roots: kept(before.roots)?, excluded: kept(before.excluded)? })
    });
}

fn extend(family: &Family, path: &[u8], image: &Image) -> Option<()> {
    let mut found = Filter::new(&family.settings).ok()?;
    let settings = &family.settings;
    let beginnings = Beginnings::of(&[settings.root, settings.exclude]);
    let (named_roots, named_excluded) = (Pattern::all(settings.root), Pattern::all(settings.exclude));
    symbols::each_function(path, image, &beginnings, |symbol, address| {
        let Some(name) = Name::of(symbol) else { return };
        if let Some(roots) = &mut found.roots {
            for (index, one) in named_roots.iter().enumerate() {
                if name.is_meant_by(one) {
                    count_match(family, index);
                    let _ = roots.insert(address);
                }
            }
        }
        if let Some(excluded) = &mut found.excluded
            && named_excluded.iter().any(|one| name.is_meant_by(one))
        {
            let _ = excluded.insert(address);
        }
    })?;
    replace(family, |before| {
        let both = |set: Option<Set>, found: Option<Set>| match set.zip(found) {
            Some((set, found)) => set.with(&found).map(Some).ok(),
            None => Some(set),
        };
        Some(Filter { roots: both(before.roots, found.roots)?, excluded: both(before.excluded, found.excluded)? })
    })
}

/// Puts another filter in the place of the present one, from what that is: other threads may do so at the same time.
fn replace(family: &Family, change: impl Fn(&Filter) -> Option<Filter>) -> Option<()> {
    loop {
        let before = family.filter.load(Ordering::Acquire);
        // SAFETY: what was published stays.
        let after = memory::keep_value(change(unsafe { before.as_ref() }?)?)?;
        let after = core::ptr::from_ref(after).cast_mut();
        if family.filter.compare_exchange(before, after, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            return Some(());
        }
    }
}

fn count_match(family: &Family, index: usize) {
    if index < ROOT_PATTERNS {
        // SAFETY: the header is mapped, and the words are only changed by atomic operations.
        unsafe { AtomicU32::from_ptr(&raw mut (*family.header()).root_matches[index]) }.fetch_add(1, Ordering::Relaxed);
    }
}
