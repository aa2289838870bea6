//! Cost that moved: one function rises, another falls, and under their parent the sum is what it was.
//!
//! So it looks when a function is renamed, split, merged with another, inlined, taken out of line, or called from elsewhere.
//! Functions belong together if a call between them is there on one side only or is made more or less often, or if one
//! takes the other's place below a parent. Their own times are added up run by run, with the parent's if its code changed:
//! of the parent's inclusive time, what has nothing to do with it is left out, as it adds nothing but noise. If that sum is
//! unchanged, within chance and what the correction may be off by, the cost has moved. If it is another, and calls link them or one
//! took the other's place, that is what changed: a function that was split in two has not become faster by what its parts take.

use std::collections::{BTreeMap, BTreeSet};

use super::Options;
use super::comparison::{Cause, CauseKind, Edge, Function, Moved, On, Relation, Test, Verdict};
use super::tester::{Errors, Tester};
use crate::observed::code::CodeState;
use crate::observed::uncertainty::OfDifference;

/// How much of what moved may be left over: more is no chance that two unlike things are as large.
const LEFT_OVER: f64 = 1.0 / 3.0;

/// By how much the sum may change beyond chance, and be the same: calls themselves take time, and compilers make other code
/// of a part than of the whole.
const OF_CALLS: f64 = 0.02;

/// What takes part in it.
pub struct Movement<'a> {
    functions: &'a [Function],
    edges: &'a [Edge],
    /// How far off the difference of each function's self time may be.
    errors: &'a [OfDifference],
    tester: &'a Tester,
    options: &'a Options,
    callers: Vec<BTreeSet<usize>>,
    callees: Vec<BTreeSet<usize>>,
}

impl<'a> Movement<'a> {
    /// Of functions whose verdicts are known.
    pub fn of(
        functions: &'a [Function],
        edges: &'a [Edge],
        errors: &'a [OfDifference],
        tester: &'a Tester,
        options: &'a Options,
    ) -> Self {
        let mut all = Self {
            callers: vec![BTreeSet::new(); functions.len()],
            callees: vec![BTreeSet::new(); functions.len()],
            functions,
            edges,
            errors,
            tester,
            options,
        };
        for (caller, callee) in edges.iter().map(|edge| edge.ends).filter(|(caller, callee)| caller != callee) {
            all.callers[callee].insert(caller);
            all.callees[caller].insert(callee);
        }
        all
    }

    /// All groups of functions between which cost moved, and those of them whose sum changed. None has a function of another.
    pub fn groups(&self) -> Groups {
        let mut found = Groups::default();
        let mut taken = BTreeSet::new();
        // From what is surest to what is said the least: one took the other's place; calls tell; only the parent does.
        let renamed = self.renamed();
        let linked = |taken: &BTreeSet<usize>| self.linked(taken);
        let tests = renamed.len() + linked(&BTreeSet::new()).len();
        for pair in renamed {
            self.try_group(&pair, Some(tests), &mut taken, &mut found);
        }
        for group in linked(&taken) {
            self.try_group(&group, Some(tests), &mut taken, &mut found);
        }
        for group in self.under_one_parent(&taken) {
            self.try_group(&group, None, &mut taken, &mut found);
        }
        found
    }

    /// `tests`: of how many the sum is tested, if it is what counts once it has changed.
    fn try_group(
        &self,
        group: &BTreeSet<usize>,
        tests: Option<usize>,
        taken: &mut BTreeSet<usize>,
        found: &mut Groups,
    ) {
        let Some(moved) = Some(group).filter(|group| group.is_disjoint(taken)).and_then(|group| self.between(group))
        else {
            return;
        };
        let of = match moved.verdict {
            Verdict::Changed if tests.is_some_and(|tests| self.is_unlikely(&moved.sum_ns, tests)) => {
                &mut found.together
            }
            Verdict::Changed => return,
            _ if self.is_moved(&moved) => &mut found.moved,
            _ => return,
        };
        of.push(moved);
        taken.extend(group);
    }

