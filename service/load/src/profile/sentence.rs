//! What a run has come to, in a sentence.

use diytrace_compare::statistics::Ranks;
use diytrace_profile::human::{count, shorten, time};

use super::growth::{Function, Response, Why};
use crate::load::{Load, Slice, Times};
use crate::run::KEEPS_UP;

/// Latency that has grown by less does not bend.
const BENDS: f64 = 2.0;

/// What chance alone shows with a smaller probability is no chance.
const LEVEL: f64 = 0.01;

/// Names are no longer than this.
const NAME: usize = 60;

/// Percentiles that may bend, in this order.
const WATCHED: [Watched; 3] = [
    Watched { name: "p99", of_step: |times| times.p99, of_slice: |slice| slice.p99_ns },
    Watched { name: "p90", of_step: |times| times.p90, of_slice: |slice| slice.p90_ns },
    Watched { name: "p50", of_step: |times| times.p50, of_slice: |slice| slice.p50_ns },
];

/// A percentile, of a step and of a slice of it.
struct Watched {
    name: &'static str,
    of_step: fn(&Times) -> Option<f64>,
    of_slice: fn(&Slice) -> Option<f64>,
}

/// Where latency bends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bend {
    /// The step of the lowest rate.
    pub base: usize,
    /// The first step that is slower.
    pub step: usize,
    /// What shows it.
    by: By,
}

/// What shows that latency bends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// One of [`WATCHED`].
    Percentile(usize),
    /// Requests that got no answer, or none in time.
    Unanswered,
}

/// The step at which latency bends, if it does: the first of which a percentile is twice that of the lowest rate and whose
/// slices are slower than chance makes them, or that does not get its requests answered.
pub fn bend(steps: &[Load]) -> Option<Bend> {
    let mut order: Vec<usize> = (0..steps.len()).filter(|&step| steps[step].offered_per_s.is_some()).collect();
    order.sort_by(|&a, &b| rate_of(&steps[a]).total_cmp(&rate_of(&steps[b])));
    let (&base, above) = order.split_first()?;
    above.iter().find_map(|&step| {
        let by = bends(&steps[base], &steps[step])?;
        Some(Bend { base, step, by })
    })
}

fn rate_of(step: &Load) -> f64 {
    step.offered_per_s.unwrap_or(f64::INFINITY)
}

/// What shows it.
fn bends(base: &Load, step: &Load) -> Option<By> {
    let falls_behind = |step: &Load| (step.answered as f64) < KEEPS_UP * step.asked() as f64;
    if falls_behind(step) && !falls_behind(base) {
        return Some(By::Unanswered);
    }
    let percentile = (0..WATCHED.len()).find(|&watched| {
        let Watched { of_step, of_slice, .. } = &WATCHED[watched];
        let (Some(low), Some(high)) = (of_step(&base.latency_ns), of_step(&step.latency_ns)) else { return false };
        // What the driver itself was late is no slower server.
        let late = of_step(&step.late_ns).unwrap_or(0.0);
        let slices = |step: &Load| -> Vec<f64> { step.timeline.slices.iter().filter_map(of_slice).collect() };
        let (low_slices, high_slices) = (slices(base), slices(step));
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len().max(1) as f64;
        high - late >= BENDS * low
            && Ranks::new(low_slices.len(), high_slices.len()).p(&low_slices, &high_slices) <= LEVEL
            && mean(&high_slices) > mean(&low_slices)
    });
    percentile.map(By::Percentile)
}

