//! What was measured of a path, and the same without what measuring cost.

use crate::merge::{Pairs, Part, PathId, Tree};
use crate::time::Time;

/// What hooks take at most, of what they take on the average. Those of a tree of 87,000 paths, met at random, took 3.2 times those of one
/// that is in the nearest cache (the benches' trees, on an Intel Xeon).
const MOST_TIMES: f64 = 4.0;

/// What was measured of a path; without the hooks' cost it may be less than nothing.
#[derive(Clone, Copy)]
pub struct Measured {
    /// Of all its calls, without what they called.
    pub own: Time,
    /// With what they called: of those that are not inside a folded recursion, and of those that are.
    pub inclusive: [Time; 2],
    /// The same of all that have ended.
    pub closed: Time,
    /// What those that are not inside a folded recursion took at least, whatever hooks cost there; 0 of what is as measured.
    pub least: Time,
    /// The same of their own time: of all its calls.
    pub least_own: Time,
    /// How far off what was taken off for the hooks may be: its calls', wherever that is part of.
    pub error: Time,
    /// The same of what was taken off its own time: for its calls, and for those that it made.
    pub own_error: Time,
    /// Whether it stands for others, so that what was called in there has no paths of its own, and its error is this one's.
    pub has_others: bool,
}

impl Measured {
    /// As it was measured.
    #[inline]
    pub fn of(tree: &Tree, path: PathId) -> Self {
        let (own, inclusive, closed) = tree.paths.times(path);
        let has_others = tree.paths.is_others(path) || tree.paths.is_edge(path);
        let [least, least_own, error, own_error] = [Time::ZERO; 4];
        Self { own, inclusive, closed, least, least_own, error, own_error, has_others }
    }

    /// Of its calls that are not inside a folded recursion, with all they called.
    pub fn outermost(&self) -> Time {
        self.inclusive[0]
    }

    /// Without what the hooks in it cost.
    #[inline]
    pub fn without_hooks(mut self, parts: &[Part], path: PathId) -> Self {
        (self.least, self.least_own) = (self.inclusive[0], self.own);
        for part in parts {
            let Some(pairs) = part.pairs(path) else { continue };
            let cost = |pairs: &Pairs| Time::from_ns(pairs.cost(&part.costs));
            let own = cost(&pairs.own);
            self.own = self.own - own;
            let inclusive = [cost(&pairs.inclusive[0]), cost(&pairs.inclusive[1])];
            self.inclusive = [self.inclusive[0] - inclusive[0], self.inclusive[1] - inclusive[1]];
            self.least = self.least - Time::from_ns(inclusive[0].ns() * MOST_TIMES);
            self.least_own = self.least_own - Time::from_ns(own.ns() * MOST_TIMES);
            // Nearly always the same: where no call is open.
            let closed = if pairs.closed.are(&pairs.inclusive[0]) { inclusive[0] } else { cost(&pairs.closed) };
            self.closed = self.closed - closed;
            let of_call = part.costs.error;
            let inside = pairs.inclusive[0].inner + pairs.inclusive[1].inner; // its own calls, and all in there
            let calls = if self.has_others { inside.max(pairs.calls) } else { pairs.calls };
            self.error += Time::from_ns(calls as f64 * of_call);
            let cost_of_call = Pairs::of_calls(1).cost(&part.costs);
            if cost_of_call > 0.0 {
                self.least = self.least - Time::from_ns(inclusive[0].ns() * of_call / cost_of_call);
                let calls = pairs.own.cost(&part.costs) / cost_of_call;
                let of_own = Time::from_ns(calls.max(0.0) * of_call);
                self.least_own = self.least_own - of_own;
                self.own_error += of_own;
            }
        }
        self
    }
}
