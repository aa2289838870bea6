//! Every number of a comparison as tables, so that a verdict can be redone with any tool.

use std::io;

use crate::diff::{Comparison, Counts, On, Overlay, Query, Test};

/// A table of rows, separated by tabs or commas.
struct Table(csv::Writer<Vec<u8>>);

impl Table {
    fn new(separator: u8, columns: &[&str]) -> io::Result<Self> {
        let mut table = Self(csv::WriterBuilder::new().delimiter(separator).from_writer(Vec::new()));
        table.0.write_record(columns)?;
        Ok(table)
    }

    fn row(&mut self, values: Vec<String>) -> io::Result<()> {
        self.0.write_record(values)?;
        Ok(())
    }

    fn bytes(self) -> io::Result<Vec<u8>> {
        self.0.into_inner().map_err(|error| error.into_error())
    }
}

fn name(query: &Query) -> String {
    query.query.clone().unwrap_or_default()
}

fn on(on: On) -> String {
    match on {
        On::Both => "both",
        On::Left => "left",
        On::Right => "right",
    }
    .to_owned()
}

fn maybe(number: Option<f64>) -> String {
    number.filter(|number| number.is_finite()).map(|number| number.to_string()).unwrap_or_default()
}

const OF_TEST: [&str; 15] = [
    "left_median",
    "right_median",
    "difference",
    "threshold",
    "spread",
    "interval_low",
    "interval_high",
    "interval_level",
    "plus_minus",
    "left_error_ns",
    "right_error_ns",
    "error_ns",
    "p_medians",
    "p",
    "p_adjusted",
];

fn test(test: &Test) -> Vec<String> {
    let interval = |end: fn(&crate::diff::Interval) -> f64| maybe(test.interval.as_ref().map(end));
    vec![
        test.left_median.to_string(),
        test.right_median.to_string(),
        maybe(test.difference),
        maybe(test.threshold),
        maybe(test.spread),
        interval(|interval| interval.low),
        interval(|interval| interval.high),
        interval(|interval| interval.level),
        maybe(test.plus_minus),
        test.left_error_ns.to_string(),
        test.right_error_ns.to_string(),
        test.error_ns.to_string(),
        test.p_medians.to_string(),
        test.p.to_string(),
        maybe(test.p_adjusted),
    ]
}

fn counts(counts: &Counts) -> Vec<String> {
    let verdict = serde_json::to_value(counts.verdict).ok().and_then(|value| value.as_str().map(str::to_owned));
    vec![
        counts.left_median.to_string(),
        counts.right_median.to_string(),
        verdict.unwrap_or_default(),
        maybe(counts.p_adjusted),
    ]
}

/// One row a function: verdicts, and what they come from. Tests are of self time.
pub fn functions(comparison: &Comparison, separator: u8) -> io::Result<Vec<u8>> {
    let first = ["query", "function", "module", "file", "on", "verdict", "share", "min_change"];
    let of_counts = ["left_calls", "right_calls", "calls", "calls_p_adjusted"];
    let last = [
        "left_total_ns",
        "right_total_ns",
        "left_cost_ns",
        "right_cost_ns",
        "calls_ns",
        "cost_ns",
        "why",
        "follows",
        "perhaps",
        "is_confirmed",
        "fresh_difference",
        "fresh_p",
        "code",
        "cause",
        "cause_by",
        "cause_relation",
        "is_moved",
        "is_candidate",
    ];
    let mut table = Table::new(separator, &[&first[..], &of_counts, &OF_TEST, &last].concat())?;
    for query in &comparison.queries {
        for function in &query.functions {
            let mut row = vec![
                name(query),
                function.name.clone(),
                function.module.clone(),
                function.file.clone().unwrap_or_default(),
                on(function.on),
                function.verdict.name().to_owned(),
                function.share.to_string(),
                function.min_change.to_string(),
            ];
            row.extend(counts(&function.calls));
            row.extend(test(&function.self_ns));
            let repeat = function.repeat;
            row.extend([
                function.total_ns.left_median.to_string(),
                function.total_ns.right_median.to_string(),
                function.cost_ns.left_median.to_string(),
                function.cost_ns.right_median.to_string(),
                function.split.calls_ns.to_string(),
                function.split.cost_ns.to_string(),
                function.split.why.name().to_owned(),
                function.follows.join(" "),
                function.perhaps.clone().unwrap_or_default(),
                repeat.map(|repeat| repeat.is_confirmed.to_string()).unwrap_or_default(),
                maybe(repeat.and_then(|repeat| repeat.difference)),
                maybe(repeat.map(|repeat| repeat.p)),
                function.code.name().to_owned(),
                function.cause.as_ref().map(|cause| cause.kind.name().to_owned()).unwrap_or_default(),
                function.cause.as_ref().map(|cause| cause.by.join(" ")).unwrap_or_default(),
                function
                    .cause
                    .as_ref()
                    .and_then(|cause| cause.relation)
                    .map(|one| one.name().to_owned())
                    .unwrap_or_default(),
                function.is_moved.to_string(),
                function.is_candidate.to_string(),
            ]);
            table.row(row)?;
        }
    }
    table.bytes()
}

