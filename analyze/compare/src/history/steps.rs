//! Steps of a series: where its values changed, and stayed so.
//!
//! As ClickHouse finds them in the history of its queries: between two neighbours there is a step if the medians of the runs
//! before and after are farther apart than the runs usually are from each other, and if the two, where they were run side by
//! side, differ by nearly as much. Beyond that, chance must be unlikely to put the runs apart so (the rank-sum test, times the
//! places where the step could have been).

use std::ops::Range;

use crate::statistics::{Ranks, median};

/// What chance alone may find, at most.
pub const LEVEL: f64 = 0.05;

/// Runs before and after a step that are looked at.
const WINDOW: usize = 11;

/// Fewest of them.
const FEWEST: usize = 3;

/// Neighbours that tell how far apart runs usually are.
const USUAL: usize = 37;

/// The share of those that are closer than that.
const QUANTILE: f64 = 0.95;

/// Of those, the nearest: a step is there at once, and not because of what came later.
const NEAREST: usize = 5;

/// How much of a step the nearest must show.
const AT_ONCE: f64 = 0.5;

/// The least step, as a part of the larger of both medians.
const LEAST: f64 = 0.05;

/// How much of a step must be seen side by side.
const SIDE_BY_SIDE: f64 = 0.7;

/// What a run, or a slice of time, says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The value.
    pub value: f64,
    /// What it is of: steps are between two of these. Samples of one come one after the other.
    pub point: usize,
    /// When it began, in nanoseconds since 1970.
    pub started: i64,
    /// When it ended.
    pub ended: i64,
}

/// A change that stayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The first sample after it.
    pub at: usize,
    /// The median before.
    pub before: f64,
    /// And after.
    pub after: f64,
    /// How far apart two runs are that follow each other, but for 5% of them, as a part of the larger of both medians.
    pub usual: f64,
    /// How likely chance alone puts the runs so far apart at any of the places where a step could be.
    pub p: f64,
    /// The change from before to after in runs that were made side by side, where there are some: as a part of the larger.
    pub side_by_side: Option<f64>,
}

impl Step {
    /// How high it is: as a part of what was before.
    pub fn change(&self) -> f64 {
        self.after / self.before - 1.0
    }
}

/// The steps of a series, in its order. `resolution` is how far off the difference of two parts' medians may be.
pub fn steps(samples: &[Sample], level: f64, resolution: impl Fn(Range<usize>, Range<usize>) -> f64) -> Vec<Step> {
    let mut found = Vec::new();
    let mut next: Vec<Range<usize>> = std::iter::once(0..samples.len()).collect();
    // What is found ends the windows of what is looked for on both sides of it.
    while let Some(range) = next.pop() {
        let best = best_step(samples, range.clone(), &resolution);
        if let Some(step) = best.filter(|step| step.p <= level) {
            next.extend([range.start..step.at, step.at..range.end]);
            found.push(step);
        }
    }
    found.sort_by_key(|step| step.at);
    found
}

/// The smallest p that a series of so many runs can show, before and after the place where it shows best.
pub fn smallest_p(samples: &[Sample]) -> f64 {
    let places: Vec<usize> = places(samples, 0..samples.len()).collect();
    let smallest = |&at: &usize| {
        let (left, right) = windows(0..samples.len(), at);
        crate::statistics::smallest_p(left.len(), right.len()) * places.len() as f64
    };
    places.iter().map(smallest).fold(1.0, f64::min)
}

fn best_step(
    samples: &[Sample],
    range: Range<usize>,
    resolution: &impl Fn(Range<usize>, Range<usize>) -> f64,
) -> Option<Step> {
    let places: Vec<usize> = places(samples, range.clone()).collect();
    let steps = places.iter().filter_map(|&at| {
        let (left, right) = windows(range.clone(), at);
        let [before, after] = [&left, &right].map(|window| values(samples, window.clone()));
        let [b, a] = [median(&before), median(&after)];
        let usual = usual(samples, range.clone(), at, b.max(a));
        let (height, least) = (relative(b, a).abs(), usual.max(LEAST));
        let nearest = [&before[before.len().saturating_sub(NEAREST)..], &after[..after.len().min(NEAREST)]];
        let is_at_once = (median(nearest[1]) - median(nearest[0])) / (a - b) >= AT_ONCE;
        let side_by_side = side_by_side(samples, at);
        let is_seen = side_by_side
            .is_none_or(|seen| seen.signum() == (a - b).signum() && seen.abs() >= (SIDE_BY_SIDE * height).max(least));
        if height < least || !is_at_once || !is_seen || (a - b).abs() <= resolution(left, right) {
            return None;
        }
        let p = Ranks::new(before.len(), after.len()).p(&before, &after) * places.len() as f64;
        Some(Step { at, before: b, after: a, usual, p: p.min(1.0), side_by_side })
    });
    let height = |step: &Step| relative(step.before, step.after).abs();
    steps.min_by(|one, other| one.p.total_cmp(&other.p).then(height(other).total_cmp(&height(one))))
}

