//! When a server was slow for a moment, what its functions did meanwhile: a correlation, which proves no cause.

use std::collections::BTreeSet;

use diytrace_compare::observed::identity::Identity;
use diytrace_compare::statistics::{Correction, Ranks, median};
use diytrace_profile::units::{nanoseconds, optional_nanoseconds};
use serde::Serialize;

use super::cost::Costs;
use super::seen::{Moment, Seen};
use crate::Error;
use crate::load::{Load, rate};

/// A slice of a step's timeline is a spike from so many times the p99 of half the slices on.
const HIGH: f64 = 3.0;

/// And from so much of the highest: beside that, others are none.
const OF_HIGHEST: f64 = 0.25;

/// Where more of the slices are, it is no spike, but how the server is.
const MOST: f64 = 1.0 / 3.0;

/// Fewer moments with spikes, or without, tell nothing.
const FEWEST: [usize; 2] = [2, 4];

/// Chance alone shows something with at most this probability.
const LEVEL: f64 = 0.05;

/// A share that has risen by less matters to nobody.
const LEAST: f64 = 0.02;

/// Most functions that are named for a step.
const NAMED: usize = 3;

/// Spikes of a step, and the functions whose share of all recorded time was larger in them.
#[derive(Clone, Debug, Serialize)]
pub struct Spikes {
    /// The step.
    pub step: usize,
    /// Slices of its timeline that are spikes.
    pub slices: usize,
    /// The highest p99 among them.
    #[serde(serialize_with = "nanoseconds")]
    pub highest_ns: f64,
    /// The p99 of half the step's slices is at most this.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub usual_ns: Option<f64>,
    /// Moments that the recording was read in, a quarter of a second each or longer.
    pub moments: usize,
    /// Those that spikes lie in, up to their answers.
    pub moments_with_spikes: usize,
    /// Functions, the one whose share has risen most first. Their time and the spikes go together: that is all.
    pub correlated: Vec<Correlated>,
}

/// A function whose share was larger in moments with spikes.
#[derive(Clone, Debug, Serialize)]
pub struct Correlated {
    /// Its name.
    pub name: String,
    /// File name of its module.
    pub module: String,
    /// The median of its shares of all functions' own time, in moments with spikes.
    pub share: f64,
    /// And in the others.
    pub share_else: f64,
    /// How often chance alone would put them so far apart or farther, adjusted for all functions (Benjamini-Hochberg).
    pub p: f64,
}

/// Of all steps that have any.
pub fn spikes(steps: &[Load], seen: &[Seen]) -> Result<Vec<Spikes>, Error> {
    let mut all = Vec::new();
    for (step, (load, seen)) in steps.iter().zip(seen).enumerate() {
        all.extend(of_step(step, load, &seen.moments)?);
    }
    Ok(all)
}

fn of_step(step: usize, load: &Load, moments: &[Moment]) -> Result<Option<Spikes>, Error> {
    let Some(High { usual_ns, highest_ns, spans }) = high(load) else { return Ok(None) };
    let is_high = |moment: &Moment| spans.iter().any(|(from, to)| *from < moment.to_ns && moment.from_ns < *to);
    let (with, without): (Vec<&Moment>, Vec<&Moment>) = moments.iter().partition(|moment| is_high(moment));
    let mut spikes = Spikes {
        step,
        slices: spans.len(),
        highest_ns,
        usual_ns: Some(usual_ns),
        moments: moments.len(),
        moments_with_spikes: with.len(),
        correlated: Vec::new(),
    };
    if with.len() >= FEWEST[0] && without.len() >= FEWEST[1] {
        let costs = |moments: &[&Moment]| -> Result<Vec<Costs>, Error> {
            moments.iter().map(|moment| moment.part.costs()).collect()
        };
        spikes.correlated = correlated(&costs(&with)?, &costs(&without)?);
    }
    Ok(Some(spikes))
}

/// What is high in a step.
struct High {
    usual_ns: f64,
    highest_ns: f64,
    /// From the beginning of a slice to when the last of its requests had its answer.
    spans: Vec<(u64, u64)>,
}

