//! A call path, and what is summed up of it.

use diytrace_format::node::flag;
use serde::{Deserialize, Serialize};

use super::latest::Bound;
use super::modules::PlaceId;
use super::off_cpu::OffCpu;
use crate::time::Time;

/// A path's place in [`super::Tree::paths`].
pub type PathId = u32;

/// A call path, with the sums over all that was merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallPath {
    /// What makes it another path than others.
    pub key: Key,
    /// Where the paths below it end.
    pub end: PathId,
    /// Target of the call if it was a relative one.
    pub target: Option<PlaceId>,
    /// Sums.
    pub counts: Counts,
}

/// What makes a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The path above.
    pub parent: Option<PathId>,
    /// The function.
    pub function: PlaceId,
    /// Return address of the physical function that the call is in.
    pub site: PlaceId,
    /// Return address of the enter hook.
    pub hook: PlaceId,
    /// Bits of [`flag`].
    pub flags: u32,
    /// Of a folded recursion: the path above, of the same function, that its callees are under.
    pub folded_into: Option<PathId>,
}

/// Sums over the calls of a path, with times as measured. What the hooks in them cost is another sum: see [`super::Part`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Counts {
    /// Calls entered.
    pub calls: u64,
    /// Calls not yet returned, as far as the path tells: of calls of one path inside each other, which only folded
    /// recursion has, one.
    pub open: u64,
    /// Calls not yet returned that were entered before the counters were reset.
    pub open_since_reset: u64,
    /// Calls that have ended.
    pub closed: u64,
    /// What the inclusive time has of calls not yet returned, as measured.
    pub so_far: Time,
    /// If there are such calls: what that time goes up to.
    pub bound: Option<Bound>,
    /// Calls left without an exit.
    pub unwound: u64,
    /// Calls that returned but are in no histogram.
    pub unbinned: u64,
    /// Calls of which nothing else is known: those that are counted by function only.
    pub without_times: u64,
    /// Whether these are what has come between two readings.
    pub is_between: bool,
    /// Time of all calls whose callees are here, without these.
    pub own: Time,
    /// Time of calls on this very path, and of those inside a folded recursion.
    pub inclusive: [Time; 2],
    /// Time of all calls that have ended.
    pub closed_time: Time,
    /// What of the time of its own code was off the processor.
    pub off: OffCpu,
}

impl Counts {
    /// Adds those of other calls of the same path.
    pub(super) fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.open = self.open.saturating_add(other.open);
        self.open_since_reset = self.open_since_reset.saturating_add(other.open_since_reset);
        self.closed = self.closed.saturating_add(other.closed);
        self.so_far += other.so_far;
        self.bound = self.bound.max(other.bound);
        self.unwound = self.unwound.saturating_add(other.unwound);
        self.unbinned = self.unbinned.saturating_add(other.unbinned);
        self.without_times = self.without_times.saturating_add(other.without_times);
        self.is_between |= other.is_between;
        self.own += other.own;
        for slot in 0..2 {
            self.inclusive[slot] += other.inclusive[slot];
        }
        self.closed_time += other.closed_time;
        self.off += other.off;
    }

    /// What has come since an earlier reading of the same path; what is open is so now, and has taken at most `longest`.
    pub(super) fn since(&self, earlier: &Self, longest: Time) -> Self {
        Self {
            calls: self.calls.saturating_sub(earlier.calls),
            open: self.open,
            open_since_reset: self.open_since_reset,
            closed: self.closed.saturating_sub(earlier.closed),
            so_far: self.so_far.min(longest),
            bound: self.bound,
            unwound: self.unwound.saturating_sub(earlier.unwound),
            unbinned: self.unbinned.saturating_sub(earlier.unbinned),
            without_times: self.without_times.saturating_sub(earlier.without_times),
            is_between: true,
            own: self.own - earlier.own,
            inclusive: [0, 1].map(|slot: usize| self.inclusive[slot] - earlier.inclusive[slot]),
            closed_time: self.closed_time - earlier.closed_time,
            off: self.off.since(earlier.off),
        }
    }
}

impl CallPath {
    /// Whether its calls are counted only for what their hooks cost.
    pub fn is_untimed(&self) -> bool {
        self.key.flags & flag::UNTIMED != 0
    }
}