/// One row an edge: calls of one function by another.
pub fn edges(comparison: &Comparison) -> io::Result<Vec<u8>> {
    let first =
        ["query", "caller", "callee", "on", "verdict", "left_per_call", "right_per_call", "is_per_call_changed"];
    let of_counts = ["left_calls", "right_calls", "calls", "calls_p_adjusted"];
    let last = ["left_total_ns", "right_total_ns"];
    let mut table = Table::new(b'\t', &[&first[..], &of_counts, &OF_TEST, &last].concat())?;
    for query in &comparison.queries {
        for edge in &query.edges {
            let mut row = vec![
                name(query),
                edge.caller.clone(),
                edge.callee.clone(),
                on(edge.on),
                edge.verdict.name().to_owned(),
                edge.per_call.0.to_string(),
                edge.per_call.1.to_string(),
                edge.is_per_call_changed.to_string(),
            ];
            row.extend(counts(&edge.calls));
            row.extend(test(&edge.self_ns));
            row.extend([edge.total_ns.left_median, edge.total_ns.right_median].map(|ns| ns.to_string()));
            table.row(row)?;
        }
    }
    table.bytes()
}

/// One row for each function (and the sum of all, without a name) in each run: what all tests are made from.
pub fn runs(comparison: &Comparison) -> io::Result<Vec<u8>> {
    let mut table =
        Table::new(b'\t', &["query", "side", "run", "function", "module", "file", "calls", "self_ns", "total_ns"])?;
    for query in &comparison.queries {
        let sides = [("left", query.left_runs), ("right", query.right_runs)];
        for (side, runs) in sides {
            let of = |test: &Test, run: usize| if side == "left" { test.left[run] } else { test.right[run] };
            for run in 0..runs {
                let ns = of(&query.total.self_ns, run).to_string();
                let place = [name(query), side.to_owned(), (run + 1).to_string()];
                let blank = || String::new();
                table.row([&place[..], &[blank(), blank(), blank(), blank(), ns.clone(), ns]].concat())?;
                for function in &query.functions {
                    let calls = if side == "left" { &function.calls.left } else { &function.calls.right };
                    let values = [
                        function.name.clone(),
                        function.module.clone(),
                        function.file.clone().unwrap_or_default(),
                        calls[run].to_string(),
                        of(&function.self_ns, run).to_string(),
                        of(&function.total_ns, run).to_string(),
                    ];
                    table.row([&place[..], &values].concat())?;
                }
            }
        }
    }
    table.bytes()
}

/// One row for each slice of time of each function that has a timeline: its time there, over the runs of each side.
pub fn timelines(comparison: &Comparison) -> io::Result<Vec<u8>> {
    let first = ["query", "function", "module", "file", "slice", "start_ns", "slice_ns"];
    let last = ["left_median_ns", "left_low_ns", "left_high_ns", "right_median_ns", "right_low_ns", "right_high_ns"];
    let mut table = Table::new(b'\t', &[&first[..], &last].concat())?;
    for query in &comparison.queries {
        for function in &query.functions {
            let Some(Overlay { slice_ns, left, right }) = &function.timeline else { continue };
            for slice in 0..left.median_ns.len() {
                let mut row = vec![
                    name(query),
                    function.name.clone(),
                    function.module.clone(),
                    function.file.clone().unwrap_or_default(),
                    slice.to_string(),
                    (slice_ns * slice as f64).to_string(),
                    slice_ns.to_string(),
                ];
                for side in [left, right] {
                    row.extend([&side.median_ns, &side.low_ns, &side.high_ns].map(|all| all[slice].to_string()));
                }
                table.row(row)?;
            }
        }
    }
    table.bytes()
}

/// One row for each metric of whole runs, with the values of all.
pub fn metrics(comparison: &Comparison) -> io::Result<Vec<u8>> {
    let columns = [&["query", "metric", "verdict"], &OF_TEST[..], &["left_values", "right_values"]].concat();
    let mut table = Table::new(b'\t', &columns)?;
    for query in &comparison.queries {
        for metric in &query.metrics {
            let mut row = vec![name(query), metric.name.clone(), metric.verdict.name().to_owned()];
            row.extend(test(&metric.values));
            let values = |all: &[f64]| all.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
            row.extend([values(&metric.values.left), values(&metric.values.right)]);
            table.row(row)?;
        }
    }
    table.bytes()
}

/// One row for each program of each side: what was subtracted for a pair of hooks.
pub fn overhead(comparison: &Comparison) -> io::Result<Vec<u8>> {
    let columns = ["query", "side", "program", "inner_ns", "outer_ns", "error_ns", "trials"];
    let mut table = Table::new(b'\t', &columns)?;
    for query in &comparison.queries {
        for (side, all) in [("left", &query.left_overhead), ("right", &query.right_overhead)] {
            for one in all {
                let numbers = [one.inner_ns, one.outer_ns, one.error_ns].map(|ns| ns.to_string());
                let place = [name(query), side.to_owned(), one.program.clone()];
                table.row([&place[..], &numbers, &[one.windows.to_string()]].concat())?;
            }
        }
    }
    table.bytes()
}

/// One row for each call path: own time of the mean run of each side, as flame graphs show it.
pub fn stacks(comparison: &Comparison) -> io::Result<Vec<u8>> {
    let mut table = Table::new(b'\t', &["query", "stack", "left_ns", "right_ns"])?;
    for query in &comparison.queries {
        for line in &query.folded {
            let mut parts = line.rsplitn(3, ' ').map(str::to_owned);
            let (right, left, stack) = (parts.next(), parts.next(), parts.next());
            table.row(vec![
                name(query),
                stack.unwrap_or_default(),
                left.unwrap_or_default(),
                right.unwrap_or_default(),
            ])?;
        }
    }
    table.bytes()
}
