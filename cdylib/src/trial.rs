//! Trials: what timing a call costs, measured in the running program.
//!
//! A loop of hooks that do nothing tells what they cost beside nothing. In a program the processor does other work at the
//! same time, and the caches hold other things. So now and then a thread goes through a trial (see [`Trials`]): a stretch
//! of calls is timed as always, one is counted only, in random order, and the difference is kept in the file, with what the
//! counting hooks of a third stretch take. How many calls were not timed for this is known for each path.

use crate::arch;
use crate::arena;
use crate::busy::Busy;
use crate::clock::{Clock, Tsc};
use crate::family::at;
use crate::field::Field;
use crate::frame::bits;
use crate::thread::{Thread, live};
use core::sync::atomic::{AtomicU32, Ordering};
use profile::header::clock::TSC;
use profile::header::timing;
use profile::node::flag;
use profile::trials::TRIALS;
use profile::{NodeRecord, Trials};

/// Timed calls before the first trial: a short run is timed whole.
pub const FIRST: u64 = 1 << 17;
/// Timed calls between trials, at first.
const LEAST_PAUSE: u64 = 1 << 18;
/// Calls of a stretch: many beside the few at its edges that cost more.
const MOST_CALLS: u32 = 2048;
/// The least, where a recording root never makes so many.
const LEAST_CALLS: u32 = 128;
/// Calls before each stretch, of its kind: the first ones find the code in no cache and mislead the processor's guesses.
const WARM_UP: u32 = 256;

/// For each call of a path that is left out, so many are timed before: what is known of them stands for it.
const TIMED_FOR_EACH: u64 = 8;
/// Where calls take longer than this on the average, in units of what timing them costs, that cost hardly matters, and
/// trials are as many times rarer.
const LONG: u64 = 16;
/// No calls of a path are left out that take so long, in the same units: each may weigh as much as thousands of others.
const NEVER_LEFT_OUT: u64 = 256;

/// Fewer blanks than this say nothing.
const LEAST_BLANKS: u32 = 8;

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
    /// In a stretch of counted calls whose hooks are timed.
    Probed,
}

/// A thread's trial.
pub struct Trial {
    stage: Field<Stage>,
    /// Whether the stretch is still to begin.
    is_warming_up: Field<bool>,
    /// Calls of a stretch.
    calls: Field<u32>,
    /// What the outermost calls that have ended have taken, in ticks: the program's time as far as it is recorded.
    inside: Field<u64>,
    /// How long the program had been inside outermost calls when the present stretch began, in ticks.
    began: Field<u64>,
    /// [`Thread::count`] then.
    count: Field<u64>,
    /// What the first one took.
    first: Field<u64>,
    /// Calls that were timed in the stretch of counted ones.
    timed: Field<u64>,
    /// What a timed call took longer than a counted one, in 1/1024 ticks.
    difference: Field<i32>,
}

impl Trial {
    /// No trial is under way. `calls`: of a stretch of the next one; 0 = as many as usual.
    pub fn wait(&self, calls: u32) {
        self.stage.set(Stage::Waiting);
        self.is_warming_up.set(false);
        self.calls.set(if calls == 0 { MOST_CALLS } else { calls });
    }

    fn warm_up(&self, stage: Stage) {
        self.stage.set(stage);
        self.is_warming_up.set(true);
    }

    /// An outermost call ends, which took so long. They are timed in every stretch; between them the program does what is
    /// recorded nowhere.
    pub fn leave_root(&self, ticks: u64) {
        self.inside.set(self.inside.get().wrapping_add(ticks));
    }
}

fn begin_stretch(thread: &Thread) {
    thread.trial.began.set(inside(thread, Tsc::now()));
    thread.trial.count.set(thread.count.get());
}

/// What outermost calls have taken until now, in ticks.
fn inside(thread: &Thread, now: u64) -> u64 {
    // SAFETY: the frame above the bottom is there if any call is open.
    let so_far = if thread.is_empty() { 0 } else { unsafe { now.saturating_sub((*thread.bottom.get().add(1)).start) } };
    thread.trial.inside.get().wrapping_add(so_far)
}

/// Sets when a thread's first trial is.
pub fn schedule(thread: &Thread) {
    thread.trial.wait(0);
    thread.next_trial.set(FIRST);
    thread.blanks.set(0);
    thread.blank_ticks.set(0);
    let is_probed = is_sampled(thread) && thread.family.clock == TSC;
    thread.end_of_stretch.set(if is_probed { FIRST } else { u64::MAX });
}

fn is_sampled(thread: &Thread) -> bool {
    thread.family.settings.timing == timing::SAMPLED
}

