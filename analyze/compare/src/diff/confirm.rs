//! Confirmation: what looks changed must be so again in runs that nobody has looked at yet.

use std::collections::BTreeSet;

use super::compare::compare;
use super::comparison::{Comparison, Confirmation, Function, Moved, Query, Repeat, Test, Verdict};
use super::{Error, Options};
use crate::runs::Runs;

/// How much larger or smaller a difference may come out the second time. What was found by looking for the largest tends to
/// be smaller.
const SAME_SIZE: std::ops::RangeInclusive<f64> = 0.5..=2.0;

/// The queries of which anything was called changed, so that it takes fresh runs to confirm it.
pub fn to_confirm(comparison: &Comparison) -> Vec<Option<&str>> {
    let queries = comparison.queries.iter().filter(|query| claims(query));
    queries.map(|query| query.query.as_deref()).collect()
}

fn claims(query: &Query) -> bool {
    query.total.verdict == Verdict::Changed
        || query.functions.iter().any(|function| is_claim(function.verdict))
        || query.metrics.iter().any(|metric| metric.verdict == Verdict::Changed)
}

fn is_claim(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Changed | Verdict::SameCode | Verdict::Calls | Verdict::Follows | Verdict::OneSided)
}

/// Holds all that was called changed against fresh runs of both sides; what does not repeat is unconfirmed.
pub fn confirm(comparison: &mut Comparison, left: &Runs, right: &Runs) -> Result<(), Error> {
    // They are looked at once.
    let fresh = compare(left, right, &Options { looks: None, ..comparison.options.clone() })?;
    comparison.confirmation = Some(Confirmation { left: fresh.left.folder.clone(), right: fresh.right.folder.clone() });
    let options = comparison.options.clone();
    for query in &mut comparison.queries {
        let Some(again) = fresh.queries.iter().find(|again| again.query == query.query) else {
            if !claims(query) {
                continue;
            }
            let name = query.query.as_deref().unwrap_or("these runs");
            comparison.errors.push(format!("{name}: there are no fresh runs, so nothing of it is confirmed"));
            query.functions.iter_mut().for_each(|function| reject(function, None));
            query.together.iter_mut().for_each(|group| group.verdict = Verdict::Unconfirmed);
            continue;
        };
        if again.smallest_p > options.level {
            comparison.warnings.push(format!(
                "{} and {} fresh runs are too few to confirm anything: it takes four of each side",
                again.left_runs, again.right_runs
            ));
        }
        for function in &mut query.functions {
            match again.functions.iter().find(|other| who(other) == who(function)) {
                Some(other) => judge(function, other, &options),
                None => reject(function, None),
            }
        }
        if query.total.verdict == Verdict::Changed && !repeats(&query.total.self_ns, &again.total.self_ns, &options) {
            query.total.verdict = Verdict::Unconfirmed;
        }
        for metric in query.metrics.iter_mut().filter(|metric| metric.verdict == Verdict::Changed) {
            let other = again.metrics.iter().find(|other| other.name == metric.name);
            if !other.is_some_and(|other| repeats(&metric.values, &other.values, &options)) {
                metric.verdict = Verdict::Unconfirmed;
            }
        }
        for group in 0..query.together.len() {
            if !is_together_again(query, again, &query.together[group], &options) {
                query.together[group].verdict = Verdict::Unconfirmed;
            }
        }
        query.explain();
    }
    comparison.errors.extend(fresh.errors);
    Ok(())
}

/// What a function is called in any comparison.
fn who(function: &Function) -> (&str, &str, Option<&str>) {
    (&function.name, &function.module, function.file.as_deref())
}

/// Whether the sum of functions changed again: whatever the fresh runs alone would say of it, as with functions.
fn is_together_again(query: &Query, again: &Query, group: &Moved, options: &Options) -> bool {
    fn those<'a>(query: &'a Query, group: &Moved) -> BTreeSet<(&'a str, &'a str, Option<&'a str>)> {
        group.functions.iter().map(|place| who(&query.functions[*place])).collect()
    }
    let of_these = those(query, group);
    let mut others = again.together.iter().chain(&again.moved).filter(|other| those(again, other) == of_these);
    others.any(|other| repeats(&group.sum_ns, &other.sum_ns, options))
}

