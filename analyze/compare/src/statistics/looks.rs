//! How much of a level each look at the runs may spend, where more are made as long as that may decide something.
//!
//! Who tests again after every few runs, and stops at the first p-value that is small enough, finds something in the end
//! whether it is there or not. So the level is divided among the looks beforehand: after a part t of the most runs,
//! level × t² may be spent (the power family of K. Kim, D. DeMets 1987, for the spending of K. Lan, D. DeMets 1983), and a look
//! is tested at what has been added since the last one. What the looks have in common is not made use of: their levels
//! add up to the whole, so the chance of any false alarm at any look is at most that, however the looks depend on each
//! other, and the false discovery rate likewise.

use serde::Serialize;

/// At how many runs of each side the runs are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Looks {
    /// First.
    pub first: usize,
    /// Last: more are not made.
    pub most: usize,
}

impl Looks {
    /// All of them: each time two fifths more runs.
    pub fn at(self) -> Vec<usize> {
        let mut all = vec![self.first];
        while let Some(last) = all.last().copied().filter(|last| *last < self.most) {
            let next = (last + last.div_ceil(5) * 2).max(last + 1);
            // A last look at few runs more would be wasted.
            all.push(if next + last.div_ceil(5) >= self.most { self.most } else { next });
        }
        all
    }

    /// After how many runs the next look is.
    pub fn next(self, runs: usize) -> usize {
        self.at().into_iter().find(|look| *look > runs).unwrap_or(self.most)
    }

    /// The level at which so many runs of each side are tested, of the whole. Runs that ended between two looks, as the time
    /// was up, or before the first, are the last to be looked at: they are tested at all that is left.
    pub fn level(self, runs: usize, whole: f64) -> f64 {
        let looks = self.at();
        let before = looks.iter().rev().find(|look| **look < runs).map_or(0.0, |look| self.spent(*look));
        let until = if looks.contains(&runs) { self.spent(runs) } else { 1.0 };
        whole * (until - before)
    }

    /// The part of the level that may be spent until then.
    fn spent(self, runs: usize) -> f64 {
        (runs as f64 / self.most as f64).powi(2).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn looks_come_at_more_and_more_runs_up_to_the_most() {
        let at = |first, most| Looks { first, most }.at();
        assert_eq!(at(10, 20), [10, 14, 20]);
        assert_eq!(at(10, 10), [10]);
        assert_eq!(at(5, 100), [5, 7, 11, 17, 25, 35, 49, 69, 100]);
        assert_eq!(at(1, 3), [1, 3]);
    }

    #[test]
    fn runs_that_are_looked_at_once_have_the_whole_level() {
        assert_eq!(Looks { first: 10, most: 10 }.level(10, 0.05), 0.05);
        let looks = Looks { first: 10, most: 20 };
        assert_eq!(looks.level(7, 0.05), 0.05, "the time was up before anybody looked");
        assert_eq!(looks.level(10, 0.05), 0.0125);
        assert!((looks.level(12, 0.05) - 0.0375).abs() < 1e-12, "the time was up after the first look");
    }

    proptest! {
        #[test]
        fn all_looks_together_spend_the_level(first in 1usize..200, more in 0usize..500, cut in 1usize..700) {
            let looks = Looks { first, most: first + more };
            let all: f64 = looks.at().iter().map(|runs| looks.level(*runs, 0.05)).sum();
            prop_assert!((all - 0.05).abs() < 1e-12);
            // Whenever it ends early.
            let until: f64 = looks.at().iter().filter(|look| **look < cut).map(|runs| looks.level(*runs, 0.05)).sum();
            prop_assert!(until + looks.level(cut, 0.05) <= 0.05 + 1e-12);
            prop_assert!(looks.at().is_sorted() && looks.at().last() == Some(&looks.most));
        }
    }
}
