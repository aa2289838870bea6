//! Calibration: what timing a call costs, measured in the running program.
//!
//! A loop of hooks that do nothing tells what they cost beside nothing. In a program the processor does other work at the
//! same time, and the caches hold other things. So now and then a thread goes through a calibration window (see [`Calibration`]): a stretch of
//! calls is timed as always, then one is only noted ([`crate::ring`]), and the difference is kept in the file. How many calls
//! were not timed for this is known for each path.

use crate::arch;
use crate::arena;
use crate::busy::Busy;
use crate::calibration::{Between, PARTS, Stage};
use crate::calibration_schedule::{add_up, inside, least_pause, moment, pause};
use crate::clock::{Clock, Tsc};
use crate::empty;
use crate::family::at;
use crate::frame::bits;
use crate::off_cpu;
use crate::ring;
use crate::spent::Spent;
use crate::sys;
use crate::thread::{Thread, live};
use core::sync::atomic::{AtomicU32, Ordering};
use profile::Calibration;
use profile::calibration::Found;
use profile::ring::SLOTS;

/// Calls of a stretch that is timed.
const TIMED: u64 = 2048;

/// Where calls take longer than this on the average, in units of what timing them costs, that cost hardly matters, and
/// windows are rarer.
const LONG: u64 = 16;

/// How many times rarer.
const RARER: u64 = 4;

const BEFORE: usize = 1;
const ONCE: usize = 2;
const WARM_UP_TWICE: usize = 3;
const TWICE: usize = 4;

fn begin_stretch(thread: &Thread) {
    thread.window.began.set(inside(thread, Tsc::now()));
    thread.window.count.set(thread.count.get());
}

/// The next step, in a thread whose calls are timed.
#[cold]
#[inline(never)]
pub unsafe fn step_timed(thread: &Thread) {
    if ring::is_pending(thread) {
        // A signal handler has left for good what was to go on with the stretch. Before the time that is taken off here begins:
        // calls that were noted may have begun as late as now.
        // SAFETY: the thread has an arena.
        unsafe { ring::leave(thread) };
    }
    if thread.is_switched() {
        // SAFETY: the thread's latest call is being entered.
        unsafe { off_cpu::before_entry(thread, thread.top.get()) };
    }
    let spent = Spent::begin(thread);
    let now = spent.began();
    let window = &thread.window;
    // SAFETY: the thread has an arena.
    unsafe {
        match window.stage.get() {
            Stage::Waiting if !leaves_calls(thread) && is_outermost_timed(thread) && has_record(thread) => {
                window.stage.set(Stage::Timed);
                window.switches.set(sys::context_switches());
                window.off.set(thread.off.get());
                thread.next_window.set(thread.count.get() + timed_calls(thread));
            }
            Stage::Timed if is_outermost_timed(thread) => note_next(thread, now),
            _ => pause(thread),
        }
        spent.end(thread);
    }
    begin_stretch(thread);
}

/// Whether calls were left without an exit since this was last asked, or other stacks were run on. In a program that often does
/// so, whose call a new path is under must be looked for on the stack while it is open.
unsafe fn leaves_calls(thread: &Thread) -> bool {
    // SAFETY: the arena is the thread's.
    let unwound = unsafe { (*thread.arena.get()).unwound };
    let before = thread.window.unwound.get();
    thread.window.unwound.set(unwound);
    let was_elsewhere = thread.window.is_elsewhere.get();
    thread.window.is_elsewhere.set(false);
    unwound != before || was_elsewhere
}

/// Calls of a stretch that is timed: no more than lie between two windows.
fn timed_calls(thread: &Thread) -> u64 {
    TIMED.min(thread.family.settings.windows)
}

/// Behind which slot a part of the stretch that is noted ends. A call takes two.
fn end_of(thread: &Thread, part: usize) -> usize {
    let quarter = (thread.family.settings.windows as usize).saturating_mul(8).clamp(64, SLOTS) / 4;
    match part {
        ..=ONCE => quarter * (part + 1),
        WARM_UP_TWICE => quarter * 3 + quarter / 4,
        _ => quarter * 4,
    }
}

/// The end of the stretch of timed calls.
unsafe fn note_next(thread: &Thread, now: u64) {
    let window = &thread.window;
    let calls = thread.count.get().wrapping_sub(window.count.get());
    let off = thread.family.ticks(thread.off.get().since(window.off.get()).sum());
    window.timed.set(taken(thread, now).saturating_sub(off));
    window.timed_calls.set(calls);
    if window.timed.get() > most(thread, calls) {
        pause(thread);
        return thread.next_window.set(thread.next_window.get() + RARER * least_pause(thread));
    }
    add_up(thread, now);
    if sys::context_switches() != window.switches.get() {
        return pause(thread); // nothing would be kept, and what was timed is added up
    }
    window.stage.set(Stage::Noted);
    thread.ring_began.set(now);
    window.part.set(0);
    window.starts[0].set(0);
    // SAFETY: the thread has an arena.
    if unsafe { ring::begin(thread, end_of(thread, 0)) } {
        thread.next_window.set(u64::MAX);
    } else {
        pause(thread);
    }
}

/// What so many calls may take where what timing them costs matters.
fn most(thread: &Thread, calls: u64) -> u64 {
    calls * (thread.pair.get() >> 10).max(1) * LONG
}

