//! From runs to two samples of each metric.

use std::collections::BTreeMap;

use super::choose::means;
use super::metric::{Kind, Metric, Value, nanoseconds_in};
use super::read::{Run, Side};
use super::{Cutoff, Error, Options};
use diytrace_profile::nearest::nearest_names;

/// Names that an error tells.
const TOLD: usize = 6;

/// A metric's values on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The metric.
    pub metric: Metric,
    /// Of its values; empty: a count, or not known.
    pub unit: String,
    /// Where it comes from.
    pub kind: Kind,
    /// What smaller values were raised to.
    pub cutoff: Option<f64>,
    /// A's values, in the order of its runs.
    pub left: Vec<f64>,
    /// B's.
    pub right: Vec<f64>,
}

/// All metrics that there are.
type Known<'a> = BTreeMap<&'a Metric, Kind>;

/// The series of all metrics that were asked for, by name.
pub fn series(left: &Side, right: &Side, options: &Options) -> Result<Vec<Series>, Error> {
    let values = left.runs.iter().chain(&right.runs).flat_map(|run| &run.values);
    let known: Known = values.map(|value| (&value.metric, value.kind)).collect();
    for pattern in &options.metrics.0 {
        if !known.iter().any(|(metric, kind)| means(pattern, metric, *kind)) {
            let nearest = nearest(pattern, known.keys().copied());
            return Err(Error::UnknownMetric { pattern: pattern.clone(), nearest, known: some(&known) });
        }
    }
    let is_wanted = |metric: &Metric, kind: Kind| match options.metrics.is_empty() {
        true => kind.is_usual(metric),
        false => options.metrics.mean(metric, kind),
    };
    let wanted = known.iter().filter(|(metric, kind)| is_wanted(metric, **kind));
    let of = |(&metric, &kind): (&&Metric, &Kind)| Series {
        metric: metric.clone(),
        unit: String::new(),
        kind,
        cutoff: None,
        left: Vec::new(),
        right: Vec::new(),
    };
    let mut all: BTreeMap<&Metric, Series> = wanted.map(|known| (*known.0, of(known))).collect();
    if all.is_empty() {
        return Err(Error::NoMetrics { known: nothing(&known) });
    }
    left.runs.iter().try_for_each(|run| add(run, &mut all, |series| &mut series.left))?;
    right.runs.iter().try_for_each(|run| add(run, &mut all, |series| &mut series.right))?;
    let mut all: Vec<Series> = all.into_values().collect();
    normalise(&mut all, &options.cutoffs)?;
    Ok(all)
}

/// Adds a run's values, one of each metric.
fn add(
    run: &Run,
    all: &mut BTreeMap<&Metric, Series>,
    side: impl Fn(&mut Series) -> &mut Vec<f64>,
) -> Result<(), Error> {
    let mut seen = BTreeMap::new();
    for Value { metric, number, unit, .. } in &run.values {
        let Some(series) = all.get_mut(metric) else { continue };
        if seen.insert(metric, ()).is_some() {
            return Err(Error::Twice { metric: metric.to_string(), run: run.title.clone() });
        }
        if series.left.is_empty() && series.right.is_empty() {
            series.unit.clone_from(unit);
        } else if series.unit != *unit {
            let (one, other) = (series.unit.clone(), unit.clone());
            return Err(Error::Units { metric: metric.to_string(), one, other });
        }
        side(series).push(*number);
    }
    Ok(())
}

/// Raises small values to the cutoff of their metric, so that noise among them is no difference.
fn normalise(all: &mut [Series], cutoffs: &[Cutoff]) -> Result<(), Error> {
    for cutoff in cutoffs {
        for pattern in &cutoff.metrics.0 {
            let mut meant = all.iter().filter(|series| means(pattern, &series.metric, series.kind)).peekable();
            let Some(first) = meant.peek().map(|series| &series.metric) else {
                let nearest = nearest(pattern, all.iter().map(|series| &series.metric));
                return Err(Error::UnknownCutoff { pattern: pattern.clone(), nearest });
            };
            let metric = first.to_string();
            if meant.all(|series| in_unit_of(series, cutoff).is_none()) {
                let value = format!("{}{}", cutoff.value, cutoff.unit.unwrap_or_default());
                return Err(Error::NotATime { cutoff: value, metric });
            }
        }
    }
    for series in all {
        let meant = cutoffs.iter().rev().filter(|cutoff| cutoff.metrics.mean(&series.metric, series.kind));
        let asked = meant.filter_map(|cutoff| in_unit_of(series, cutoff)).next();
        let usual = series.kind.usual_cutoff_ns().zip(nanoseconds_in(&series.unit));
        series.cutoff = asked.or(usual.map(|(cutoff, unit)| cutoff / unit));
        if let Some(cutoff) = series.cutoff {
            series.left.iter_mut().chain(&mut series.right).for_each(|value| *value = value.max(cutoff));
        }
    }
    Ok(())
}

