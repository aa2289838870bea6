//! Of which functions the cost of a request grows with load, and why.

use std::collections::BTreeSet;

use diytrace_compare::observed::identity::Identity;
use diytrace_compare::observed::split::MINOR;
use diytrace_compare::observed::uncertainty::{Code, OfDifference};
use diytrace_compare::observed::{self, Measured};
use diytrace_compare::statistics::{Correction, Ranks, median};
use diytrace_profile::units::{nanoseconds, optional_nanoseconds};
use diytrace_profile::warnings::sentences;
use serde::Serialize;

use super::cost::Costs;
use super::seen::{Part, Seen};
use super::spikes::Spikes;
use crate::Error;

/// Chance alone shows something with at most this probability.
const LEVEL: f64 = 0.05;

/// A function whose cost has grown by a smaller part of itself has not, for anybody.
const LEAST: f64 = 0.05;

/// Nor has one that has grown by a smaller part of what half the requests take at most at the lower rate. (What they cost in all
/// functions is no measure: threads that wait for requests do so in functions, too.)
const LEAST_OF_REQUEST: f64 = 0.02;

/// A part of what a function has grown by is most of it from here on.
const MOST: f64 = 0.5;

/// Fewer slices a step decide nothing.
pub const FEWEST: usize = 4;

/// How a server's functions respond to load.
#[derive(Clone, Debug, Serialize)]
pub struct Response {
    /// The step that all are compared with: the lowest rate.
    pub from_step: usize,
    /// The step that is compared: where latency bends, or the highest rate.
    pub to_step: usize,
    /// By how much a request costs more in all functions that cost more, in nanoseconds.
    #[serde(serialize_with = "nanoseconds")]
    pub added_ns_per_request: f64,
    /// Functions, those whose cost has grown most first.
    pub functions: Vec<Function>,
    /// Moments of the steps in which latency was high, and which functions had more time in them: a correlation.
    pub spikes: Vec<Spikes>,
}

/// A function.
#[derive(Clone, Debug, Serialize)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// File name of its module.
    pub module: String,
    /// Its source file, where that is known.
    pub file: Option<String>,
    /// How its cost has grown.
    pub growth: Growth,
    /// What it cost in each step.
    pub steps: Vec<OfStep>,
}

/// What a function costs a request at a rate: the median of the step's slices, which a stall of the machine does not move; of the
/// whole step where it has too few.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Typical {
    /// Calls entered for each request.
    pub calls_per_request: f64,
    /// Time without callees, in nanoseconds.
    #[serde(serialize_with = "nanoseconds")]
    pub self_ns_per_request: f64,
    /// What of that was on a processor; null where the recording cannot tell.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub self_cpu_ns_per_request: Option<f64>,
    /// What of it was waiting; null where the recording cannot tell.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub self_wait_ns_per_request: Option<f64>,
}

impl Typical {
    /// Time without callees, in nanoseconds a call.
    pub fn self_ns_per_call(&self) -> Option<f64> {
        (self.calls_per_request > 0.0).then(|| self.self_ns_per_request / self.calls_per_request)
    }

    /// The median of slices, if they are enough; else that of the whole.
    fn of(identity: &Identity, whole: &Costs, slices: &[Costs]) -> Self {
        if slices.len() < FEWEST {
            return Self {
                calls_per_request: whole.calls(identity),
                self_ns_per_request: whole.own(identity),
                self_cpu_ns_per_request: whole.cpu(identity),
                self_wait_ns_per_request: whole.wait(identity),
            };
        }
        let middle = |of: fn(&Costs, &Identity) -> f64| {
            median(&slices.iter().map(|costs| of(costs, identity)).collect::<Vec<_>>())
        };
        let known_middle = |of: fn(&Costs, &Identity) -> Option<f64>| {
            let all: Option<Vec<f64>> = slices.iter().map(|costs| of(costs, identity)).collect();
            all.map(|all| median(&all))
        };
        Self {
            calls_per_request: middle(Costs::calls),
            self_ns_per_request: middle(Costs::own),
            self_cpu_ns_per_request: known_middle(Costs::cpu),
            self_wait_ns_per_request: known_middle(Costs::wait),
        }
    }
}