    /// What a function of a group is told to be caused by: where its cost went to, or came from.
    pub fn cause(&self, index: usize, group: &[usize]) -> Cause {
        let own = self.ns(index);
        let is_other = |other: &&usize| self.ns(**other) * own < 0.0 && self.has_part(**other);
        let by: Vec<usize> = group.iter().filter(is_other).copied().collect();
        let relation = match by[..] {
            [one] if self.callers[index].contains(&one) => Some(Relation::Caller),
            [one] if self.callees[index].contains(&one) => Some(Relation::Callee),
            [_] => Some(Relation::Sibling),
            _ => None,
        };
        let by = by.into_iter().map(|other| self.functions[other].name.clone()).collect();
        Cause { kind: CauseKind::Moved, by, relation }
    }

    /// Whether it is called changed in any way, and not because its callers are called more often.
    pub fn is_claim(&self, index: usize) -> bool {
        matches!(self.functions[index].verdict, Verdict::Changed | Verdict::Calls | Verdict::OneSided)
    }

    /// Whether it may have to do with it: it is called changed, or its code is another.
    fn has_part(&self, index: usize) -> bool {
        self.is_claim(index) || self.functions[index].code == CodeState::Another
    }

    fn ns(&self, index: usize) -> f64 {
        self.functions[index].self_ns.difference_ns()
    }

    /// Functions of one side that look like one of the other.
    fn renamed(&self) -> Vec<BTreeSet<usize>> {
        let of = |side: On| {
            (0..self.functions.len()).filter(move |&index| {
                self.functions[index].on == side && self.functions[index].verdict == Verdict::OneSided
            })
        };
        let are_alike = |old: usize, new: usize| {
            let [old, new] = [old, new].map(|index| &self.functions[index]);
            old.perhaps.as_ref() == Some(&new.name) && new.perhaps.as_ref() == Some(&old.name)
        };
        of(On::Left)
            .filter_map(|old| of(On::Right).find(|&new| are_alike(old, new)).map(|new| BTreeSet::from([old, new])))
            .collect()
    }

    /// Functions that calls link which are on one side only, or are made more or less often.
    fn linked(&self, taken: &BTreeSet<usize>) -> Vec<BTreeSet<usize>> {
        let mut groups = Sets::of(self.functions.len());
        for edge in self.edges.iter().filter(|edge| edge.on != On::Both || edge.is_per_call_changed) {
            let (caller, callee) = edge.ends;
            if [caller, callee].iter().all(|end| self.has_part(*end) && !taken.contains(end)) {
                groups.join(caller, callee);
            }
        }
        groups.all().into_iter().filter(|group| group.iter().any(|&index| self.is_claim(index))).collect()
    }

    /// Those groups that one parent calls, the smallest first.
    fn under_one_parent(&self, taken: &BTreeSet<usize>) -> Vec<BTreeSet<usize>> {
        let mut of_each: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let is_open = |index: &usize| !taken.contains(index);
        for group in self.linked(taken) {
            of_each.extend(group.iter().map(|index| (*index, group.clone())));
        }
        // Where no call tells that they have to do with each other, the code of each must: one of the same code that is only
        // called more often has not changed for what another saves.
        let is_of_code = |index: &usize| self.functions[*index].code != CodeState::Same;
        let claims = |parent: usize| {
            let near = self.callees[parent].iter().copied().chain([parent]);
            near.filter(|index| is_open(index) && is_of_code(index) && self.is_claim(*index)).collect::<Vec<_>>()
        };
        let mut all: Vec<BTreeSet<usize>> = (0..self.functions.len())
            .map(|parent| {
                let own = |index: usize| of_each.get(&index).cloned().unwrap_or_else(|| BTreeSet::from([index]));
                claims(parent).into_iter().flat_map(own).collect()
            })
            .collect();
        all.sort_by_key(BTreeSet::len);
        all.dedup();
        all
    }

    /// What moved between them, if some of them rise and others fall.
    fn between(&self, group: &BTreeSet<usize>) -> Option<Moved> {
        let is_claimed = |sign: f64| group.iter().any(|&index| self.is_claim(index) && self.ns(index) * sign > 0.0);
        // Calls that are made elsewhere for another input have moved nothing: some code must be another.
        let is_of_code =
            group.iter().any(|&index| self.functions[index].code != CodeState::Same && self.has_part(index));
        if group.len() < 2 || !is_of_code || !(is_claimed(1.0) || is_claimed(-1.0)) {
            return None;
        }
        let part = |sign: f64| group.iter().map(|&index| (self.ns(index) * sign).max(0.0)).sum::<f64>();
        let moved_ns = part(1.0).min(part(-1.0));
        let sum_ns = self.sum(group);
        (moved_ns > 0.0).then(|| Moved {
            parent: self.parent(group).map(|parent| self.functions[parent].name.clone()),
            functions: group.iter().copied().collect(),
            moved_ns,
            verdict: self.verdict(&sum_ns),
            sum_ns,
        })
    }

