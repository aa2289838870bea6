//! The Kolmogorov–Smirnov test of two samples: whether they may come from one distribution, whatever that is.
//!
//! *D* is the largest distance between the two empirical distribution functions. Its *p* is the share of the ways to deal
//! the pooled values to two samples of these sizes that come to at least this *D*. A way is a path on a lattice, one step
//! for each value, and the paths that come that far are counted by recursion (Hodges, "The significance probability of the
//! Smirnov two-sample test", 1958). Equal values are dealt together: only the end of a run of them is a place to look at
//! (Schröer and Trenkler, "Exact and randomization distributions of Kolmogorov-Smirnov tests two or three samples", 1995).
//!
//! Why not a crate's: values raised to a cutoff are equal by the dozen, and what there is takes all values for different
//! when it comes to *p* (statrs 0.19), or is right for large samples only (kolmogorov_smirnov 1.1).

/// Samples with more pairs than this have the *p* of large ones.
const MOST_PAIRS: usize = 10_000_000;

/// How far apart two samples are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ks {
    /// Distance of the distributions, from 0 to 1.
    pub d: f64,
    /// How often samples of one distribution are at least that far apart, from 0 to 1.
    pub p: f64,
}

/// Compares two samples. `None` if one is empty, or a value is not a number.
pub fn ks(left: &[f64], right: &[f64]) -> Option<Ks> {
    if left.is_empty() || right.is_empty() || left.iter().chain(right).any(|value| value.is_nan()) {
        return None;
    }
    let (m, n) = (left.len(), right.len());
    let dealt = Dealt::of(left, right);
    let d = dealt.distance as f64 / (m as f64 * n as f64);
    let p = match m.saturating_mul(n) {
        0..=MOST_PAIRS => exact(&dealt, m, n),
        _ => of_large_samples(d * (m as f64 * n as f64 / (m + n) as f64).sqrt()),
    };
    Some(Ks { d, p: p.clamp(0.0, 1.0) })
}

/// Both samples in one order.
struct Dealt {
    /// For each number of values taken from the pool: whether the next one is another.
    ends: Vec<bool>,
    /// *D* times the product of the sizes: whole, so that nothing is lost when distances are compared.
    distance: u128,
}

impl Dealt {
    fn of(left: &[f64], right: &[f64]) -> Self {
        let values = left.iter().map(|&value| (value, true)).chain(right.iter().map(|&value| (value, false)));
        let mut pool: Vec<(f64, bool)> = values.collect();
        pool.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let (mut ends, mut distance) = (vec![true], 0);
        let (mut i, mut j) = (0, 0);
        for (at, &(value, is_left)) in pool.iter().enumerate() {
            *(if is_left { &mut i } else { &mut j }) += 1;
            // -0 and 0 are apart in this order, and equal.
            let is_end = pool.get(at + 1).is_none_or(|&(next, _)| next != value);
            ends.push(is_end);
            if is_end {
                distance = distance.max(apart(i, j, left.len(), right.len()));
            }
        }
        Self { ends, distance }
    }
}

/// How far apart the distributions are after `i` of `m` and `j` of `n` values, times `m * n`.
fn apart(i: usize, j: usize, m: usize, n: usize) -> u128 {
    (i as u128 * n as u128).abs_diff(j as u128 * m as u128)
}

/// The share of paths to the far corner that come as far from the diagonal as the samples did.
///
/// `far[j]` is that share among the paths to (i, j), all of them equally likely: the last step of one was in the left
/// sample in `i` of `i + j` cases. Shares are between 0 and 1, so none overflows and small ones keep their digits.
fn exact(dealt: &Dealt, m: usize, n: usize) -> f64 {
    let mut far = vec![0.0; n + 1];
    for i in 0..=m {
        for j in 0..=n {
            let is_far = dealt.ends[i + j] && apart(i, j, m, n) >= dealt.distance;
            far[j] = match (i, j) {
                _ if is_far => 1.0,
                (0, 0) => 0.0,
                (0, _) => far[j - 1],
                (_, 0) => far[0],
                _ => {
                    let share = i as f64 / (i + j) as f64;
                    share * far[j] + (1.0 - share) * far[j - 1]
                }
            };
        }
    }
    far[n]
}

