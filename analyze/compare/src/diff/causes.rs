//! Why a function's time or count changed: more calls or dearer ones, its own code or something else, and whose doing that is.

use std::collections::BTreeSet;

use super::Options;
use super::comparison::{
    Cause, CauseKind, CountVerdict, Counts, Edge, Function, On, Relation, Split, Test, Verdict, Why,
};
use super::moved::{Groups, Movement};
use super::neighbours::Neighbours;
use super::tester::Tester;
use crate::observed::code::CodeState;
use crate::observed::split::{self, MINOR};
use crate::observed::uncertainty::OfDifference;

/// How much calls for each call of a caller may differ, where counts vary, and be the same.
const SAME_RATIO: f64 = 0.01;

/// Splits differences, finds what follows from callers, what functions on one side may be called on the other, and what only
/// moved, which it gives. `errors` are those of the differences of functions' self times.
pub fn explain(
    functions: &mut [Function],
    edges: &mut [Edge],
    is_one_build: bool,
    errors: &[OfDifference],
    (tester, options): (&Tester, &Options),
) -> Groups {
    for function in functions.iter_mut() {
        function.split = split(function, options);
    }
    let follows: Vec<Vec<String>> = (0..functions.len()).map(|callee| follows(callee, functions, edges)).collect();
    let perhaps: Vec<Option<String>> = (0..functions.len()).map(|index| perhaps(index, functions, edges)).collect();
    for ((function, follows), perhaps) in functions.iter_mut().zip(follows).zip(perhaps) {
        function.follows = follows;
        function.perhaps = perhaps;
        function.verdict = verdict(function, is_one_build);
    }
    let moved = match is_one_build {
        true => Groups::default(),
        false => explain_moved(functions, edges, errors, (tester, options)),
    };
    let neighbours = Neighbours::of(functions.len(), edges);
    let causes: Vec<Option<Cause>> =
        (0..functions.len()).map(|index| cause(index, functions, edges, &neighbours, is_one_build)).collect();
    for (function, cause) in functions.iter_mut().zip(causes) {
        function.cause = function.cause.take().or(cause);
    }
    for edge in edges.iter_mut() {
        edge.verdict = match edge.on {
            On::Both if edge.verdict != Verdict::Changed && edge.calls.verdict.is_changed() => {
                match edge.is_per_call_changed {
                    true => Verdict::Calls,
                    false => Verdict::Follows,
                }
            }
            On::Both => edge.verdict,
            On::Left | On::Right => Verdict::OneSided,
        };
    }
    moved
}

/// Says of functions whose cost moved that it did.
fn explain_moved(
    functions: &mut [Function],
    edges: &[Edge],
    errors: &[OfDifference],
    (tester, options): (&Tester, &Options),
) -> Groups {
    let movement = Movement::of(functions, edges, errors, tester, options);
    let groups = movement.groups();
    let is_claim = |index: &&usize| movement.is_claim(**index);
    let causes: Vec<(usize, Cause)> = groups
        .moved
        .iter()
        .flat_map(|moved| moved.functions.iter().filter(is_claim).map(|&index| (index, &moved.functions)))
        .map(|(index, group)| (index, movement.cause(index, group)))
        .collect();
    for (index, cause) in causes {
        functions[index].verdict = Verdict::Moved;
        functions[index].cause = Some(cause);
    }
    groups
}

/// What all there is to say of a function comes to; so far its verdict is that of its time.
fn verdict(function: &Function, is_one_build: bool) -> Verdict {
    let is_following = !function.follows.is_empty();
    // More calls than a caller made before are a change whatever the code; of one build, nothing says more than its time.
    let is_of_cost = function.split.why == Why::Cost || is_following;
    let is_same_code = !is_one_build && function.code == CodeState::Same && is_of_cost;
    match function.verdict {
        // A few runs of one side call it: so may those of the other.
        _ if function.on != On::Both && function.calls.verdict == CountVerdict::Varies => Verdict::NotSignificant,
        _ if function.on != On::Both => Verdict::OneSided,
        Verdict::Changed if is_following && function.split.why == Why::Calls => Verdict::Follows,
        Verdict::Changed if is_same_code => Verdict::SameCode,
        Verdict::Changed => Verdict::Changed,
        _ if function.calls.verdict.is_changed() && is_following => Verdict::Follows,
        _ if function.calls.verdict.is_changed() => Verdict::Calls,
        _ if function.calls.verdict == CountVerdict::Undecided => Verdict::Underpowered,
        of_time => of_time,
    }
}

