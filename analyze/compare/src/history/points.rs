//! What recordings say of one function, and what those of one build or commit come to.

use diytrace_format::histogram::SUBS;
use diytrace_profile::histogram::Histogram;
use diytrace_profile::time::Time;
use diytrace_views::report::Bar;

use super::document::Point;
use super::part::Part;
use super::steps::Sample;
use crate::observed::Measured;
use crate::observed::uncertainty::{Code, OfDifference, Uncertainty};
use crate::statistics::median;

/// A function in each part, in their order.
pub type Values = Vec<Option<Measured>>;

/// Which parts are one point: slices of time are one each, recordings those with the same value.
pub fn numbers(parts: &[Part], is_time: bool) -> Vec<usize> {
    let mut numbers = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        let is_new = at > 0 && (is_time || parts[at - 1].value != part.value);
        numbers.push(numbers.last().map_or(0, |last| last + usize::from(is_new)));
    }
    numbers
}

/// The points of a function.
pub fn points(parts: &[Part], numbers: &[usize], values: &Values, with_histogram: bool) -> Vec<Point> {
    let last = numbers.last().map_or(0, |last| last + 1);
    (0..last)
        .map(|point| {
            let of_point = || numbers.iter().enumerate().filter(move |(_, number)| **number == point).map(|(at, _)| at);
            let called: Vec<&Measured> = of_point().filter_map(|at| values[at].as_ref()).collect();
            let mut histogram = Histogram::default();
            called.iter().for_each(|measured| histogram.merge(&measured.histogram));
            let percentiles = histogram.percentiles([0.5, 0.9, 0.99]).map(|all| all.map(Time::ns));
            let per_call: Vec<f64> = called.iter().filter_map(|measured| self_per_call(measured)).collect();
            let calls: Vec<f64> =
                of_point().map(|at| of_a_run(&parts[at], values[at].as_ref()).unwrap_or_default()).collect();
            let sum = |of: fn(&Measured) -> f64| called.iter().map(|measured| of(measured)).sum();
            Point {
                value: of_point().next().map(|at| parts[at].value.clone()).unwrap_or_default(),
                started_unix_ns: of_point().map(|at| parts[at].started).min().unwrap_or(0),
                ended_unix_ns: of_point().map(|at| parts[at].ended).max().unwrap_or(0),
                runs: of_point().count(),
                calls: called.iter().fold(0, |sum: u64, measured| sum.saturating_add(measured.calls)),
                total_ns: sum(|measured| measured.total),
                total_error_ns: sum(|measured| measured.total_error),
                self_ns: sum(|measured| measured.own),
                self_error_ns: sum(|measured| measured.own_error.error()),
                self_per_call_ns: (!per_call.is_empty()).then(|| median(&per_call)),
                calls_per_run: median(&calls),
                p50_ns: percentiles.map(|all| all[0]),
                p90_ns: percentiles.map(|all| all[1]),
                p99_ns: percentiles.map(|all| all[2]),
                max_ns: histogram.max().map(Time::ns),
                histogram: with_histogram.then(|| histogram.bars().map(Bar::from).collect()),
            }
        })
        .collect()
}

fn self_per_call(measured: &Measured) -> Option<f64> {
    (measured.calls > 0).then(|| measured.own_without_preempted() / measured.calls as f64)
}

/// A function's values in the parts that have them, and which parts those are.
pub fn samples(
    parts: &[Part],
    numbers: &[usize],
    values: &Values,
    value: impl Fn(&Part, Option<&Measured>) -> Option<f64>,
) -> (Vec<Sample>, Vec<usize>) {
    let all = values.iter().enumerate().filter_map(|(at, measured)| {
        let Part { started, ended, .. } = parts[at];
        Some((Sample { value: value(&parts[at], measured.as_ref())?, point: numbers[at], started, ended }, at))
    });
    all.unzip()
}

/// The exclusive time of a call, less that in which others had the processor where all parts know it.
pub fn of_a_call(_: &Part, measured: Option<&Measured>) -> Option<f64> {
    measured.and_then(self_per_call)
}

/// The calls of a recording, or in a slice of time: what came at once, and lies in it in part, counts by that part.
#[expect(clippy::unnecessary_wraps, reason = "it stands beside what some have not")]
pub fn of_a_run(part: &Part, measured: Option<&Measured>) -> Option<f64> {
    Some(measured.map_or(0.0, |measured| measured.calls as f64 * part.inside))
}

/// The median time of a call.
pub fn of_the_middle(_: &Part, measured: Option<&Measured>) -> Option<f64> {
    measured.and_then(middle)
}

fn middle(measured: &Measured) -> Option<f64> {
    measured.histogram.percentiles([0.5]).map(|[p50]| p50.ns())
}

/// How far off the difference of two medians may be: what is in one bin is not told apart.
pub fn bin(values: &Values, parts: impl Iterator<Item = usize>) -> f64 {
    parts.filter_map(|at| values[at].as_ref().and_then(middle)).fold(0.0, f64::max) / SUBS as f64
}

/// How far off the difference of the exclusive times of a call may be, of the means of these parts.
pub fn resolution(values: &Values, before: &[usize], after: &[usize]) -> f64 {
    let of = |parts: &[usize]| {
        let mut sum = Uncertainty::default();
        let called = || parts.iter().filter_map(|&at| values[at].as_ref());
        for measured in called() {
            sum.add(&measured.own_error.part(1.0 / measured.calls.max(1) as f64));
        }
        (sum.part(1.0 / called().count().max(1) as f64), called().flat_map(|measured| &measured.builds).collect())
    };
    let ((left, before), (right, after)): ((_, std::collections::BTreeSet<_>), (_, _)) = (of(before), of(after));
    let is_same = before == after && !before.iter().any(|build| build.is_empty());
    OfDifference::of(&left, &right, if is_same { Code::Same } else { Code::Another }).ns()
}
