//! A call path of an arena, as plain data.

use diytrace_format::{Slot, node};

use super::timed::Timed;

/// A call path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Address of the function.
    pub function: u64,
    /// Return address of the physical function that the call is in.
    pub site: u64,
    /// Return address of the enter hook.
    pub hook: u64,
    /// Target of the call if it was a relative one, else 0.
    pub target: u64,
    /// The number of the function's module; 0 if it is not known.
    pub module: u32,
    /// That of the call site's.
    pub site_module: u32,
    /// Bits of [`node::flag`].
    pub flags: u32,
    /// The path above, by its place in [`super::Arena::nodes`]: always before this one.
    pub parent: Option<u32>,
    /// Of a folded recursion: the path of the same function that its calls are counted under.
    pub folded_into: Option<u32>,
    /// Whether its calls are in the timeline of its function.
    pub is_root: bool,
    /// Whether its calls are in the histogram of its function.
    pub has_histogram: bool,
    /// Its open call was so when the counters were reset, so it is not counted.
    pub is_open_since_reset: bool,
    /// Calls that were left without an exit.
    pub unwound: u64,
    /// Which of its calls were timed.
    pub timed: Timed,
    /// Counters.
    pub slots: [Slot; 2],
    /// How long its own code was off the processor.
    pub off: Off,
}

/// Time off the processor, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Off {
    /// Waiting.
    pub wait_ns: u64,
    /// While others had the processor.
    pub preempted_ns: u64,
}

impl Node {
    /// Whether its calls are counted only for what their hooks cost.
    pub fn is_untimed(&self) -> bool {
        self.flags & node::flag::UNTIMED != 0
    }

    /// Calls entered, as far as no edge has them, too.
    pub fn calls_once(&self) -> u64 {
        if self.is_others() { 0 } else { self.calls() }
    }

    /// Whether it stands for calls of its parent's whose paths gave way to others.
    pub fn is_others(&self) -> bool {
        self.flags & node::flag::OTHERS != 0
    }

    /// Calls entered.
    pub fn calls(&self) -> u64 {
        self.slots[0].calls.saturating_add(self.slots[1].calls)
    }
}