/// Why it changed, of what is called changed in any way.
fn cause(
    index: usize,
    functions: &[Function],
    edges: &[Edge],
    neighbours: &Neighbours,
    is_one_build: bool,
) -> Option<Cause> {
    let function = &functions[index];
    let by = |kind, by: Vec<String>| Cause { kind, by, relation: None };
    let callers = || {
        let changed = edges.iter().filter(|edge| edge.ends.1 == index && edge.is_per_call_changed);
        by(CauseKind::Calls, changed.map(|edge| edge.caller.clone()).collect())
    };
    Some(match (function.verdict, function.split.why, function.code) {
        (Verdict::Follows, ..) => by(CauseKind::Callers, function.follows.clone()),
        (Verdict::Calls, ..) | (Verdict::Changed, Why::Calls, _) => callers(),
        (Verdict::Changed, _, CodeState::Another) => of_code(index, functions, edges),
        (Verdict::Changed, Why::Both, _) => callers(),
        (Verdict::Changed, Why::Cost, CodeState::Unknown) => by(CauseKind::Unknown, Vec::new()),
        (Verdict::Changed | Verdict::SameCode, ..) => of_same_code(index, functions, edges, neighbours, is_one_build),
        _ => return None,
    })
}

/// What of it is in its code on one side, and called on the other, if that is most of the difference.
fn of_code(index: usize, functions: &[Function], edges: &[Edge]) -> Cause {
    let difference = functions[index].self_ns.difference_ns();
    // Where hooks are in physical functions only, a body that is inlined is not there, and its time is its caller's.
    let moved = edges.iter().filter(|edge| {
        let moved = edge.self_ns.difference_ns();
        edge.ends.0 == index && edge.on != On::Both && moved * difference < 0.0 && moved.abs() >= 0.5 * difference.abs()
    });
    let by: Vec<String> = moved.map(|edge| edge.callee.clone()).collect();
    Cause { kind: if by.is_empty() { CauseKind::Code } else { CauseKind::Inlining }, by, relation: None }
}

/// The likeliest reason for another cost of the same code.
fn of_same_code(
    index: usize,
    functions: &[Function],
    edges: &[Edge],
    neighbours: &Neighbours,
    is_one_build: bool,
) -> Cause {
    let function = &functions[index];
    let difference = function.self_ns.difference_ns();
    let cause = |kind, by: Vec<usize>, relation: Option<Relation>| Cause {
        kind,
        by: by.into_iter().map(|index| functions[index].name.clone()).collect(),
        relation,
    };
    let asked = edges.iter().filter(|edge| {
        let (before, after) = edge.per_call;
        edge.ends.0 == index && edge.is_per_call_changed && (after - before) * difference > 0.0
    });
    let asked: Vec<usize> = asked.map(|edge| edge.ends.1).collect();
    if !asked.is_empty() {
        return cause(CauseKind::AskedForMore, asked, None);
    }
    let waited = function.wait_ns.map_or(0.0, |(before, after)| after - before);
    if waited * difference > 0.0 && waited.abs() >= 0.5 * difference.abs() {
        return cause(CauseKind::Waits, Vec::new(), None);
    }
    if is_one_build {
        return cause(CauseKind::Surroundings, Vec::new(), None);
    }
    let those = |is_one: &dyn Fn(&Function) -> bool| -> BTreeSet<usize> {
        (0..functions.len()).filter(|&other| other != index && is_one(&functions[other])).collect()
    };
    let changed =
        those(&|other| matches!(other.verdict, Verdict::Changed | Verdict::Calls | Verdict::Moved | Verdict::OneSided));
    if let Some((relation, by)) = neighbours.nearest(index, &changed) {
        return cause(CauseKind::Memory, by, Some(relation));
    }
    if function.is_moved {
        return cause(CauseKind::Layout, Vec::new(), None);
    }
    let of_other_code = those(&|other| other.code == CodeState::Another);
    match neighbours.nearest(index, &of_other_code) {
        Some((relation, by)) => cause(CauseKind::Memory, by, Some(relation)),
        None => cause(CauseKind::Unknown, Vec::new(), None),
    }
}

