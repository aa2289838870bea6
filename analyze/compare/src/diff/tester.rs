//! Tests of so many runs a side: of times, and of counts.

use super::Options;
use super::comparison::{CountVerdict, Counts, Interval, Test};
use crate::observed::uncertainty::{Code, OfDifference, Uncertainty};
use crate::statistics::{Medians, Ranks, Splits, median, smallest_p};

/// The chance with which intervals hold the difference.
const LEVEL: f64 = 0.95;

/// An interval that holds it with less of a chance is none to speak of: there are fewer than three runs a side.
const LEAST_LEVEL: f64 = 0.85;

/// With fewer runs nobody knows whether counts that are the same in all of them are always so.
pub const LEAST_RUNS: usize = 3;

/// How far off values may be as times were corrected, in nanoseconds; those of a side's mean run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Errors {
    /// Of each side's.
    pub sides: [f64; 2],
    /// Of the difference.
    pub difference: f64,
}

impl Errors {
    /// Of values with that uncertainty.
    pub fn of(sides: &[Uncertainty; 2], code: Code) -> Self {
        let [left, right] = sides;
        Self { sides: [left.error(), right.error()], difference: OfDifference::of(left, right, code).ns() }
    }

    /// Of estimates that are each off by their own.
    pub fn apart(sides: [f64; 2]) -> Self {
        Self { sides, difference: sides[0].hypot(sides[1]) }
    }
}

/// Tests series of that many runs.
#[derive(Clone, Debug)]
pub struct Tester {
    /// Ways to split the runs.
    pub splits: Splits,
    ranks: Ranks,
    /// The smallest p-value that can come out.
    pub smallest_p: f64,
    /// How many runs each side has.
    pub runs: [usize; 2],
}

impl Tester {
    /// For that many runs a side.
    pub fn new(runs: [usize; 2], options: &Options) -> Self {
        let [left, right] = runs;
        Self {
            splits: Splits::new(left, right, options.splits),
            ranks: Ranks::new(left, right),
            smallest_p: smallest_p(left, right),
            runs,
        }
    }

    /// Tests values.
    pub fn test(&self, values: &[Vec<f64>; 2], errors: Errors) -> Test {
        let [left, right] = values;
        let medians = Medians::of(left, right, &self.splits);
        let part = |ns: f64| (medians.left > 0.0).then(|| ns / medians.left);
        let interval = self.ranks.interval(left, right, LEVEL).filter(|_| medians.left > 0.0).map(|interval| {
            Interval { low: interval.low / medians.left, high: interval.high / medians.left, level: interval.level }
        });
        let difference = part(medians.difference());
        let plus_minus = difference.zip(interval).filter(|(_, interval)| interval.level > LEAST_LEVEL);
        let plus_minus = plus_minus.map(|(difference, interval)| {
            let by_chance = (interval.high - difference).max(difference - interval.low);
            by_chance.hypot(errors.difference / medians.left)
        });
        Test {
            left_median: medians.left,
            right_median: medians.right,
            difference,
            threshold: part(medians.threshold),
            spread: part(medians.spread),
            interval,
            plus_minus,
            left_error_ns: errors.sides[0],
            right_error_ns: errors.sides[1],
            error_ns: errors.difference,
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

    /// Whether the difference is more than the correction and chance together may be off by.
    pub fn is_resolved(&self) -> bool {
        match (self.difference, self.plus_minus) {
            (Some(difference), Some(plus_minus)) => difference.abs() >= plus_minus,
            _ => self.difference_ns().abs() >= self.error_ns,
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
