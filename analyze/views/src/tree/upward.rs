//! From functions up to their callers.

use super::branches::{Branches, What};
use super::places::Places;
use crate::calltree::{Aside, CallTree, CallTrees, Fold, Node, SiteId};
use diytrace_profile::time::Time;

/// What is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Whether the tops are the roots.
    pub from_roots: bool,
    /// Where they are not: functions with at least this own time.
    pub least_own: Time,
    /// Whether that is as measured.
    pub raw: bool,
    /// Levels of callers.
    pub depth: Option<u32>,
}

/// The branches that lead from the roots, or all functions, to their callers. A caller's numbers are those of the calls of
/// the top that were made through it: the function's calls, its time, its own time. Nested calls of a recursive function
/// are counted, but their time is the outermost one's.
pub fn upward(trees: &CallTrees, tree: &CallTree, places: &Places, wanted: &Wanted) -> Branches {
    let mut branches = Branches::default();
    let is_wanted = |node: &Node| match wanted.from_roots {
        true => trees.functions[&node.function].is_root,
        false => tree.functions.get(&node.function).is_some_and(|function| {
            let sums = if wanted.raw { &function.raw } else { &function.corrected };
            sums.own >= wanted.least_own
        }),
    };
    // Of those that are looked into no further, what they are is told as left out.
    let is_counted = |node: &Node| !wanted.from_roots || is_wanted(node);
    for Aside { node, caller, is_outermost } in tree.aside.iter().filter(|aside| is_counted(&aside.node)) {
        let top = branches.at(None, What::Function(node.function), None);
        add(&mut branches, top, node, node.site, *is_outermost);
        // Beyond that nobody knows.
        if let Some(caller) = caller.filter(|_| wanted.depth != Some(0) && is_wanted(node)) {
            let branch = branches.at(Some(top), What::Function(caller), places.place(node.site));
            add(&mut branches, branch, node, node.site, *is_outermost);
        }
    }
    let paths = tree.nodes.iter().filter(|node| node.fold != Fold::Others);
    for node in paths.filter(|node| is_counted(node)) {
        let above = |node: &Node| node.parent.map(|parent| &tree.nodes[parent as usize]);
        let is_outermost = !std::iter::successors(above(node), |node| above(node)).any(|a| a.function == node.function);
        let top = branches.at(None, What::Function(node.function), None);
        add(&mut branches, top, node, node.site, is_outermost);
        if !is_wanted(node) {
            continue;
        }
        let (mut branch, mut callee) = (top, node);
        let mut depth = 0;
        loop {
            if wanted.depth.is_some_and(|most| depth >= most) {
                break;
            }
            let site = places.place(callee.site);
            let Some(caller) = above(callee) else {
                // Who it was can be told if nobody else is there to be told of, or if everything is.
                if depth == 0 || places.are_apart() {
                    let name = trees.sites[callee.site as usize].unrecorded.clone();
                    let unrecorded = branches.at(Some(branch), What::Unrecorded(name), site);
                    add(&mut branches, unrecorded, node, callee.site, is_outermost);
                }
                break;
            };
            let is_again =
                branches.list[branch].above.is_some() && branches.list[branch].what == What::Function(caller.function);
            callee = match is_again {
                true => caller, // levels of a direct recursion are one
                false => {
                    branch = branches.at(Some(branch), What::Function(caller.function), site);
                    add(&mut branches, branch, node, callee.site, is_outermost);
                    depth += 1;
                    caller
                }
            };
        }
    }
    branches
}

fn add(branches: &mut Branches, id: usize, node: &Node, site: SiteId, is_outermost: bool) {
    let branch = &mut branches.list[id];
    branch.add_calls(node, site);
    branch.has_nested |= !is_outermost;
    branch.own_error += node.own_error;
    for (sums, times) in [(&mut branch.corrected, &node.corrected), (&mut branch.raw, &node.raw)] {
        sums.own += times.own;
        sums.closed += times.closed;
        if is_outermost {
            sums.total += times.total;
        }
    }
    if is_outermost {
        branch.error += node.error;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::trees;
    use diytrace_profile::testing::{Truth, calls};

    proptest! {
        #[test]
        fn tops_are_functions_and_callers_share_their_numbers(calls in calls(), sites in any::<bool>()) {
            let truth = Truth::of(&calls);
            let trees = trees(&calls, 100);
            let tree = &trees.trees[0];
            let places = if sites { Places::apart(&trees, false) } else { Places::default() };
            let branches = upward(&trees, tree, &places, &Wanted::default());
            for &top in &branches.tops {
                let branch = &branches.list[top];
                let address = trees.functions[&branch.what.function().unwrap()].address + 0x1000;
                prop_assert_eq!(branch.calls, truth.calls[&address]);
                prop_assert_eq!(branch.corrected.total.ns(), truth.total[&address] as f64);
                prop_assert_eq!(branch.corrected.own.ns(), truth.own[&address] as f64);
                let callers = branch.below.iter().map(|&id| &branches.list[id]);
                prop_assert_eq!(callers.clone().map(|caller| caller.calls).sum::<u64>(), branch.calls);
                prop_assert_eq!(callers.map(|caller| caller.corrected.total).sum::<Time>(), branch.corrected.total);
            }
        }
    }
}
