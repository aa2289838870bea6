//! How a call's time comes into the distribution of its function's.

use crate::arch;
use crate::arena;
use crate::busy::Busy;
use crate::family::at;
use crate::spent::Spent;
use crate::thread::Thread;
use core::sync::atomic::{AtomicU32, Ordering};
use profile::{Bins, Function, Pending, Ref, histogram};

/// The call's time that was noted last, and where its bin is.
pub struct PendingBin {
    word: u64,
    bins: Ref,
    sub: usize,
}

/// Looks for the bin of the time that was noted last. First thing in the exit hook: these steps depend on each other and on nothing
/// else in it, so the processor takes them beside all that the hook does.
///
/// # Safety
/// The thread must own its arena.
#[inline(always)]
pub unsafe fn pending_bin(thread: &Thread) -> PendingBin {
    // SAFETY: what is pending names a record of the arena's, or 0, where the file's header lies.
    unsafe {
        let word = (&raw const (*thread.arena.get()).pending).read_volatile();
        let pending = Pending::of(word);
        let (octave, sub) = histogram::bin(pending.value);
        PendingBin { word, bins: bins(at(thread.base, pending.record), octave), sub }
    }
}

/// What hooks take of the time of a call that has made so many, at any depth, in ticks: it is in no distribution.
#[inline(always)]
pub fn cost(thread: &Thread, descendants: u64) -> u64 {
    (thread.inner.get() + descendants * thread.pair.get()) >> 10
}

/// Notes a call's time for its function's distribution, and files the one noted before: see [`Pending`].
///
/// # Safety
/// The record must be the arena's.
#[inline(always)]
pub unsafe fn file_later(thread: &Thread, before: &PendingBin, record: Ref, value: u64) {
    if value >= Pending::TOO_LONG {
        // SAFETY: the caller's record.
        return unsafe { file_long(thread, record, value) };
    }
    // SAFETY: the thread owns its arena.
    unsafe {
        let pending = &raw mut (*thread.arena.get()).pending;
        if !arch::replace(pending, before.word, Pending { record, value }.word()) {
            return file_after_handler(thread, record, value);
        }
        arch::prefetch(at(thread.base, record));
        let noted = Pending::of(before.word);
        if noted.record != 0 {
            count(thread, noted.record, noted.value, before.bins, before.sub);
        }
    }
}

/// The same after a signal handler's call came in between.
#[cold]
#[inline(never)]
unsafe fn file_after_handler(thread: &Thread, record: Ref, value: u64) {
    // SAFETY: the caller's record.
    unsafe { file_later(thread, &pending_bin(thread), record, value) };
}

/// Files the time of a call that is too long to be noted.
#[cold]
#[inline(never)]
unsafe fn file_long(thread: &Thread, record: Ref, value: u64) {
    if record == 0 {
        return; // there was no room for one
    }
    let (octave, sub) = histogram::bin(value);
    // SAFETY: the caller's record.
    unsafe { count(thread, record, value, bins(at(thread.base, record), octave), sub) };
}

/// Files a time beside what is pending. Whether it has a bin: there may be no room for one.
///
/// # Safety
/// The record must be the arena's, or 0, and the thread's state be [`crate::busy`].
pub unsafe fn file_now(thread: &Thread, record: Ref, value: u64) -> bool {
    if record == 0 {
        return false; // there was no room for one
    }
    let (octave, sub) = histogram::bin(value);
    let function: *mut Function = at(thread.base, record);
    // SAFETY: the caller's record; `bin` stays within the array.
    unsafe {
        if !has_bins(thread, function, octave) {
            file_without_bin(function, value);
            return false;
        }
        lower(&raw mut (*function).min, value);
        raise(&raw mut (*function).max, value);
        arch::add_nth(at::<Bins>(thread.base, bins(function, octave)).cast(), sub, 1);
        true
    }
}

/// Files a time for which there is no bin.
///
/// # Safety
/// The function must be the arena's.
unsafe fn file_without_bin(function: *mut Function, value: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        lower(&raw mut (*function).min, value);
        raise(&raw mut (*function).max, value);
        arch::add(&raw mut (*function).unbinned, 1);
    }
}

/// Files what is pending.
///
/// # Safety
/// The thread must own its arena.
pub unsafe fn file_pending(thread: &Thread) {
    // SAFETY: the caller's promise.
    unsafe { file_later(thread, &pending_bin(thread), 0, 0) };
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

/// The bins of an octave of a function; 0 if it has none.
///
/// # Safety
/// The function must be in the mapping, and the octave one of [`histogram::bin`].
#[inline(always)]
unsafe fn bins(function: *const Function, octave: usize) -> Ref {
    // SAFETY: the caller's promise.
    unsafe { (&raw const (*function).octaves).cast::<Ref>().add(octave).read_volatile() }
}

/// Counts a call in its bin.
///
/// # Safety
/// The record must be the arena's, and the bins its, or 0.
#[inline(always)]
unsafe fn count(thread: &Thread, record: Ref, value: u64, bins: Ref, sub: usize) {
    // SAFETY: the caller's promise; `bin` stays within the array.
    unsafe {
        if bins == 0 {
            return first_in_octave(thread, record, value);
        }
        let function: *mut Function = at(thread.base, record);
        if value < (*function).min {
            lower(&raw mut (*function).min, value);
        }
        if value > (*function).max {
            raise(&raw mut (*function).max, value);
        }
        arch::add_nth(at::<Bins>(thread.base, bins).cast(), sub, 1);
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
fn first_in_octave(thread: &Thread, record: Ref, value: u64) {
    // SAFETY: the record is the arena's.
    unsafe {
        // Where there is no room this happens at every call: nothing may be asked of the kernel.
        if may_not_have_bins(thread) {
            return file_without_bin(at(thread.base, record), value);
        }
        let spent = Spent::begin(thread);
        let Some(busy) = Busy::begin_often(thread) else {
            return arch::add(&raw mut (*at::<Function>(thread.base, record)).unbinned, 1);
        };
        if file_now(thread, record, value) {
            busy.end(spent);
        }
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
        let found = if may_not_have_bins(thread) { None } else { arena::record_for_times::<Bins>(thread) };
        let Some((bins, _)) = found else { return false };
        AtomicU32::from_ptr(&raw mut (*function).octaves[octave]).store(bins, Ordering::Release);
        true
    }
}

/// Whether there was no room for bins a moment ago.
fn may_not_have_bins(thread: &Thread) -> bool {
    thread.is_short_of_room() && (thread.is_short_of_spare_room() || !arena::has_spare_for_times(thread))
}