/// Where steps can be, with enough runs on both sides.
fn places(samples: &[Sample], range: Range<usize>) -> impl Iterator<Item = usize> + '_ {
    let (first, end) = (range.start + FEWEST, (range.end + 1).saturating_sub(FEWEST));
    (first..end.max(first)).filter(|&at| samples[at - 1].point != samples[at].point)
}

fn windows(range: Range<usize>, at: usize) -> (Range<usize>, Range<usize>) {
    (at.saturating_sub(WINDOW).max(range.start)..at, at..(at + WINDOW).min(range.end))
}

fn values(samples: &[Sample], range: Range<usize>) -> Vec<f64> {
    samples[range].iter().map(|sample| sample.value).collect()
}

/// From one value to another, as a part of the larger.
fn relative(from: f64, to: f64) -> f64 {
    let larger = from.max(to);
    if larger > 0.0 { (to - from) / larger } else { 0.0 }
}

/// How far apart two samples that follow each other usually are, but for 5% of them, as a part of the median of the last of them: a step that
/// is lower is not found there. `None`: nobody can tell.
pub fn spread(samples: &[Sample]) -> Option<f64> {
    let last = samples.len().saturating_sub(USUAL)..samples.len();
    let middle = median(&values(samples, last));
    (samples.len() >= 2 * FEWEST && middle > 0.0).then(|| usual(samples, 0..samples.len(), samples.len(), middle))
}

