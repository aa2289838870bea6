//! What of an arena is not the same in two readings, for whoever reads often: of thousands of paths few have counted anything
//! since a moment ago, and the others need not be taken off from themselves.

use diytrace_format::node::mark;
use rustc_hash::{FxHashMap, FxHashSet};

use super::measure::pairs_beside;
use crate::load::{Arena, Function, Node, Nodes};

/// An arena at two readings, without paths and functions that were the same in both.
pub struct Changed {
    pub before: Arena,
    pub now: Arena,
    /// Of paths that are left out, calls that had entered before, by function: see [`super::since::Counted`].
    pub entered: Vec<((u64, u32), u64)>,
    /// At both readings, of each path that stays, the hook pairs in those below it that are left out.
    pub beside: [Vec<u64>; 2],
}

impl Changed {
    /// Of two readings of one arena. What is open stays, as its time goes on, and so does what is above anything that stays, and
    /// the latest moment.
    pub fn of(before: &Arena, now: &Arena) -> Self {
        let at_before = places(now, before);
        let mut stays: Vec<bool> = (now.nodes.iter().zip(&at_before))
            .map(|(node, at)| at.is_none_or(|at| differs(&before.nodes.get(at as usize), &node)))
            .collect();
        if let Some(latest) = latest(now) {
            stays[latest] = true;
        }
        if let Some(latest) = latest(before).and_then(|at| now.place_of(before.names[at])) {
            stays[latest] = true;
        }
        for at in (0..stays.len()).rev() {
            if stays[at] {
                let node = now.nodes.get(at);
                node.parent.into_iter().chain(node.folded_into).for_each(|above| stays[above as usize] = true);
            }
        }
        let mut stays_before = vec![false; before.nodes.len()];
        for (stays, at) in stays.iter().zip(&at_before) {
            if let Some(at) = at {
                stays_before[*at as usize] = *stays;
            }
        }
        let mut entered: FxHashMap<(u64, u32), u64> = FxHashMap::default();
        for (node, _) in now.nodes.iter().zip(&stays).filter(|(node, stays)| !**stays && !node.is_untimed()) {
            let sum = entered.entry((node.function, node.module)).or_default();
            *sum = sum.saturating_add(super::measure::entered(&node));
        }
        let mut functions = changed_functions(before, now, &stays);
        // Of the others, as many calls have returned as have entered.
        for function in &before.functions {
            let returned = entered.get(&of(function)).is_some_and(|entered| *entered == function.returned());
            if returned && !functions.contains(&of(function)) {
                entered.remove(&of(function));
            } else {
                functions.insert(of(function));
            }
        }
        let some = [with(before, &stays_before, &functions), with(now, &stays, &functions)];
        let staying = |stays: &[bool]| (0..stays.len()).filter(|at| stays[*at]).collect::<Vec<_>>();
        let beside = [
            pairs_beside(before, &some[0], staying(&stays_before).into_iter()),
            pairs_beside(now, &some[1], staying(&stays).into_iter()),
        ];
        let [before, now] = some;
        Self { before, now, beside, entered: entered.into_iter().filter(|(_, entered)| *entered > 0).collect() }
    }
}

/// Where the paths of an arena are in another reading of it.
fn places(arena: &Arena, other: &Arena) -> Vec<Option<u32>> {
    let (names, others) = (&arena.names, &other.names);
    if !(arena.by_name.is_empty() && other.by_name.is_empty()) {
        return names.iter().map(|name| other.place_of(*name).map(|place| place as u32)).collect();
    }
    let mut at = 0;
    let place = |name| {
        while others.get(at).is_some_and(|other| other < name) {
            at += 1;
        }
        (others.get(at) == Some(name)).then_some(at as u32)
    };
    names.iter().map(place).collect()
}

fn differs(before: &Node, now: &Node) -> bool {
    let is_open = |node: &Node| node.is_open_since_reset || node.slots.iter().any(|slot| slot.mark & mark::OPEN != 0);
    before.slots != now.slots
        || before.unwound != now.unwound
        || before.timed != now.timed
        || before.off != now.off
        // What a path below was off the processor is shared out by all that was counted.
        || now.off != Default::default()
        || is_open(before)
        || is_open(now)
}