fn judge(function: &mut Function, again: &Function, options: &Options) {
    // What fresh runs show to have moved only has changed as little in the first.
    if function.verdict == Verdict::Changed && again.verdict == Verdict::Moved {
        (function.verdict, function.cause) = (Verdict::Moved, again.cause.clone());
        return;
    }
    let repeats_calls = again.calls.verdict.is_changed() && is_alike(function.calls.difference, again.calls.difference);
    let repeats_time = repeats(&function.self_ns, &again.self_ns, options);
    // Where the time is too little to be sure of, twice, the calls may be no less sure for that.
    if function.verdict == Verdict::Changed && !repeats_time && repeats_calls && function.calls.verdict.is_changed() {
        function.verdict = if function.follows.is_empty() { Verdict::Calls } else { Verdict::Follows };
    }
    let (is_confirmed, difference, p) = match function.verdict {
        Verdict::Changed | Verdict::SameCode => (repeats_time, again.self_ns.difference, again.self_ns.p),
        // Also those that follow: their callers' counts are held against fresh runs likewise.
        Verdict::Calls | Verdict::Follows => {
            (repeats_calls, again.calls.difference, again.calls.p_adjusted.unwrap_or(0.0))
        }
        Verdict::OneSided => (function.on == again.on, None, 0.0),
        _ => return,
    };
    let repeat = Repeat { is_confirmed, difference, p };
    match is_confirmed {
        true => function.repeat = Some(repeat),
        false => reject(function, Some(repeat)),
    }
}

fn reject(function: &mut Function, repeat: Option<Repeat>) {
    if is_claim(function.verdict) {
        function.verdict = Verdict::Unconfirmed;
        function.repeat = Some(repeat.unwrap_or(Repeat { is_confirmed: false, difference: None, p: 1.0 }));
    }
}

/// Whether a difference is there again, in sign and size, and not by chance.
fn repeats(first: &Test, second: &Test, options: &Options) -> bool {
    let is_unlikely = second.p <= options.level && second.reaches_threshold();
    // Of what took next to nothing before, a part of that is of no size.
    let is_alike_in_ns = || is_alike(Some(first.difference_ns()), Some(second.difference_ns()));
    let is_alike_in_part = first.difference.is_some() && is_alike(first.difference, second.difference);
    is_unlikely && (is_alike_in_part || is_alike_in_ns())
}

fn is_alike(first: Option<f64>, second: Option<f64>) -> bool {
    match (first, second) {
        (Some(first), Some(second)) => first * second > 0.0 && SAME_SIZE.contains(&(second / first)),
        (None, None) => true, // from nothing to something, twice
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tester::{Errors, Tester};
    use super::*;

    #[test]
    fn what_took_next_to_nothing_before_is_confirmed_by_how_much_it_takes() {
        let options = Options::default();
        let tester = Tester::new([8, 8], &options);
        let test = |before: f64, after: f64| {
            let runs = |value: f64| (0..8).map(|run| value * (1.0 + 0.001 * f64::from(run))).collect::<Vec<_>>();
            tester.test(&[runs(before), runs(after)], Errors::default())
        };
        let first = test(0.0, 13_000.0);
        assert!(repeats(&first, &test(0.0, 13_100.0), &options));
        assert!(repeats(&first, &test(20.0, 12_900.0), &options), "a part of nothing is none, and one of 20 is 644");
        assert!(repeats(&test(20.0, 13_000.0), &test(70.0, 13_000.0), &options));
        assert!(!repeats(&first, &test(0.0, 3_000.0), &options), "a quarter of it");
        assert!(!repeats(&test(5_000.0, 13_000.0), &test(13_000.0, 5_000.0), &options));
        assert!(!repeats(&first, &test(5.0, 5.0), &options));
    }
}