/// How the cost of a request in a function has grown. Times are in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Growth {
    /// At the lower rate.
    pub from: Typical,
    /// At the higher one.
    pub to: Typical,
    /// Self time a request.
    #[serde(serialize_with = "nanoseconds")]
    pub self_ns_per_request: f64,
    /// How far off that may be.
    #[serde(serialize_with = "nanoseconds")]
    pub error_ns_per_request: f64,
    /// Its part of what all functions have grown by that have.
    pub share: f64,
    /// What of it comes from calls: more of them a request.
    #[serde(serialize_with = "nanoseconds")]
    pub calls_ns: f64,
    /// What of it comes from the time of each call.
    #[serde(serialize_with = "nanoseconds")]
    pub cost_ns: f64,
    /// `calls`: called more often; `cost`: each call slower; `both`; or `new`: not called at the lower rate.
    pub why: Why,
    /// By how much longer it waits, a request; null where the recording cannot tell.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub wait_ns_per_request: Option<f64>,
    /// Whether that is most of what it has grown by, and each call has become slower: it *waited longer*.
    pub has_waited_longer: bool,
    /// How often chance alone would put the slices of both steps so far apart or farther, adjusted for all functions
    /// (Benjamini-Hochberg); null where there are too few slices to tell.
    pub p: Option<f64>,
    /// Whether it has grown by more than it may be off, than chance explains, and than matters: 2% of a
    /// request's median time.
    pub is_certain: bool,
}

/// Why a cost has grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// More calls a request.
    Calls,
    /// Each takes longer.
    Cost,
    /// Both.
    Both,
    /// It was not called.
    New,
}

/// What a function cost in a step. Times are in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub struct OfStep {
    /// Calls entered.
    pub calls: u64,
    /// Calls entered for each request.
    pub calls_per_request: f64,
    /// Time without callees, of a call.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub self_ns_per_call: Option<f64>,
    /// Time without callees, of a request.
    #[serde(serialize_with = "nanoseconds")]
    pub self_ns_per_request: f64,
    /// How far off that may be.
    #[serde(serialize_with = "nanoseconds")]
    pub self_error_ns_per_request: f64,
    /// What of it was on a processor; null where the recording cannot tell.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub self_cpu_ns_per_request: Option<f64>,
    /// What of it was waiting; null where the recording cannot tell.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub self_wait_ns_per_request: Option<f64>,
    /// Time with callees, of a request.
    #[serde(serialize_with = "nanoseconds")]
    pub total_ns_per_request: f64,
    /// 99% of the calls that returned in the step took at most this.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p99_ns: Option<f64>,
}

impl Response {
    /// Of steps that were watched, from one to another, if half the requests take no more than that at the first; with what the
    /// reader should know.
    pub fn of(
        seen: &[Seen],
        (from_step, to_step): (usize, usize),
        request_ns: f64,
    ) -> Result<(Self, Vec<String>), Error> {
        let costs = seen.iter().map(|seen| seen.whole.costs());
        let costs: Vec<Costs> = costs.collect::<Result<_, _>>()?;
        let slices = |step: usize| -> Result<Vec<Costs>, Error> { seen[step].slices.iter().map(Part::costs).collect() };
        let slices = [slices(from_step)?, slices(to_step)?];
        let all: BTreeSet<&Identity> = costs.iter().flat_map(|costs| costs.functions.keys()).collect();
        let mut functions: Vec<Function> =
            all.iter().map(|identity| function(identity, &costs, &slices, (from_step, to_step), request_ns)).collect();
        test(&all, &mut functions, &slices);
        let added =
            |function: &Function| if function.growth.is_certain { function.growth.self_ns_per_request } else { 0.0 };
        let sum: f64 = functions.iter().map(added).sum();
        for function in &mut functions {
            function.growth.share = if sum > 0.0 { added(function) / sum } else { 0.0 };
        }
        let rank = |function: &Function| (function.growth.is_certain, function.growth.self_ns_per_request);
        functions.sort_by(|a, b| {
            let ((a_certain, a_ns), (b_certain, b_ns)) = (rank(a), rank(b));
            b_certain.cmp(&a_certain).then(b_ns.total_cmp(&a_ns)).then_with(|| a.name.cmp(&b.name))
        });
        let mut warnings: Vec<String> = costs.iter().flat_map(|costs| sentences(&costs.warnings)).collect();
        warnings.sort();
        warnings.dedup();
        Ok((Self { from_step, to_step, added_ns_per_request: sum, functions, spikes: Vec::new() }, warnings))
    }
}

fn function(
    identity: &Identity,
    costs: &[Costs],
    slices: &[Vec<Costs>; 2],
    steps: (usize, usize),
    request_ns: f64,
) -> Function {
    let nothing = Measured::default();
    let ends = [&costs[steps.0], &costs[steps.1]];
    let uncertainty = |costs: &Costs| {
        let error = costs.functions.get(identity).unwrap_or(&nothing).own_error;
        error.part(1.0 / costs.requests.max(1) as f64)
    };
    let error = OfDifference::of(&uncertainty(ends[0]), &uncertainty(ends[1]), Code::Same);
    let [from, to] = [0, 1].map(|end: usize| Typical::of(identity, ends[end], &slices[end]));
    let (calls_ns, cost_ns, why) = split(&from, &to);
    let growth = to.self_ns_per_request - from.self_ns_per_request;
    let waits = from.self_wait_ns_per_request.zip(to.self_wait_ns_per_request);
    let wait_ns = waits.map(|(from, to)| to - from);
    let least = (LEAST * from.self_ns_per_request).max(LEAST_OF_REQUEST * request_ns);
    let is_certain = growth > error.ns() && growth > least;
    let of_step = |costs: &Costs| of_step(costs.functions.get(identity).unwrap_or(&nothing), costs.requests);
    Function {
        name: identity.name.clone(),
        module: identity.home.file.clone(),
        file: identity.file.clone(),
        growth: Growth {
            from,
            to,
            self_ns_per_request: growth,
            error_ns_per_request: error.ns(),
            share: 0.0,
            calls_ns,
            cost_ns,
            why,
            wait_ns_per_request: wait_ns,
            has_waited_longer: has_waited_longer(why, wait_ns, growth),
            p: None,
            is_certain,
        },
        steps: costs.iter().map(of_step).collect(),
    }
}

