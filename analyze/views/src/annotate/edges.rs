//! What a function calls, by call site.
//!
//! The function may be recursive. Its nested calls have lines, too: what a line calls takes the time of those calls at all
//! levels, without the function's own calls inside, whose lines have their time. So own time and lines add up to the total.

use std::collections::BTreeMap;

use crate::calltree::{CallTree, SiteId};
use diytrace_profile::functions::FunctionId;
use diytrace_profile::time::Time;

/// Calls of one function from one site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// Calls entered.
    pub calls: u64,
    /// Their time, without the caller's nested calls.
    pub total: Time,
    /// Their time without callees.
    pub own: Time,
    /// How far off the total may be.
    pub error: Time,
    /// How far off `own` may be.
    pub own_error: Time,
}

/// All calls that a function makes, by callee and site.
pub fn edges(tree: &CallTree, caller: FunctionId, raw: bool) -> BTreeMap<(FunctionId, SiteId), Edge> {
    let own = |id: usize| if raw { tree.nodes[id].raw.own } else { tree.nodes[id].corrected.own };
    // Time and error of each node and all below it but the caller's.
    let mut totals: Vec<Time> = (0..tree.nodes.len()).map(own).collect();
    let mut errors: Vec<Time> = tree.nodes.iter().map(|node| node.error).collect();
    for (id, node) in tree.nodes.iter().enumerate().rev() {
        let Some(parent) = node.parent.map(|parent| parent as usize) else { continue };
        if node.function == caller {
            errors[parent] = (errors[parent] - node.error).at_least_zero();
        } else {
            let (total, cut) = (totals[id], node.error - errors[id]);
            totals[parent] += total;
            errors[parent] = (errors[parent] - cut).at_least_zero();
        }
    }
    let mut edges: BTreeMap<(FunctionId, SiteId), Edge> = BTreeMap::new();
    for (id, node) in tree.nodes.iter().enumerate() {
        let is_called = node.parent.is_some_and(|parent| tree.nodes[parent as usize].function == caller);
        if !is_called {
            continue;
        }
        let edge = edges.entry((node.function, node.site)).or_default();
        edge.calls = edge.calls.saturating_add(node.calls);
        if node.function != caller {
            edge.total += totals[id];
            edge.own += own(id);
            edge.error += errors[id];
            edge.own_error += node.own_error;
        }
    }
    edges.retain(|_, edge| edge.calls > 0 || edge.total > Time::ZERO);
    edges
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::trees;
    use diytrace_profile::testing::{Truth, calls};

    proptest! {
        #[test]
        fn own_time_and_lines_add_up(calls in calls()) {
            let truth = Truth::of(&calls);
            let trees = trees(&calls, 100);
            let tree = &trees.trees[0];
            for (&caller, function) in &trees.functions {
                let address = function.address + 0x1000;
                let edges = edges(tree, caller, false);
                let lines: Time = edges.values().map(|edge| edge.total).sum();
                prop_assert_eq!(lines.ns() + truth.own[&address] as f64, truth.total[&address] as f64);
                for (&(callee, _), edge) in &edges {
                    let callee = trees.functions[&callee].address + 0x1000;
                    prop_assert!(edge.calls <= truth.edge_calls[&(address, callee)]);
                }
            }
        }
    }
}
