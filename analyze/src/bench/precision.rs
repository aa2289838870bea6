//! How well a median is known: an interval between two of the sorted values, whatever their distribution is.
//!
//! The median lies below the k-th smallest of n independent values if less than k of them fell below it, which is as likely as
//! less than k heads of n coins. (E.g. Hahn and Meeker, Statistical Intervals, 5.2.)

use diytrace_compare::statistics::median;

/// How likely the interval holds the median.
const CONFIDENCE: f64 = 0.95;

/// Half the width of the median's 95% interval, as a part of the median; `None` of fewer than six values.
pub fn half_width(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = rank(sorted.len())?;
    let width = sorted[sorted.len() - rank] - sorted[rank - 1];
    let median = median(&sorted);
    (median > 0.0).then(|| width / 2.0 / median)
}

/// The largest k so that the k-th smallest and the k-th largest of n values enclose the median that likely.
fn rank(n: usize) -> Option<usize> {
    let (mut rank, mut below) = (0, 0.0);
    let mut chance = 0.5f64.powi(i32::try_from(n).ok()?); // of exactly `rank` heads
    if chance == 0.0 {
        // Beyond a thousand the binomial is as good as normal.
        let n = n as f64;
        return Some((n / 2.0 - 0.98 * n.sqrt()).floor() as usize);
    }
    while rank < n {
        below += chance;
        if 2.0 * below > 1.0 - CONFIDENCE {
            break;
        }
        chance *= (n - rank) as f64 / (rank + 1) as f64;
        rank += 1;
    }
    (rank > 0).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_tables() {
        // Conover, Practical Nonparametric Statistics, and what R's qbinom says.
        for (n, expected) in
            [(5, None), (6, Some(1)), (8, Some(1)), (9, Some(2)), (10, Some(2)), (20, Some(6)), (100, Some(40))]
        {
            assert_eq!(rank(n), expected, "{n}");
        }
        assert_eq!(rank(5_000), Some(2430));
    }

    #[test]
    fn width_is_a_part_of_the_median() {
        assert_eq!(half_width(&[1.0; 5]), None);
        assert_eq!(half_width(&[100.0; 10]), Some(0.0));
        assert_eq!(half_width(&[98.0, 99.0, 100.0, 100.0, 101.0, 102.0]), Some(0.02));
    }
}
