//! Which functions are tested together: those that may be called changed, and those whose code is the same.
//!
//! Among a hundred functions of which one has other code, that one is the only that can be called changed; to adjust its
//! p-value for the others, too, would only hide it. Whether code is the same is known without looking at any time, so each of
//! both families has its own error rate.

use super::Options;
use super::comparison::{Function, Test, Verdict};
use super::decision::decide;
use crate::observed::code::CodeState;

/// Whether a function may be called changed: its code is another, nobody knows it, or both sides are one build.
pub fn is_own(function: &Function, is_one_build: bool) -> bool {
    is_one_build || function.code != CodeState::Same
}

/// Decides on the functions that are tested, each of both families by itself.
pub fn decide_each(
    functions: &mut [Function],
    tested: &[bool],
    is_one_build: bool,
    smallest_p: f64,
    options: &Options,
) {
    for family in [true, false] {
        let is_of = |function: &Function| is_own(function, is_one_build) == family;
        let chosen: Vec<usize> =
            (0..functions.len()).filter(|&index| tested[index] && is_of(&functions[index])).collect();
        let mut tests: Vec<(&mut Test, f64)> = functions
            .iter_mut()
            .zip(tested)
            .filter(|(function, tested)| **tested && is_of(function))
            .map(|(function, _)| (&mut function.self_ns, function.min_change))
            .collect();
        let verdicts: Vec<Verdict> = decide(&mut tests, options, smallest_p);
        chosen.into_iter().zip(verdicts).for_each(|(index, verdict)| functions[index].verdict = verdict);
    }
}
