//! What the hooks cost, from all runs of a query together.
//!
//! A run tells it by a dozen windows or two, each disturbed by what else goes on: from one run to the next the result differs
//! by a tenth, where the times themselves differ by a hundredth. Taken off run by run, that would be most of what varies. The
//! runs of a query are of one program on one machine, so their windows are of the same thing; and both sides are corrected
//! alike, as long as a loop of hooks takes as long on both.

use std::collections::BTreeMap;

use super::comparison::Overhead;
use crate::statistics::median;
use diytrace_profile::load::costs::{Costs, Evidence};
use diytrace_profile::load::timed::Timing;
use diytrace_profile::merge::Part;
use diytrace_profile::opened::Opened;

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

/// Evidence of each program.
type All = BTreeMap<Program, Evidence>;

impl Pool {
    /// Of the runs of both sides.
    pub fn of<'a, I: Iterator<Item = &'a Opened>>(sides: [I; 2]) -> Self {
        let sides = sides.map(|runs| {
            let mut all = All::new();
            for part in runs.flat_map(|opened| &opened.merged.groups).flat_map(|group| &group.parts) {
                all.entry(Program::of(part)).or_default().add(&part.evidence);
            }
            all
        });
        // Two builds may have two names; where each side has one program, that is it.
        let partner = |side: usize, program: &Program| -> Option<&Evidence> {
            let others = &sides[1 - side];
            let only = (sides[side].len() == 1 && others.len() == 1).then(|| others.first_key_value()).flatten();
            let only = only.filter(|(other, _)| other.timing == program.timing).map(|(_, all)| all);
            others.get(program).or(only)
        };
        let costs = |side: usize| {
            let of_program = |(program, own): (&Program, &Evidence)| {
                let mut all = own.clone();
                if let Some(other) = partner(side, program).filter(|other| are_alike(own, other)) {
                    all.add(other);
                }
                // In one order, so that both sides come to the same to the last bit.
                (program.clone(), all.sorted().costs())
            };
            sides[side].iter().map(of_program).collect()
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
            windows: costs.windows,
        };
        self.costs[side].iter().map(of_program).collect()
    }

    /// Has the hooks of a run of a side cost what they all do.
    pub fn apply(&self, side: usize, part: &mut Part) {
        if let Some(costs) = self.costs[side].get(&Program::of(part)) {
            part.costs = *costs;
        }
    }
}

impl Program {
    fn of(part: &Part) -> Self {
        let name = part.key.program.rsplit('/').next().unwrap_or_default().to_owned();
        Self { name, timing: part.key.timing }
    }
}

fn are_alike(left: &Evidence, right: &Evidence) -> bool {
    let [left, right] = [left, right].map(|side| median(&side.loops().collect::<Vec<_>>()));
    (left - right).abs() <= ALIKE * left.max(right)
}