/// Whether each call has become slower, and that mostly by waiting.
fn has_waited_longer(why: Why, wait_ns: Option<f64>, growth_ns: f64) -> bool {
    matches!(why, Why::Cost | Why::Both) && wait_ns.is_some_and(|wait_ns| wait_ns > MOST * growth_ns.max(0.0))
}

/// What of a growth comes from calls, and what from their cost.
fn split(from: &Typical, to: &Typical) -> (f64, f64, Why) {
    if from.calls_per_request == 0.0 || to.calls_per_request == 0.0 {
        return (to.self_ns_per_request - from.self_ns_per_request, 0.0, Why::New);
    }
    let calls = [from, to].map(|one| one.calls_per_request);
    let (by_calls, by_cost) = observed::split::split(calls, [from, to].map(|one| one.self_ns_per_request));
    let part = observed::split::part_of_calls((by_calls, by_cost));
    let why = match part {
        _ if part < MINOR => Why::Cost,
        _ if part > 1.0 - MINOR => Why::Calls,
        _ => Why::Both,
    };
    (by_calls, by_cost, why)
}

fn of_step(measured: &Measured, requests: u64) -> OfStep {
    let requests = requests.max(1) as f64;
    OfStep {
        calls: measured.calls,
        calls_per_request: measured.calls as f64 / requests,
        self_ns_per_call: (measured.calls > 0).then(|| measured.own_without_preempted() / measured.calls as f64),
        self_ns_per_request: measured.own_without_preempted() / requests,
        self_error_ns_per_request: measured.own_error.error() / requests,
        self_cpu_ns_per_request: measured.own_cpu.map(|ns| ns / requests),
        self_wait_ns_per_request: measured.own_wait.map(|ns| ns / requests),
        total_ns_per_request: measured.total / requests,
        p99_ns: measured.histogram.percentiles([0.99]).map(|[p99]| p99.ns()),
    }
}

/// Whether slices of the two steps are further apart than chance puts them.
fn test(all: &BTreeSet<&Identity>, functions: &mut [Function], slices: &[Vec<Costs>; 2]) {
    let [from, to] = slices;
    if from.len() < FEWEST || to.len() < FEWEST {
        return;
    }
    let ranks = Ranks::new(from.len(), to.len());
    let values = |identity: &Identity, slices: &[Costs]| -> Vec<f64> {
        slices.iter().map(|costs| costs.own(identity)).collect()
    };
    let p: Vec<f64> = all.iter().map(|identity| ranks.p(&values(identity, from), &values(identity, to))).collect();
    for (function, p) in functions.iter_mut().zip(Correction::Bh.adjust(&p)) {
        function.growth.p = Some(p);
        function.growth.is_certain &= p <= LEVEL;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_longer_is_told_from_who_works_longer() {
        for (why, wait_ns, expected) in [
            (Why::Cost, Some(60.0), true),
            (Why::Both, Some(60.0), true),
            (Why::Cost, Some(40.0), false),
            (Why::Calls, Some(90.0), false),
            (Why::New, Some(90.0), false),
            (Why::Cost, None, false),
        ] {
            assert_eq!(has_waited_longer(why, wait_ns, 100.0), expected, "{why:?} {wait_ns:?}");
        }
        assert!(!has_waited_longer(Why::Cost, Some(-1.0), -100.0), "it has become faster");
    }

    #[test]
    fn a_growth_is_split_into_calls_and_cost() {
        let split = |calls: [f64; 2], times: [f64; 2]| {
            let [from, to] = [0, 1].map(|end: usize| Typical {
                calls_per_request: calls[end],
                self_ns_per_request: times[end],
                ..Typical::default()
            });
            split(&from, &to)
        };
        assert_eq!(split([1.0, 1.0], [100.0, 310.0]), (0.0, 210.0, Why::Cost));
        assert_eq!(split([1.0, 3.0], [100.0, 300.0]), (200.0, 0.0, Why::Calls));
        assert_eq!(split([1.0, 2.0], [100.0, 400.0]), (150.0, 150.0, Why::Both));
        assert_eq!(split([0.0, 2.0], [0.0, 400.0]), (400.0, 0.0, Why::New));
    }
}
