//! How often each part of the hooks' cost is in a time. Like the times, that can be added up; what the parts cost is asked for
//! when all has been, see [`crate::correct`].
//!
//! A hook pair adds `inner` to the time it measures and `inner + outer` to that of every call it is made in.

use serde::{Deserialize, Serialize};

use crate::load::costs::Costs;

/// How often each part of the hooks' cost is in a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Pairs {
    /// [`Costs::inner`].
    pub inner: i64,
    /// [`Costs::outer`].
    pub outer: i64,
    /// [`Costs::untimed`].
    pub untimed: i64,
}

impl Pairs {
    /// What they cost, in the unit of `costs`.
    #[inline]
    pub fn cost(&self, costs: &Costs) -> f64 {
        let Self { inner, outer, untimed } = *self;
        let timed = inner as f64 * costs.inner + outer as f64 * costs.outer;
        timed + untimed as f64 * costs.untimed
    }

    /// Those of calls inside another whose number alone is known.
    #[inline]
    pub fn of_calls(calls: i64) -> Self {
        Self { inner: calls, outer: calls, untimed: 0 }
    }

    /// Whether they are the others. `==` would be a call of `memcmp`, for each of millions of paths.
    #[inline(always)]
    pub fn are(&self, others: &Self) -> bool {
        let differs = (self.inner ^ others.inner) | (self.outer ^ others.outer) | (self.untimed ^ others.untimed);
        differs == 0
    }

    /// With others.
    pub fn and(&self, other: &Self) -> Self {
        self.each(other, i64::saturating_add)
    }

    /// Without others.
    pub fn without(&self, other: &Self) -> Self {
        self.each(other, i64::saturating_sub)
    }

    #[inline]
    fn each(&self, other: &Self, of: impl Fn(i64, i64) -> i64) -> Self {
        Self {
            inner: of(self.inner, other.inner),
            outer: of(self.outer, other.outer),
            untimed: of(self.untimed, other.untimed),
        }
    }
}

/// The hook pairs in the times of a path: see [`super::Counts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PathPairs {
    /// In its self time.
    pub own: Pairs,
    /// In its inclusive times.
    pub inclusive: [Pairs; 2],
    /// In the time of calls that have ended.
    pub closed: Pairs,
    /// Calls that have cost all this: of each, the cost is so far off.
    pub calls: i64,
}

impl PathPairs {
    /// Adds those of the same path elsewhere.
    pub fn add(&mut self, other: &Self) {
        *self = self.each(other, Pairs::and, i64::saturating_add);
    }

    /// Without those of an earlier reading of the same path.
    pub fn since(&self, earlier: &Self) -> Self {
        let since = self.each(earlier, Pairs::without, i64::saturating_sub);
        Self { calls: since.calls.max(0), ..since }
    }

    fn each(&self, other: &Self, pairs: impl Fn(&Pairs, &Pairs) -> Pairs, calls: impl Fn(i64, i64) -> i64) -> Self {
        Self {
            own: pairs(&self.own, &other.own),
            inclusive: [0, 1].map(|slot: usize| pairs(&self.inclusive[slot], &other.inclusive[slot])),
            closed: pairs(&self.closed, &other.closed),
            calls: calls(self.calls, other.calls),
        }
    }
}
