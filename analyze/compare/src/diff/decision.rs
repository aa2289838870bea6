//! The decision protocol: what a test of a time says.
//!
//! It is that of ClickHouse's performance tests, with two more ways to say "cannot tell": with too few runs for so many
//! functions, and where the difference is below what the correction for the hooks may be off by. Chance comes first: what
//! passes it and is large enough is a change however much the times vary; what does not, and varies much, is unstable.

use super::Options;
use super::comparison::{Test, Verdict};
use crate::statistics::Correction;

/// Decides on many tests at once; `min_change` is each one's own.
pub fn decide(tests: &mut [(&mut Test, f64)], options: &Options, smallest_p: f64) -> Vec<Verdict> {
    let p: Vec<f64> = tests.iter().map(|(test, _)| test.p).collect();
    let adjusted = options.correction.adjust(&p);
    let verdict = |(index, (test, min_change)): (usize, &mut (&mut Test, f64))| {
        test.p_adjusted = Some(adjusted[index]);
        let family = Family { p: &p, index, smallest_p, correction: options.correction };
        one(test, *min_change, options, &family)
    };
    tests.iter_mut().enumerate().map(verdict).collect()
}

/// The tests that one is of.
struct Family<'a> {
    p: &'a [f64],
    index: usize,
    smallest_p: f64,
    correction: Correction,
}

fn one(test: &Test, min_change: f64, options: &Options, family: &Family) -> Verdict {
    let is_large = test.is_at_least(min_change);
    let is_resolved = test.is_resolved();
    let is_unlikely = test.p_adjusted.is_some_and(|p| p <= options.level);
    match test.reaches_threshold() {
        true if !is_large => Verdict::TooSmall,
        true if !is_resolved => Verdict::Unresolved,
        true if is_unlikely => Verdict::Changed,
        true if !family.is_reachable(options.level) => Verdict::Underpowered,
        _ if test.spread.is_some_and(|spread| spread >= options.max_spread) => Verdict::Unstable,
        _ => Verdict::NotSignificant,
    }
}

impl Family<'_> {
    fn is_reachable(&self, level: f64) -> bool {
        self.correction.is_reachable(self.p, self.index, self.smallest_p, level)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tester::{Errors, Tester};
    use super::*;

    fn verdicts(sides: &[([f64; 8], [f64; 8])], runs: usize, error: f64) -> Vec<Verdict> {
        let options = Options::default();
        let tester = Tester::new([runs, runs], &options);
        let test = |(left, right): &([f64; 8], [f64; 8])| {
            tester.test(&[left[..runs].to_vec(), right[..runs].to_vec()], Errors::apart([error, 0.0]))
        };
        let mut tests: Vec<Test> = sides.iter().map(test).collect();
        let mut tests: Vec<_> = tests.iter_mut().map(|test| (test, options.min_change)).collect();
        decide(&mut tests, &options, tester.smallest_p)
    }

    const QUIET: [f64; 8] = [100.0, 100.3, 99.8, 100.1, 100.6, 99.9, 100.2, 99.7];
    const NOISY: [f64; 8] = [100.0, 150.0, 70.0, 120.0, 190.0, 80.0, 60.0, 170.0];

    fn times(values: [f64; 8], factor: f64) -> [f64; 8] {
        values.map(|value| value * factor)
    }

    #[test]
    fn what_the_protocol_says() {
        let mut mixed = NOISY;
        mixed.rotate_left(3);
        let sides = [
            (QUIET, times(QUIET, 1.3)),
            (QUIET, times(QUIET, 0.7)),
            (QUIET, times(QUIET, 1.008)),
            (QUIET, times(QUIET, 1.0001)),
            (NOISY, times(mixed, 1.1)),
            (NOISY, times(NOISY, 10.0)),
        ];
        use Verdict::{Changed, NotSignificant, TooSmall, Unresolved, Unstable};
        assert_eq!(verdicts(&sides, 8, 0.0), [Changed, Changed, TooSmall, NotSignificant, Unstable, Changed]);
        assert_eq!(verdicts(&sides[..1], 8, 40.0), [Unresolved], "30 ns ± 40 ns");
    }

    #[test]
    fn few_runs_among_many_functions_can_say_nothing() {
        let mut sides = vec![(QUIET, times(QUIET, 1.3))];
        sides.extend(vec![(QUIET, QUIET); 99]);
        assert_eq!(verdicts(&sides, 5, 0.0)[0], Verdict::Underpowered);
        assert_eq!(verdicts(&sides, 8, 0.0)[0], Verdict::Changed);
        assert_eq!(verdicts(&sides[..1], 3, 0.0)[0], Verdict::Underpowered, "2/20 is more than 5%");
        assert_eq!(verdicts(&sides[..1], 5, 0.0)[0], Verdict::Changed);
    }
}
