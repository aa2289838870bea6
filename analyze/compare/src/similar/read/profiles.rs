//! Runs that left profiles: calls and times of every function, and what was measured beside.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::{Run, Side};
use crate::runs::{self, Runs};
use crate::similar::Error;
use crate::similar::metric::{Kind, Metric, Value};
use diytrace_profile::functions::Spelling;
use diytrace_views::report::{self, Column, Function};

/// What to know of addresses in place of names.
const UNNAMED: &str = "some functions have no names and are compared by their addresses, which are those of one build only: keep each \
                       build's program, or make its profiles archives with `diytrace symbolize` before it goes";

/// Adds a set's runs to a side.
pub fn read(set: Runs, side: &mut Side) -> Result<(), Error> {
    side.warnings.extend(set.warnings.iter().cloned());
    let failed = set.runs.iter().filter(|run| run.status != 0).count();
    if failed > 0 {
        side.warnings.push(format!(
            "{failed} of the {} runs in {} did not end with status 0",
            set.runs.len(),
            side.name
        ));
    }
    let documents: Vec<report::Document> = set.runs.par_iter().map(document).collect::<Result<_, _>>()?;
    let ambiguous = ambiguous(&documents);
    let mut said: BTreeSet<String> = side.warnings.iter().cloned().collect();
    for (run, document) in set.runs.iter().zip(&documents) {
        side.warnings.extend(document.warnings.iter().filter(|&warning| said.insert(warning.clone())).cloned());
        let functions = document.reports.iter().flat_map(|report| &report.functions);
        let group = run.query.as_deref().unwrap_or_default();
        let mut values: Vec<Value> = functions.flat_map(|function| of_function(group, function, &ambiguous)).collect();
        values.extend(run.metrics.iter().map(|(name, &number)| of_run(group, name, number)));
        side.runs.push(Run {
            title: title(run),
            query: run.query.clone(),
            at_unix_ns: run.started_unix_ns.map(i128::from),
            values,
        });
    }
    let mut all = documents.iter().flat_map(|document| &document.reports).flat_map(|report| &report.functions);
    if all.any(|function| function.symbol.is_none()) && said.insert(UNNAMED.to_owned()) {
        side.warnings.push(UNNAMED.to_owned());
    }
    complete(&mut side.runs);
    Ok(())
}

/// The report on all functions of a run.
fn document(run: &runs::Run) -> Result<report::Document, Error> {
    let options = report::Options {
        roots: Vec::new(),
        raw: false,
        filter: report::Filter::default(),
        columns: vec![Column::Calls], // all functions, also where roots were recorded
        histogram: false,
        timeline: false,
        sort: Some(report::Sort::Name),
        limit: None,
        format: report::Format::Table,
        spelling: Spelling::Demangled,
        by_address: false,
        detail: report::Detail::Whole,
    };
    run.profile()
        .and_then(|opened| report::document(&options, &opened))
        .map_err(|source| Error::Profile { run: title(run), source })
}

fn title(run: &runs::Run) -> String {
    match &run.query {
        Some(query) => format!("{} of {query}", run.number),
        None => run.profiles.first().map_or_else(|| run.number.to_string(), |profile| profile.display().to_string()),
    }
}

/// Names that several functions of one run have: their modules tell them apart. Other names go without, as a program may
/// be called something else on the other side.
fn ambiguous(documents: &[report::Document]) -> BTreeSet<String> {
    let mut ambiguous = BTreeSet::new();
    for document in documents {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for function in document.reports.iter().flat_map(|report| &report.functions) {
            *counts.entry(&function.name).or_default() += 1;
        }
        ambiguous.extend(counts.into_iter().filter(|&(_, count)| count > 1).map(|(name, _)| name.to_owned()));
    }
    ambiguous
}

fn of_function(group: &str, function: &Function, ambiguous: &BTreeSet<String>) -> Vec<Value> {
    let module = function.module.rsplit('/').next().unwrap_or_default();
    let name = match ambiguous.contains(&function.name) {
        true => format!("{} [{module}]", function.name),
        false => function.name.clone(),
    };
    let times = [
        ("mean", function.mean_ns),
        ("min", function.min_ns),
        ("p50", function.p50_ns),
        ("p75", function.p75_ns),
        ("p90", function.p90_ns),
        ("p95", function.p95_ns),
        ("p99", function.p99_ns),
        ("p99.9", function.p999_ns),
        ("max", function.max_ns),
        ("total", Some(function.total_ns)),
        ("self", Some(function.self_ns)),
    ];
    let metric = |field: &str| Metric { group: group.into(), name: name.clone(), field: field.into() };
    let count =
        Value { metric: metric("count"), number: function.calls as f64, unit: String::new(), kind: Kind::Function };
    let times = times.into_iter().filter_map(|(field, ns)| Some((field, ns.filter(|ns| ns.is_finite())?)));
    let times =
        times.map(|(field, number)| Value { metric: metric(field), number, unit: "ns".into(), kind: Kind::Function });
    [count].into_iter().chain(times).collect()
}

/// `wall_ns` and its like say their unit at the end.
fn of_run(group: &str, name: &str, number: f64) -> Value {
    let unit = ["ns", "bytes"].into_iter().find(|unit| name.ends_with(&format!("_{unit}"))).unwrap_or_default();
    let metric = Metric { group: group.into(), name: name.into(), field: String::new() };
    Value { metric, number, unit: unit.into(), kind: Kind::Run }
}

/// A function that other runs of the side called was called 0 times in a run that does not know it.
fn complete(runs: &mut [Run]) {
    let is_count = |value: &&Value| value.kind == Kind::Function && value.metric.field == "count";
    let counts = runs.iter().flat_map(|run| &run.values).filter(is_count);
    let all: BTreeSet<Metric> = counts.map(|value| value.metric.clone()).collect();
    for run in runs {
        let own: BTreeSet<&Metric> = run.values.iter().map(|value| &value.metric).collect();
        let group = run.query.as_deref().unwrap_or_default();
        let missing = all.iter().filter(|metric| metric.group == group && !own.contains(metric));
        let zero =
            |metric: &Metric| Value { metric: metric.clone(), number: 0.0, unit: String::new(), kind: Kind::Function };
        let zeros: Vec<_> = missing.map(zero).collect();
        run.values.extend(zeros);
    }
}
