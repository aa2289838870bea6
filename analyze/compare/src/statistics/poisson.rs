//! Two counts of what comes by chance, such as samples: are their rates different?
//!
//! Given how many there are together, one of two counts of equal rates is a binomial, whose chance is that side's part of what both
//! were counted in: seconds, profiles, all samples (J. Przyborowski, H. Wilenski: *Homogeneity of results in testing samples from
//! Poisson series*, Biometrika 31, 1940). The test is exact; its two sides are twice the smaller one. It knows of no other chance
//! than that of sampling: what two runs of one program differ by, only more runs tell.

use statrs::distribution::{Binomial, DiscreteCDF};

/// How many standard deviations hold 95%.
const OF_95: f64 = 1.959_963_984_540_054;

/// The chance of two counts as far apart or farther, if their rates are the same.
pub fn p(counts: [u64; 2], exposures: [f64; 2]) -> f64 {
    let [left, right] = counts;
    let part = exposures[0] / (exposures[0] + exposures[1]);
    let Ok(binomial) = Binomial::new(part, left.saturating_add(right)) else { return 1.0 };
    let at_most = binomial.cdf(left);
    let at_least = if left == 0 { 1.0 } else { binomial.sf(left - 1) };
    (2.0 * at_most.min(at_least)).min(1.0)
}

/// How far off the difference of two rates may be, in 95% of all cases.
pub fn plus_minus(counts: [u64; 2], exposures: [f64; 2]) -> f64 {
    let variance = |side: usize| counts[side] as f64 / (exposures[side] * exposures[side]);
    OF_95 * (variance(0) + variance(1)).sqrt()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    #[test]
    fn known_values() {
        // The example of R's poisson.test, 11 in 800 against 21 in 3011 (women, breast cancer): sums of the binomial of 32, by hand.
        assert!((p([11, 21], [800.0, 3011.0]) - 0.112_017_319_575).abs() < 1e-9, "{}", p([11, 21], [800.0, 3011.0]));
        // 9 or 10 heads of 10, and their mirror: 22 of 1024.
        assert!((p([9, 1], [1.0, 1.0]) - 22.0 / 1024.0).abs() < 1e-12);
        assert_eq!(p([5, 5], [1.0, 1.0]), 1.0);
        assert_eq!((p([0, 0], [1.0, 2.0]), p([1, 1], [0.0, 0.0])), (1.0, 1.0), "of nothing nothing is told");
        assert!(p([100_000_000, 101_000_000], [1.0, 1.0]) < 1e-100, "large sums, too");
        assert!((plus_minus([100, 44], [1.0, 1.0]) - 1.96 * 12.0).abs() < 1e-3);
    }

    #[test]
    fn alarms_are_no_more_than_they_may_be_whatever_both_were_counted_in() {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        for (exposures, rate) in [([1.0, 1.0], 40.0), ([1.0, 5.0], 20.0), ([3.0, 0.5], 8.0)] {
            // Events of a Poisson process: gaps of an exponential distribution.
            let mut count = |exposure: f64| {
                let (mut time, mut events) = (0.0, 0);
                loop {
                    time -= (1.0 - random.random_range(0.0..1.0f64)).ln() / rate;
                    if time > exposure {
                        return events;
                    }
                    events += 1;
                }
            };
            let alarms = (0..2000).filter(|_| p(exposures.map(&mut count), exposures) <= 0.05).count();
            assert!(alarms <= 130, "{alarms} of 2000 at 5%, {exposures:?}");
        }
    }
}
