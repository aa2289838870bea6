//! Trials: what timing a call costs, measured in the running program.
//!
//! A loop of hooks that do nothing tells what they cost beside nothing. In a program the processor does other work at the
//! same time, and the caches hold other things. So now and then a thread goes through a trial (see [`Trials`]): a stretch of
//! calls is timed as always, then one is only noted ([`crate::ring`]), and the difference is kept in the file. How many calls
//! were not timed for this is known for each path.

use crate::arena;
use crate::busy::Busy;
use crate::clock::{Clock, Tsc};
use crate::empty;
use crate::family::at;
use crate::field::Field;
use crate::frame::bits;
use crate::off_cpu;
use crate::processor;
use crate::ring;
use crate::settings::Settings;
use crate::switches;
use crate::sys;
use crate::thread::{Thread, live};
use core::sync::atomic::{AtomicU32, Ordering};
use profile::Trials;
use profile::header::clock::TSC;
use profile::header::timing;
use profile::ring::SLOTS;
use profile::trials::Found;

/// Calls of a stretch that is timed.
const TIMED: u64 = 2048;

/// Where calls take longer than this on the average, in units of what timing them costs, that cost hardly matters, and
/// trials are rarer.
const LONG: u64 = 16;

/// How many times rarer.
const RARER: u64 = 4;

/// Parts of a stretch that is noted. The first is warm-up: what the hooks that time have pushed out of the caches comes back. The
/// second tells whether it still does in the third, of which the result is. In the last two each call is noted twice, first to
/// warm up, so that what noting takes is known.
const PARTS: usize = 5;
const BEFORE: usize = 1;
const ONCE: usize = 2;
const WARM_UP_TWICE: usize = 3;
const TWICE: usize = 4;

/// Where a trial is.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Waiting,
    /// In the stretch of timed calls.
    Timed,
    /// In the stretch of noted calls, or in its warm-up.
    Noted,
}

/// A thread's trial.
pub struct Trial {
    stage: Field<Stage>,
    /// What the outermost calls that have ended have taken, in ticks: the program's time as far as it is recorded.
    inside: Field<u64>,
    /// How long the program had been inside outermost calls when the present stretch began, in ticks.
    began: Field<u64>,
    /// [`Thread::count`] then.
    count: Field<u64>,
    /// What the stretch of timed calls took, and how many there were.
    timed: Field<u64>,
    timed_calls: Field<u64>,
    /// The moment when all calls began to be timed again.
    since: Field<Moment>,
    /// What calls have taken between that and noted stretches, since the latest result was kept.
    between: Field<Between>,
    /// How often the thread had been switched out when that began.
    switches: Field<[u64; 2]>,
    /// Which part of the noted stretch is under way.
    part: Field<usize>,
    /// At which slot each has begun.
    starts: [Field<usize>; PARTS + 1],
    /// What each has taken, and how many calls were timed in it all the same.
    parts: [Field<(u64, u64)>; PARTS],
    /// Calls that had been left without an exit when the last trial was to begin.
    unwound: Field<u64>,
    /// Whether code has run on another stack since.
    is_elsewhere: Field<bool>,
    /// [`Thread::count`] when the latest result was kept.
    last_kept: Field<u64>,
}

/// A moment, in ticks of different clocks.
#[derive(Clone, Copy)]
struct Moment {
    /// [`Thread::count`].
    count: u64,
    /// Time inside outermost calls.
    inside: u64,
    /// What the thread was off the processor, from some beginning.
    off: u64,
}

/// What lies between two moments.
#[derive(Clone, Copy)]
struct Between {
    calls: u64,
    ticks: u64,
    off: u64,
}

impl Between {
    const NOTHING: Self = Self { calls: 0, ticks: 0, off: 0 };
}

impl Trial {
    /// No trial is under way.
    pub fn wait(&self) {
        self.stage.set(Stage::Waiting);
    }

