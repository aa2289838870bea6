//! A recorder of made-up calls, and the truth about them.

use std::collections::BTreeMap;

use diytrace_format::Slot;
use diytrace_format::node::flag;
use proptest::prelude::*;

use super::{node, slot};
use crate::load::Node;
use crate::load::costs::Costs;

/// A call that takes some time itself and makes others.
#[derive(Clone, Debug)]
pub struct Call {
    /// Address of the function.
    pub function: u64,
    /// Time without callees.
    pub own: u64,
    /// The calls it makes.
    pub callees: Vec<Call>,
}

/// Any calls.
pub fn calls() -> impl Strategy<Value = Vec<Call>> {
    let function = (0u64..4).prop_map(|number| 0x1000 + number * 0x100);
    let leaf = (function.clone(), 0u64..1000).prop_map(|(function, own)| Call { function, own, callees: Vec::new() });
    let call =
        leaf.prop_recursive(8, 40, 4, move |inner| {
            (function.clone(), 0u64..1000, prop::collection::vec(inner, 0..4))
                .prop_map(|(function, own, callees)| Call { function, own, callees })
        });
    prop::collection::vec(call, 1..4)
}

/// What is so, by function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Truth {
    /// Calls.
    pub calls: BTreeMap<u64, u64>,
    /// Time of outermost calls.
    pub total: BTreeMap<u64, u64>,
    /// Time without callees.
    pub own: BTreeMap<u64, u64>,
    /// Calls of one function by another.
    pub edge_calls: BTreeMap<(u64, u64), u64>,
    /// Time of calls of one function by outermost calls of another.
    pub edge_total: BTreeMap<(u64, u64), u64>,
    /// Time of everything.
    pub all: u64,
}

impl Truth {
    /// The truth about these calls.
    pub fn of(calls: &[Call]) -> Self {
        let mut truth = Self::default();
        truth.all = calls.iter().map(|call| truth.add(call, &mut Vec::new())).sum();
        truth
    }

    fn add(&mut self, call: &Call, above: &mut Vec<u64>) -> u64 {
        let is_outermost = !above.contains(&call.function);
        let caller = above.last().copied();
        let is_by_outermost = caller.is_some_and(|caller| above.iter().filter(|&&one| one == caller).count() == 1);
        above.push(call.function);
        let total = call.own + call.callees.iter().map(|callee| self.add(callee, above)).sum::<u64>();
        above.pop();
        *self.calls.entry(call.function).or_default() += 1;
        *self.own.entry(call.function).or_default() += call.own;
        *self.total.entry(call.function).or_default() += if is_outermost { total } else { 0 };
        if let Some(caller) = caller {
            *self.edge_calls.entry((caller, call.function)).or_default() += 1;
            *self.edge_total.entry((caller, call.function)).or_default() += if is_by_outermost { total } else { 0 };
        }
        total
    }
}

/// Records calls. A function's recursion is folded when that many of its paths lie above each other.
pub fn record(calls: &[Call], costs: Costs, fold_at: usize) -> Vec<Node> {
    let mut recorder = Recorder { nodes: Vec::new(), costs, fold_at };
    for call in calls {
        recorder.call(call, None, false);
    }
    recorder.nodes
}

struct Recorder {
    nodes: Vec<Node>,
    costs: Costs,
    fold_at: usize,
}

impl Recorder {
    /// Time that passed for the caller, and calls that were made, this one included.
    fn call(&mut self, call: &Call, position: Option<u32>, is_inside: bool) -> (u64, u64) {
        let mut above = position;
        let mut same = Vec::new();
        while let Some(at) = above {
            if self.nodes[at as usize].function == call.function {
                same.push(at);
            }
            above = self.nodes[at as usize].parent;
        }
        let folded_into = same.first().copied().filter(|_| same.len() >= self.fold_at);
        let found = self
            .nodes
            .iter()
            .position(|node| (node.parent, node.function, node.folded_into) == (position, call.function, folded_into));
        let id = found.unwrap_or_else(|| {
            let mut new = node(call.function, position, Slot::default());
            new.folded_into = folded_into;
            new.flags = if folded_into.is_some() { flag::RECURSION } else { 0 };
            self.nodes.push(new);
            self.nodes.len() - 1
        });
        let below = Some(folded_into.unwrap_or(id as u32));
        let (mut ticks, mut descendants) = (call.own + self.costs.inner as u64, 0);
        for callee in &call.callees {
            let (time, calls) = self.call(callee, below, is_inside || folded_into.is_some());
            ticks += time;
            descendants += calls;
        }
        let counters = &mut self.nodes[id].slots[usize::from(is_inside)];
        *counters = slot(counters.calls + 1, counters.ticks + ticks, counters.descendants + descendants);
        (ticks + self.costs.outer as u64, descendants + 1)
    }
}
