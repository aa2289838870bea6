//! Which steps chance is unlikely to show among all that were looked at.

use super::found::Found;
use super::steps::LEVEL;
use crate::statistics::Correction;

/// Keeps the steps that chance is unlikely to show among all series; `reachable` is the smallest p that each could show. How many could
/// show one, and what the reader should know if none can; `what` is what a value is of, `each` what needs several.
pub fn keep_significant<M>(
    steps: &mut [Vec<Found<M>>],
    reachable: &[f64],
    (what, each): (&str, &str),
) -> (usize, Option<String>) {
    let tested = reachable.iter().filter(|p| **p < 1.0).count();
    let p: Vec<f64> = steps.iter_mut().map(|steps| steps.iter_mut().map(|step| step.p).fold(1.0, f64::min)).collect();
    let adjusted = Correction::Bh.adjust(&p);
    for ((steps, p), adjusted) in steps.iter_mut().zip(&p).zip(adjusted) {
        steps.retain_mut(|step| {
            step.p = (step.p * (adjusted / p.max(f64::MIN_POSITIVE))).min(1.0);
            step.p <= LEVEL
        });
    }
    let needs = LEVEL / reachable.len().max(1) as f64;
    let warning = if tested == 0 {
        Some(format!("too few {what} to find steps: three on each side are the least"))
    } else if reachable.iter().all(|smallest| *smallest > needs) {
        Some(format!(
            "too few {what} to find a step of one function among {}: five or more of each {each} show it",
            reachable.len()
        ))
    } else {
        None
    };
    (tested, warning)
}