/// The next step, in a thread whose calls are timed.
#[cold]
#[inline(never)]
pub unsafe fn step_timed(thread: &Thread) {
    let now = Tsc::now();
    // SAFETY: the thread has an arena.
    unsafe {
        match thread.trial.stage.get() {
            Stage::Waiting => begin(thread),
            Stage::Timed { .. } if thread.trial.is_warming_up.get() => {
                thread.trial.is_warming_up.set(false);
                thread.next_trial.set(thread.count.get() + u64::from(thread.trial.calls.get()));
            }
            Stage::Timed { is_first: true } => {
                thread.trial.first.set(taken(thread, now));
                count_next(thread, false);
            }
            Stage::Timed { is_first: false } => {
                let (timed, counted) = (taken(thread, now), thread.trial.first.get());
                finish(thread, timed, counted);
            }
            // Something else has ended the stretch: the thread's state was set anew.
            Stage::Counted { .. } | Stage::Probed => pause(thread, 0),
        }
        thread.forget_time_since(now);
    }
    begin_stretch(thread);
}

/// What the stretch that ends now has taken, in ticks.
fn taken(thread: &Thread, now: u64) -> u64 {
    inside(thread, now).saturating_sub(thread.trial.began.get())
}

/// The end of a stretch of counted calls.
#[cold]
#[inline(never)]
pub unsafe fn step_counted(thread: &Thread) {
    let now = Tsc::now();
    if thread.trial.is_warming_up.get() {
        thread.trial.is_warming_up.set(false);
        thread.probed.set(0);
        let calls = if thread.trial.stage.get() == Stage::Probed { LEAST_CALLS } else { thread.trial.calls.get() };
        thread.end_of_stretch.set(thread.counted.get() + u64::from(calls));
        thread.forget_time_since(now);
        return begin_stretch(thread);
    }
    thread.end_of_stretch.set(u64::MAX);
    let usual = if is_sampled(thread) { live::COUNTED } else { live::TSC };
    for state in [live::COUNTED, live::PROBED] {
        let _ = thread.live.compare_exchange(state, usual, Ordering::Relaxed, Ordering::Relaxed);
    }
    let counted = taken(thread, now);
    thread.trial.timed.set(thread.count.get().wrapping_sub(thread.trial.count.get()));
    // SAFETY: the thread has an arena.
    unsafe {
        match thread.trial.stage.get() {
            Stage::Counted { is_first: true } => {
                thread.trial.first.set(counted);
                time_next(thread, false);
            }
            Stage::Counted { is_first: false } => {
                let timed = thread.trial.first.get();
                finish(thread, timed, counted);
            }
            Stage::Probed => keep(thread),
            Stage::Waiting if is_sampled(thread) => begin_probing(thread),
            Stage::Waiting | Stage::Timed { .. } => {}
        }
        thread.forget_time_since(now);
    }
    begin_stretch(thread);
}

/// Whether a call of this path may be counted without being timed, in a stretch of such calls. Allows as many as may
/// follow it, too: the node's countdown tells how many have not.
pub unsafe fn may_leave_out(thread: &Thread, node: *mut NodeRecord) -> bool {
    // SAFETY: the caller's node.
    let node = unsafe { &mut *node };
    let calls = node.slot.calls + node.folded_slot.calls;
    if node.flags & flag::ROOT as u16 != 0 {
        return false; // all are in a timeline
    }
    if node.slot.ticks + node.folded_slot.ticks > calls * (thread.pair.get() >> 10) * NEVER_LEFT_OUT {
        return false;
    }
    // Of a short stretch of probes those paths must be part that are met seldom: their records are in no cache.
    let timed_for_each = if thread.trial.stage.get() == Stage::Probed { 2 } else { TIMED_FOR_EACH };
    let allowed = (calls / timed_for_each).min(u32::MAX.into()) as u32;
    let more = allowed.saturating_sub(node.sample).min(u32::from(u16::MAX) - 1);
    node.sample += more;
    node.countdown = more as u16; // this call is the first of them
    more > 0
}

unsafe fn begin(thread: &Thread) {
    // SAFETY: the arena is the thread's.
    unsafe {
        if !has_record(thread) {
            thread.next_trial.set(u64::MAX);
            return;
        }
    }
    if !is_outermost_timed(thread) {
        return pause(thread, 0);
    }
    if thread.random_below(2) == 0 {
        time_next(thread, true);
    } else {
        count_next(thread, true);
    }
}

/// The only stretch of a trial where not every call is timed.
unsafe fn begin_probing(thread: &Thread) {
    // SAFETY: the arena is the thread's.
    if unsafe { has_record(thread) } {
        probe_next(thread);
    }
}

