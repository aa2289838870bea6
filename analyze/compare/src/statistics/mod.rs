//! Are two series of numbers different? What is not to be had from a well-kept crate.
//!
//! ```text
//! runs of both sides ──[randomisation]──▶ D, T: how far apart, and how far apart chance would put them
//!                    ──[ranks]──────────▶ p: how often chance puts them so far apart or farther, and an interval of D
//! p of all tests     ──[correction]─────▶ adjusted p: many tests find something by chance alone
//! runs so far        ──[looks]──────────▶ the level of a look, where more runs are made as long as they may decide
//! ```
//!
//! [`poisson`] asks the same of two counts of samples, where there is but one run of each.
//! [`ks`] asks whether two environments differ in any way: the test of Kolmogorov and Smirnov.
//!
//! The unit is always the run of a process: calls in one run resemble each other more than those of another, and a test
//! that takes them for independent calls half of all functions changed. Everything is deterministic: what is drawn by
//! chance is drawn by a generator with a fixed seed ([`SEED`]).
//!
//! Two statistics, as each does what the other cannot. Medians are what people want to know, and the randomisation test of
//! their difference is that of G. Box, W. Hunter, S. Hunter, *Statistics for Experimenters* (2005), p. 78, as ClickHouse's
//! performance tests use it. But many splits of the runs have the same medians, so its p-value is never small (with ten
//! runs a side at least 0.08%), and no correction for a hundred functions lets it through. The sum of ranks has no such
//! floor but 2/C(2n, n), is as deaf to outliers, and its distribution is known exactly; p-values are its.

pub mod correction;
pub mod ks;
mod looks;
pub mod poisson;
pub mod randomisation;
pub mod ranks;
mod splits;

pub use correction::Correction;
pub use looks::Looks;
pub use randomisation::{Medians, median};
pub use ranks::Ranks;
pub use splits::Splits;

/// The seed of all that is drawn by chance.
pub const SEED: u64 = 0x6469_7974_7261_6365; // "diytrace"

/// The smallest p-value that so many runs can reach: the two splits that have all of one side below all of the other, of
/// all C(left + right, left).
pub fn smallest_p(left: usize, right: usize) -> f64 {
    if left == 0 || right == 0 {
        return 1.0;
    }
    (2.0 / statrs::function::factorial::binomial((left + right) as u64, left as u64)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_p_is_that_of_the_two_extreme_splits() {
        for (left, right, expected) in
            [(1, 1, 1.0), (3, 3, 0.1), (5, 5, 2.0 / 252.0), (8, 8, 2.0 / 12870.0), (0, 5, 1.0)]
        {
            assert!((smallest_p(left, right) - expected).abs() < 1e-15, "{left} {right}");
        }
        // With Bonferroni one changed function needs 8 runs a side among 100, 9 among 1,000.
        assert!(smallest_p(7, 7) * 100.0 > 0.05 && smallest_p(8, 8) * 100.0 < 0.05);
        assert!(smallest_p(8, 8) * 1000.0 > 0.05 && smallest_p(9, 9) * 1000.0 < 0.05);
    }
}