    /// Code runs on another stack than the latest open call.
    pub fn notice_other_stack(&self) {
        self.is_elsewhere.set(true);
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

fn moment(thread: &Thread, now: u64) -> Moment {
    let off = match switches::has_page(thread) {
        // Not what a hypervisor has taken: that is in the calls' times, in the cost's share of them as in the program's.
        true => thread.family.ticks(thread.off_ns.get()),
        false => now.wrapping_sub(thread.family.ticks(processor::own_ns())),
    };
    Moment { count: thread.count.get(), inside: inside(thread, now), off }
}

/// Adds what calls have taken since they began to be timed again.
fn add_up(thread: &Thread, now: u64) {
    let (since, until, so_far) = (thread.trial.since.get(), moment(thread, now), thread.trial.between.get());
    let off = until.off.wrapping_sub(since.off) as i64;
    thread.trial.between.set(Between {
        calls: so_far.calls + until.count.saturating_sub(since.count),
        ticks: so_far.ticks + until.inside.saturating_sub(since.inside),
        off: so_far.off + off.max(0) as u64,
    });
}

/// Sets when a thread's first trial is, from now on.
pub fn schedule(thread: &Thread) {
    let first = thread.family.settings.windows;
    thread.trial.wait();
    thread.trial.last_kept.set(0);
    thread.trial.between.set(Between::NOTHING);
    let is_tried = thread.family.settings.timing == timing::ALL && thread.family.clock == TSC && first != 0;
    thread.next_trial.set(if is_tried { thread.count.get() + first } else { u64::MAX });
    if is_tried {
        // Calls that are open now begin anew.
        thread.trial.since.set(Moment { inside: thread.trial.inside.get(), ..moment(thread, Tsc::now()) });
    }
}

/// The next step, in a thread whose calls are timed.
#[cold]
#[inline(never)]
pub unsafe fn step_timed(thread: &Thread) {
    if thread.is_switched() {
        // SAFETY: the thread's latest call is being entered.
        unsafe { off_cpu::before_entry(thread, thread.top.get()) };
    }
    let now = Tsc::now();
    let trial = &thread.trial;
    // SAFETY: the thread has an arena.
    unsafe {
        if ring::is_pending(thread) {
            // A signal handler has left for good what was to go on with the stretch.
            ring::leave(thread);
        }
        match trial.stage.get() {
            Stage::Waiting if !leaves_calls(thread) && is_outermost_timed(thread) && has_record(thread) => {
                trial.stage.set(Stage::Timed);
                trial.switches.set(sys::context_switches());
                thread.next_trial.set(thread.count.get() + timed_calls(thread));
            }
            Stage::Timed if is_outermost_timed(thread) => note_next(thread, now),
            _ => pause(thread),
        }
        thread.forget_time_since(now);
    }
    begin_stretch(thread);
}

/// Whether calls were left without an exit since this was last asked, or other stacks were run on. In a program that often does
/// so, whose call a new path is under must be looked for on the stack while it is open.
unsafe fn leaves_calls(thread: &Thread) -> bool {
    // SAFETY: the arena is the thread's.
    let unwound = unsafe { (*thread.arena.get()).unwound };
    let before = thread.trial.unwound.get();
    thread.trial.unwound.set(unwound);
    let was_elsewhere = thread.trial.is_elsewhere.get();
    thread.trial.is_elsewhere.set(false);
    unwound != before || was_elsewhere
}

/// Calls of a stretch that is timed: no more than lie between two trials.
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
    let trial = &thread.trial;
    let calls = thread.count.get().wrapping_sub(trial.count.get());
    trial.timed.set(taken(thread, now));
    trial.timed_calls.set(calls);
    if trial.timed.get() > most(thread, calls) {
        pause(thread);
        return thread.next_trial.set(thread.next_trial.get() + RARER * least_pause(thread));
    }
    add_up(thread, now);
    trial.stage.set(Stage::Noted);
    thread.ring_began.set(now);
    trial.part.set(0);
    trial.starts[0].set(0);
    // SAFETY: the thread has an arena.
    if unsafe { ring::begin(thread, end_of(thread, 0)) } {
        thread.next_trial.set(u64::MAX);
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
    let now = Tsc::now();
    let trial = &thread.trial;
    // SAFETY: the thread has an arena.
    unsafe {
        // Nothing that could be left for later: it would disturb the processor's caches, and its guesses.
        let (part, slot) = (trial.part.get(), ring::taken(thread));
        if part < PARTS {
            trial.parts[part].set((taken(thread, now), thread.count.get().wrapping_sub(trial.count.get())));
            trial.starts[part + 1].set(slot);
        }
        let is_noted = trial.stage.get() == Stage::Noted;
        if is_noted && part + 1 < PARTS && slot < end_of(thread, part + 1) {
            trial.part.set(part + 1);
            ring::go_on(thread, end_of(thread, part + 1), part + 1 >= WARM_UP_TWICE);
            thread.forget_time_since(now);
            begin_stretch(thread);
            return true;
        }
        let Some(_busy) = Busy::begin(thread) else { return false };
        let is_complete = is_noted
            && part + 1 == PARTS
            && is_outermost_timed(thread)
            && sys::context_switches() == trial.switches.get();
        ring::finish(thread);
        let since = Tsc::now();
        // The ring still has what was noted.
        let found = [BEFORE, ONCE, TWICE].map(|part| is_complete.then(|| result(thread, part)).flatten());
        if let [Some(before), Some(once), Some(twice)] = found {
            keep(thread, before, once, twice);
        }
        thread.forget_time_since(since);
        pause(thread);
    }
    true
}

/// What a call took in a part of the noted stretch, in 1/1024 ticks. `None` if that says nothing.
unsafe fn result(thread: &Thread, part: usize) -> Option<i32> {
    let trial = &thread.trial;
    let (ticks, timed_all_the_same) = trial.parts[part].get();
    // SAFETY: the ring is the thread's.
    let calls = unsafe { ring::calls_between(thread, trial.starts[part].get(), trial.starts[part + 1].get()) };
    let is_whole = calls > 0 && timed_all_the_same < calls / 8 && ticks <= most(thread, calls);
    is_whole.then(|| for_each(ticks as i64, calls))
}

/// Keeps the result of a trial.
unsafe fn keep(thread: &Thread, before: i32, once: i32, twice: i32) {
    let trial = &thread.trial;
    // All timed calls since the last result tell more than the latest of them. But what they were off the processor is in no trial.
    let between = trial.between.get();
    trial.between.set(Between::NOTHING);
    let (ticks, calls) = match between.off < between.ticks / 2 {
        true => (between.ticks - between.off, between.calls),
        false => (trial.timed.get(), trial.timed_calls.get()),
    };
    let passed = thread.count.get().wrapping_sub(trial.last_kept.get());
    trial.last_kept.set(thread.count.get());
    // SAFETY: the arena is the thread's, and has a record for them.
    unsafe {
        let trials: &mut Trials = &mut *at(thread.base, (*thread.arena.get()).trials);
        trials.made += 1;
        if let Some(hook) = ring::any_hook(thread) {
            let least = if trials.empty_call == 0 { u32::MAX } else { trials.empty_call };
            trials.empty_call = empty::call_ticks(hook).min(least);
        }
        let weight = thousands(passed).max(1);
        trials.add(&Found {
            timed: for_each(ticks as i64, calls),
            noted: once,
            own: twice - once,
            decline: before - once,
            calls: weight,
        });
    }
}

/// The thread ends, or its process does, as far as is known now: what it did since the last trial is a part of the whole, too.
pub fn end(thread: &Thread) {
    let trial = &thread.trial;
    // SAFETY: the arena is the thread's.
    unsafe {
        if !thread.is(live::TSC) || trial.stage.get() == Stage::Noted || (*thread.arena.get()).trials == 0 {
            return;
        }
        let now = Tsc::now();
        add_up(thread, now);
        let Between { calls, ticks, off } = trial.between.get();
        // A process may end in several ways, one after the other.
        trial.between.set(Between::NOTHING);
        trial.since.set(moment(thread, now));
        if off < ticks / 2 && ticks - off <= most(thread, calls) {
            let trials: &mut Trials = &mut *at(thread.base, (*thread.arena.get()).trials);
            trials.extend(for_each((ticks - off) as i64, calls), thousands(calls));
        }
    }
}

/// Something else has ended the stretch.
pub fn disturb(thread: &Thread) {
    if thread.trial.stage.get() == Stage::Noted {
        pause(thread);
    }
}

/// What the stretch that ends now has taken, in ticks.
fn taken(thread: &Thread, now: u64) -> u64 {
    inside(thread, now).saturating_sub(thread.trial.began.get())
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

/// A weight: how many thousand calls.
fn thousands(calls: u64) -> i32 {
    (calls >> 10).min(i32::MAX as u64) as i32
}

/// A part of a sum of ticks, in 1/1024 ticks.
fn for_each(ticks: i64, calls: u64) -> i32 {
    (ticks * 1024 / calls.max(1) as i64).clamp(i64::from(i32::MIN) / 2, i64::from(i32::MAX) / 2) as i32
}

/// Waits for the next trial: ever longer, so that of a long run few calls are not timed; and for no time that the program
/// could keep step with.
fn pause(thread: &Thread) {
    thread.trial.wait();
    let wait = |so_far: u64| {
        // More often where it was asked for: for tests.
        let is_asked_for = thread.family.settings.windows != Settings::DEFAULT.windows;
        let part = if is_asked_for { 256 } else { 16 };
        let usual = least_pause(thread).max(so_far / part);
        so_far + usual / 2 + u64::from(thread.random_below(usual.min(u32::MAX.into()) as u32 + 1))
    };
    thread.trial.since.set(moment(thread, Tsc::now()));
    thread.next_trial.set(wait(thread.count.get()));
}

/// Calls between trials, at first.
fn least_pause(thread: &Thread) -> u64 {
    thread.family.settings.windows * 2
}

/// Whether the outermost call is timed, if any is open.
fn is_outermost_timed(thread: &Thread) -> bool {
    // SAFETY: the frame above the bottom is there if any call is open.
    thread.is_empty() || unsafe { (*thread.bottom.get().add(1)).bits & bits::COUNTED == 0 }
}
