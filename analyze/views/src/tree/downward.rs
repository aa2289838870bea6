//! From callers down to callees.

use rustc_hash::FxHashMap;

use super::branches::{Branches, What};
use super::places::Places;
use crate::calltree::{CallTree, CallTrees, Fold, Node, NodeId, NodeTimes};
use diytrace_profile::functions::FunctionId;

/// Levels of a recursion that are shown before the others are folded into them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recursion {
    /// Of a function that calls itself.
    pub direct: u32,
    /// Of functions that call each other: their levels tell of the program's data (a plan, a syntax tree).
    pub through_others: u32,
}

impl Default for Recursion {
    fn default() -> Self {
        Self { direct: 1, through_others: 4 }
    }
}

/// The branches of a call tree: of its roots, if `from_roots`, else of all.
///
/// Folding a recursion is what the recorder does where levels are many: its calls become a branch of their own, and their
/// time and callees go to the nearest branch of the same function above. The sum of all own times stays what it is.
pub fn downward(
    trees: &CallTrees,
    tree: &CallTree,
    from_roots: bool,
    places: &Places,
    recursion: Recursion,
) -> Branches {
    let mut branches = Branches::default();
    let mut heads = Heads { recursion, known: FxHashMap::default() };
    let mut open = Open::default();
    // The branch that each node's callees are below.
    let mut positions: Vec<Option<usize>> = Vec::with_capacity(tree.nodes.len());
    for (id, node) in (0..).zip(&tree.nodes) {
        let is_recursive = open.enter(id, node);
        let above = node.parent.and_then(|parent| positions[parent as usize]);
        if above.is_none() && from_roots && !trees.functions[&node.function].is_root {
            positions.push(None);
            continue;
        }
        // Tops are called from elsewhere: what from does not tell them apart.
        let site = above.and_then(|_| places.place(node.site));
        let folded = match node.fold {
            Fold::Recursion(head) => Some(positions[head as usize]),
            Fold::Others => None,
            Fold::No | Fold::Paths if !is_recursive => None,
            Fold::No | Fold::Paths => above.and_then(|above| heads.find(&branches, above, node.function)).map(Some),
        };
        let Some(head) = folded else {
            let id = branches.at(above, What::Function(node.function), site);
            let branch = &mut branches.list[id];
            branch.add_calls(node, node.site);
            branch.error += node.error;
            branch.own_error += node.own_error;
            for (sums, times) in [(&mut branch.corrected, &node.corrected), (&mut branch.raw, &node.raw)] {
                sums.own += times.own;
                sums.closed += times.closed;
            }
            positions.push(Some(id));
            continue;
        };
        let id = branches.at(above, What::Recursion(node.function), site);
        branches.list[id].add_calls(node, node.site);
        if let Some(head) = head {
            let branch = &mut branches.list[head];
            branch.corrected.own += node.corrected.own;
            branch.raw.own += node.raw.own;
        }
        positions.push(head);
    }
    sum_up(&mut branches);
    branches
}

/// The functions of the nodes above the one that is looked at: all branches above its own are theirs.
#[derive(Default)]
struct Open {
    /// With the ends of their nodes.
    above: Vec<(NodeId, FunctionId)>,
    /// How often each of them is there.
    times: FxHashMap<FunctionId, u32>,
}

impl Open {
    /// Whether the function of the next node is there, to which it is added.
    fn enter(&mut self, id: NodeId, node: &Node) -> bool {
        while let Some((_, function)) = self.above.pop_if(|(end, _)| *end <= id) {
            self.times.entry(function).and_modify(|times| *times -= 1);
        }
        self.above.push((node.end, node.function));
        let times = self.times.entry(node.function).or_default();
        *times += 1;
        *times > 1
    }
}

/// Which branch the recursive calls of a function are folded into.
struct Heads {
    recursion: Recursion,
    known: FxHashMap<(usize, FunctionId), Option<usize>>,
}