/// Whether the arena has a record of trials; makes it one.
unsafe fn has_record(thread: &Thread) -> bool {
    // SAFETY: the arena is the thread's.
    unsafe {
        let arena = thread.arena.get();
        if (*arena).trials == 0 {
            let Some(_busy) = Busy::begin(thread) else { return false };
            let Some((reference, _)) = arena::record::<Trials>(thread, false) else { return false };
            AtomicU32::from_ptr(&raw mut (*arena).trials).store(reference, Ordering::Release);
        }
    }
    true
}

fn time_next(thread: &Thread, is_first: bool) {
    thread.trial.warm_up(Stage::Timed { is_first });
    thread.next_trial.set(thread.count.get() + u64::from(WARM_UP));
}

fn count_next(thread: &Thread, is_first: bool) {
    thread.trial.warm_up(Stage::Counted { is_first });
    thread.end_of_stretch.set(thread.counted.get() + u64::from(WARM_UP));
    thread.next_trial.set(thread.count.get() + 1);
    let _ = thread.live.compare_exchange(live::TSC, live::COUNTED, Ordering::Relaxed, Ordering::Relaxed);
}

/// What the two stretches tell. Then probes the hooks that only count.
unsafe fn finish(thread: &Thread, timed: u64, counted: u64) {
    let calls = thread.trial.calls.get();
    if !is_outermost_timed(thread) {
        return pause(thread, (calls / 2).max(LEAST_CALLS));
    }
    let left_out = u64::from(calls).saturating_sub(thread.trial.timed.get());
    // Each of those that were timed all the same has cost more than usual.
    if left_out < u64::from(calls / 8 * 7) {
        return pause(thread, calls);
    }
    if timed > u64::from(calls) * (thread.pair.get() >> 10) * LONG {
        pause(thread, calls);
        thread.next_trial.set(thread.next_trial.get() + LONG * LEAST_PAUSE);
        return;
    }
    thread.trial.difference.set(for_each(timed as i64 - counted as i64, left_out));
    probe_next(thread);
}

fn probe_next(thread: &Thread) {
    thread.trial.warm_up(Stage::Probed);
    thread.end_of_stretch.set(thread.counted.get() + u64::from(LEAST_CALLS));
    thread.next_trial.set(thread.count.get() + 1);
    for state in [live::TSC, live::COUNTED] {
        let _ = thread.live.compare_exchange(state, live::PROBED, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// Keeps the results of a trial.
unsafe fn keep(thread: &Thread) {
    let counted = u64::from(LEAST_CALLS).saturating_sub(thread.trial.timed.get());
    // SAFETY: the arena is the thread's, and has a record for them; the header is mapped.
    unsafe {
        let header = &*thread.family.header();
        let difference = match (is_sampled(thread), thread.blanks.get()) {
            (false, _) => Some(thread.trial.difference.get()),
            (true, 0..LEAST_BLANKS) => None,
            (true, blanks) => {
                let difference = for_each(thread.blank_ticks.get() as i64, blanks.into()) - header.blank_cost as i32;
                thread.inner.set(header.inner_cost.saturating_add_signed(difference.into()));
                thread.blanks.set(0);
                thread.blank_ticks.set(0);
                Some(difference)
            }
        };
        if let (Some(difference), true) = (difference, counted >= u64::from(LEAST_CALLS / 2)) {
            let trials: *mut Trials = at(thread.base, (*thread.arena.get()).trials);
            let place = (*trials).count as usize % TRIALS;
            (*trials).differences[place] = difference;
            (*trials).excesses[place] = for_each(thread.probed.get() as i64, counted) - header.probed_cost as i32;
            arch::add(&raw mut (*trials).count, 1);
        }
    }
    let calls = thread.trial.calls.get();
    pause(thread, calls);
}

/// A part of a sum of ticks, in 1/1024 ticks.
fn for_each(ticks: i64, calls: u64) -> i32 {
    (ticks * 1024 / calls as i64).clamp(i64::from(i32::MIN) / 2, i64::from(i32::MAX) / 2) as i32
}

/// Waits for the next trial: ever longer, so that of a long run few calls are not timed.
fn pause(thread: &Thread, calls: u32) {
    thread.trial.wait(calls);
    thread.next_trial.set(thread.count.get() + LEAST_PAUSE.max(thread.count.get() / 64));
    if is_sampled(thread) {
        thread.end_of_stretch.set(thread.counted.get() + LEAST_PAUSE.max(thread.counted.get() / 64));
    }
}

/// Whether the outermost call is timed, if any is open.
fn is_outermost_timed(thread: &Thread) -> bool {
    // SAFETY: the frame above the bottom is there if any call is open.
    thread.is_empty() || unsafe { (*thread.bottom.get().add(1)).bits & bits::COUNTED == 0 }
}
