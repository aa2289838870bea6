//! How a call's time comes into the distribution of its function's.

use crate::arch;
use crate::arena;
use crate::busy::Busy;
use crate::family::at;
use crate::spent::Spent;
use crate::thread::Thread;
use core::sync::atomic::{AtomicU32, Ordering};
use profile::{Bins, Function, Pending, Ref, histogram};

/// Notes a call's time for its function's distribution, and files the one noted before: see [`Pending`].
///
/// # Safety
/// The record must be the arena's.
#[inline(always)]
pub unsafe fn file_later(thread: &Thread, record: Ref, value: u64) {
    if value >= Pending::TOO_LONG {
        // SAFETY: the caller's record.
        return unsafe { distribute_long(thread, record, value) };
    }
    // SAFETY: the thread owns its arena.
    unsafe {
        let pending = &raw mut (*thread.arena.get()).pending;
        let mut before = pending.read_volatile();
        while !arch::replace(pending, before, Pending { record, value }.word()) {
            before = pending.read_volatile(); // a signal handler's call came between
        }
        arch::prefetch(at(thread.base, record));
        let before = Pending::of(before);
        if before.record != 0 {
            distribute(thread, before.record, before.value, 1);
        }
    }
}

/// Files the time of a call that is too long to be noted.
#[cold]
#[inline(never)]
unsafe fn distribute_long(thread: &Thread, record: Ref, value: u64) {
    if record == 0 {
        return; // there was no room for one
    }
    // SAFETY: the caller's record.
    unsafe { distribute(thread, record, value, 1) };
}

/// Files what is pending.
///
/// # Safety
/// The thread must own its arena.
pub unsafe fn file_pending(thread: &Thread) {
    // SAFETY: the caller's promise.
    unsafe { file_later(thread, 0, 0) };
}

/// The same of an arena that the thread has taken over: what its owner has noted last, which nothing else will file. Without this, the
/// outermost call of each child of a server would be in no distribution.
///
/// # Safety
/// The thread must own its arena, and its state be [`crate::busy`].
pub unsafe fn file_inherited(thread: &Thread) {
    // SAFETY: the caller's promise; the record is the arena's.
    unsafe {
        let Pending { record, value } = Pending::of((*thread.arena.get()).pending);
        if record != 0 {
            // Bins are made here, as nothing can be where a change is under way, as it is.
            has_bins(thread, at(thread.base, record), histogram::bin(value).0);
        }
        file_pending(thread);
    }
}

/// Adds a call's time to its function's distribution, for itself and for others that were not timed.
#[inline(always)]
pub unsafe fn distribute(thread: &Thread, record: Ref, value: u64, calls: u64) {
    let (octave, sub) = histogram::bin(value);
    let function: *mut Function = at(thread.base, record);
    // SAFETY: the record is the arena's, and so are its bins; `bin` stays within both arrays.
    unsafe {
        let octaves = (&raw mut (*function).octaves).cast::<Ref>();
        let bins = *octaves.add(octave);
        if bins == 0 {
            return first_in_octave(thread, record, octave, sub, value, calls);
        }
        if value < (*function).min {
            lower(&raw mut (*function).min, value);
        }
        if value > (*function).max {
            raise(&raw mut (*function).max, value);
        }
        let bins: *mut Bins = at(thread.base, bins);
        arch::add_nth(bins.cast(), sub, calls);
    }
}

#[cold]
unsafe fn lower(word: *mut u64, value: u64) {
    // SAFETY: the caller's word.
    unsafe {
        let mut old = word.read_volatile();
        while value < old && !arch::replace(word, old, value) {
            old = word.read_volatile();
        }
    }
}

#[cold]
unsafe fn raise(word: *mut u64, value: u64) {
    // SAFETY: the caller's word.
    unsafe {
        let mut old = word.read_volatile();
        while value > old && !arch::replace(word, old, value) {
            old = word.read_volatile();
        }
    }
}

/// Puts the time of a call into its function's distribution where that has no bins for it yet.
#[cold]
#[inline(never)]
fn first_in_octave(thread: &Thread, record: Ref, octave: usize, sub: usize, value: u64, calls: u64) {
    let function: *mut Function = at(thread.base, record);
    // SAFETY: the record is the arena's.
    unsafe {
        let mut spent = Spent::begin(thread);
        let Some(_busy) = spent.busy(thread, Busy::begin) else {
            return arch::add(&raw mut (*function).unbinned, calls);
        };
        lower(&raw mut (*function).min, value);
        raise(&raw mut (*function).max, value);
        if !has_bins(thread, function, octave) {
            return arch::add(&raw mut (*function).unbinned, calls);
        }
        let bins: *mut Bins = at(thread.base, (*function).octaves[octave]);
        arch::add_nth(bins.cast(), sub, calls);
        spent.end(thread);
    }
}

/// Whether a function has bins for an octave, which are made if there is room.
///
/// # Safety
/// The function must be the arena's, and the thread's state be [`crate::busy`].
unsafe fn has_bins(thread: &Thread, function: *mut Function, octave: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        if (*function).octaves[octave] != 0 {
            return true;
        }
        let is_useless = thread.is_short_of_room() && (!arena::is_large(thread) || thread.is_short_of_spare_room());
        let found = if is_useless { None } else { arena::lasting_record::<Bins>(thread) };
        let Some((bins, _)) = found else { return false };
        AtomicU32::from_ptr(&raw mut (*function).octaves[octave]).store(bins, Ordering::Release);
        true
    }
}
