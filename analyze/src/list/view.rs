//! Runs as a table and as CSV.

use std::io::{self, Write};

use super::{Document, Run};
use diytrace_profile::human::{bytes, count, counted, moment, time};
use diytrace_views::view::Screen;
use diytrace_views::view::table::dim;
use diytrace_views::view::table::grid::{Column, Grid, LEAST_NAME, Row, Style};

const COLUMNS: [Column<'static>; 8] = [
    Column::number("run", 0),
    Column::text("when", 2),
    Column::text("state", 1),
    Column::number("time", 0),
    Column::number("processes", 3),
    Column::number("calls", 0),
    Column::number("size", 4),
    Column::text("label", 0),
];

/// Writes runs as a table.
pub fn table(document: &Document, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let rows = document.runs.iter().map(row).collect();
    let grid = Grid { columns: COLUMNS.to_vec(), name_title: "program", least_name: LEAST_NAME, rows };
    for line in grid.lines(screen) {
        writeln!(out, "{line}")?;
    }
    if document.left_out > 0 {
        let older = counted(document.left_out as u64, "older run is", "older runs are");
        writeln!(out, "{}", dim(&format!("  {older} left out"), screen))?;
    }
    Ok(())
}

fn row(run: &Run) -> Row {
    Row {
        numbers: vec![
            run.number.to_string(),
            moment(run.started_unix_ns),
            run.state.unwrap_or(if run.programs.is_empty() { "unreadable" } else { "no calls" }).to_owned(),
            time(run.time_ns as f64),
            count(run.processes),
            count(run.calls),
            bytes(run.bytes),
            run.label.clone().unwrap_or_default(),
        ],
        name: command(run),
        style: if run.state == Some("running") { Style::Strong } else { Style::Plain },
        ..Row::default()
    }
}

/// The program as it was started, and how many others there are.
fn command(run: &Run) -> String {
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let first = run.programs.first().map(|program| name(program));
    let arguments = run.arguments.iter().skip(1).map(|word| word.replace(|c: char| c.is_control(), "·"));
    let mut words: Vec<String> = first.into_iter().chain(arguments).collect();
    match run.programs.len() {
        0 => words.push(run.profiles.first().map_or_else(String::new, |path| path.display().to_string())),
        1 => {}
        many => words.push(format!("+{}", many - 1)),
    }
    words.join(" ")
}

/// Writes runs as CSV: a row for each.
pub fn csv(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record([
        "run",
        "label",
        "started_unix_ns",
        "program",
        "arguments",
        "processes",
        "calls",
        "time_ns",
        "bytes",
        "state",
        "profile",
    ])?;
    for run in &document.runs {
        writer.write_record([
            run.number.to_string(),
            run.label.clone().unwrap_or_default(),
            run.started_unix_ns.to_string(),
            run.programs.first().cloned().unwrap_or_default(),
            run.arguments.get(1..).unwrap_or_default().join(" "),
            run.processes.to_string(),
            run.calls.to_string(),
            run.time_ns.to_string(),
            run.bytes.to_string(),
            run.state.unwrap_or_default().to_owned(),
            run.profiles.first().map(|path| path.display().to_string()).unwrap_or_default(),
        ])?;
    }
    writer.flush()
}
