//! The randomisation test of the difference of medians: how far apart do two sides come by chance?
//!
//! If nothing has changed, it is chance which runs are on which side: any other split of all runs was as likely. T is the
//! difference of medians that 99% of them do not exceed. What ties with it counts as reaching it (ClickHouse/ClickHouse#21381).

use statrs::statistics::{Data, OrderStatistics};

use super::Splits;

/// The share of splits whose difference is at most T.
pub const QUANTILE: f64 = 0.99;

/// The medians of two sides, and how far apart chance puts them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Medians {
    /// Median of the left side.
    pub left: f64,
    /// Median of the right side.
    pub right: f64,
    /// T, in the unit of the values: the difference that 99% of all splits of the runs do not exceed.
    pub threshold: f64,
    /// The same for the runs' distances from the medians of their own sides: what T would be if nothing had changed.
    pub spread: f64,
    /// The share of splits whose medians are as far apart or farther.
    pub p: f64,
}

impl Medians {
    /// Of two sides with as many values as `splits` are of.
    pub fn of(left: &[f64], right: &[f64], splits: &Splits) -> Self {
        let (left_median, right_median) = (median(left), median(right));
        let pooled = sorted(left.iter().chain(right).copied());
        let centred =
            left.iter().map(|value| value - left_median).chain(right.iter().map(|value| value - right_median));
        let differences = differences(&pooled, splits);
        let observed = (right_median - left_median).abs();
        let reaching: u64 = differences.iter().filter(|(difference, _)| *difference >= observed).map(|(_, n)| n).sum();
        Self {
            left: left_median,
            right: right_median,
            threshold: quantile(differences, splits.count),
            spread: quantile(self::differences(&sorted(centred), splits), splits.count),
            p: match splits.are_all {
                _ if splits.count == 0 => 1.0,
                true => reaching as f64 / splits.count as f64,
                // What was observed is one of the splits that might have been drawn.
                false => (1 + reaching) as f64 / (1 + splits.count) as f64,
            },
        }
    }

    /// Right less left, in the unit of the values.
    pub fn difference(&self) -> f64 {
        self.right - self.left
    }

    /// Whether the medians are as far apart as chance puts them in one of a hundred cases.
    pub fn reaches_threshold(&self) -> bool {
        self.difference() != 0.0 && self.difference().abs() >= self.threshold
    }
}

/// The median; 0 of nothing.
pub fn median(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { Data::new(values.to_vec()).median() }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// How far apart the medians are in each split, and how often.
fn differences(sorted: &[f64], splits: &Splits) -> Vec<(f64, u64)> {
    let middle = |a: u16, b: u16| (sorted[usize::from(a)] + sorted[usize::from(b)]) / 2.0;
    let difference = |&([a, b, c, d], times): &([u16; 4], u64)| ((middle(c, d) - middle(a, b)).abs(), times);
    splits.middles.iter().map(difference).collect()
}

fn quantile(mut differences: Vec<(f64, u64)>, count: u64) -> f64 {
    differences.sort_unstable_by(|(a, _), (b, _)| b.total_cmp(a));
    // From the largest down, which is where the quantile is.
    let beyond = count - (QUANTILE * count as f64).ceil() as u64;
    let mut seen = 0;
    let reaches = |&&(_, times): &&(f64, u64)| {
        seen += times;
        seen > beyond
    };
    differences.iter().find(reaches).map_or(0.0, |&(difference, _)| difference)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(left: &[f64], right: &[f64]) -> Medians {
        Medians::of(left, right, &Splits::new(left.len(), right.len(), 10_000))
    }

    /// The chance that a comparison of runs of one kind reaches T: over all ways in which they might have been split.
    fn false_alarms(runs: usize) -> f64 {
        let splits = Splits::new(runs, runs, 10_000);
        let values: Vec<f64> = (0..2 * runs).map(|rank| ((rank + 1) as f64).powf(1.1)).collect();
        let threshold = quantile(differences(&values, &splits), splits.count);
        let alarms = differences(&values, &splits).iter().filter(|(d, _)| *d >= threshold).map(|(_, n)| n).sum::<u64>();
        alarms as f64 / splits.count as f64
    }

    #[test]
    fn false_alarms_of_few_runs() {
        for (runs, expected) in [(3, 0.20), (5, 0.048), (7, 0.012)] {
            assert!((false_alarms(runs) - expected).abs() < 5e-4, "{runs} runs a side: {}", false_alarms(runs));
        }
        assert!(false_alarms(10) < 0.0125, "{}", false_alarms(10));
    }

    #[test]
    fn a_clear_change_reaches_its_threshold_and_not_that_of_the_noise() {
        let left = [100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 106.0];
        let right = left.map(|value| value + 50.0);
        let medians = of(&left, &right);
        assert_eq!((medians.left, medians.right, medians.threshold), (103.0, 153.0, 50.0));
        assert!(medians.reaches_threshold());
        assert!(medians.spread < 6.0, "{}", medians.spread);
        assert!((medians.p - 40.0 / 3432.0).abs() < 1e-12, "{}", medians.p);
    }

    #[test]
    fn the_same_is_never_different() {
        let medians = of(&[5.0; 5], &[5.0; 5]);
        assert_eq!((medians.threshold, medians.p), (0.0, 1.0));
        assert!(!medians.reaches_threshold());
        assert_eq!(of(&[], &[1.0]).p, 1.0);
    }

    proptest! {
        #[test]
        fn sides_are_alike(
            left in prop::collection::vec(0.0..1e9f64, 1..6),
            right in prop::collection::vec(0.0..1e9f64, 1..6),
        ) {
            let (one, other) = (of(&left, &right), of(&right, &left));
            prop_assert!((one.threshold - other.threshold).abs() <= 1e-6 && (one.p - other.p).abs() < 1e-9);
            prop_assert_eq!(one.difference(), -other.difference());
        }

        #[test]
        fn all_splits_are_those_of_an_enumeration_by_hand(
            left in prop::collection::vec(0.0..1e3f64, 1..5),
            right in prop::collection::vec(0.0..1e3f64, 1..5),
        ) {
            let pooled: Vec<f64> = left.iter().chain(&right).copied().collect();
            let observed = (median(&right) - median(&left)).abs();
            let (mut all, mut reaching) = (0, 0);
            for mask in 0u32..1 << pooled.len() {
                if mask.count_ones() as usize != left.len() { continue }
                let side = |wanted: u32| -> Vec<f64> {
                    (0..pooled.len()).filter(|at| mask >> at & 1 == wanted).map(|at| pooled[at]).collect()
                };
                all += 1;
                reaching += u32::from((median(&side(0)) - median(&side(1))).abs() >= observed);
            }
            let p = of(&left, &right).p;
            prop_assert!((p - f64::from(reaching) / f64::from(all)).abs() < 1e-9, "{} for {}/{}", p, reaching, all);
        }
    }
}