    /// Whether what is left over is little.
    fn is_moved(&self, Moved { moved_ns, sum_ns, .. }: &Moved) -> bool {
        sum_ns.difference_ns().abs() <= LEFT_OVER * moved_ns && uncertain_ns(sum_ns) <= *moved_ns
    }

    /// Of all of them together, run by run.
    fn sum(&self, group: &BTreeSet<usize>) -> Test {
        let tests = || group.iter().map(|&index| &self.functions[index].self_ns);
        let add = |values: fn(&Test) -> &Vec<f64>, runs: usize| -> Vec<f64> {
            (0..runs).map(|run| tests().map(|test| values(test)[run]).sum()).collect()
        };
        let [left, right] = self.tester.runs;
        let values = [add(|test| &test.left, left), add(|test| &test.right, right)];
        let errors = Errors {
            sides: [tests().map(|test| test.left_error_ns).sum(), tests().map(|test| test.right_error_ns).sum()],
            difference: OfDifference::sum(group.iter().map(|&index| self.errors[index])).ns(),
        };
        self.tester.test(&values, errors)
    }

    fn verdict(&self, sum: &Test) -> Verdict {
        let least = self.options.min_change.max(OF_CALLS);
        match sum.reaches_threshold() && sum.is_at_least(least) {
            false => Verdict::NotSignificant,
            true if sum.is_resolved() && sum.p <= self.options.level => Verdict::Changed,
            true => Verdict::Unresolved,
        }
    }

    /// Whether chance does not make it, in any of so many sums.
    fn is_unlikely(&self, sum: &Test, tests: usize) -> bool {
        sum.p * tests as f64 <= self.options.level
    }

    /// The function that all those are, or are below of by calls of each other: one of them, or the least that calls them.
    fn parent(&self, group: &BTreeSet<usize>) -> Option<usize> {
        let is_above = |parent: &usize| {
            let mut met = BTreeSet::from([*parent]);
            let mut open = vec![*parent];
            while let Some(one) = open.pop() {
                open.extend(self.callees[one].iter().copied().filter(|next| group.contains(next) && met.insert(*next)));
            }
            group.is_subset(&met)
        };
        let callers: BTreeSet<usize> = group.iter().flat_map(|&index| &self.callers[index]).copied().collect();
        let total = |index: &usize| self.functions[*index].total_ns.left_median;
        let outside = callers.iter().copied().filter(|index| !group.contains(index) && is_above(index));
        group
            .iter()
            .copied()
            .find(is_above)
            .or_else(|| outside.min_by(|one, other| total(one).total_cmp(&total(other))))
    }
}

/// How far off the difference may be, in nanoseconds.
fn uncertain_ns(test: &Test) -> f64 {
    test.plus_minus.map_or(test.error_ns, |part| part * test.left_median)
}

/// Groups of functions between which cost moved.
#[derive(Default)]
pub struct Groups {
    /// Whose sum is what it was, as far as anybody can tell.
    pub moved: Vec<Moved>,
    /// Whose sum changed.
    pub together: Vec<Moved>,
}

/// Numbers in sets.
struct Sets(Vec<usize>);

impl Sets {
    fn of(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn first(&self, mut index: usize) -> usize {
        while self.0[index] != index {
            index = self.0[index];
        }
        index
    }

    fn join(&mut self, one: usize, other: usize) {
        let [one, other] = [self.first(one), self.first(other)];
        self.0[one.max(other)] = one.min(other);
    }

    /// Those of more than one.
    fn all(&self) -> Vec<BTreeSet<usize>> {
        let mut all: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for index in 0..self.0.len() {
            all.entry(self.first(index)).or_default().insert(index);
        }
        all.into_values().filter(|group| group.len() > 1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_joined_are_one_set() {
        let mut groups = Sets::of(6);
        groups.join(4, 1);
        groups.join(5, 4);
        groups.join(2, 3);
        assert_eq!(groups.all(), [BTreeSet::from([1, 4, 5]), BTreeSet::from([2, 3])]);
    }
}
