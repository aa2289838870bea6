//! A function: its calls, its times, and what it called.

use crate::histogram::{Histogram, Refinement};
use crate::merge::{Bound, OffCpu};
use crate::time::Time;
use crate::timeline::Timelines;

/// A function's number: functions that are shown as one have the same.
pub type FunctionId = u32;

/// A function and what it called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Calls entered.
    pub calls: u64,
    /// Of these, calls whose body is inlined in another function.
    pub inlined_calls: u64,
    /// Calls left without an exit.
    pub unwound: u64,
    /// Calls that returned.
    pub returned: u64,
    /// Those of them that are counted by function only, and have no times.
    pub without_times: u64,
    /// Of what is told since an earlier moment: calls that were open then.
    pub open_before: i64,
    /// Calls that their paths say are open: of a path at least one that is.
    pub marked_open: u64,
    /// Open calls that were entered before the counters were reset.
    pub open_since_reset: u64,
    /// What its outermost calls that are open have taken, as measured.
    pub so_far: Time,
    /// If any are open: what that time goes up to.
    pub bound: Option<Bound>,
    /// Times, corrected.
    pub corrected: Sums,
    /// Times, as measured.
    pub raw: Sums,
    /// How far off the corrected total may be.
    pub error: Time,
    /// How far off the corrected own time may be.
    pub own_error: Time,
    /// What of the total was off the processor.
    pub off: OffCpu,
    /// What of its own time.
    pub own_off: OffCpu,
    /// Times of calls that returned.
    pub histogram: Histogram,
    /// Processes that called it; those that share an arena count as one.
    pub processes: u64,
    /// When it ran, if it is a root.
    pub timelines: Timelines,
    /// What it called, in the order of their numbers.
    pub callees: Vec<(FunctionId, Edge)>,
}

/// Times of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Of its outermost calls, with what they called.
    pub total: Time,
    /// Of all its calls, without what they called.
    pub own: Time,
    /// Of all its calls that have ended, with what they called; inside each other or not.
    pub closed: Time,
}

/// Calls of one function by another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// Calls entered.
    pub calls: u64,
    /// Times, corrected.
    pub corrected: EdgeSums,
    /// Times, as measured.
    pub raw: EdgeSums,
    /// How far off the corrected total may be.
    pub error: Time,
    /// How far off the corrected own time may be.
    pub own_error: Time,
    /// What of the total was off the processor.
    pub off: OffCpu,
    /// What of their own time.
    pub own_off: OffCpu,
}

/// Times of the calls of one function by another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeSums {
    /// Of calls by the caller's outermost calls: a part of the caller's total.
    pub total: Time,
    /// Of outermost calls by nested calls of a recursive caller: another view of time in the caller's total.
    pub nested: Time,
    /// Of all calls, without what they called.
    pub own: Time,
}

impl Function {
    /// Calls that have not returned yet, or never will.
    ///
    /// A path tells that a call of it is open; of several (a recursion that is folded, coroutines), what was entered and has not returned
    /// does. What has returned is read last of a running program ([`crate::load::read`]), so the second is then the less, and no more than
    /// there were.
    pub fn open(&self) -> u64 {
        let entered = self.calls.saturating_add_signed(self.open_before);
        let open = entered.saturating_sub(self.returned).saturating_sub(self.unwound);
        open.max(self.marked_open).saturating_add(self.open_since_reset)
    }

    /// Whether none of its calls was timed.
    pub fn are_only_counted(&self) -> bool {
        self.calls > 0 && self.without_times >= self.calls
    }

    /// Mean time of calls that returned, corrected. It lies between the shortest and the longest.
    pub fn mean(&self) -> Option<Time> {
        let Some(mean) = self.mean_of(&self.corrected) else { return self.histogram.mean() };
        Some(match (self.histogram.min(), self.histogram.max()) {
            (Some(min), Some(max)) => mean.max(min).min(max),
            _ => mean.at_least_zero(),
        })
    }

    /// Mean time of calls that returned, as measured.
    pub fn mean_raw(&self) -> Option<Time> {
        self.mean_of(&self.raw)
    }

    /// The mean as the sums have it, unless they have the time of calls that were left, too.
    fn mean_of(&self, sums: &Sums) -> Option<Time> {
        let with_times = self.returned.saturating_sub(self.without_times);
        let is_known = with_times > 0 && self.unwound == 0;
        is_known.then(|| Time::from_ns(sums.closed.ns() / with_times as f64))
    }

    /// Cuts off of its total what is more than all functions took by themselves, corrected and as measured: it has calls inside each other
    /// then, and what its outermost calls took is between that and its own time.
    pub(super) fn fit_total(&mut self, [corrected, raw]: [Time; 2]) {
        if self.corrected.total > corrected {
            self.corrected.total = corrected;
            self.error = self.error.max(corrected - self.corrected.own);
            self.own_error = self.own_error.min(corrected);
        }
        self.raw.total = self.raw.total.min(raw.max(self.raw.own));
    }

    /// Takes off the calls in the histogram what they cost beyond what the recorder has taken off.
    pub(super) fn refine(&mut self, refinement: Refinement) {
        // Of calls for which there was no room in the histogram it tells nothing, and they nothing of it.
        let are_all = refinement.calls == self.returned.saturating_sub(self.without_times);
        let mean = self.mean_of(&self.corrected).filter(|_| are_all);
        let corrected = mean.map_or(refinement.corrected, |mean| mean.at_least_zero().times(refinement.calls));
        self.histogram = self.histogram.refined_by(Refinement { corrected, ..refinement });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was subtracted is an average, and few calls in no bin may leave less than nothing of their sum: their mean was below zero.
    #[test]
    fn the_mean_of_calls_in_no_bin_lies_between_the_shortest_and_the_longest() {
        let mut histogram = Histogram::default();
        histogram.add_calls(2, Some((0, 5)), &[], 1e9);
        let function = Function { calls: 2, returned: 2, histogram, ..Function::default() };
        let mean = |closed_ns| {
            let corrected = Sums { closed: Time::from_ns(closed_ns), ..Sums::default() };
            Function { corrected, ..function.clone() }.mean().unwrap().ns()
        };
        assert_eq!([-6.0, 6.0, 60.0].map(mean), [0.0, 3.0, 5.0]);
    }
}
