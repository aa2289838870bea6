//! Which branches are shown, in which order.

use std::cmp::Ordering;

use super::Sort;
use super::branches::{Branch, Branches};
use crate::calltree::{CallTree, CallTrees};
use diytrace_profile::time::Time;

/// What decides whether a branch is shown.
#[derive(Clone, Copy, Debug)]
pub struct Thresholds {
    /// Least share in percent.
    pub min_percent: f64,
    /// Most levels.
    pub depth: Option<u32>,
    /// Most branches of a tree.
    pub limit: Option<usize>,
    /// Order of branches.
    pub sort: Sort,
    /// Whether times are as measured.
    pub raw: bool,
    /// Whether only branches are shown that a named function is on.
    pub only_named: bool,
    /// Whether shares are of own times.
    pub by_own: bool,
    /// Whether shares are those of the branch's own top, not of all tops.
    pub tops_are_wholes: bool,
}

/// The branches that are shown.
pub struct Shown {
    /// In their order, each with its level.
    pub branches: Vec<(usize, u32)>,
    /// What each branch's share is of, by the branches' numbers.
    pub wholes: Vec<Time>,
    /// Whether a branch is shown.
    pub is_shown: Vec<bool>,
}

impl Thresholds {
    /// The least own time that a function must have to be looked into.
    pub fn least_own(&self, tree: &CallTree) -> Time {
        Time::from_ns(self.all_own(tree).ns() * self.min_percent / 100.0)
    }

    fn all_own(&self, tree: &CallTree) -> Time {
        tree.nodes.iter().map(|node| if self.raw { node.raw.own } else { node.corrected.own }).sum()
    }

    /// What is compared.
    pub fn weight(&self, branch: &Branch) -> Time {
        let times = branch.times(self.raw);
        if self.by_own { times.own } else { times.total }
    }

    /// Selects and orders.
    pub fn select(&self, trees: &CallTrees, tree: &CallTree, branches: &Branches) -> Shown {
        let all = match self.by_own {
            true => self.all_own(tree),
            false => branches.tops.iter().map(|&top| self.weight(&branches.list[top])).sum(),
        };
        let mut wholes: Vec<Time> = Vec::with_capacity(branches.list.len());
        let mut levels: Vec<u32> = Vec::with_capacity(branches.list.len());
        let mut is_shown: Vec<bool> = Vec::with_capacity(branches.list.len());
        for branch in &branches.list {
            let weight = self.weight(branch);
            wholes.push(match branch.above {
                Some(above) => wholes[above],
                None if self.tops_are_wholes => weight,
                None => all,
            });
            levels.push(branch.above.map_or(0, |above| levels[above] + 1));
            let id = is_shown.len();
            let is_thick = weight.ns() * 100.0 >= wholes[id].ns() * self.min_percent;
            let is_deep = self.depth.is_some_and(|depth| levels[id] > depth);
            // A recursion has no time of its own, but says why what is above has it.
            let is_recursion = matches!(branch.what, super::What::Recursion(_));
            is_shown.push((is_thick || is_recursion) && !is_deep && branch.above.is_none_or(|above| is_shown[above]));
        }
        if self.only_named {
            keep_named(trees, branches, &mut is_shown);
        }
        self.limit(branches, &mut is_shown);
        let sorted = |ids: &[usize]| {
            let shown = ids.iter().copied().filter(|&id| is_shown[id]);
            self.sorted(trees, branches, shown.collect()).into_iter().rev()
        };
        let mut next: Vec<usize> = sorted(&branches.tops).collect();
        let mut shown = Vec::new();
        while let Some(id) = next.pop() {
            shown.push((id, levels[id]));
            next.extend(sorted(&branches.list[id].below));
        }
        Shown { branches: shown, wholes, is_shown }
    }

    /// Leaves the largest. No branch is larger than the one above it, so those are all there as well.
    fn limit(&self, branches: &Branches, is_shown: &mut [bool]) {
        let Some(limit) = self.limit else { return };
        let mut shown: Vec<usize> = (0..is_shown.len()).filter(|&id| is_shown[id]).collect();
        shown.sort_by_key(|&id| (std::cmp::Reverse(self.weight(&branches.list[id])), id));
        for &id in shown.iter().skip(limit) {
            is_shown[id] = false;
        }
        for id in 0..is_shown.len() {
            is_shown[id] &= branches.list[id].above.is_none_or(|above| is_shown[above]);
        }
    }

    fn sorted(&self, trees: &CallTrees, branches: &Branches, mut ids: Vec<usize>) -> Vec<usize> {
        fn name<'a>(trees: &'a CallTrees, branch: &Branch) -> Option<(&'a str, u64)> {
            let function = &trees.functions[&branch.what.function()?];
            Some((&function.name, function.address))
        }
        let order = |a: &Branch, b: &Branch| -> Ordering {
            let order = match self.sort {
                Sort::Total => self.weight(b).cmp(&self.weight(a)),
                Sort::Self_ => b.times(self.raw).own.cmp(&a.times(self.raw).own),
                Sort::Calls => b.calls.cmp(&a.calls),
                Sort::Name => Ordering::Equal,
            };
            let calls = || if self.sort == Sort::Name { Ordering::Equal } else { b.calls.cmp(&a.calls) };
            order
                .then_with(calls)
                .then_with(|| (name(trees, a), &a.what, &a.sites).cmp(&(name(trees, b), &b.what, &b.sites)))
        };
        ids.sort_by(|&a, &b| order(&branches.list[a], &branches.list[b]));
        ids
    }
}

/// Leaves the branches that a named function is on: above, below, or itself.
fn keep_named(trees: &CallTrees, branches: &Branches, is_shown: &mut [bool]) {
    let is_named = |branch: &Branch| branch.what.function().is_some_and(|id| trees.functions[&id].is_named);
    let mut is_below: Vec<bool> = Vec::with_capacity(branches.list.len());
    for branch in &branches.list {
        is_below.push(is_named(branch) || branch.above.is_some_and(|above| is_below[above]));
    }
    let mut is_above: Vec<bool> = branches.list.iter().map(is_named).collect();
    for (id, branch) in branches.list.iter().enumerate().rev() {
        if let Some(above) = branch.above {
            is_above[above] |= is_above[id];
        }
    }
    for (id, is_shown) in is_shown.iter_mut().enumerate() {
        *is_shown &= is_below[id] || is_above[id];
    }
}
