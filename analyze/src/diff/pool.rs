//! What the hooks cost, from all runs of a query together.
//!
//! A run tells it by a dozen trials or two, each disturbed by what else goes on: from one run to the next the result differs
//! by a tenth, where the times themselves differ by a hundredth. Taken off run by run, that would be most of what varies. The
//! runs of a query are of one program on one machine, so their trials are of the same thing; and both sides are corrected
//! alike, as long as a loop of hooks takes as long on both.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::comparison::Overhead;
use crate::load::Family;
use crate::load::costs::{Costs, Evidence};
use crate::load::timed::Timing;
use crate::opened;
use crate::runs::{Run, Runs};
use crate::statistics::median;

/// A loop of hooks may take so much longer on one side than on the other, as a part of it, and be the same.
const ALIKE: f64 = 0.1;

/// What the hooks cost in each program of each side.
pub struct Pool {
    /// In nanoseconds.
    costs: [BTreeMap<Program, Costs>; 2],
}

/// A program of a side, and how it was recorded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Program {
    name: String,
    timing: Timing,
}

/// Evidence of each program, in nanoseconds.
type All = BTreeMap<Program, Vec<Evidence>>;

impl Pool {
    /// Of the runs of a query. Those that cannot be read tell nothing.
    pub fn of(sets: [&Runs; 2], query: Option<&str>) -> Self {
        let sides = sets.map(|set| {
            let runs: Vec<&Run> = set.of(query).collect();
            let mut all = All::new();
            for (program, evidence) in
                runs.par_iter().map(|run| evidence(run)).collect::<Vec<_>>().into_iter().flatten()
            {
                all.entry(program).or_default().push(evidence);
            }
            all
        });
        // Two builds may have two names; where each side has one program, that is it.
        let partner = |side: usize, program: &Program| -> Option<&Vec<Evidence>> {
            let others = &sides[1 - side];
            let only = (sides[side].len() == 1 && others.len() == 1).then(|| others.first_key_value()).flatten();
            let only = only.filter(|(other, _)| other.timing == program.timing).map(|(_, all)| all);
            others.get(program).or(only)
        };
        let costs = |side: usize| {
            let of_program = |(program, own): (&Program, &Vec<Evidence>)| {
                // In one order, so that both sides come to the same to the last bit.
                let other = partner(side, program).filter(|other| are_alike(own, other));
                let all = match (side, other) {
                    (_, None) => own.clone(),
                    (0, Some(other)) => [own.as_slice(), other].concat(),
                    (_, Some(other)) => [other.as_slice(), own].concat(),
                };
                Some((program.clone(), Evidence::pooled(&all)?.costs()))
            };
            sides[side].iter().filter_map(of_program).collect()
        };
        Self { costs: [costs(0), costs(1)] }
    }

    /// What is taken off on a side.
    pub fn overhead(&self, side: usize) -> Vec<Overhead> {
        let of_program = |(program, costs): (&Program, &Costs)| Overhead {
            program: program.name.clone(),
            inner_ns: costs.inner,
            outer_ns: costs.outer,
            error_ns: costs.error,
            trials: costs.trials,
        };
        self.costs[side].iter().map(of_program).collect()
    }

    /// Has a family of a side cost what they all do.
    pub fn apply(&self, side: usize, family: &mut Family) {
        if let Some(costs) = self.costs[side].get(&Program::of(family)) {
            family.costs = costs.scaled(1.0 / family.clock.ns_per_tick());
        }
    }
}

impl Program {
    fn of(family: &Family) -> Self {
        let name = family.exe.rsplit('/').next().unwrap_or_default().to_owned();
        Self { name, timing: family.timing }
    }
}

fn evidence(run: &Run) -> Vec<(Program, Evidence)> {
    let mut all = Vec::new();
    let read = opened::read(&run.profiles, |_, family| {
        all.push((Program::of(family), family.evidence.scaled(family.clock.ns_per_tick())));
    });
    // Why, is said when its calls are read.
    read.map_or(Vec::new(), |_| all)
}

fn are_alike(left: &[Evidence], right: &[Evidence]) -> bool {
    let [left, right] = [left, right].map(|side| {
        let loops: Vec<f64> = side.iter().map(|one| one.of_loop.inner + one.of_loop.outer).collect();
        median(&loops)
    });
    (left - right).abs() <= ALIKE * left.max(right)
}