/// The whole of it.
pub fn sentence(steps: &[Load], bend: Option<Bend>, response: Option<&Response>) -> String {
    let latency = match bend {
        Some(Bend { base, step, by }) => {
            let Watched { name, of_step, .. } = match by {
                By::Percentile(percentile) => &WATCHED[percentile],
                By::Unanswered => &WATCHED[0],
            };
            let known = |step: usize| of_step(&steps[step].latency_ns).map_or_else(|| "not known".to_owned(), time);
            let (title, foot) = (steps[step].title(), steps[base].title());
            let told = format!("{}; {} at {foot}", known(step), known(base));
            match by {
                By::Percentile(_) => format!("{name} bends at {title} ({told})"),
                By::Unanswered => {
                    let [answered, asked] = [steps[step].answered, steps[step].asked()].map(count);
                    format!("{answered} of {asked} requests are answered at {title} ({name} of those {told})")
                }
            }
        }
        None if steps.len() > 1 => {
            let (low, high) = ends(steps);
            let (top, foot) = (steps[high].title(), steps[low].title());
            let p99 = |step: usize| steps[step].latency_ns.p99.map_or_else(|| "not known".to_owned(), time);
            format!("latency does not bend up to {top} (p99 {}; {} at {foot})", p99(high), p99(low))
        }
        None => return String::new(),
    };
    let Some(response) = response else { return format!("{latency}.") };
    let first = response.functions.iter().find(|function| function.growth.is_certain);
    match (first, bend) {
        (Some(function), _) => format!(
            "{latency}; {:.0}% of the time that a request costs more is `{}`: {}.",
            function.growth.share * 100.0,
            shorten(&function.name, NAME),
            why(function)
        ),
        (None, Some(Bend { by: By::Percentile(_), .. })) => format!(
            "{latency}, but a request costs more in no recorded function: requests wait before they are served, or in code \
             that is not recorded."
        ),
        (None, _) => format!("{latency}, and a request costs more in no recorded function."),
    }
}

/// The steps of the lowest and the highest rate.
pub fn ends(steps: &[Load]) -> (usize, usize) {
    let by_rate = |&a: &usize, &b: &usize| rate_of(&steps[a]).total_cmp(&rate_of(&steps[b]));
    let low = (0..steps.len()).min_by(by_rate).unwrap_or(0);
    (low, (0..steps.len()).max_by(by_rate).unwrap_or(0))
}

/// Same calls, 3.1 × the time a call, waited longer.
pub fn why(function: &Function) -> String {
    let waited = if function.growth.has_waited_longer { ", waited longer" } else { "" };
    how(function) + waited
}

/// Same calls, 3.1 × the time a call.
pub fn how(function: &Function) -> String {
    let (from, to) = (&function.growth.from, &function.growth.to);
    let calls = to.calls_per_request / from.calls_per_request;
    let cost = match (from.self_ns_per_call(), to.self_ns_per_call()) {
        (Some(from), Some(to)) if from > 0.0 => to / from,
        _ => f64::INFINITY,
    };
    let times = |factor: f64| match factor {
        _ if !factor.is_finite() => "many ×".to_owned(),
        _ if factor >= 100.0 => format!("{} ×", count(factor.round() as u64)),
        _ => format!("{factor:.1} ×"),
    };
    match function.growth.why {
        Why::New if from.calls_per_request == 0.0 => "not called at the lower rate".to_owned(),
        Why::New => "not called at the higher rate".to_owned(),
        Why::Cost => format!("same calls, {} the time a call", times(cost)),
        Why::Calls => format!("{} the calls, same time a call", times(calls)),
        Why::Both => format!("{} the calls, {} the time a call", times(calls), times(cost)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a server that was killed it was said that its latency bends, though those that were answered were answered sooner.
    #[test]
    fn requests_without_an_answer_are_no_latency() {
        let step = |per_s: f64, answered: u64, p99: f64| Load {
            offered_per_s: Some(per_s),
            planned: 400,
            answered,
            latency_ns: Times { p99: Some(p99), ..Times::default() },
            ..Load::default()
        };
        let steps = [step(100.0, 400, 18.6e6), step(200.0, 99, 4.08e6)];
        let said = sentence(&steps, bend(&steps), None);
        assert_eq!(said, "99 of 400 requests are answered at 200/s (p99 of those 4.08 ms; 18.6 ms at 100/s).");
    }
}