/// The ring is full, up to the limit that was set. False if nothing can be done now: a change of the state is under way.
#[cold]
#[inline(never)]
pub unsafe fn step_noted(thread: &Thread) -> bool {
    let spent = Spent::begin(thread);
    let now = spent.began();
    let window = &thread.window;
    // SAFETY: the thread has an arena.
    unsafe {
        // Nothing that could be left for later: it would disturb the processor's caches, and its guesses.
        let (part, slot) = (window.part.get(), ring::taken(thread));
        if part < PARTS {
            window.parts[part].set((taken(thread, now), thread.count.get().wrapping_sub(window.count.get())));
            window.starts[part + 1].set(slot);
        }
        let is_noted = window.stage.get() == Stage::Noted;
        if is_noted && part + 1 < PARTS && slot < end_of(thread, part + 1) {
            window.part.set(part + 1);
            ring::go_on(thread, end_of(thread, part + 1), part + 1 >= WARM_UP_TWICE);
            spent.end(thread);
            begin_stretch(thread);
            return true;
        }
        arch::need_stack::<{ ring::FINISH }>();
        let Some(_busy) = Busy::begin(thread) else { return false };
        let is_complete = is_noted
            && part + 1 == PARTS
            && is_outermost_timed(thread)
            && sys::context_switches() == window.switches.get();
        ring::finish(thread);
        arch::clear_stack::<{ ring::FINISH }>();
        let spent = Spent::begin(thread); // what came before, the end of the stretch has taken off
        // The ring still has what was noted.
        let found = [BEFORE, ONCE, TWICE].map(|part| is_complete.then(|| result(thread, part)).flatten());
        if let [Some(before), Some(once), Some(twice)] = found {
            keep(thread, before, once, twice);
        }
        spent.end(thread);
        pause(thread);
    }
    true
}

/// What a call took in a part of the noted stretch, in 1/1024 ticks. `None` if that says nothing.
unsafe fn result(thread: &Thread, part: usize) -> Option<i32> {
    let window = &thread.window;
    let (ticks, timed_all_the_same) = window.parts[part].get();
    // SAFETY: the ring is the thread's.
    let calls = unsafe { ring::calls_between(thread, window.starts[part].get(), window.starts[part + 1].get()) };
    let is_whole = calls > 0 && timed_all_the_same < calls / 8 && ticks <= most(thread, calls);
    is_whole.then(|| for_each(ticks as i64, calls))
}

/// Keeps the result of a window.
unsafe fn keep(thread: &Thread, before: i32, once: i32, twice: i32) {
    let window = &thread.window;
    // All timed calls since the last result tell more than the latest of them.
    let between = window.between.get();
    window.between.set(Between::NOTHING);
    let (ticks, calls) = match between.on_processor() {
        Some(ticks) => (ticks, between.calls),
        None => (window.timed.get(), window.timed_calls.get()),
    };
    let passed = thread.count.get().wrapping_sub(window.last_kept.get());
    window.last_kept.set(thread.count.get());
    // SAFETY: the arena is the thread's, and has a record for them.
    unsafe {
        let results: &mut Calibration = &mut *at(thread.base, (*thread.arena.get()).calibration);
        results.made += 1;
        if let Some(hook) = ring::any_hook(thread) {
            let least = if results.empty_call == 0 { u32::MAX } else { results.empty_call };
            results.empty_call = empty::call_ticks(hook).min(least);
        }
        let weight = thousands(passed).max(1);
        results.add(&Found {
            timed: for_each(ticks as i64, calls),
            noted: once,
            own: twice - once,
            decline: before - once,
            calls: weight,
        });
    }
}

/// The thread ends, or its process does, as far as is known now: what it did since the last window is a part of the whole, too.
pub fn end(thread: &Thread) {
    let window = &thread.window;
    // SAFETY: the arena is the thread's.
    unsafe {
        if !thread.is(live::TSC) || window.stage.get() == Stage::Noted || (*thread.arena.get()).calibration == 0 {
            return;
        }
        let now = Tsc::now();
        add_up(thread, now);
        let between = window.between.get();
        // A process may end in several ways, one after the other.
        window.between.set(Between::NOTHING);
        window.since.set(moment(thread, now));
        let Some(ticks) = between.on_processor().filter(|&ticks| ticks <= most(thread, between.calls)) else { return };
        let results: &mut Calibration = &mut *at(thread.base, (*thread.arena.get()).calibration);
        results.extend(for_each(ticks as i64, between.calls), thousands(between.calls));
    }
}

/// What the stretch that ends now has taken, in ticks.
fn taken(thread: &Thread, now: u64) -> u64 {
    inside(thread, now).saturating_sub(thread.window.began.get())
}

/// Whether the arena has a record of windows; makes it one.
unsafe fn has_record(thread: &Thread) -> bool {
    // SAFETY: the arena is the thread's.
    unsafe {
        let arena = thread.arena.get();
        if (*arena).calibration == 0 {
            let Some(_busy) = Busy::begin(thread) else { return false };
            let Some((reference, _)) = arena::record::<Calibration>(thread, false) else { return false };
            AtomicU32::from_ptr(&raw mut (*arena).calibration).store(reference, Ordering::Release);
        }
    }
    true
}

/// A weight: how many thousand calls.
fn thousands(calls: u64) -> i32 {
    (calls >> 10).min(i32::MAX as u64) as i32
}

/// A part of a sum of ticks, in 1/1024 ticks.
fn for_each(ticks: i64, calls: u64) -> i32 {
    (ticks * 1024 / calls.max(1) as i64).clamp(i64::from(i32::MIN) / 2, i64::from(i32::MAX) / 2) as i32
}

/// Whether the outermost call is timed, if any is open.
fn is_outermost_timed(thread: &Thread) -> bool {
    // SAFETY: the frame above the bottom is there if any call is open.
    thread.is_empty() || unsafe { (*thread.bottom.get().add(1)).bits & bits::COUNTED == 0 }
}
