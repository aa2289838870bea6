//! A run for people.

use std::io::{self, Write};

use diytrace_profile::human::{count, counted, percent, time};
use diytrace_profile::timeline::sparkline;
use diytrace_views::view::Screen;
use diytrace_views::view::table::grid::{Column, Grid, Row, Style};

use crate::document::{Document, Load, rate};
use crate::profile::{Function, Response, why};

/// Writes it.
pub fn write(document: &Document, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let target = &document.target;
    let connections = counted(target.connections as u64, "connection", "connections");
    let threads = counted(target.threads as u64, "thread", "threads");
    writeln!(out, "{} · {} · {connections} · {threads}", target.target, target.schedule)?;
    if !document.summary.is_empty() {
        writeln!(out, "{}", document.summary)?;
    }
    writeln!(out)?;
    for line in steps(document).lines(screen) {
        writeln!(out, "{line}")?;
    }
    errors(document, out)?;
    unrecorded(document, out)?;
    over_time(document, out)?;
    if let Some(response) = &document.response {
        writeln!(out)?;
        let [from, to] = [response.from_step, response.to_step].map(|step| document.steps[step].title());
        writeln!(out, "what a request costs at {to}, beside {from}")?;
        writeln!(out)?;
        for line in functions(response).lines(screen) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// Fewer slices show nothing.
const LEAST_SLICES: usize = 8;

/// Most functions that are listed.
const LISTED: usize = 15;

fn functions(response: &Response) -> Grid<'static> {
    let columns = vec![
        Column::number("added", 0),
        Column::number("±", 2),
        Column::number("share", 0),
        Column::number("self", 0),
        Column::number("before", 3),
        Column::number("calls", 1),
        Column::number("before", 4),
        Column::number("p99", 2),
        Column::number("before", 5),
    ];
    let rows = response.functions.iter().take(LISTED).map(|function| function_row(function, response)).collect();
    Grid { columns, name_title: "function", least_name: 16, rows }
}

fn function_row(function: &Function, response: &Response) -> Row {
    let (from, to) = (&function.steps[response.from_step], &function.steps[response.to_step]);
    let growth = &function.growth;
    let known = |ns: Option<f64>| ns.map_or_else(String::new, time);
    let signed = |ns: f64| if ns < 0.0 { format!("-{}", time(-ns)) } else { time(ns) };
    let per_request = |calls: f64| match calls {
        _ if calls == 0.0 => "0".to_owned(),
        _ if calls < 0.005 => "<0.01".to_owned(),
        _ if calls >= 1000.0 => count(calls.round() as u64),
        _ => format!("{calls:.2}"),
    };
    Row {
        numbers: vec![
            signed(growth.self_ns_per_request),
            time(growth.error_ns_per_request),
            if growth.is_certain { percent(growth.share) } else { String::new() },
            time(growth.to.self_ns_per_request),
            time(growth.from.self_ns_per_request),
            per_request(growth.to.calls_per_request),
            per_request(growth.from.calls_per_request),
            known(to.p99_ns),
            known(from.p99_ns),
        ],
        name: function.name.clone(),
        remark: if growth.is_certain { why(function) } else { String::new() },
        style: if growth.is_certain { Style::Plain } else { Style::Dim },
        ..Row::default()
    }
}

fn steps(document: &Document) -> Grid<'static> {
    let columns = vec![
        Column::number("achieved", 0),
        Column::number("sent", 0),
        Column::number("errors", 0),
        Column::number("not sent", 0),
        Column::number("p50", 0),
        Column::number("p90", 2),
        Column::number("p99", 0),
        Column::number("p99.9", 3),
        Column::number("max", 1),
        Column::number("p99 from send", 4),
    ];
    Grid { columns, name_title: "offered", least_name: 8, rows: document.steps.iter().map(row).collect() }
}

fn row(step: &Load) -> Row {
    let known = |ns: Option<f64>| ns.map_or_else(|| "–".to_owned(), time);
    let some = |number: u64| if number == 0 { String::new() } else { count(number) };
    let latency = &step.latency_ns;
    Row {
        numbers: vec![
            rate(step.achieved_per_s),
            count(step.sent),
            some(step.errors),
            some(step.not_sent),
            known(latency.p50),
            known(latency.p90),
            known(latency.p99),
            known(latency.p999),
            known(latency.max),
            known(step.from_send_ns.p99),
        ],
        name: step.title(),
        remark: if step.interrupted { "interrupted".to_owned() } else { String::new() },
        ..Row::default()
    }
}

/// How slow the slowest requests were, slice by slice; of steps that have enough of them.
fn over_time(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let titles: Vec<String> = document.steps.iter().map(Load::title).collect();
    let width = titles.iter().map(|title| title.chars().count()).max().unwrap_or(0);
    let mut is_first = true;
    for (step, title) in document.steps.iter().zip(&titles) {
        let slices = &step.timeline.slices;
        let p99 = || slices.iter().map(|slice| slice.p99_ns.unwrap_or(0.0));
        let highest = p99().fold(0.0, f64::max);
        if slices.len() < LEAST_SLICES || highest == 0.0 {
            continue;
        }
        if std::mem::take(&mut is_first) {
            writeln!(out, "\np99 over time")?;
        }
        let scale =
            format!("{} of {}", counted(slices.len() as u64, "slice", "slices"), time(step.timeline.slice_ns as f64));
        writeln!(out, "  {title:>width$}  {}  highest {}, {scale}", sparkline(p99()), time(highest))?;
    }
    Ok(())
}

/// What recording costs a request.
fn unrecorded(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let Some(without) = &document.unrecorded else { return Ok(()) };
    let Some(with) = document.steps.iter().find(|step| step.offered_per_s == without.offered_per_s) else {
        return Ok(());
    };
    let known = |ns: Option<f64>| ns.map_or_else(|| "–".to_owned(), time);
    let (with, without, title) = (&with.latency_ns, &without.latency_ns, without.title());
    writeln!(
        out,
        "\nwhile recording was paused, at {title}: p50 {}, p99 {}; recorded: p50 {}, p99 {}",
        known(without.p50),
        known(without.p99),
        known(with.p50),
        known(with.p99)
    )
}

/// What failed, and why.
fn errors(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut is_first = true;
    for step in document.steps.iter().filter(|step| step.errors + step.cut_off > 0) {
        if std::mem::take(&mut is_first) {
            writeln!(out)?;
        }
        let mut what: Vec<_> = step.errors_by.iter().map(|(why, number)| format!("{} {why}", count(*number))).collect();
        if step.cut_off > 0 {
            what.push(format!("{} cut off", count(step.cut_off)));
        }
        writeln!(out, "errors at {}: {}", step.title(), what.join(", "))?;
    }
    Ok(())
}
