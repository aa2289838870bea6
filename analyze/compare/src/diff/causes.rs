//! Why a function's time or count changed: more calls or dearer ones, and whose doing that is.

use super::Options;
use super::comparison::{CountVerdict, Counts, Edge, Function, On, Split, Test, Verdict, Why};
use crate::observed::split::{self, MINOR};

/// How much calls for each call of a caller may differ, where counts vary, and be the same.
const SAME_RATIO: f64 = 0.01;

/// Splits differences, finds what follows from callers, and what functions on one side may be called on the other.
pub fn explain(functions: &mut [Function], edges: &mut [Edge], options: &Options) {
    for function in functions.iter_mut() {
        function.split = split(function, options);
    }
    let follows: Vec<Vec<String>> = (0..functions.len()).map(|callee| follows(callee, functions, edges)).collect();
    let perhaps: Vec<Option<String>> = (0..functions.len()).map(|index| perhaps(index, functions, edges)).collect();
    for ((function, follows), perhaps) in functions.iter_mut().zip(follows).zip(perhaps) {
        function.follows = follows;
        function.perhaps = perhaps;
        function.verdict = verdict(function);
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
}

/// What all there is to say of a function comes to; so far its verdict is that of its time.
fn verdict(function: &Function) -> Verdict {
    let is_following = !function.follows.is_empty();
    match function.verdict {
        _ if function.on != On::Both => Verdict::OneSided,
        Verdict::Changed if is_following && function.split.why == Why::Calls => Verdict::Follows,
        Verdict::Changed => Verdict::Changed,
        _ if function.calls.verdict.is_changed() && is_following => Verdict::Follows,
        _ if function.calls.verdict.is_changed() => Verdict::Calls,
        _ if function.calls.verdict == CountVerdict::Undecided => Verdict::Underpowered,
        of_time => of_time,
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
        // As fractions of whole numbers.
        let first = |counts: &[u64]| u128::from(counts.first().copied().unwrap_or(0));
        let [calls, caller] = counts;
        return first(&calls.left) * first(&caller.right) != first(&calls.right) * first(&caller.left);
    }
    ratios.reaches_threshold() && ratios.is_at_least(SAME_RATIO.min(options.min_change))
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