/// What of a function's difference comes from calls, and whether that is all.
fn split(function: &Function, options: &Options) -> Split {
    let Counts { left_median: before, right_median: after, .. } = function.calls;
    let difference = function.self_ns.difference_ns();
    if before == 0.0 || after == 0.0 {
        return Split { calls_ns: difference, cost_ns: 0.0, why: Why::Calls };
    }
    let times = [function.self_ns.left_median, function.self_ns.right_median];
    let (calls_ns, cost_ns) = split::split([before, after], times);
    let cost = &function.cost_ns;
    let is_cost_changed = cost.is_resolved()
        && cost.reaches_threshold()
        && cost.is_at_least(options.min_change)
        && cost.p <= options.level;
    let part = split::part_of_calls((calls_ns, cost_ns));
    let why = match () {
        () if part < MINOR => Why::Cost,
        () if part > 1.0 - MINOR || !is_cost_changed => Why::Calls,
        () => Why::Both,
    };
    Split { calls_ns, cost_ns, why }
}

/// Whether calls for each call of the caller changed. `counts` are those of the calls and of the caller.
pub fn is_ratio_changed(ratios: &Test, counts: [&Counts; 2], options: &Options) -> bool {
    let is_exact = |counts: &Counts| {
        matches!(counts.verdict, CountVerdict::Equal | CountVerdict::Changed | CountVerdict::Undecided)
    };
    if counts.into_iter().all(is_exact) {
        let first = |counts: &Counts| [&counts.left, &counts.right].map(|of| of.first().copied().unwrap_or(0));
        return is_exact_ratio_changed(first(counts[0]), first(counts[1]));
    }
    ratios.reaches_threshold() && ratios.is_at_least(SAME_RATIO.min(options.min_change))
}

/// Whether exact calls changed by a call or more beyond what those of the caller explain, as fractions of whole numbers. Less than one call is
/// no change: where the first call of the caller alone does without, 4,999 of 5,000 and 5,049 of 5,050 are not the same fraction.
fn is_exact_ratio_changed(calls: [u64; 2], caller: [u64; 2]) -> bool {
    let ([left, right], [of_left, of_right]) = (calls.map(u128::from), caller.map(u128::from));
    (left * of_right).abs_diff(right * of_left) >= of_left.min(of_right).max(1)
}

/// The callers that explain a function's count: they are called more or less often, and each call of every caller still
/// makes as many calls. Nobody, if it is not so.
fn follows(callee: usize, functions: &[Function], edges: &[Edge]) -> Vec<String> {
    let function = &functions[callee];
    if !function.calls.verdict.is_changed() {
        return Vec::new();
    }
    let callers: Vec<&Edge> = edges.iter().filter(|edge| edge.ends.1 == callee).collect();
    if callers.iter().any(|edge| edge.is_per_call_changed || edge.on != On::Both)
        || is_called_from_elsewhere(function, &callers)
    {
        return Vec::new();
    }
    let others = callers.iter().filter(|edge| edge.ends.0 != callee);
    let changed = others.filter(|edge| functions[edge.ends.0].calls.verdict.is_changed());
    changed.map(|edge| edge.caller.clone()).collect()
}

/// Whether code that is not recorded calls it more or less often.
fn is_called_from_elsewhere(function: &Function, callers: &[&Edge]) -> bool {
    let elsewhere = |calls: &[u64], of: fn(&Counts) -> &[u64]| -> Vec<u64> {
        let known = |run: usize| callers.iter().map(|edge| of(&edge.calls)[run]).sum::<u64>();
        calls.iter().enumerate().map(|(run, calls)| calls.saturating_sub(known(run))).collect()
    };
    let left = elsewhere(&function.calls.left, |counts| &counts.left);
    let right = elsewhere(&function.calls.right, |counts| &counts.right);
    let range = |counts: &[u64]| (counts.iter().min().copied(), counts.iter().max().copied());
    // Runs of one side that are all beyond those of the other.
    range(&left).0 > range(&right).1 || range(&right).0 > range(&left).1
}

