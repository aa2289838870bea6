//! The exact rank-sum test (H. Mann, D. Whitney 1947), and the interval of the shift that belongs to it.
//!
//! The distribution of the sum of ranks is counted, not approximated, with ties as well: how many subsets of the ranks
//! have a sum is a sum over the ranks one by one (B. Streitberg, J. Röhmel: *Exact distributions for permutation and rank
//! tests*, 1986). The interval is of all shifts that the test would not reject (E. Lehmann: *Nonparametrics*, 1975, 2.6).

use rand::SeedableRng;
use rand::seq::index;
use rand_pcg::Pcg64Mcg;

use super::{SEED, smallest_p};

/// Steps of counting that a test may take; what takes more is drawn by chance.
const MOST_STEPS: usize = 3_000_000;

/// The same for the distribution without ties, which all tests of so many runs share.
const MOST_SHARED_STEPS: usize = 1_000_000_000;

/// Splits that are drawn where they cannot be counted.
const DRAWN: u32 = 10_000;

/// Tests of so many runs a side.
#[derive(Clone, Debug)]
pub struct Ranks {
    left: usize,
    right: usize,
    /// Without ties: the chance of each sum of the left side's ranks (doubled).
    untied: Option<Sums>,
}

/// An interval that holds the shift between two sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end, in the unit of the values.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// The chance that it holds the shift; with few runs less than was asked for.
    pub level: f64,
}

impl Ranks {
    /// For so many runs a side.
    pub fn new(left: usize, right: usize) -> Self {
        let ranks: Vec<usize> = (1..=left + right).map(|rank| 2 * rank).collect();
        let untied = (steps(&ranks, left) <= MOST_SHARED_STEPS).then(|| Sums::of(&ranks, left));
        Self { left, right, untied }
    }

    /// The chance of a sum of ranks as far from the middle or farther (two-sided) if nothing has changed.
    pub fn p(&self, left: &[f64], right: &[f64]) -> f64 {
        if left.is_empty() || right.is_empty() {
            return 1.0;
        }
        let (ranks, has_ties) = doubled_ranks(left, right);
        let observed: usize = ranks[..left.len()].iter().sum();
        match &self.untied {
            Some(untied) if !has_ties => untied.two_sided(observed),
            _ if steps(&ranks, left.len()) <= MOST_STEPS => Sums::of(&ranks, left.len()).two_sided(observed),
            _ => drawn(&ranks, left.len(), observed),
        }
    }

    /// An interval that holds right less left with this chance (0.95, say).
    pub fn interval(&self, left: &[f64], right: &[f64], level: f64) -> Option<Interval> {
        let mut differences: Vec<f64> = right.iter().flat_map(|r| left.iter().map(move |l| r - l)).collect();
        differences.sort_unstable_by(f64::total_cmp);
        let (first, last) = (*differences.first()?, *differences.last()?);
        let untied = self.untied.as_ref()?;
        // Of U, the number of pairs in the wrong order, which is the sum of ranks less the smallest one.
        let smallest = self.left * (self.left + 1);
        let (mut below, mut cut) = (0.0, 0);
        while cut < differences.len() / 2 {
            let next = below + untied.chance(smallest + 2 * cut);
            if next > (1.0 - level) / 2.0 {
                break;
            }
            (below, cut) = (next, cut + 1);
        }
        match cut {
            0 => Some(Interval { low: first, high: last, level: 1.0 - smallest_p(self.left, self.right) }),
            _ => Some(Interval {
                low: differences[cut - 1],
                high: differences[differences.len() - cut],
                level: 1.0 - 2.0 * below,
            }),
        }
    }
}

/// The distribution of the sum of some of the ranks.
#[derive(Clone, Debug)]
struct Sums {
    /// How many subsets have a sum.
    counts: Vec<f64>,
    all: f64,
}

impl Sums {
    /// Of all subsets of that size.
    fn of(ranks: &[usize], size: usize) -> Self {
        let most = most(ranks, size);
        // Subsets of each size by their sum, of the ranks so far.
        let mut counts = vec![vec![0.0; most + 1]; size + 1];
        counts[0][0] = 1.0;
        for &rank in ranks {
            for taken in (1..=size).rev() {
                let (fewer, this) = counts.split_at_mut(taken);
                for (to, from) in this[0][rank.min(most + 1)..].iter_mut().zip(&fewer[taken - 1]) {
                    *to += from;
                }
            }
        }
        let counts = counts.pop().unwrap_or_default();
        Self { all: counts.iter().sum(), counts }
    }

    fn chance(&self, sum: usize) -> f64 {
        self.counts.get(sum).map_or(0.0, |count| count / self.all)
    }

    fn two_sided(&self, observed: usize) -> f64 {
        // With ties it need not be symmetric: what is as far from the mean on either side counts.
        let mean = self.counts.iter().enumerate().map(|(sum, count)| sum as f64 * count).sum::<f64>() / self.all;
        let distance = (observed as f64 - mean).abs() - 1e-6;
        let far = self.counts.iter().enumerate().filter(|(sum, _)| (*sum as f64 - mean).abs() >= distance);
        (far.map(|(_, count)| count).sum::<f64>() / self.all).min(1.0)
    }
}

/// The largest sum of so many ranks.
fn most(ranks: &[usize], size: usize) -> usize {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    sorted.iter().rev().take(size).sum()
}

