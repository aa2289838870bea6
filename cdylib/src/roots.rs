//! Roots and excluded functions: names become addresses when a module appears.

use crate::family::Family;
use crate::filter::{Filter, Set};
use crate::image::Image;
use crate::memory;
use crate::symbols::{self, Beginnings, Name, Pattern};
use core::ptr;
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
    let Some(before) = current(family) else { return };
    let addresses = [&before.roots, &before.excluded].into_iter().flatten().flat_map(Set::addresses);
    if !{ addresses }.all(&is_there) {
        replace(family, &is_there, None);
    }
}

fn extend(family: &Family, path: &[u8], image: &Image) -> Option<()> {
    let mut found = Filter::new(&family.settings).ok()?;
    let settings = &family.settings;
    let beginnings = Beginnings::of(&[settings.root, settings.exclude]);
    let (named_roots, named_excluded) = (Pattern::all(settings.root), Pattern::all(settings.exclude));
    let are_read = symbols::each_function(path, image, &beginnings, |symbol, address| {
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
    });
    let is_replaced = are_read.and_then(|()| replace(family, |_| true, Some(&found)));
    found.give_back();
    is_replaced
}

/// Puts another filter in the place of the present one, with those of its addresses that are to be kept, and those of `others`. Other threads
/// may do so at the same time. One that was in use before and has the same addresses is used again: a library that comes and
/// goes for as long as the program runs takes no more memory.
fn replace(family: &Family, keep: impl Fn(usize) -> bool, others: Option<&Filter>) -> Option<()> {
    loop {
        let before = family.filter.load(Ordering::Acquire);
        // SAFETY: what was published stays.
        let after = unsafe { before.as_ref() }?.kept_with(&keep, others).ok()?;
        let known = known(family).find(|known| known.is_same(&after));
        let after = match known {
            Some(known) => {
                after.give_back();
                known
            }
            None => publish(family, after)?,
        };
        let after = ptr::from_ref(after).cast_mut();
        if family.filter.compare_exchange(before, after, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            return Some(());
        }
    }
}

/// All filters that are or were in use.
fn known(family: &Family) -> impl Iterator<Item = &'static Filter> {
    // SAFETY: what was published stays.
    let filter = |filter: *const Filter| unsafe { filter.as_ref() };
    core::iter::successors(filter(family.filters.load(Ordering::Acquire)), move |known| {
        filter(known.earlier.load(Ordering::Acquire))
    })
}

/// Puts a filter among those that stay.
fn publish(family: &Family, filter: Filter) -> Option<&'static Filter> {
    let kept = memory::keep_value(filter)?;
    let mut latest = family.filters.load(Ordering::Acquire);
    loop {
        kept.earlier.store(latest, Ordering::Relaxed);
        let new = ptr::from_ref(kept).cast_mut();
        match family.filters.compare_exchange(latest, new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return Some(kept),
            Err(now) => latest = now,
        }
    }
}

fn count_match(family: &Family, index: usize) {
    if index < ROOT_PATTERNS {
        // SAFETY: the header is mapped, and the words are only changed by atomic operations.
        unsafe { AtomicU32::from_ptr(&raw mut (*family.header()).root_matches[index]) }.fetch_add(1, Ordering::Relaxed);
    }
}
