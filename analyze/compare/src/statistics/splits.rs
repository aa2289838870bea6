//! Ways to split pooled runs into two sides: all of them, or many drawn by chance.
//!
//! Only the medians of the sides are asked for, and which runs these are depends on the ranks alone: sorted once, every
//! function is split in the same ways. So the splits are made once for a number of runs, and kept as the places of their
//! medians, each with how often it occurs.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand::seq::index;
use rand_pcg::Pcg64Mcg;
use statrs::function::factorial::binomial;

use super::SEED;

/// If there are no more than this, all splits are looked at: up to ten runs a side.
const MOST_EXACT: f64 = 200_000.0;

/// Ranks of the runs that are in the middle of the left and of the right side: two each, the same one for odd numbers.
pub type Middles = [u16; 4];

/// Ways to split runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splits {
    /// Runs on the left, and on the right.
    pub sides: (usize, usize),
    /// Whether these are all there are.
    pub are_all: bool,
    /// How many.
    pub count: u64,
    /// Where their medians are, and of how many.
    pub middles: Vec<(Middles, u64)>,
}

impl Splits {
    /// Splits of so many runs: all, or that many of them if there are too many.
    pub fn new(left: usize, right: usize, drawn: u64) -> Self {
        let mut found: BTreeMap<Middles, u64> = BTreeMap::new();
        let all = binomial((left + right) as u64, left as u64);
        let are_all = all <= MOST_EXACT.max(drawn as f64);
        let mut right_side = Vec::with_capacity(right);
        let mut take = |left_side: &[usize]| {
            right_side.clear();
            let mut next = left_side.iter().copied().peekable();
            right_side.extend((0..left + right).filter(|rank| next.next_if_eq(rank).is_none()));
            *found.entry(middles(left_side, &right_side)).or_default() += 1;
        };
        if left > 0 && right > 0 && are_all {
            each_subset(left + right, left, &mut take);
        } else if left > 0 && right > 0 {
            let mut chance = Pcg64Mcg::seed_from_u64(SEED);
            for _ in 0..drawn {
                let mut side = index::sample(&mut chance, left + right, left).into_vec();
                side.sort_unstable();
                take(&side);
            }
        }
        let middles: Vec<_> = found.into_iter().collect();
        let count = middles.iter().map(|(_, times)| times).sum();
        Self { sides: (left, right), are_all, count, middles }
    }
}

fn middles(left: &[usize], right: &[usize]) -> Middles {
    let middle = |side: &[usize]| [side[(side.len() - 1) / 2] as u16, side[side.len() / 2] as u16];
    let ([a, b], [c, d]) = (middle(left), middle(right));
    [a, b, c, d]
}

/// Calls `take` with each subset of `size` of the numbers below `all`, ascending.
fn each_subset(all: usize, size: usize, take: &mut impl FnMut(&[usize])) {
    let mut subset: Vec<usize> = (0..size).collect();
    loop {
        take(&subset);
        let Some(at) = (0..size).rfind(|&at| subset[at] < all - size + at) else { return };
        subset[at] += 1;
        for later in at + 1..size {
            subset[later] = subset[later - 1] + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_splits_are_there_once() {
        for (left, right, all) in [(1, 1, 2), (3, 3, 20), (5, 5, 252), (7, 7, 3432), (3, 5, 56), (10, 10, 184_756)] {
            let splits = Splits::new(left, right, 10_000);
            assert_eq!((splits.count, splits.are_all), (all, true), "{left} and {right}");
        }
        assert_eq!(Splits::new(0, 3, 10_000).count, 0);
    }

    #[test]
    fn what_is_drawn_is_always_the_same_and_close_to_all() {
        let drawn = Splits::new(12, 12, 10_000);
        assert_eq!((drawn.count, drawn.are_all), (10_000, false));
        assert_eq!(drawn, Splits::new(12, 12, 10_000));
        let mean_rank = |splits: &Splits| {
            let sum: u64 = splits.middles.iter().map(|(ranks, times)| u64::from(ranks[0] + ranks[1]) * times).sum();
            sum as f64 / 2.0 / splits.count as f64
        };
        assert!((mean_rank(&drawn) - 11.5).abs() < 0.1, "{}", mean_rank(&drawn));
    }
}
