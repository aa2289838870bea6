//! The verdicts: of each metric, and of all.

use super::document::{Compared, Document, SCHEMA, Sample, SideFacts, Verdict};
use super::read::Side;
use super::series::Series;
use super::{Error, Options, Scheme};
use crate::statistics::ks::{Ks, ks};

/// An average of equal numbers may be off by its last digits, and a ratio at the very bound is within.
const ROUNDING: f64 = 1e-12;

/// Compares both sides' samples; there is at least one metric.
pub fn compare(options: &Options, left: &Side, right: &Side, series: Vec<Series>) -> Result<Document, Error> {
    let (m, n) = (left.runs.len(), right.runs.len());
    if let Scheme::Ks { significance } = options.scheme {
        let pairs = series.iter().filter_map(|series| least_p(series.left.len(), series.right.len()));
        if let Some(least) = pairs.min_by(f64::total_cmp).filter(|&least| least >= significance) {
            return Err(Error::Underpowered { left: m, right: n, least, significance });
        }
    }
    let mut metrics: Vec<Compared> = series.into_iter().map(|series| metric(series, options.scheme)).collect();
    metrics.sort_by(|a, b| {
        let order = a.verdict.cmp(&b.verdict).then(a.similarity.total_cmp(&b.similarity));
        order.then_with(|| a.parts.cmp(&b.parts))
    });
    let count = |verdict| metrics.iter().filter(|metric| metric.verdict == verdict).count();
    let (matched, missing) = (count(Verdict::Matched), count(Verdict::Missing));
    let total = metrics.len();
    let similarity = metrics.iter().map(|metric| metric.similarity).sum::<f64>() / total as f64;
    let (low, high, significance) = match options.scheme {
        Scheme::Avg { low, high } => (Some(low), Some(high), None),
        Scheme::Ks { significance } => (None, None, Some(significance)),
    };
    Ok(Document {
        schema: SCHEMA,
        warnings: left.warnings.iter().chain(&right.warnings).cloned().collect(),
        left: SideFacts { name: left.name.clone(), runs: m },
        right: SideFacts { name: right.name.clone(), runs: n },
        scheme: if significance.is_some() { "ks" } else { "avg" },
        low,
        high,
        significance,
        needed_percent: options.pass,
        metrics,
        matched,
        mismatched: total - matched,
        missing,
        matched_percent: matched as f64 * 100.0 / total as f64,
        similarity,
        pass: matched as f64 * 100.0 >= options.pass * total as f64,
    })
}

/// The smallest *p* that samples of these sizes can have, which is that of samples wholly apart: 2 of the ways to choose m
/// of m + n values, or both if there are two. `None` if a sample is empty.
fn least_p(m: usize, n: usize) -> Option<f64> {
    let ways: f64 = (1..=m).map(|i| (n + i) as f64 / i as f64).product();
    (m > 0 && n > 0).then(|| (2.0 / ways).min(1.0))
}

fn metric(series: Series, scheme: Scheme) -> Compared {
    let Series { metric, unit, cutoff, left, right, .. } = series;
    let test = ks(&left, &right).filter(|_| matches!(scheme, Scheme::Ks { .. }));
    let least = least_p(left.len(), right.len());
    let (left, right) = (Sample::of(left), Sample::of(right));
    let ratio = left.average.zip(right.average).map(|(left, right)| if left == right { 1.0 } else { left / right });
    let (similarity, verdict) = match (scheme, ratio) {
        (_, None) => (0.0, Verdict::Missing),
        (Scheme::Avg { low, high }, Some(ratio)) => {
            // Averages of different signs have nothing in common.
            let similarity = if ratio > 0.0 { ratio.min(ratio.recip()) } else { 0.0 };
            (similarity, verdict(ratio >= low * (1.0 - ROUNDING) && ratio <= high * (1.0 + ROUNDING)))
        }
        (Scheme::Ks { significance }, Some(_)) => match test {
            Some(Ks { d, p }) if least.is_some_and(|least| least < significance) => {
                (1.0 - d, verdict(p >= significance))
            }
            // What no values could have told apart is not alike for that.
            _ => (0.0, Verdict::Missing),
        },
    };
    Compared {
        metric: metric.to_string(),
        parts: metric,
        unit,
        cutoff,
        left,
        right,
        ratio: ratio.filter(|ratio| ratio.is_finite()),
        d: test.map(|test| test.d),
        p: test.map(|test| test.p),
        similarity,
        verdict,
    }
}

