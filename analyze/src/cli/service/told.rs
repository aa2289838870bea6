//! A saved verdict's document as a table: functions that changed, or metrics that were compared.

use std::io::{self, Write};

use diytrace_profile::human::{count, time};
use diytrace_views::view::Screen;
use diytrace_views::view::table::grid::{Column, Grid, LEAST_NAME, Row, Style};
use serde::Deserialize;
use serde_json::value::RawValue;

/// What is read of it, whichever command wrote it, and whatever later ones add.
#[derive(Deserialize)]
struct Told {
    /// Of `bench` and `diff`.
    #[serde(default)]
    queries: Vec<Query>,
    /// Of `similar`, those least alike first.
    #[serde(default)]
    metrics: Vec<Metric>,
}

#[derive(Deserialize)]
struct Query {
    query: Option<String>,
    functions: Vec<Function>,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    verdict: String,
    self_ns: Medians,
    calls: Medians,
}

/// Null where there is none.
#[derive(Deserialize)]
struct Medians {
    left_median: Option<f64>,
    right_median: Option<f64>,
}

#[derive(Deserialize)]
struct Metric {
    metric: String,
    unit: String,
    left: Average,
    right: Average,
    similarity: f64,
    verdict: String,
}

#[derive(Deserialize)]
struct Average {
    average: Option<f64>,
}

/// Verdicts on functions that tell of no change.
const QUIET: [&str; 4] = ["not-significant", "too-small", "unresolved", "skipped"];

/// For people.
pub fn table(document: &RawValue, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let Told { queries, metrics } = serde_json::from_str(document.get())?;
    for query in &queries {
        writeln!(out, "{}", query.query.as_ref().map(|name| format!("\n{name}")).unwrap_or_default())?;
        let told: Vec<&Function> = query.functions.iter().filter(|one| !QUIET.contains(&&*one.verdict)).collect();
        if !told.is_empty() {
            functions(&told).lines(screen).iter().try_for_each(|line| writeln!(out, "{line}"))?;
        }
        match query.functions.len() - told.len() {
            0 => {}
            quiet => writeln!(out, "{}{quiet} others did not change", if told.is_empty() { "" } else { "\n" })?,
        }
    }
    if !metrics.is_empty() {
        writeln!(out)?;
        of_metrics(&metrics).lines(screen).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    Ok(())
}

fn functions(told: &[&Function]) -> Grid<'static> {
    let columns = ["self before", "after", "calls before", "after"].map(|title| Column::number(title, 0));
    let columns = columns.into_iter().chain([Column::text("verdict", 0)]).collect();
    let row = |function: &&Function| {
        let Function { name, verdict, self_ns, calls } = function;
        let of = |number: Option<f64>, write: fn(f64) -> String| number.map(write).unwrap_or_default();
        let whole: fn(f64) -> String = |calls| count(calls.round() as u64);
        Row {
            numbers: vec![
                of(self_ns.left_median, time),
                of(self_ns.right_median, time),
                of(calls.left_median, whole),
                of(calls.right_median, whole),
                verdict.replace('-', " "),
            ],
            name: name.clone(),
            style: if matches!(&**verdict, "changed" | "calls") { Style::Strong } else { Style::Plain },
            ..Row::default()
        }
    };
    Grid { columns, name_title: "function", least_name: LEAST_NAME, rows: told.iter().map(row).collect() }
}

fn of_metrics(metrics: &[Metric]) -> Grid<'static> {
    let columns = ["similarity", "A", "B"].map(|title| Column::number(title, 0));
    let columns = columns.into_iter().chain([Column::text("verdict", 0)]).collect();
    let row = |metric: &Metric| {
        let value = |side: &Average| match (side.average, &*metric.unit) {
            (None, _) => "–".to_owned(),
            (Some(number), "ns") => time(number),
            (Some(number), "") if number >= 0.0 && number.fract() == 0.0 => count(number as u64),
            (Some(number), unit) => format!("{number:.4} {unit}").trim_end().to_owned(),
        };
        let (left, right) = (value(&metric.left), value(&metric.right));
        Row {
            numbers: vec![format!("{:.3}", metric.similarity), left, right, metric.verdict.clone()],
            name: metric.metric.clone(),
            style: if metric.verdict == "matched" { Style::Plain } else { Style::Strong },
            ..Row::default()
        }
    };
    Grid { columns, name_title: "metric", least_name: LEAST_NAME, rows: metrics.iter().map(row).collect() }
}

/// A row for each function or metric.
pub fn csv(document: &RawValue, out: &mut dyn Write) -> io::Result<()> {
    let Told { queries, metrics } = serde_json::from_str(document.get())?;
    let some = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let mut csv = csv::Writer::from_writer(out);
    if metrics.is_empty() {
        csv.write_record([
            "query",
            "function",
            "verdict",
            "self_ns_left",
            "self_ns_right",
            "calls_left",
            "calls_right",
        ])?;
    } else {
        csv.write_record(["metric", "unit", "verdict", "similarity", "left", "right"])?;
    }
    for query in &queries {
        for Function { name, verdict, self_ns, calls } in &query.functions {
            let numbers = [self_ns.left_median, self_ns.right_median, calls.left_median, calls.right_median].map(some);
            let words = [query.query.as_deref().unwrap_or_default(), name, verdict].map(str::to_owned);
            csv.write_record(words.into_iter().chain(numbers))?;
        }
    }
    for Metric { metric, unit, left, right, similarity, verdict } in &metrics {
        let numbers = [Some(*similarity), left.average, right.average].map(some);
        csv.write_record([metric, unit, verdict].into_iter().cloned().chain(numbers))?;
    }
    csv.flush()
}