/// The only function of the other side alone that is called as often, by the same callers, calls the same, and costs about as
/// much.
fn perhaps(index: usize, functions: &[Function], edges: &[Edge]) -> Option<String> {
    let function = &functions[index];
    let other = match function.on {
        On::Both => return None,
        On::Left => On::Right,
        On::Right => On::Left,
    };
    let calls = |function: &Function| function.calls.left_median.max(function.calls.right_median);
    let cost = |function: &Function| function.cost_ns.left_median.max(function.cost_ns.right_median);
    // What neither can resolve tells nothing.
    let error = function.cost_ns.left_error_ns.max(function.cost_ns.right_error_ns);
    let is_near = |a: f64, b: f64| a.max(b) <= 2.0 * a.min(b) || a.max(b) < error;
    let neighbours = |of: usize| {
        let name = |end: usize, name: &str| if end == of { "(itself)".to_owned() } else { name.to_owned() };
        let mut callers: Vec<_> =
            edges.iter().filter(|edge| edge.ends.1 == of).map(|edge| name(edge.ends.0, &edge.caller)).collect();
        let mut callees: Vec<_> =
            edges.iter().filter(|edge| edge.ends.0 == of).map(|edge| name(edge.ends.1, &edge.callee)).collect();
        callers.sort_unstable();
        callees.sort_unstable();
        (callers, callees)
    };
    let like = |like: usize, side: On| {
        let is_like = move |&other: &usize| {
            functions[other].on == side
                && is_near(cost(&functions[other]), cost(&functions[like]))
                && calls(&functions[other]) == calls(&functions[like])
                && neighbours(other) == neighbours(like)
        };
        (0..functions.len()).filter(is_like).collect::<Vec<_>>()
    };
    // It must be the only one for this, and this the only one for it.
    match like(index, other)[..] {
        [one] if like(one, function.on) == [index] => Some(functions[one].name.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_part_has_its_share() {
        assert_eq!(split::split([100.0, 100.0], [1000.0, 1300.0]), (0.0, 300.0));
        assert_eq!(split::split([100.0, 150.0], [1000.0, 1500.0]), (500.0, 0.0));
        // Twice the calls at half the cost: nothing has changed, and both have.
        assert_eq!(split::split([100.0, 200.0], [1000.0, 1000.0]), (750.0, -750.0));
    }

    #[test]
    fn what_is_not_called_by_the_first_call_of_its_caller_follows_it() {
        for (calls, caller) in
            [([4999, 5049], [5000, 5050]), ([5000, 5050], [5000, 5050]), ([0, 0], [0, 0]), ([0, 0], [1, 9])]
        {
            assert!(!is_exact_ratio_changed(calls, caller), "{calls:?} of {caller:?}");
        }
        for (calls, caller) in
            [([5000, 5001], [5000, 5000]), ([5000, 5050], [5000, 5000]), ([2, 4], [2, 3]), ([1, 1], [1, 2])]
        {
            assert!(is_exact_ratio_changed(calls, caller), "{calls:?} of {caller:?}");
        }
    }

    proptest! {
        #[test]
        fn parts_are_the_whole_whichever_side_comes_first(
            calls in [1.0..1e6f64, 1.0..1e6f64],
            times in [0.0..1e9f64, 0.0..1e9f64],
        ) {
            let (by_calls, by_cost) = split::split(calls, times);
            prop_assert!((by_calls + by_cost - (times[1] - times[0])).abs() <= 1e-6 * (by_calls.abs() + by_cost.abs() + 1.0));
            let (back_by_calls, back_by_cost) = split::split([calls[1], calls[0]], [times[1], times[0]]);
            prop_assert!((by_calls + back_by_calls).abs() < 1e-3 && (by_cost + back_by_cost).abs() < 1e-3);
        }
    }
}
