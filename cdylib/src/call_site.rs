//! Call sites: what all paths of an arena that end in a call of one function from one place have in common
//! ([`profile::CallSite`]), made once and shared.

use crate::arena;
use crate::family::at;
use crate::function;
use crate::modules;
use crate::sys;
use crate::thread::{READABLE_PAGES, Thread};
use core::sync::atomic::{AtomicU32, Ordering};
use profile::node::{key, of_key};
use profile::{Block, CallSite, Facts, Ref, callsite};

/// The record of a call site; made if there is none, also of the last room if it is `spare`. `None` if there is no room.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn find_or_make(thread: &Thread, function: usize, site: usize, hook: usize, spare: bool) -> Option<Ref> {
    let key = key(function as u64, site as u64, hook as u64);
    find(thread, key).or_else(|| {
        modules::register(thread.family, function);
        modules::register(thread.family, site);
        thread.use_filter();
        let record = match function::find_or_make(thread, function, spare) {
            None if !spare => return None,
            record => record.unwrap_or(0),
        };
        let target = target(thread, site);
        let facts = Facts {
            record,
            module: modules::number(thread.family, function),
            site_module: modules::number(thread.family, site),
            target: if target == 0 { 0 } else { target.wrapping_sub(site as u64) as i32 },
            hook_high: (hook as u64 >> 32) as u32,
        };
        make(thread, key, facts, spare)
    })
}

/// The record of a call site.
pub fn find(thread: &Thread, key: [u64; 2]) -> Option<Ref> {
    let base = thread.base;
    // SAFETY: the index holds call sites of the thread's arena only.
    thread.call_sites.find(word(key), |record| unsafe { (*at::<CallSite>(base, record)).key == key })
}

/// Makes the record of a call site that has none. `None` if there is no room.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn make(thread: &Thread, key: [u64; 2], facts: Facts, spare: bool) -> Option<Ref> {
    if !make_room(thread) {
        return None;
    }
    let made = arena::small_record(thread, spare).or_else(|| arena::lasting_record(thread));
    let (reference, record): (_, *mut CallSite) = made?;
    let arena: *mut Block = at(thread.base, thread.arena_ref.get());
    // SAFETY: the record is new and the thread's, and so is the arena.
    unsafe {
        record.write(CallSite { key, facts, next: (*arena).call_sites, ..CallSite::default() });
        AtomicU32::from_ptr(&raw mut (*arena).call_sites).store(reference, Ordering::Release);
    }
    thread.call_sites.insert(word(key), reference);
    Some(reference)
}

/// Fills the thread's indices of call sites and functions with those of its arena whose code is still where it was.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn index_what_is_there(thread: &Thread) {
    thread.call_sites.clear();
    thread.functions.clear();
    let arena: *mut Block = at(thread.base, thread.arena_ref.get());
    // SAFETY: the arena is the thread's, and its call sites lead to each other.
    unsafe {
        let mut next = (*arena).call_sites;
        while next != 0 {
            let record: *const CallSite = at(thread.base, next);
            let CallSite { facts, key, .. } = *record;
            let (function, site, _) = of_key(key);
            if is_there(thread, function as usize, facts.module) && is_there(thread, site as usize, facts.site_module) {
                if make_room(thread) {
                    thread.call_sites.insert(word(key), next);
                }
                function::index(thread, facts.record, function as usize);
            }
            next = (*record).next;
        }
    }
}

/// Whether what has an address is of the module that it was of.
pub fn is_there(thread: &Thread, address: usize, module: u32) -> bool {
    modules::number(thread.family, address) == module
}

/// Makes room in the thread's index for one more.
fn make_room(thread: &Thread) -> bool {
    let base = thread.base;
    // SAFETY: the index holds call sites of the thread's arena only.
    thread.call_sites.make_room(true, |record| unsafe { word((*at::<CallSite>(base, record)).key) })
}

/// Makes room in the thread's index for so many more, as it cannot grow later.
///
/// The state must be [`crate::busy`].
pub fn make_room_ahead(thread: &Thread, call_sites: usize) {
    let base = thread.base;
    // SAFETY: the index holds call sites of the thread's arena only.
    thread.call_sites.make_room_for(call_sites, |record| unsafe { word((*at::<CallSite>(base, record)).key) });
}

/// What a call site is looked up by in the index.
fn word(key: [u64; 2]) -> u64 {
    key[0] ^ key[1].rotate_left(29)
}

/// The target of the call before a call site, if it is a relative one.
fn target(thread: &Thread, site: usize) -> u64 {
    const LEN: usize = 5;
    let Some(start) = site.checked_sub(LEN) else { return 0 };
    let page = start >> 12;
    let known = &thread.readable_pages[page % READABLE_PAGES];
    let mut bytes = [0; LEN];
    if known.get() == page && (site - 1) >> 12 == page {
        // SAFETY: the page could be read before, and holds the code that is making this call.
        bytes = unsafe { core::ptr::with_exposed_provenance::<[u8; LEN]>(start).read_volatile() };
    } else if sys::read_memory(sys::getpid(), start, &mut bytes) {
        known.set(page);
    }
    callsite::relative_target(bytes, site as u64).unwrap_or(0)
}
