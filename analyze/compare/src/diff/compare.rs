//! Compares two sets of runs, query by query.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::candidates;
use super::causes;
use super::comparison::{
    Comparison, CountVerdict, Counts, Edge, Explained, Function, Metric, On, Percentile, Query, SCHEMA, Side, Split,
    Test, Total, Verdict,
};
use super::decision::decide;
use super::history::What;
use super::loaded::Loaded;
use super::moved::Groups;
use super::overlay::Overlay;
use super::pool::Pool;
use super::sides::{Series, Sides, mean};
use super::tester::{Errors, Tester};
use super::{Error, Options, strata};
use crate::observed::identity::Key;
use crate::observed::uncertainty::{Code, OfDifference, Uncertainty};
use crate::runs::Runs;
use crate::statistics::median;
use diytrace_profile::histogram::Histogram;
use diytrace_profile::time::Time;

/// The percentiles that are told of both sides.
const SHARES: [f64; 12] = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999];

/// Compares two sets of runs.
pub fn compare(left: &Runs, right: &Runs, options: &Options) -> Result<Comparison, Error> {
    let sets = [left, right];
    let mut comparison = Comparison {
        schema: SCHEMA,
        left: side(left, right),
        right: side(right, left),
        options: options.clone(),
        confirmation: None,
        queries: Vec::new(),
        errors: Vec::new(),
        warnings: sets.iter().flat_map(|set| set.warnings.clone()).collect(),
    };
    let [before, after] = sets.map(Runs::queries);
    if !before.iter().any(|query| after.contains(query)) {
        return Err(Error::NoCommonQuery {
            left: left.name.clone(),
            right: right.name.clone(),
            left_queries: listed(&before),
            right_queries: listed(&after),
        });
    }
    for query in &before {
        if !after.contains(query) {
            comparison.errors.push(format!("{}: only {} has runs of it", titled(*query), left.name));
            continue;
        }
        let (loaded, pool) = Loaded::both(sets, *query)?;
        for (set, loaded) in sets.iter().zip(&loaded) {
            loaded.say_in(&mut comparison, set);
        }
        if let Some(warning) = other_roots(sets, &loaded) {
            comparison.warnings.push(warning);
        }
        let made = sets.map(|set| set.of(*query).count());
        comparison.queries.push(query_of(*query, &loaded, &pool, &options.at(made[0].max(made[1]))));
    }
    for query in after.iter().filter(|query| !before.contains(query)) {
        comparison.errors.push(format!("{}: only {} has runs of it", titled(*query), right.name));
    }
    let mut known = BTreeSet::new();
    comparison.warnings.retain(|warning| known.insert(warning.clone()));
    Ok(comparison)
}

/// What was recorded below other roots on each side is on one side only, for that alone.
fn other_roots(sets: [&Runs; 2], loaded: &[Loaded; 2]) -> Option<String> {
    let [left, right] =
        loaded.each_ref().map(|side| side.observed.iter().map(|run| &run.roots).collect::<BTreeSet<_>>());
    let below = |set: &Runs, roots: &BTreeSet<&BTreeSet<String>>| {
        let all: BTreeSet<&str> = roots.iter().flat_map(|roots| roots.iter()).map(String::as_str).collect();
        let what = if all.is_empty() {
            "without roots".to_owned()
        } else {
            format!("below {}", all.into_iter().collect::<Vec<_>>().join(", "))
        };
        format!("{} was recorded {what}", set.name)
    };
    (left != right).then(|| {
        let [left, right] = [below(sets[0], &left), below(sets[1], &right)];
        format!("{left}, and {right}: what only one of them has may have been called in both")
    })
}

fn side(set: &Runs, other: &Runs) -> Side {
    let folder = set.folder.display().to_string();
    Side {
        name: if set.name == other.name { folder.clone() } else { set.name.clone() },
        command: set.command.clone(),
        folder,
        machine: set.machine.clone(),
    }
}

fn titled(query: Option<&str>) -> &str {
    query.unwrap_or("runs without a query")
}

fn listed(queries: &[Option<&str>]) -> String {
    queries.iter().map(|query| titled(*query)).collect::<Vec<_>>().join(", ")
}

