//! Roots and excluded functions: names become addresses when a module appears.

use crate::family::Family;
use crate::filter::{Filter, Set};
use crate::image::Image;
use crate::memory;
use crate::symbols::{self, Beginnings, Name, Pattern};
use core::sync::atomic::{AtomicU32, Ordering};
use profile::header::ROOT_PATTERNS;

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
pub fn resolve(family: &Family, path: &[u8], image: &Image) {
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
        let kept = |set: Option<Set>| set.map(|set| set.kept(&is_there)).transpose().ok();
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
