//! A path's sums one by one, for whoever writes them.

use super::call_path::Counts;
use super::latest::Bound;
use super::off_cpu::OffCpu;
use super::pairs::{Pairs, PathPairs};
use crate::time::Time;

/// All that is summed up for a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Its calls and times.
    pub counts: Counts,
    /// The hook pairs in those.
    pub pairs: PathPairs,
}

impl Row {
    /// How many sums there are.
    pub const SUMS: usize = 26;
    /// How many facts there are of calls that have not returned.
    pub const OPEN: usize = 5;

    /// What can be added up: times in [`Time::units`].
    pub fn sums(&self) -> [i128; Self::SUMS] {
        let Self { counts, pairs } = self;
        let count = i128::from;
        let of = |pairs: &Pairs| [pairs.inner, pairs.outer, pairs.untimed].map(i128::from);
        let [[a, b, c], [d, e, f]] = pairs.inclusive.map(|pairs| of(&pairs));
        let ([g, h, i], [j, k, l]) = (of(&pairs.own), of(&pairs.closed));
        let Counts { calls, closed, unwound, unbinned, without_times, own, inclusive, closed_time, off, .. } = *counts;
        let [wait, preempted, unknown, unseen] = [off.wait, off.preempted, off.unknown, off.unseen].map(Time::units);
        let [inclusive, nested] = inclusive.map(Time::units);
        let [calls, closed, unwound, unbinned, without_times] =
            [calls, closed, unwound, unbinned, without_times].map(count);
        let (own, closed_time, all) = (own.units(), closed_time.units(), pairs.calls.into());
        [
            calls,
            closed,
            unwound,
            unbinned,
            without_times,
            own,
            inclusive,
            nested,
            closed_time,
            g,
            h,
            i,
            a,
            b,
            c,
            d,
            e,
            f,
            j,
            k,
            l,
            all,
            wait,
            preempted,
            unknown,
            unseen,
        ]
    }

    /// What there is of calls that have not returned: how many, those of them that were entered before a reset, their time so
    /// far, up to what; and whether all this is what has come between two readings.
    pub fn open(&self) -> [i128; Self::OPEN] {
        let Counts { open, open_since_reset, so_far, bound, is_between, .. } = self.counts;
        let bound = bound.map_or(0, |bound| 1 + bound as i128);
        [open.into(), open_since_reset.into(), so_far.units(), bound, is_between.into()]
    }

    /// From both. `None` if they cannot be.
    pub fn of(sums: &[i128; Self::SUMS], open: &[i128; Self::OPEN]) -> Option<Self> {
        let pairs = |at: usize| -> Option<Pairs> {
            let [inner, outer, untimed] = [0, 1, 2].map(|part: usize| i64::try_from(sums[at + part]).ok());
            Some(Pairs { inner: inner?, outer: outer?, untimed: untimed? })
        };
        let count = |at: usize| u64::try_from(sums[at]).ok();
        let bounds = [None, Some(Bound::Running), Some(Bound::Exited), Some(Bound::SeenEnded), Some(Bound::LastSign)];
        let counts = Counts {
            calls: count(0)?,
            closed: count(1)?,
            unwound: count(2)?,
            unbinned: count(3)?,
            without_times: count(4)?,
            own: Time::from_units(sums[5]),
            inclusive: [6, 7].map(|at: usize| Time::from_units(sums[at])),
            closed_time: Time::from_units(sums[8]),
            off: OffCpu {
                wait: Time::from_units(sums[22]),
                preempted: Time::from_units(sums[23]),
                unknown: Time::from_units(sums[24]),
                unseen: Time::from_units(sums[25]),
            },
            open: open[0].try_into().ok()?,
            open_since_reset: open[1].try_into().ok()?,
            so_far: Time::from_units(open[2]),
            bound: *bounds.get(usize::try_from(open[3]).ok()?)?,
            is_between: open[4] != 0,
        };
        let calls = sums[21].try_into().ok()?;
        let pairs = PathPairs { own: pairs(9)?, inclusive: [pairs(12)?, pairs(15)?], closed: pairs(18)?, calls };
        Some(Self { counts, pairs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_the_same_from_its_numbers() {
        let mut sums = [0; Row::SUMS];
        (1..).zip(&mut sums).for_each(|(value, sum)| *sum = value * value);
        for bound in 0..5 {
            let open = [3, 2, 700, bound, i128::from(bound > 2)];
            let row = Row::of(&sums, &open).unwrap();
            assert_eq!((row.sums(), row.open()), (sums, open));
        }
        assert_eq!(Row::of(&sums, &[0, 0, 0, 5, 0]), None);
        sums[0] = -1;
        assert_eq!(Row::of(&sums, &[0; Row::OPEN]), None);
    }
}