fn query_of(query: Option<&str>, loaded: &[Loaded; 2], pool: &Pool, options: &Options) -> Query {
    let sides = Sides::of(&loaded[0].observed, &loaded[1].observed);
    let tester = Tester::new(sides.runs, options);
    let all_own = mean(sides.total.iter().flatten().copied());
    let mut functions: Vec<Function> = sides
        .functions
        .par_iter()
        .map(|(key, series)| function(query, key, series, all_own, &tester, options))
        .collect();
    let is_tested = |(function, (_, series)): (&Function, &(Key, Series))| {
        sides.are_timed
            && function.on == On::Both
            && function.share >= options.min_share
            && series.pooled_own() >= series.pooled_error()
    };
    let tested: Vec<bool> = functions.iter().zip(&sides.functions).map(is_tested).collect();
    for (function, (_, series)) in functions.iter_mut().zip(&sides.functions) {
        let is_resolved = series.pooled_own() >= series.pooled_error();
        function.verdict = if is_resolved || !sides.are_timed { Verdict::Skipped } else { Verdict::Unresolved };
    }
    let tests = tested.iter().filter(|tested| **tested).count();
    let is_one_build = sides.are_one_build();
    strata::decide_each(&mut functions, &tested, is_one_build, tester.smallest_p, options);
    decide_on_counts(functions.iter_mut().map(|function| (&mut function.calls, function.min_change)), &tester, options);

    let mut edges: Vec<Edge> = sides
        .edges
        .par_iter()
        .map(|(&ends, series)| edge(ends, (series, sides.functions[ends.1].1.code()), &functions, &tester, options))
        .collect();
    let is_edge_tested = |edge: &Edge| edge.on == On::Both && tested[edge.ends.1] && edge.self_ns.left_median > 0.0;
    let verdicts = {
        let mut family: Vec<_> = edges
            .iter_mut()
            .filter(|edge| is_edge_tested(edge))
            .map(|edge| (&mut edge.self_ns, options.min_change))
            .collect();
        decide(&mut family, options, tester.smallest_p)
    };
    for (edge, verdict) in edges.iter_mut().filter(|edge| is_edge_tested(edge)).zip(verdicts) {
        edge.verdict = verdict;
    }
    decide_on_counts(edges.iter_mut().map(|edge| (&mut edge.calls, options.min_change)), &tester, options);

    let errors: Vec<OfDifference> = sides.functions.iter().map(|(_, series)| series.difference_error()).collect();
    let Groups { moved, together } =
        causes::explain(&mut functions, &mut edges, is_one_build, &errors, (&tester, options));
    for (function, (_, series)) in functions.iter_mut().zip(&sides.functions) {
        function.is_candidate =
            candidates::is_candidate(function, series.pooled_own(), tests, tester.smallest_p, options);
    }
    let mut query = Query {
        query: query.map(str::to_owned),
        left_runs: sides.runs[0],
        right_runs: sides.runs[1],
        tests,
        level: options.level,
        smallest_p: tester.smallest_p,
        all_splits: tester.splits.are_all,
        left_overhead: pool.overhead(0),
        right_overhead: pool.overhead(1),
        is_one_build,
        without_preempted: sides.are_without_preempted,
        total: total(query, &sides, is_one_build, &tester, options),
        explained: Explained::default(),
        moved,
        together,
        functions,
        edges,
        metrics: metrics(query, loaded, options),
        folded: sides.flames.folded(&sides.functions.iter().map(|(key, _)| key).collect::<Vec<_>>()),
    };
    query.sort();
    query.explain();
    query
}

fn function(query: Option<&str>, key: &Key, series: &Series, all: f64, tester: &Tester, options: &Options) -> Function {
    let cost = |side: usize| -> Vec<f64> {
        let of_one = |(own, calls): (&f64, &u64)| if *calls == 0 { 0.0 } else { own / *calls as f64 };
        series.own[side].iter().zip(&series.calls[side]).map(of_one).collect()
    };
    let calls = tester.count(&series.calls);
    let of_one =
        |error: &Uncertainty, calls: f64| if calls > 0.0 { error.part(1.0 / calls) } else { Uncertainty::default() };
    let cost_error =
        [of_one(&series.own_error[0], calls.left_median), of_one(&series.own_error[1], calls.right_median)];
    Function {
        name: key.name.clone(),
        module: key.module.clone(),
        file: key.file.clone(),
        on: on(series),
        verdict: Verdict::Skipped,
        share: if all > 0.0 { series.pooled_own() / all } else { 0.0 },
        min_change: options.history.min_change(query, What::Function(key.name.clone()), options.min_change),
        self_ns: tester.test(&series.own, Errors::of(&series.own_error, series.code())),
        total_ns: tester.test(&series.total, Errors::apart(series.total_error)),
        cost_ns: tester.test(&[cost(0), cost(1)], Errors::of(&cost_error, series.code())),
        calls,
        code: series.code_state(),
        is_moved: series.is_moved(),
        wait_ns: waits(series),
        cause: None,
        is_candidate: false,
        split: Split::default(),
        follows: Vec::new(),
        perhaps: None,
        repeat: None,
        percentiles: percentiles(&series.histograms),
        timeline: Overlay::of(&series.timelines, tester.runs),
    }
}

/// What of its self time a function waited, where all runs tell.
fn waits(series: &Series) -> Option<(f64, f64)> {
    let [left, right] = &series.own_wait;
    let is_known =
        [left, right].iter().zip(&series.own).all(|(known, runs)| !known.is_empty() && known.len() == runs.len());
    is_known.then(|| (median(left), median(right)))
}

fn on(series: &Series) -> On {
    match series.is_on() {
        [true, false] => On::Left,
        [false, true] => On::Right,
        _ => On::Both,
    }
}

fn percentiles(histograms: &[Histogram; 2]) -> Vec<Percentile> {
    let [left, right] = [0, 1].map(|side: usize| histograms[side].percentiles(SHARES).map(|all| all.map(Time::ns)));
    if left.is_none() && right.is_none() {
        return Vec::new();
    }
    let percentile = |(index, &share): (usize, &f64)| Percentile {
        share,
        left_ns: left.map(|all| all[index]),
        right_ns: right.map(|all| all[index]),
    };
    SHARES.iter().enumerate().map(percentile).collect()
}

