//! What looks like a change and is not called one.

use super::Options;
use super::comparison::{Function, On, Verdict};
use super::tester::LEAST_RUNS;
use crate::observed::code::CodeState;

/// Whether all runs of one side are beyond all of the other. Among many functions few runs do so by chance, so where the
/// code has not changed it takes as many as leave no room for that.
pub fn is_candidate(function: &Function, pooled_own: f64, tests: usize, smallest_p: f64, options: &Options) -> bool {
    let [left, right] = [&function.self_ns.left, &function.self_ns.right];
    let is_no_verdict = matches!(
        function.verdict,
        Verdict::Unstable | Verdict::NotSignificant | Verdict::TooSmall | Verdict::Unresolved
    );
    let are_enough = left.len() >= LEAST_RUNS && right.len() >= LEAST_RUNS;
    let is_beyond_chance = smallest_p * tests.max(1) as f64 <= options.level;
    is_no_verdict
        && function.on == On::Both
        && pooled_own > 0.0
        && function.share >= options.min_share
        && are_enough
        && (function.code == CodeState::Another || is_beyond_chance)
        && are_apart(left, right)
}

fn are_apart(left: &[f64], right: &[f64]) -> bool {
    let least = |side: &[f64]| side.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |side: &[f64]| side.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most(left) < least(right) || most(right) < least(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_apart_where_no_run_is_among_the_others() {
        assert!(are_apart(&[1.0, 2.0], &[3.0, 4.0]) && are_apart(&[5.0, 6.0], &[4.0]));
        assert!(!are_apart(&[1.0, 3.0], &[3.0, 4.0]) && !are_apart(&[1.0, 9.0], &[3.0, 4.0]));
    }
}
