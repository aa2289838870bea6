//! Whether more runs may decide what so many do not: where `bench` adds some.

use statrs::distribution::{ContinuousCDF, Normal};

use super::Options;
use super::comparison::{Moved, Query, Test, Verdict};
use super::strata;
use crate::statistics::{Correction, Looks, smallest_p};

/// What a test says so far, and the least change of it that matters.
#[derive(Clone, Copy)]
pub struct SoFar<'a> {
    /// The test.
    pub test: &'a Test,
    /// Its verdict.
    pub verdict: Verdict,
    /// The least that counts.
    pub min_change: f64,
}

impl<'a> SoFar<'a> {
    fn of(group: &'a Moved, min_change: f64) -> Self {
        Self { test: &group.sum_ns, verdict: group.verdict, min_change }
    }
}

/// Runs are added where they have that chance to decide, if it goes on as it does (conditional power).
const CHANCE: f64 = 0.2;

/// Whether it pays to make more runs of a query: whether a function of which a change would count, or all together, may well
/// be called changed at the most runs.
pub fn pays(query: &Query, looks: Looks, options: &Options) -> bool {
    let of_functions = |is_own: bool| {
        let functions = query.functions.iter().filter(move |one| strata::is_own(one, query.is_one_build) == is_own);
        let tested = functions.filter(|function| function.self_ns.p_adjusted.is_some());
        tested
            .map(|one| SoFar { test: &one.self_ns, verdict: one.verdict, min_change: one.min_change })
            .collect::<Vec<_>>()
    };
    let total = &query.total;
    let total = SoFar { test: &total.self_ns, verdict: total.verdict, min_change: total.min_change };
    let runs = query.left_runs.min(query.right_runs);
    // Functions between which cost moved count by their sum.
    let groups: Vec<SoFar> = query.moved.iter().map(|group| SoFar::of(group, options.min_change)).collect();
    // Functions whose code is the same are no reason to fail, so nobody waits for them.
    [&of_functions(true)[..], &[total], &groups].iter().any(|tests| pays_of(tests, runs, looks, options))
}

/// The same of tests that are adjusted together.
pub fn pays_of(tests: &[SoFar], runs: usize, looks: Looks, options: &Options) -> bool {
    if runs >= looks.most {
        return false;
    }
    let level = looks.level(looks.most, options.level);
    let significant = tests.iter().filter(|one| one.verdict == Verdict::Changed).count();
    // What one more must reach.
    let needed = match options.correction {
        Correction::None => level,
        Correction::Bh => level * (significant + 1) as f64 / tests.len().max(1) as f64,
        Correction::Holm => level / (tests.len() - significant).max(1) as f64,
    };
    let is_reachable = smallest_p(looks.most, looks.most) <= needed;
    // Of all runs' deviations, those so far tell a part, and chance the rest.
    let part = runs.max(1) as f64 / looks.most as f64;
    let expected = |p: f64| deviations(p) / part.sqrt() + deviations(2.0 * CHANCE) * (1.0 - part).sqrt();
    let is_one = |one: &SoFar| {
        let is_open = matches!(
            one.verdict,
            Verdict::NotSignificant | Verdict::Unstable | Verdict::Underpowered | Verdict::Unresolved
        );
        // What the correction may be off by, no number of runs makes less.
        let is_above_error = one.test.difference_ns().abs() > one.test.error_ns;
        is_open && is_above_error && one.test.is_at_least(one.min_change) && expected(one.test.p) >= deviations(needed)
    };
    is_reachable && tests.iter().any(is_one)
}

/// How many standard deviations a two-sided p-value is worth: they grow with the root of the runs.
fn deviations(p: f64) -> f64 {
    Normal::new(0.0, 1.0).map_or(0.0, |normal| normal.inverse_cdf(1.0 - p.clamp(1e-15, 1.0) / 2.0))
}

#[cfg(test)]
mod tests {
    use super::super::values::test_values;
    use super::*;

    const LOOKS: Looks = Looks { first: 10, most: 20 };

    /// Twenty functions of two hundredths of noise, of which the first takes so much longer on the right.
    fn family(more: f64) -> Vec<[Vec<f64>; 2]> {
        // Each value once, in an order of its own for each function and side.
        let side = |function: usize, side: usize, factor: f64| -> Vec<f64> {
            (0..10)
                .map(|run| ((run * 7 + function * 3 + side * 5) % 10) as f64 - 4.5)
                .map(|at| (100.0 + 0.7 * at) * factor)
                .collect()
        };
        (0..20).map(|one| [side(one, 0, 1.0), side(one, 1, if one == 0 { 1.0 + more } else { 1.0 })]).collect()
    }

    fn pays_for(more: f64, options: &Options) -> bool {
        let tests = test_values(&family(more), [10, 10], &options.at(10));
        let so_far: Vec<SoFar> = tests
            .iter()
            .map(|(test, verdict)| SoFar { test, verdict: *verdict, min_change: options.min_change })
            .collect();
        pays_of(&so_far, 10, LOOKS, options)
    }

    #[test]
    fn more_runs_are_made_only_where_they_may_decide() {
        let options = Options { looks: Some(LOOKS), ..Options::default() };
        assert!(!pays_for(0.0, &options), "nothing looks like a change");
        assert!(!pays_for(0.005, &options), "too small to matter");
        assert!(pays_for(0.03, &options), "twice the runs would tell");
        assert!(!pays_for(0.2, &options), "it is decided");
        // No p-value of so few runs is small enough.
        let few = Options { level: 1e-12, ..options };
        assert!(!pays_for(0.03, &few));
    }
}
