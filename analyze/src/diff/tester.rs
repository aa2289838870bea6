//! Tests of so many runs a side: of times, and of counts.

use super::Options;
use super::comparison::{CountVerdict, Counts, Interval, Test};
use crate::statistics::{Medians, Ranks, Splits, median, smallest_p};

/// The chance with which intervals hold the difference.
const LEVEL: f64 = 0.95;

/// With fewer runs nobody knows whether counts that are the same in all of them are always so.
pub const LEAST_RUNS: usize = 3;

/// Tests series of that many runs.
#[derive(Clone, Debug)]
pub struct Tester {
    /// Ways to split the runs.
    pub splits: Splits,
    ranks: Ranks,
    /// The smallest p-value that can come out.
    pub smallest_p: f64,
}

impl Tester {
    /// For that many runs a side.
    pub fn new(runs: [usize; 2], options: &Options) -> Self {
        let [left, right] = runs;
        Self {
            splits: Splits::new(left, right, options.splits),
            ranks: Ranks::new(left, right),
            smallest_p: smallest_p(left, right),
        }
    }

    /// Tests values. Their errors are those of a side's mean run.
    pub fn test(&self, values: &[Vec<f64>; 2], errors: [f64; 2]) -> Test {
        let [left, right] = values;
        let medians = Medians::of(left, right, &self.splits);
        let part = |ns: f64| (medians.left > 0.0).then(|| ns / medians.left);
        let interval = self.ranks.interval(left, right, LEVEL).filter(|_| medians.left > 0.0);
        Test {
            left_median: medians.left,
            right_median: medians.right,
            difference: part(medians.difference()),
            threshold: part(medians.threshold),
            spread: part(medians.spread),
            interval: interval.map(|interval| Interval {
                low: interval.low / medians.left,
                high: interval.high / medians.left,
                level: interval.level,
            }),
            // Two estimates, each off by its own.
            error_ns: errors[0].hypot(errors[1]),
            p_medians: medians.p,
            p: self.ranks.p(left, right),
            p_adjusted: None,
            left: left.clone(),
            right: right.clone(),
        }
    }

    /// Compares counts; what varies is still to be tested.
    pub fn count(&self, calls: &[Vec<u64>; 2]) -> Counts {
        let [left, right] = calls;
        let (left_median, right_median) = (median(&floats(left)), median(&floats(right)));
        let is_constant = |counts: &[u64]| counts.windows(2).all(|pair| pair[0] == pair[1]);
        let are_few = left.len() < LEAST_RUNS || right.len() < LEAST_RUNS;
        let verdict = match is_constant(left) && is_constant(right) {
            true if left.first() == right.first() => CountVerdict::Equal,
            true if are_few => CountVerdict::Undecided,
            true => CountVerdict::Changed,
            false => CountVerdict::Varies,
        };
        Counts {
            left: left.clone(),
            right: right.clone(),
            left_median,
            right_median,
            difference: (left_median > 0.0).then(|| right_median / left_median - 1.0),
            verdict,
            p_adjusted: None,
        }
    }

    /// The p-value of counts.
    pub fn p_of_counts(&self, counts: &Counts) -> f64 {
        self.ranks.p(&floats(&counts.left), &floats(&counts.right))
    }

    /// Whether counts that vary differ by more than chance puts them apart.
    pub fn is_beyond_chance(&self, counts: &Counts) -> bool {
        Medians::of(&floats(&counts.left), &floats(&counts.right), &self.splits).reaches_threshold()
    }
}

impl Test {
    /// Whether medians are as far apart as chance puts them in one of a hundred cases.
    pub fn reaches_threshold(&self) -> bool {
        match (self.difference, self.threshold) {
            (Some(difference), Some(threshold)) => difference != 0.0 && difference.abs() >= threshold,
            _ => self.right_median > 0.0, // from nothing to something: what p says, it says alone
        }
    }

    /// Whether the difference is at least that part of the left median.
    pub fn is_at_least(&self, part: f64) -> bool {
        self.difference.map_or(self.right_median > 0.0, |difference| difference.abs() >= part)
    }
}

fn floats(counts: &[u64]) -> Vec<f64> {
    counts.iter().map(|&count| count as f64).collect()
}
