//! What profiles say of a function, one after the other.

use diytrace_compare::history::{Found, LEVEL, Part, Sample, steps};
use diytrace_compare::statistics::{median, poisson};

use super::document::{Measure, Point};
use crate::Per;
use crate::measured::Measured;

/// Profiles, or slices of time, in their order.
pub struct Series<'a> {
    pub parts: &'a [Part],
    /// Which point each is of.
    pub numbers: &'a [usize],
    /// What each says.
    pub runs: &'a [Measured],
    pub per: Per,
}

impl Series<'_> {
    /// A function's values where anything was sampled.
    pub fn samples(&self, function: usize, measure: Measure) -> Vec<Sample> {
        let all = self.parts.iter().zip(self.numbers).zip(self.runs);
        let there = all.filter(|(_, run)| run.whole(self.per) > 0.0);
        let sample = |((part, point), run): ((&Part, &usize), &Measured)| Sample {
            value: run.of(function, self.per)[measure as usize],
            point: *point,
            started: part.started,
            ended: part.ended,
        };
        there.map(sample).collect()
    }

    /// Its steps.
    pub fn found(&self, function: usize, measure: Measure) -> Vec<Found<Measure>> {
        let samples = self.samples(function, measure);
        // What sampling is off by is in how far apart profiles are.
        let steps = steps(&samples, LEVEL, |_, _| 0.0);
        steps.into_iter().map(|step| Found::of(measure, &step, samples[step.at].point)).collect()
    }

    /// Its points.
    pub fn points(&self, function: usize) -> Vec<Point> {
        let last = self.numbers.last().map_or(0, |last| last + 1);
        (0..last).map(|point| self.point(function, point)).collect()
    }

    fn point(&self, function: usize, point: usize) -> Point {
        let of_point: Vec<usize> = (0..self.parts.len()).filter(|at| self.numbers[*at] == point).collect();
        let mut whole = Measured::default();
        of_point.iter().filter(|at| self.runs[**at].profiles > 0).for_each(|at| whole.add(&self.runs[*at]));
        let there = of_point.iter().map(|at| &self.runs[*at]).filter(|run| run.whole(self.per) > 0.0);
        let [flat, cum]: [Vec<f64>; 2] = {
            let values: Vec<[f64; 2]> = there.map(|run| run.of(function, self.per)).collect();
            [0, 1].map(|which: usize| values.iter().map(|value| value[which]).collect())
        };
        let middle = |values: &[f64]| (!values.is_empty()).then(|| median(values));
        Point {
            value: of_point.first().map(|at| self.parts[*at].value.clone()).unwrap_or_default(),
            started_unix_ns: of_point.iter().map(|at| self.parts[*at].started).min().unwrap_or(0),
            ended_unix_ns: of_point.iter().map(|at| self.parts[*at].ended).max().unwrap_or(0),
            profiles: whole.profiles,
            flat: middle(&flat),
            flat_plus_minus: self.plus_minus(function, &whole),
            cum: middle(&cum),
            share: (whole.total > 0).then(|| whole.of(function, Per::Share)[0]),
        }
    }

    fn plus_minus(&self, function: usize, whole: &Measured) -> Option<f64> {
        let samples = whole.samples.as_ref().filter(|samples| samples.total > 0)?;
        let count = samples.functions.get(&function).map_or(0, |[flat, _]| *flat);
        let of_a_sample = whole.total as f64 / samples.total as f64;
        // Of one count: that beside it is none.
        let exposure = whole.whole(self.per) / of_a_sample;
        (exposure > 0.0).then(|| poisson::plus_minus([count, 0], [exposure, 1.0]))
    }
}