/// The path that has the latest moment.
fn latest(arena: &Arena) -> Option<usize> {
    let latest = |node: &Node| node.slots.iter().map(|slot| slot.mark & !mark::BITS).max().unwrap_or(0);
    (0..arena.nodes.len()).max_by_key(|&at| latest(&arena.nodes.get(at)))
}

fn of(function: &Function) -> (u64, u32) {
    (function.address, function.module)
}

/// Functions of paths that stay, and those whose times are not the same.
fn changed_functions(before: &Arena, now: &Arena, stays: &[bool]) -> FxHashSet<(u64, u32)> {
    let known: FxHashMap<_, _> = before.functions.iter().map(|function| (of(function), function)).collect();
    let is_new = |function: &&Function| known.get(&of(function)).is_none_or(|before| before != function);
    let mut functions: FxHashSet<_> = now.functions.iter().filter(is_new).map(of).collect();
    let nodes = now.nodes.iter().zip(stays).filter(|(_, stays)| **stays);
    functions.extend(nodes.map(|(node, _)| (node.function, node.module)));
    functions
}

/// An arena with some of its paths, each with all that it is below.
fn with(arena: &Arena, stays: &[bool], functions: &FxHashSet<(u64, u32)>) -> Arena {
    let mut numbers = vec![u32::MAX; stays.len()];
    let (mut names, mut nodes) = (Vec::new(), Nodes::default());
    for (at, node) in arena.nodes.iter().enumerate().filter(|(at, _)| stays[*at]) {
        numbers[at] = nodes.len() as u32;
        let above = |above: u32| numbers[above as usize];
        nodes.push(Node { parent: node.parent.map(above), folded_into: node.folded_into.map(above), ..node });
        names.push(arena.names[at]);
    }
    let is_one = |function: &&Function| functions.contains(&of(function));
    let functions = arena.functions.iter().filter(is_one).cloned().collect();
    let mut some = Arena {
        facts: arena.facts,
        name: arena.name,
        state: arena.state,
        is_before_reset: arena.is_before_reset,
        recycling: arena.recycling,
        names,
        by_name: Vec::new(),
        nodes,
        functions,
    };
    some.sort_names();
    some
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::load::Family;
    use crate::load::costs::Costs;
    use crate::merge::{By, Merged, Merging};
    use crate::process::State;
    use crate::testing::{Call, arena, calls, family, function_of, record};

    fn between(earlier: &Family, later: &Family, changed_only: bool) -> Merged {
        let merging = Merging::new(By::All, None).with_whole_open_calls();
        let mut merging = if changed_only { merging.with_changes_only() } else { merging };
        merging.add_since(Some(earlier), later);
        merging.finish().without_idle()
    }

    /// Calls as an arena has them after they were made so many times over, some of them open since.
    fn reading(calls: &[Call], times: &[u64], open: Option<usize>, at: u64) -> Family {
        let mut arena = arena(record(calls, Costs { inner: 2.0, outer: 3.0, ..Costs::default() }, 3));
        (arena.facts.flags, arena.state) = (0, State::Running);
        arena.functions = vec![function_of(0x1000, times), function_of(0x1100, &times[..times.len() / 2])];
        if let Some(open) = open.filter(|open| *open < arena.nodes.len()) {
            arena.nodes.change(open, |node| {
                node.slots[0].mark = 400 | mark::OPEN;
                node.slots[0].calls += 1;
                node.slots[0].descendants /= 2; // the others were made by the call that is open
            });
        }
        Family { read_ticks: at, ..family(vec![arena]) }
    }

    proptest! {
        #[test]
        fn what_has_changed_is_all_that_has_come(
            calls in calls(),
            more in calls(),
            times in prop::collection::vec(1u64..5000, 0..6),
            open in prop::option::of(0usize..6),
        ) {
            let earlier = reading(&calls, &times[..times.len() / 2], open, 2000);
            let all: Vec<Call> = calls.iter().chain(&more).cloned().collect();
            for (later, times) in [(&calls, &times[..times.len() / 2]), (&all, &times)] {
                let later = reading(later, times, open.map(|open| open / 2), 9000);
                prop_assert_eq!(between(&earlier, &later, true), between(&earlier, &later, false));
            }
        }
    }
}