fn high(load: &Load) -> Option<High> {
    let slices = &load.timeline.slices;
    let all: Vec<f64> = slices.iter().filter_map(|slice| slice.p99_ns).collect();
    if all.is_empty() || load.interrupted {
        return None;
    }
    let (usual_ns, highest_ns) = (median(&all), all.iter().copied().fold(0.0, f64::max));
    let least_ns = (HIGH * usual_ns).max(OF_HIGHEST * highest_ns);
    let mut spans = Vec::new();
    for (number, slice) in slices.iter().enumerate() {
        if slice.p99_ns.is_none_or(|p99_ns| p99_ns < least_ns) {
            continue;
        }
        let from = number as u64 * load.timeline.slice_ns;
        spans.push((from, from + load.timeline.slice_ns + slice.max_ns as u64));
    }
    let is_usual = spans.len() as f64 > MOST * all.len() as f64;
    (!spans.is_empty() && !is_usual).then_some(High { usual_ns, highest_ns, spans })
}

fn correlated(with: &[Costs], without: &[Costs]) -> Vec<Correlated> {
    let all: BTreeSet<&Identity> = with.iter().chain(without).flat_map(|costs| costs.functions.keys()).collect();
    let shares = |moments: &[Costs]| -> Vec<Vec<f64>> {
        let sums: Vec<f64> = moments.iter().map(|costs| all.iter().map(|one| costs.own(one).max(0.0)).sum()).collect();
        let share = |identity: &&Identity| {
            let each = moments.iter().zip(&sums);
            each.map(|(costs, sum)| if *sum > 0.0 { costs.own(identity).max(0.0) / sum } else { 0.0 }).collect()
        };
        all.iter().map(share).collect()
    };
    let ranks = Ranks::new(with.len(), without.len());
    let pairs: Vec<(Vec<f64>, Vec<f64>)> = shares(with).into_iter().zip(shares(without)).collect();
    let p: Vec<f64> = pairs.iter().map(|(with, without)| ranks.p(with, without)).collect();
    let mut functions: Vec<Correlated> = Vec::new();
    for ((identity, (with, without)), p) in all.iter().zip(&pairs).zip(Correction::Bh.adjust(&p)) {
        let (share, share_else) = (median(with), median(without));
        if p <= LEVEL && share - share_else >= LEAST {
            let module = identity.home.file.clone();
            functions.push(Correlated { name: identity.name.clone(), module, share, share_else, p });
        }
    }
    let rise = |function: &Correlated| function.share - function.share_else;
    functions.sort_by(|a, b| rise(b).total_cmp(&rise(a)).then_with(|| a.name.cmp(&b.name)));
    functions.truncate(NAMED);
    functions
}

/// What there is to say of it, if any function goes with it.
pub fn said(spikes: &Spikes, steps: &[Load]) -> Option<String> {
    use diytrace_profile::human::{counted, percent, time};
    if spikes.correlated.is_empty() {
        return None;
    }
    let share = |one: &Correlated| {
        format!("`{}` ({} of the time there, {} else)", one.name, percent(one.share), percent(one.share_else))
    };
    let functions: Vec<String> = spikes.correlated.iter().map(share).collect();
    let title = steps[spikes.step].offered_per_s.map_or_else(|| "max".to_owned(), rate);
    Some(format!(
        "{title}: {} of latency up to {} go with more time in {}: a correlation",
        counted(spikes.slices as u64, "spike", "spikes"),
        time(spikes.highest_ns),
        functions.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Axis, Slice};

    fn load(p99_ms: &[f64]) -> Load {
        let slice = |ms: &f64| Slice { p99_ns: Some(ms * 1e6), max_ns: ms * 1e6, ..Slice::default() };
        let timeline = Axis { slice_ns: 1 << 27, slices: p99_ms.iter().map(slice).collect() };
        Load { timeline, ..Load::default() }
    }

    #[test]
    fn a_spike_is_far_above_the_others_and_lasts_until_its_answers() {
        let found = high(&load(&[1.0, 1.2, 200.0, 1.1, 0.9, 1.0, 3.5])).unwrap();
        assert_eq!((found.usual_ns, found.highest_ns), (1.1e6, 200e6));
        assert_eq!(found.spans, [(2 << 27, (3 << 27) + 200_000_000)], "3.5 ms are nothing beside that");
        let found = high(&load(&[1.0, 1.2, 8.0, 1.1, 0.9, 1.0, 3.5])).unwrap();
        assert_eq!(found.spans, [(2 << 27, (3 << 27) + 8_000_000), (6 << 27, (7 << 27) + 3_500_000)]);
        // Half the time is no spike, and neither is a little more.
        assert!(high(&load(&[1.0, 9.0, 1.0, 9.0, 1.0, 9.0, 1.0])).is_none());
        assert!(high(&load(&[1.0, 1.0, 2.9, 1.0])).is_none());
        assert!(high(&load(&[])).is_none());
    }
}