impl Heads {
    /// The branch that a call below `above` is folded into, if it is.
    fn find(&mut self, branches: &Branches, above: usize, function: FunctionId) -> Option<usize> {
        *self.known.entry((above, function)).or_insert_with(|| {
            let chain = std::iter::successors(Some(above), |&branch| branches.list[branch].above);
            let levels: Vec<usize> =
                chain.filter(|&branch| branches.list[branch].what == What::Function(function)).collect();
            let nearest = *levels.first()?;
            let most = if nearest == above { self.recursion.direct } else { self.recursion.through_others };
            (levels.len() as u32 >= most).then_some(nearest)
        })
    }
}

fn sum_up(branches: &mut Branches) {
    for branch in &mut branches.list {
        for times in [&mut branch.corrected, &mut branch.raw] {
            times.total = times.own;
        }
    }
    for id in (0..branches.list.len()).rev() {
        let Some(above) = branches.list[id].above else { continue };
        let (corrected, raw) = (branches.list[id].corrected.total, branches.list[id].raw.total);
        let NodeTimes { total, .. } = &mut branches.list[above].corrected;
        *total += corrected;
        branches.list[above].raw.total += raw;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::trees;
    use diytrace_profile::testing::{Call, Truth, calls};
    use diytrace_profile::time::Time;

    fn call(function: u64, own: u64, callees: Vec<Call>) -> Call {
        Call { function, own, callees }
    }

    /// Level, whether it is a recursion, calls, own and total time.
    fn lines(calls: &[Call], recursion: Recursion) -> Vec<(usize, bool, u64, f64, f64)> {
        let trees = trees(calls, 100);
        let branches = downward(&trees, &trees.trees[0], false, &Places::default(), recursion);
        let level = |id: usize| std::iter::successors(Some(id), |&id| branches.list[id].above).count() - 1;
        let line = |(id, branch): (usize, &super::super::Branch)| {
            let times = branch.corrected;
            (level(id), matches!(branch.what, What::Recursion(_)), branch.calls, times.own.ns(), times.total.ns())
        };
        branches.list.iter().enumerate().map(line).collect()
    }

    #[test]
    fn a_function_that_calls_itself_is_one_branch() {
        let calls = [call(0x1000, 1, vec![call(0x1000, 2, vec![call(0x1100, 4, Vec::new())])])];
        let folded = lines(&calls, Recursion::default());
        assert_eq!(folded, [(0, false, 1, 3.0, 7.0), (1, true, 1, 0.0, 0.0), (1, false, 1, 4.0, 4.0)]);
        let unfolded = lines(&calls, Recursion { direct: 9, through_others: 9 });
        assert_eq!(unfolded, [(0, false, 1, 1.0, 7.0), (1, false, 1, 2.0, 6.0), (2, false, 1, 4.0, 4.0)]);
    }

    #[test]
    fn levels_of_a_recursion_through_others_are_told_apart_for_a_while() {
        let chain = |levels: u64| {
            (0..levels).rev().fold(Vec::new(), |below, level| vec![call(0x1000 + level % 2 * 0x100, 1, below)])
        };
        let shown = lines(&chain(20), Recursion { direct: 1, through_others: 2 });
        let levels: Vec<(usize, bool)> = shown.iter().map(|&(level, is_recursion, ..)| (level, is_recursion)).collect();
        assert_eq!(levels, [(0, false), (1, false), (2, false), (3, false), (4, true)]);
        assert_eq!(shown[0].4, 20.0);
    }

    proptest! {
        #[test]
        fn no_time_and_no_call_is_lost(calls in calls(), fold_at in 1usize..4, direct in 1u32..4, through_others in 1u32..4) {
            let truth = Truth::of(&calls);
            let trees = trees(&calls, fold_at);
            let branches = downward(&trees, &trees.trees[0], false, &Places::default(), Recursion { direct, through_others });
            prop_assert_eq!(branches.list.iter().map(|branch| branch.calls).sum::<u64>(), truth.calls.values().sum::<u64>());
            let tops: Time = branches.tops.iter().map(|&top| branches.list[top].corrected.total).sum();
            prop_assert_eq!(tops.ns(), truth.all as f64);
            for branch in &branches.list {
                let below: Time = branch.below.iter().map(|&id| branches.list[id].corrected.total).sum();
                prop_assert_eq!(below + branch.corrected.own, branch.corrected.total);
            }
        }
    }
}