fn edge(
    ends: (usize, usize),
    (series, code): (&Series, Code),
    functions: &[Function],
    tester: &Tester,
    options: &Options,
) -> Edge {
    let (caller, callee) = (&functions[ends.0], &functions[ends.1]);
    let ratios = |calls: &[u64], of: &[u64]| -> Vec<f64> {
        calls.iter().zip(of).map(|(calls, of)| if *of == 0 { 0.0 } else { *calls as f64 / *of as f64 }).collect()
    };
    let ratios = tester.test(
        &[ratios(&series.calls[0], &caller.calls.left), ratios(&series.calls[1], &caller.calls.right)],
        Errors::default(),
    );
    let calls = tester.count(&series.calls);
    Edge {
        caller: caller.name.clone(),
        callee: callee.name.clone(),
        ends,
        on: on(series),
        verdict: Verdict::Skipped,
        per_call: (ratios.left_median, ratios.right_median),
        is_per_call_changed: causes::is_ratio_changed(&ratios, [&calls, &caller.calls], options),
        calls,
        self_ns: tester.test(&series.own, Errors::of(&series.own_error, code)),
        total_ns: tester.test(&series.total, Errors::apart(series.total_error)),
    }
}

/// Tests the counts that vary.
fn decide_on_counts<'a>(counts: impl Iterator<Item = (&'a mut Counts, f64)>, tester: &Tester, options: &Options) {
    let mut varying: Vec<_> = counts.filter(|(counts, _)| counts.verdict == CountVerdict::Varies).collect();
    let p: Vec<f64> = varying.iter().map(|(counts, _)| tester.p_of_counts(counts)).collect();
    for ((counts, min_change), p) in varying.iter_mut().zip(options.correction.adjust(&p)) {
        counts.p_adjusted = Some(p);
        let is_large =
            counts.difference.is_none_or(|difference| difference.abs() >= min_change.max(options.whole_min_change));
        if p <= options.level && is_large && tester.is_beyond_chance(counts) {
            counts.verdict = CountVerdict::VariesChanged;
        }
    }
}

fn total(query: Option<&str>, sides: &Sides, is_one_build: bool, tester: &Tester, options: &Options) -> Total {
    let least = if is_one_build { options.min_change } else { options.whole_min_change };
    let min_change = options.history.min_change(query, What::Total, least);
    let mut test = tester.test(&sides.total, sides.total_errors());
    let verdict = match sides.are_timed {
        true => decide(&mut [(&mut test, min_change)], options, tester.smallest_p)[0],
        false => Verdict::Skipped,
    };
    Total { verdict, min_change, self_ns: test }
}

/// What was measured of all runs of both sides.
fn metrics(query: Option<&str>, loaded: &[Loaded], options: &Options) -> Vec<Metric> {
    let runs = || loaded.iter().flat_map(|loaded| &loaded.runs);
    let names: BTreeSet<&String> = runs().flat_map(|run| run.metrics.keys()).collect();
    let of_all = names.into_iter().filter(|name| runs().all(|run| run.metrics.contains_key(*name)));
    let tester = Tester::new([loaded[0].runs.len(), loaded[1].runs.len()], options);
    let mut tests: Vec<(&String, Test)> = of_all
        .map(|name| {
            let values = |side: usize| loaded[side].runs.iter().map(|run| run.metrics[name]).collect();
            (name, tester.test(&[values(0), values(1)], Errors::default()))
        })
        .collect();
    let least = options.whole_min_change;
    let min_change = |name: &str| options.history.min_change(query, What::Metric(name.to_owned()), least);
    let mut family: Vec<_> = tests.iter_mut().map(|(name, test)| (test, min_change(name))).collect();
    let verdicts = decide(&mut family, options, tester.smallest_p);
    let metric = |((name, values), verdict): ((&String, Test), Verdict)| Metric { name: name.clone(), verdict, values };
    tests.into_iter().zip(verdicts).map(metric).collect()
}

impl Query {
    /// Sorts functions by verdict, and those of one by what they have to do with the difference.
    fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.functions.len()).collect();
        let weight = |function: &Function| {
            let ns = function.self_ns.difference_ns().abs();
            (function.verdict, std::cmp::Reverse((ns * 1024.0) as u64), function.name.clone(), function.module.clone())
        };
        order.sort_by_cached_key(|&index| weight(&self.functions[index]));
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &index)| places[index] = place);
        self.functions = order.iter().map(|&index| self.functions[index].clone()).collect();
        for edge in &mut self.edges {
            edge.ends = (places[edge.ends.0], places[edge.ends.1]);
        }
        for moved in self.moved.iter_mut().chain(&mut self.together) {
            moved.functions.iter_mut().for_each(|place| *place = places[*place]);
            moved.functions.sort_unstable();
        }
        self.edges.sort_by_key(|edge| (edge.ends.1, edge.ends.0));
    }
}