fn verdict(is_match: bool) -> Verdict {
    if is_match { Verdict::Matched } else { Verdict::Mismatched }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similar::{Kind, Metric};

    const AVG: Scheme = Scheme::Avg { low: 0.66, high: 1.5 };
    const KS: Scheme = Scheme::Ks { significance: 0.05 };

    fn compared(left: &[f64], right: &[f64], scheme: Scheme) -> Compared {
        let series = Series {
            metric: Metric::default(),
            unit: String::new(),
            kind: Kind::Number,
            cutoff: None,
            left: left.to_vec(),
            right: right.to_vec(),
        };
        metric(series, scheme)
    }

    #[test]
    fn a_ratio_at_the_bounds_matches() {
        for (left, right, expected) in [
            (66.0, 100.0, Verdict::Matched),
            (65.9, 100.0, Verdict::Mismatched),
            (150.0, 100.0, Verdict::Matched),
            (150.1, 100.0, Verdict::Mismatched),
            (0.0, 0.0, Verdict::Matched),
            (0.0, 1.0, Verdict::Mismatched),
            (1.0, 0.0, Verdict::Mismatched),
            (-3.0, -3.3, Verdict::Matched),
            (-1.0, 1.0, Verdict::Mismatched),
            (1e308, 1.2e308, Verdict::Matched),
        ] {
            assert_eq!(compared(&[left; 3], &[right; 7], AVG).verdict, expected, "{left} and {right}");
        }
        // Sums of tenths are not quite theirs.
        assert_eq!(compared(&[0.3; 3], &[0.2; 10], AVG).verdict, Verdict::Matched);
    }

    #[test]
    fn similarity_is_from_0_to_1() {
        assert_eq!(compared(&[50.0], &[100.0], AVG).similarity, 0.5);
        assert_eq!(compared(&[100.0], &[50.0], AVG).similarity, 0.5);
        assert_eq!(compared(&[-1.0], &[1.0], AVG).similarity, 0.0);
        assert_eq!(compared(&[1.0], &[0.0], AVG).similarity, 0.0);
        assert_eq!(compared(&[1.0], &[], AVG).similarity, 0.0);
        let ks = compared(&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.0, 2.0, 3.0, 4.0, 9.0], KS);
        assert!((ks.similarity - 0.8).abs() < 1e-12, "{}", ks.similarity);
    }

    #[test]
    fn distributions_with_one_average_are_told_apart_by_ks_only() {
        let narrow = [10.0, 10.1, 9.9, 10.2, 9.8, 10.05, 9.95, 10.0];
        let wide = [1.0, 1.0, 1.0, 1.0, 19.0, 19.0, 19.0, 19.0];
        assert_eq!(compared(&narrow, &wide, AVG).verdict, Verdict::Matched);
        assert_eq!(compared(&narrow, &wide, KS).d, Some(0.5));
        assert_eq!(compared(&narrow, &wide, KS).verdict, Verdict::Matched);
        assert_eq!(compared(&[narrow, narrow].concat(), &[wide, wide].concat(), KS).verdict, Verdict::Mismatched);
    }

    #[test]
    fn what_ks_could_never_tell_apart_is_missing() {
        let ks = compared(&[1.0, 2.0, 3.0], &[100.0, 200.0, 300.0], KS);
        assert_eq!((ks.verdict, ks.similarity), (Verdict::Missing, 0.0));
        assert_eq!(compared(&[1.0; 3], &[1.0; 3], KS).verdict, Verdict::Missing);
        assert_eq!(compared(&[1.0; 3], &[1.0; 3], AVG).verdict, Verdict::Matched);
    }

    #[test]
    fn the_least_p_is_that_of_samples_wholly_apart() {
        for (m, n) in [(1, 1), (1, 7), (3, 3), (4, 3), (10, 20)] {
            let pool: Vec<f64> = (0..m + n).map(|i| i as f64).collect();
            let p = ks(&pool[..m], &pool[m..]).unwrap().p;
            assert!((least_p(m, n).unwrap() - p).abs() < 1e-12, "{m} and {n}");
        }
    }
}
