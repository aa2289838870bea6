//! A run for people.

use std::io::{self, Write};

use diytrace_profile::human::{count, counted, time};
use diytrace_views::view::Screen;
use diytrace_views::view::table::grid::{Column, Grid, Row};

use crate::document::{Document, Load, rate};

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
    Ok(())
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