/// Kolmogorov's limit, 1933: of the distance times the square root of `m * n / (m + n)`.
fn of_large_samples(scaled: f64) -> f64 {
    if scaled < 0.2 {
        return 1.0; // to twelve digits, and the series would take long
    }
    let term = |k: i32| (-2.0 * f64::from(k * k) * scaled * scaled).exp() * if k % 2 == 1 { 2.0 } else { -2.0 };
    (1..100).map(term).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assert_is(left: &[f64], right: &[f64], d: f64, p: f64) {
        for (left, right) in [(left, right), (right, left)] {
            let found = ks(left, right).unwrap();
            assert!((found.d - d).abs() < 1e-12 && (found.p - p).abs() < 1e-11, "{found:?} is not {d}, {p}");
        }
    }

    /// A sample anyone can make again.
    fn residues(length: u32, factor: u32, modulus: u32) -> Vec<f64> {
        (1..=length).map(|i| f64::from(i * factor % modulus)).collect()
    }

    fn counted(from: u32, to: u32, offset: f64) -> Vec<f64> {
        (from..=to).map(|i| f64::from(i) + offset).collect()
    }

    /// R 4.2.2, `ks.test(a, b, exact = TRUE)`; scipy 1.17.1, `ks_2samp(a, b, method="exact")`, says the same.
    #[test]
    fn samples_of_different_values() {
        assert_is(&counted(1, 5, 0.0), &counted(6, 10, 0.0), 1.0, 2.0 / 252.0);
        assert_is(&counted(1, 3, 0.0), &counted(4, 6, 0.0), 1.0, 0.1);
        assert_is(&[1.5], &[2.5], 1.0, 1.0);
        assert_is(&counted(1, 100, 0.0), &counted(1, 100, 20.5), 0.21, 0.024055802841094577);
        assert_is(&counted(10, 19, 0.0), &counted(10, 19, 2.5), 0.3, 0.7869297884777761);
        let left = [
            0.61, 0.29, 0.06, 0.59, -1.73, -0.74, 0.51, -0.56, 0.39, 1.64, 0.05, -0.06, 0.64, -0.82, 0.37, 1.77, 1.09,
            -1.28, 2.36, 1.31, 1.05, -0.32, -0.40, 1.06, -2.47,
        ];
        let right = [-3.1, 0.2, 0.7, 1.9, 2.8, 0.33, -0.91, 1.11, 2.2, 0.02];
        assert_is(&left, &right, 0.26, 0.652330259328232);
    }

    /// R 4.2.2 again; scipy takes all values for different, and says 0.05128738714042753 for the last.
    #[test]
    fn equal_values_as_a_cutoff_makes_them() {
        assert_is(&[1.0, 1.0, 2.0, 2.0, 3.0], &[2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 4.0], 18.0 / 35.0, 0.261363636363636);
        let raised = [&[50.0; 8][..], &[75.0, 80.0]].concat();
        assert_is(&[50.0, 50.0, 50.0, 50.0, 60.0], &raised, 0.2, 0.835164835164835);
        assert_is(&[50.0; 3], &[50.0; 3], 0.0, 1.0);
        assert_is(&residues(40, 7919, 101), &residues(60, 104_729, 97), 0.0916666666666666, 0.97444345918373);
        assert_is(&residues(400, 7919, 10_007), &residues(300, 104_729, 9073), 0.1025, 0.0512362234404408);
    }

    /// scipy 1.17.1, `kolmogorov(d * sqrt(m * n / (m + n)))`; R 4.2.2, `exact = FALSE`, stops at 0.4261522.
    #[test]
    fn large_samples() {
        let (left, right) = (residues(4000, 7919, 10_007), residues(3000, 104_729, 9973));
        assert_is(&left, &right, 0.0211666666666666, 0.426150664184553);
        assert_eq!(of_large_samples(0.19), 1.0);
    }

    #[test]
    fn small_shares_keep_their_digits() {
        // 2 of C(60, 30) ways.
        let p = ks(&counted(1, 30, 0.0), &counted(31, 60, 0.0)).unwrap().p;
        assert!((p / 1.691123389e-17 - 1.0).abs() < 1e-9, "{p}");
    }

    #[test]
    fn nothing_to_compare() {
        assert_eq!(ks(&[], &[1.0]), None);
        assert_eq!(ks(&[1.0], &[]), None);
        assert_eq!(ks(&[1.0], &[f64::NAN]), None);
        assert_eq!(ks(&[0.0], &[-0.0]), Some(Ks { d: 0.0, p: 1.0 }));
    }

    /// All ways to deal the values, one by one.
    fn by_enumeration(left: &[f64], right: &[f64]) -> f64 {
        let pool = [left, right].concat();
        let distance = |is_left: u32| {
            let share = |of_left: bool, most: f64| {
                let side = (0..pool.len()).filter(|&at| (is_left >> at & 1 == 1) == of_left);
                let side: Vec<f64> = side.map(|at| pool[at]).collect();
                side.iter().filter(|&&value| value <= most).count() as f64 / side.len() as f64
            };
            pool.iter().map(|&value| (share(true, value) - share(false, value)).abs()).fold(0.0, f64::max)
        };
        let own = distance((1 << left.len()) - 1);
        let ways: Vec<u32> = (0..1 << pool.len()).filter(|way: &u32| way.count_ones() as usize == left.len()).collect();
        let far = ways.iter().filter(|&&way| distance(way) >= own - 1e-9).count();
        far as f64 / ways.len() as f64
    }

    proptest! {
        #[test]
        fn p_is_the_share_of_all_ways(
            left in proptest::collection::vec(0..6u8, 1..6),
            right in proptest::collection::vec(0..6u8, 1..6),
        ) {
            let [left, right] = [left, right].map(|side| side.into_iter().map(f64::from).collect::<Vec<_>>());
            let p = ks(&left, &right).unwrap().p;
            prop_assert!((p - by_enumeration(&left, &right)).abs() < 1e-12, "{p}");
        }
    }
}