/// A cutoff as a number in the series' unit; `None` if the one is a time and the other is not.
fn in_unit_of(series: &Series, cutoff: &Cutoff) -> Option<f64> {
    let Some(unit) = cutoff.unit else { return Some(cutoff.value) };
    Some(cutoff.value * nanoseconds_in(unit)? / nanoseconds_in(&series.unit)?)
}

fn nearest<'a>(pattern: &str, metrics: impl Iterator<Item = &'a Metric>) -> Vec<String> {
    let names: Vec<String> = metrics.map(Metric::short).collect();
    let nearest = nearest_names(pattern, names.iter().map(String::as_str));
    nearest.into_iter().map(str::to_owned).collect()
}

/// Some of the metrics that there are.
fn some(known: &Known) -> String {
    let told: Vec<String> = known.keys().take(TOLD).map(|metric| format!("`{metric}`")).collect();
    match known.len() - told.len() {
        _ if told.is_empty() => "no metrics at all".to_owned(),
        0 => told.join(", "),
        more => format!("{} and {more} more", told.join(", ")),
    }
}

fn nothing(known: &Known) -> String {
    match known.is_empty() {
        true => "neither side has any metric".to_owned(),
        false => format!("choose metrics with --metrics; there are {}", some(known)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Patterns;
    use super::*;

    fn series(kind: Kind, unit: &str, values: &[f64]) -> Series {
        let metric = Metric { group: String::new(), name: "x".into(), field: "p99".into() };
        Series { metric, unit: unit.into(), kind, cutoff: None, left: values.to_vec(), right: values.to_vec() }
    }

    fn cutoff(pattern: &str, value: f64, unit: Option<&'static str>) -> Cutoff {
        Cutoff { metrics: Patterns(vec![pattern.into()]), value, unit }
    }

    #[test]
    fn small_values_are_raised_to_the_cutoff_and_none_is_left_out() {
        let mut all = [series(Kind::Request, "ms", &[3.0, 49.9, 50.0, 70.0])];
        normalise(&mut all, &[]).unwrap();
        assert_eq!((all[0].cutoff, &all[0].left[..]), (Some(50.0), &[50.0, 50.0, 50.0, 70.0][..]));
        assert_eq!(all[0].left, all[0].right);
    }

    #[test]
    fn the_last_cutoff_counts_in_the_metrics_own_unit() {
        for (cutoffs, expected) in [
            (vec![cutoff("*", 10.0, None)], 10.0),
            (vec![cutoff("*", 10.0, None), cutoff("x:*", 2.0, Some("us"))], 0.002),
            (vec![cutoff("*", 0.0, None)], 0.0),
            (vec![cutoff("*", 1.0, Some("s"))], 1000.0),
        ] {
            let mut all = [series(Kind::PodStartup, "ms", &[1.0])];
            normalise(&mut all, &cutoffs).unwrap();
            assert_eq!(all[0].cutoff, Some(expected));
        }
        let mut all = [series(Kind::Function, "", &[1.0])];
        let error = normalise(&mut all, &[cutoff("*", 5.0, Some("ms"))]).unwrap_err().to_string();
        let expected = "the cutoff 5ms is a time, and `x:p99` is not: give a number in its own unit";
        assert_eq!(error, expected);
        assert!(normalise(&mut all, &[cutoff("y", 5.0, None)]).is_err());
        let mut all = [series(Kind::Function, "", &[1.0]), series(Kind::Function, "ns", &[1.0])];
        normalise(&mut all, &[cutoff("x:*", 5.0, Some("ms"))]).unwrap();
        assert_eq!(all.map(|series| series.cutoff), [None, Some(5e6)]);
    }
}
