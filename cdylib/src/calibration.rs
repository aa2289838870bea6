//! Where a thread's window of what timing costs is ([`crate::calibration_steps`]).

use crate::field::Field;
use crate::processor::Off;

/// Parts of a stretch that is noted. The first is warm-up: what the hooks that time have pushed out of the caches comes back. The
/// second tells whether it still does in the third, of which the result is. In the last two each call is noted twice, first to
/// warm up, so that what noting takes is known.
pub const PARTS: usize = 5;

/// Where a window is.
#[derive(Clone, Copy, PartialEq)]
pub enum Stage {
    Waiting,
    /// In the stretch of timed calls.
    Timed,
    /// In the stretch of noted calls, or in its warm-up.
    Noted,
}

/// A thread's window.
pub struct Window {
    pub stage: Field<Stage>,
    /// What the outermost calls that have ended have taken, in ticks: the program's time as far as it is recorded.
    pub inside: Field<u64>,
    /// How long the program had been inside outermost calls when the present stretch began, in ticks.
    pub began: Field<u64>,
    /// [`Thread::count`] then.
    pub count: Field<u64>,
    /// What the thread had been off the processor when the stretch of timed calls began, in nanoseconds.
    pub off: Field<Off>,
    /// What that stretch took on the processor, and how many calls there were.
    pub timed: Field<u64>,
    pub timed_calls: Field<u64>,
    /// The moment when all calls began to be timed again.
    pub since: Field<Moment>,
    /// Whether the thread was off the processor before that for a time of which it has not been told.
    pub is_off_due: Field<bool>,
    /// What calls have taken between that and noted stretches, since the latest result was kept.
    pub between: Field<Between>,
    /// How often the thread had been switched out when that began.
    pub switches: Field<[u64; 2]>,
    /// Which part of the noted stretch is under way.
    pub part: Field<usize>,
    /// At which slot each has begun.
    pub starts: [Field<usize>; PARTS + 1],
    /// What each has taken, and how many calls were timed in it all the same.
    pub parts: [Field<(u64, u64)>; PARTS],
    /// Calls that had been left without an exit when the last window was to begin.
    pub unwound: Field<u64>,
    /// Whether code has run on another stack since.
    pub is_elsewhere: Field<bool>,
    /// [`Thread::count`] when the latest result was kept.
    pub last_kept: Field<u64>,
}

/// A moment, in ticks of different clocks.
#[derive(Clone, Copy)]
pub struct Moment {
    /// [`Thread::count`].
    pub count: u64,
    /// Time inside outermost calls.
    pub inside: u64,
    /// What the thread was off the processor, from some beginning.
    pub off: Off,
}

/// What lies between two moments.
#[derive(Clone, Copy)]
pub struct Between {
    pub calls: u64,
    pub ticks: u64,
    pub off: Off,
}

impl Between {
    pub const NOTHING: Self = Self { calls: 0, ticks: 0, off: Off { wait: 0, preempted: 0 } };

    /// What the calls have taken on the processor. `None` where the thread waited for longer than that: what a wait takes on
    /// the processor at its beginning and its end is much beside so little, and is in no window. That others had the processor
    /// is no reason, however long: it is known to the nanosecond, and a call costs what it costs between two turns as well.
    pub fn on_processor(&self) -> Option<u64> {
        let on = self.ticks.checked_sub(self.off.sum())?;
        (self.off.wait < on).then_some(on)
    }
}

impl Window {
    /// No window is under way.
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