/// How far apart two that follow each other usually are: of those before the place, and of those in the window after it. Not
/// between two points, where there may be a step, unless each sample is a point by itself. As parts of `scale`, not of themselves: what
/// takes next to nothing is always many times more or less than that, and may yet rise to something.
fn usual(samples: &[Sample], range: Range<usize>, at: usize, scale: f64) -> f64 {
    let are_slices = samples.windows(2).all(|two| two[0].point != two[1].point);
    let first = at.saturating_sub(USUAL).max(range.start);
    let last = (at + WINDOW).min(range.end);
    let pairs = (first + 1..last).filter(|&later| later != at);
    let pairs = pairs.filter(|&later| are_slices || samples[later - 1].point == samples[later].point);
    let apart = |later: usize| (samples[later].value - samples[later - 1].value).abs();
    let mut apart: Vec<f64> = pairs.map(|later| if scale > 0.0 { apart(later) / scale } else { 0.0 }).collect();
    apart.sort_unstable_by(f64::total_cmp);
    let rank = (QUANTILE * apart.len() as f64).ceil() as usize;
    apart.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

/// The difference between the points on both sides of a place in the time in which both were run, if there are enough such runs.
fn side_by_side(samples: &[Sample], at: usize) -> Option<f64> {
    let [before, after] = [samples[at - 1].point, samples[at].point]
        .map(|point| samples.iter().filter(move |sample| sample.point == point).collect::<Vec<_>>());
    let begin = |runs: &[&Sample]| runs.iter().map(|run| run.started).min();
    let end = |runs: &[&Sample]| runs.iter().map(|run| run.ended).max();
    let together = begin(&before)?.max(begin(&after)?)..end(&before)?.min(end(&after)?);
    let [before, after] = [before, after].map(|runs| {
        let within = runs.iter().filter(|run| together.contains(&run.started) || together.contains(&run.ended));
        within.map(|run| run.value).collect::<Vec<_>>()
    });
    (before.len() >= FEWEST && after.len() >= FEWEST).then(|| relative(median(&before), median(&after)))
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    /// Builds of five runs each, one after the other; `level` is a build's median.
    fn builds(random: &mut Pcg64Mcg, noise: f64, count: usize, level: impl Fn(usize) -> f64) -> Vec<Sample> {
        let sample = |number: usize| {
            // The sum of four is as good a bell as a run's noise is.
            let bell: f64 = (0..4).map(|_| random.random_range(-1.0..1.0)).sum::<f64>() / 1.155;
            let value = level(number / 5) * (1.0 + noise * bell).max(0.01);
            let started = number as i64 * 10;
            Sample { value, point: number / 5, started, ended: started + 5 }
        };
        (0..5 * count).map(sample).collect()
    }

    fn at(samples: &[Sample]) -> Vec<usize> {
        steps(samples, 0.05, |_, _| 0.0).iter().map(|step| samples[step.at].point).collect()
    }

    #[test]
    fn steps_are_found_where_they_are_and_nowhere_else() {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let (mut found, mut alarms) = (0, 0);
        for _ in 0..200 {
            let flat = builds(&mut random, 0.03, 20, |_| 100.0);
            alarms += usize::from(!at(&flat).is_empty());
            let stepped = builds(&mut random, 0.03, 20, |build| if build < 12 { 100.0 } else { 115.0 });
            found += usize::from(at(&stepped) == [12]);
        }
        assert!(found >= 190, "{found} of 200 steps of 15% in runs that vary by 3%");
        assert!(alarms <= 4, "{alarms} of 200 series without a step");
    }

    #[test]
    fn two_steps_are_two_and_what_goes_back_is_seen_to() {
        let mut random = Pcg64Mcg::seed_from_u64(2);
        let level = |build: usize| [100.0, 140.0, 100.0][(build / 5).min(2)];
        let samples = builds(&mut random, 0.02, 15, level);
        let steps = steps(&samples, 0.05, |_, _| 0.0);
        let changes: Vec<_> = steps.iter().map(|step| (step.at, step.change() > 0.0)).collect();
        assert_eq!(changes, [(25, true), (50, false)]);
    }

    #[test]
    fn one_bad_build_is_no_step_and_nor_is_what_cannot_be_resolved() {
        let mut random = Pcg64Mcg::seed_from_u64(3);
        let mut samples = builds(&mut random, 0.02, 12, |_| 100.0);
        samples[30].value = 400.0;
        assert_eq!(at(&samples), [0; 0]);
        let stepped = builds(&mut random, 0.02, 12, |build| if build < 6 { 100.0 } else { 120.0 });
        assert_eq!(steps(&stepped, 0.05, |_, _| 15.0).len(), 1);
        assert!(steps(&stepped, 0.05, |_, _| 25.0).is_empty(), "the error of the correction is larger");
    }

    /// Of a function that takes next to nothing, what is left after the correction is many times more in one run than in the next.
    #[test]
    fn what_rises_from_next_to_nothing_is_found() {
        let mut random = Pcg64Mcg::seed_from_u64(6);
        let mut rose = builds(&mut random, 0.05, 8, |build| if build < 4 { 5.0 } else { 180.0 });
        for (number, sample) in rose.iter_mut().enumerate().filter(|(_, sample)| sample.point < 4) {
            sample.value = [0.1, 4.0, 12.0, 5.0, 0.0][number % 5];
        }
        assert_eq!(at(&rose), [4]);
        assert!(at(&rose[..20]).is_empty());
    }

    #[test]
    fn what_was_run_side_by_side_without_a_difference_is_no_step() {
        let mut random = Pcg64Mcg::seed_from_u64(4);
        // The machine became slower between builds 5 and 6: both were run on it side by side.
        let mut samples = builds(&mut random, 0.02, 12, |build| if build < 6 { 100.0 } else { 120.0 });
        assert_eq!(at(&samples), [6]);
        let again = |value: f64, point: usize, started: i64| Sample { value, point, started, ended: started + 5 };
        let late: Vec<Sample> = (0..5).map(|run| again(119.0 + run as f64, 5, 300 + 10 * run)).collect();
        samples.splice(30..30, late);
        assert_eq!(at(&samples), [0; 0]);
    }

    #[test]
    fn too_few_runs_say_so() {
        let mut random = Pcg64Mcg::seed_from_u64(5);
        let samples = builds(&mut random, 0.02, 2, |_| 100.0);
        assert!((smallest_p(&samples) - 2.0 / 252.0).abs() < 1e-12);
        assert_eq!(smallest_p(&samples[..5]), 1.0);
    }
}
