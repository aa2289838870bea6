//! Histories as tables and CSV.

use std::io::{self, Write};

use diytrace_profile::human::{count, moment, resolved, time};
use diytrace_views::view::Screen;
use diytrace_views::view::table::grid::{Column, Grid, LEAST_NAME, Row, Style};

use super::document::{Course, Document, Measure, Point};
use super::found::Found;

/// For people: a table for each function.
pub fn table(document: &Document, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    for (number, course) in document.functions.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}{}", course.name, course.file.as_ref().map(|file| format!("  {file}")).unwrap_or_default())?;
        for line in grid(document, course).lines(screen) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// What was found among all functions, and then their tables.
pub fn regressions(document: &Document, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let over = &document.over;
    match document.functions.len() {
        0 => writeln!(out, "No rise that stayed in {} functions over {over}.", document.tested),
        one => {
            let have = if one == 1 { "has" } else { "have" };
            writeln!(out, "{one} of {} functions {have} risen over {over}, and stayed so:\n", document.tested)?;
            table(document, screen, out)
        }
    }
}

fn grid(document: &Document, course: &Course) -> Grid<'static> {
    let is_time = document.slice_ns.is_some();
    let columns = vec![
        Column::number(if is_time { "" } else { "runs" }, 4),
        Column::number("calls", 0),
        Column::number(if is_time { "calls/s" } else { "calls a run" }, 1),
        Column::number("total", 2),
        Column::number("self a call", 0),
        Column::number("p50", 5),
        Column::number("p99", 3),
    ];
    let row = |(number, point): (usize, &Point)| {
        let error = point.self_error_ns / point.calls.max(1) as f64;
        let steps: Vec<String> = course.steps.iter().filter(|step| step.point == number).map(step).collect();
        Row {
            numbers: vec![
                if is_time { String::new() } else { point.runs.to_string() },
                count(point.calls),
                calls(document, point),
                resolved(point.total_ns, point.total_error_ns),
                point.self_per_call_ns.map(|ns| resolved(ns, error)).unwrap_or_default(),
                point.p50_ns.map(time).unwrap_or_default(),
                point.p99_ns.map(time).unwrap_or_default(),
            ],
            name: name(document, point),
            remark: steps.join(", "),
            style: if steps.is_empty() { Style::Plain } else { Style::Strong },
            ..Row::default()
        }
    };
    Grid {
        columns,
        name_title: if is_time { "since (UTC)" } else { "value" },
        least_name: LEAST_NAME,
        rows: course.points.iter().enumerate().map(row).collect(),
    }
}

fn name(document: &Document, point: &Point) -> String {
    match document.slice_ns {
        Some(slice) => moment_of(point.started_unix_ns, slice),
        None if point.value.is_empty() => "(none)".to_owned(),
        None => point.value.clone(),
    }
}

/// When a slice began; those of less than a second begin at parts of one.
pub fn moment_of(started_unix_ns: i64, slice_ns: i64) -> String {
    let moment = moment(unsigned(started_unix_ns));
    if slice_ns < 1_000_000_000 {
        let part = started_unix_ns.rem_euclid(1_000_000_000) / 1_000_000;
        return moment.replace(" UTC", &format!(".{part:03}"));
    }
    moment.replace(" UTC", "")
}

fn unsigned(ns: i64) -> u64 {
    u64::try_from(ns).unwrap_or(0)
}

fn calls(document: &Document, point: &Point) -> String {
    let per = point.calls_per_run / document.slice_ns.map_or(1.0, |slice| slice as f64 / 1e9);
    count(per.round() as u64)
}

fn step(step: &Found<Measure>) -> String {
    step.told(step.measure.name())
}

/// A row for each point of each function.
pub fn csv(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record([
        "function",
        "module",
        "value",
        "started_unix_ns",
        "ended_unix_ns",
        "runs",
        "calls",
        "total_ns",
        "total_error_ns",
        "self_ns",
        "self_error_ns",
        "self_per_call_ns",
        "calls_per_run",
        "p50_ns",
        "p90_ns",
        "p99_ns",
        "max_ns",
        "self_per_call_change",
        "p50_change",
        "calls_per_run_change",
    ])?;
    for course in &document.functions {
        for (number, point) in course.points.iter().enumerate() {
            let some = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
            let change = |measure| {
                let mut steps = course.steps.iter().filter(|step| step.point == number && step.measure == measure);
                some(steps.next().map(|step| step.change))
            };
            csv.write_record([
                course.name.clone(),
                course.module.clone(),
                point.value.clone(),
                point.started_unix_ns.to_string(),
                point.ended_unix_ns.to_string(),
                point.runs.to_string(),
                point.calls.to_string(),
                point.total_ns.to_string(),
                point.total_error_ns.to_string(),
                point.self_ns.to_string(),
                point.self_error_ns.to_string(),
                some(point.self_per_call_ns),
                point.calls_per_run.to_string(),
                some(point.p50_ns),
                some(point.p90_ns),
                some(point.p99_ns),
                some(point.max_ns),
                change(Measure::SelfPerCallNs),
                change(Measure::P50Ns),
                change(Measure::CallsPerRun),
            ])?;
        }
    }
    csv.flush()
}
