//! Trials: what timing a call costs, measured in the running program.
//!
//! A loop of hooks that do nothing tells what they cost beside nothing. In a program the processor does other work at the
//! same time, and the caches hold other things. So now and then a thread goes through a trial (see [`Trials`]): a stretch
//! of calls is timed as always, one is counted only, in random order, and the difference is kept in the file. How many
//! calls were not timed for this is known for each path.

use crate::arch;
use crate::arena;
use crate::clock::{Clock, Tsc};
use crate::family::at;
use crate::frame::bits;
use crate::sys::SignalsBlocked;
use crate::thread::{Thread, live};
use core::sync::atomic::{AtomicU32, Ordering};
use profile::Trials;
use profile::trials::TRIALS;

/// Timed calls before the first trial: a short run is timed whole.
pub const FIRST: u64 = 1 << 15;
/// Timed calls between trials, at first.
const LEAST_PAUSE: u64 = 1 << 16;
/// Calls of a stretch: many beside the few at its edges that cost more.
const MOST_CALLS: u32 = 1024;
/// The least, where a recording root never makes so many.
const LEAST_CALLS: u32 = 128;

/// Where a trial is.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Waiting,
    /// In a stretch of timed calls; the other one is still to come, or over.
    Timed {
        is_first: bool,
    },
    /// In a stretch of counted calls.
    Counted {
        is_first: bool,
    },
}

/// A thread's trial.
pub struct Trial {
    stage: Stage,
    /// Calls of a stretch.
    calls: u32,
    /// When the present stretch began, in ticks.
    began: u64,
    /// What the first one took.
    first: u64,
    /// The outermost call that was open when the trial began, by its [`crate::frame::Frame::count`].
    outermost: u64,
}

impl Trial {
    /// No trial is under way. `calls`: of a stretch of the next one; 0 = as many as usual.
    pub fn wait(&mut self, calls: u32) {
        self.stage = Stage::Waiting;
        self.calls = if calls == 0 { MOST_CALLS } else { calls };
    }
}

/// The next step, in a thread whose calls are timed.
#[cold]
#[inline(never)]
pub unsafe fn step_timed(thread: &mut Thread) {
    let now = Tsc::now();
    // SAFETY: the thread has an arena.
    unsafe {
        match thread.trial.stage {
            Stage::Waiting => begin(thread),
            Stage::Timed { is_first: true } => {
                thread.trial.first = now - thread.trial.began;
                count_next(thread, false);
            }
            Stage::Timed { is_first: false } => {
                let (timed, counted) = (now - thread.trial.began, thread.trial.first);
                finish(thread, timed, counted);
            }
            // Something else has ended the stretch: the thread's state was set anew.
            Stage::Counted { .. } => pause(thread, 0),
        }
        thread.forget_time_since(now);
    }
    thread.trial.began = Tsc::now();
}

/// The end of a stretch of counted calls.
#[cold]
#[inline(never)]
pub unsafe fn step_counted(thread: &mut Thread) {
    let now = Tsc::now();
    thread.end_of_stretch = u64::MAX;
    let Stage::Counted { is_first } = thread.trial.stage else { return };
    let _ = thread.live.compare_exchange(live::COUNTED, live::TSC, Ordering::Relaxed, Ordering::Relaxed);
    let counted = now - thread.trial.began;
    // SAFETY: the thread has an arena.
    unsafe {
        if is_first {
            thread.trial.first = counted;
            time_next(thread, false);
        } else {
            let timed = thread.trial.first;
            finish(thread, timed, counted);
        }
        thread.forget_time_since(now);
    }
    thread.trial.began = Tsc::now();
}

/// No trial goes on, as too many calls of one path were not timed for them already.
pub fn give_up(thread: &mut Thread) {
    thread.trial.wait(0);
    (thread.next_trial, thread.end_of_stretch) = (u64::MAX, u64::MAX);
    let _ = thread.live.compare_exchange(live::COUNTED, live::TSC, Ordering::Relaxed, Ordering::Relaxed);
}

unsafe fn begin(thread: &mut Thread) {
    // SAFETY: the arena is the thread's.
    unsafe {
        if (*thread.arena).trials == 0 {
            let _blocked = SignalsBlocked::new();
            let Some((reference, _)) = arena::record::<Trials>(thread, false) else { return give_up(thread) };
            AtomicU32::from_ptr(&raw mut (*thread.arena).trials).store(reference, Ordering::Release);
        }
        let Some(outermost) = outermost(thread) else { return pause(thread, 0) };
        thread.trial.outermost = outermost;
    }
    if thread.random_below(2) == 0 {
        time_next(thread, true);
    } else {
        count_next(thread, true);
    }
}

fn time_next(thread: &mut Thread, is_first: bool) {
    thread.trial.stage = Stage::Timed { is_first };
    thread.next_trial = thread.count + u64::from(thread.trial.calls);
}

fn count_next(thread: &mut Thread, is_first: bool) {
    thread.trial.stage = Stage::Counted { is_first };
    thread.end_of_stretch = thread.counted + u64::from(thread.trial.calls);
    thread.next_trial = thread.count + 1;
    let _ = thread.live.compare_exchange(live::TSC, live::COUNTED, Ordering::Relaxed, Ordering::Relaxed);
}

/// Keeps the result of a trial, unless the program went through something else than calls meanwhile: its outermost
/// recorded call, and what lies between two such calls, are no part of it.
unsafe fn finish(thread: &mut Thread, timed: u64, counted: u64) {
    // SAFETY: the arena is the thread's, and has a record for them.
    unsafe {
        if outermost(thread) != Some(thread.trial.outermost) {
            let fewer = thread.trial.calls / 2;
            return pause(thread, fewer.max(LEAST_CALLS));
        }
        let per_call = (timed as i64 - counted as i64) * 1024 / i64::from(thread.trial.calls);
        let trials: *mut Trials = at(thread.base, (*thread.arena).trials);
        let place = (*trials).count as usize % TRIALS;
        (*trials).differences[place] = per_call.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        arch::add(&raw mut (*trials).count, 1);
    }
    let calls = thread.trial.calls;
    pause(thread, calls);
}

/// Waits for the next trial: ever longer, so that of a long run few calls are not timed.
fn pause(thread: &mut Thread, calls: u32) {
    thread.trial.wait(calls);
    thread.next_trial = thread.count + LEAST_PAUSE.max(thread.count / 64);
}

/// The outermost call that is open, if it is timed.
unsafe fn outermost(thread: &Thread) -> Option<u64> {
    // SAFETY: the frame above the bottom is there if any call is open.
    let frame = unsafe { &*thread.bottom.add(1) };
    (!thread.is_empty() && frame.bits & bits::COUNTED == 0).then_some(frame.count)
}