fn steps(ranks: &[usize], size: usize) -> usize {
    ranks.len().saturating_mul(size).saturating_mul(most(ranks, size))
}

/// Ranks of all values, the left side's first, doubled so that shared ones are whole; and whether there are such.
fn doubled_ranks(left: &[f64], right: &[f64]) -> (Vec<usize>, bool) {
    let values: Vec<f64> = left.iter().chain(right).copied().collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0; values.len()];
    let (mut start, mut has_ties) = (0, false);
    for same in order.chunk_by(|&a, &b| values[a] == values[b]) {
        for &index in same {
            ranks[index] = 2 * start + same.len() + 1;
        }
        has_ties |= same.len() > 1;
        start += same.len();
    }
    (ranks, has_ties)
}

fn drawn(ranks: &[usize], size: usize, observed: usize) -> f64 {
    let mut chance = Pcg64Mcg::seed_from_u64(SEED);
    let mean = ranks.iter().sum::<usize>() as f64 * size as f64 / ranks.len() as f64;
    let distance = (observed as f64 - mean).abs() - 1e-6;
    let reaches = |_: &u32| {
        let sum: usize = index::sample(&mut chance, ranks.len(), size).iter().map(|index| ranks[index]).sum();
        (sum as f64 - mean).abs() >= distance
    };
    let reaching = (0..DRAWN).filter(reaches).count();
    (1 + reaching) as f64 / f64::from(1 + DRAWN)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn p(left: &[f64], right: &[f64]) -> f64 {
        Ranks::new(left.len(), right.len()).p(left, right)
    }

    #[test]
    fn known_values() {
        // R: wilcox.test(c(0.80,0.83,1.89,1.04,1.45,1.38,1.91,1.64,0.73,1.46), c(1.15,0.88,0.90,0.74,1.21))$p.value, the
        // example of its manual page (Hollander & Wolfe 1973, p. 69), two-sided.
        let permeability = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let at_term = [1.15, 0.88, 0.90, 0.74, 1.21];
        assert!((p(&permeability, &at_term) - 0.2544).abs() < 5e-5, "{}", p(&permeability, &at_term));
        // Complete separation is the smallest p there is.
        for runs in [3, 5, 10, 30] {
            let low: Vec<f64> = (0..runs).map(f64::from).collect();
            let high: Vec<f64> = low.iter().map(|value| value + 1e3).collect();
            let smallest = smallest_p(low.len(), high.len());
            assert!((p(&low, &high) / smallest - 1.0).abs() < 1e-9, "{runs}");
        }
        assert_eq!(p(&[1.0, 1.0], &[1.0, 1.0]), 1.0);
        assert_eq!(p(&[], &[1.0]), 1.0);
    }

    #[test]
    fn intervals_hold_the_shift_and_say_how_likely() {
        let left: Vec<f64> = (0..10).map(f64::from).collect();
        let right: Vec<f64> = left.iter().map(|value| value + 100.0).collect();
        let interval = Ranks::new(10, 10).interval(&left, &right, 0.95).unwrap();
        assert!(interval.low <= 100.0 && 100.0 <= interval.high && interval.level >= 0.95);
        assert!(interval.low > 95.0 && interval.high < 105.0, "{interval:?}");
        let few = Ranks::new(3, 3).interval(&left[..3], &right[..3], 0.95).unwrap();
        assert_eq!((few.low, few.high), (98.0, 102.0));
        assert!((few.level - 0.9).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_counted_is_drawn() {
        let left: Vec<f64> = (0..60).map(|n| f64::from(n / 2)).collect();
        let right: Vec<f64> = left.iter().map(|value| value + 15.0).collect();
        let p = p(&left, &right);
        assert!(p <= 2e-4 && p > 0.0, "{p}");
    }

    proptest! {
        #[test]
        fn the_chance_is_that_of_an_enumeration(
            left in prop::collection::vec(0u8..8, 1..6),
            right in prop::collection::vec(0u8..8, 1..6),
        ) {
            let [left, right] = [left, right].map(|side| side.into_iter().map(f64::from).collect::<Vec<f64>>());
            let (ranks, _) = doubled_ranks(&left, &right);
            let mean = ranks.iter().sum::<usize>() as f64 * left.len() as f64 / ranks.len() as f64;
            let observed = ranks[..left.len()].iter().sum::<usize>() as f64;
            let (mut all, mut far) = (0, 0);
            for mask in 0u32..1 << ranks.len() {
                if mask.count_ones() as usize != left.len() { continue }
                let sum: usize = (0..ranks.len()).filter(|at| mask >> at & 1 == 1).map(|at| ranks[at]).sum();
                all += 1;
                far += u32::from((sum as f64 - mean).abs() >= (observed - mean).abs() - 1e-6);
            }
            prop_assert!((p(&left, &right) - f64::from(far) / f64::from(all)).abs() < 1e-9);
        }

        #[test]
        fn only_the_order_counts(
            left in prop::collection::vec(0.0..10.0f64, 1..9),
            right in prop::collection::vec(0.0..10.0f64, 1..9),
        ) {
            let exp = |side: &[f64]| side.iter().map(|value| value.exp()).collect::<Vec<_>>();
            prop_assert_eq!(p(&left, &right), p(&exp(&left), &exp(&right)));
            prop_assert!((p(&left, &right) - p(&right, &left)).abs() < 1e-9);
        }
    }
}
