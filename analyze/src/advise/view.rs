//! Advice as a table and as CSV.

use std::io::{self, Write};

use diytrace_profile::human::{bytes as human_bytes, count, counted, resolved, share, time};
use diytrace_profile::short_name::short_names;
use diytrace_views::view::Screen;
use diytrace_views::view::table::dim;
use diytrace_views::view::table::grid::{Column, Grid, LEAST_NAME, Row};

use super::{Document, Measured, Spread, Verified};

const COLUMNS: [Column<'static>; 3] =
    [Column::number("calls", 0), Column::number("recording", 0), Column::number("self", 0)];

/// Most functions that a sentence names.
const MOST_NAMED: usize = 5;

/// Writes advice for people.
pub fn table(document: &Document, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let Document { now, left, functions, .. } = document;
    let cost = format!("{} ± {}", time(document.call_ns), time(document.call_error_ns));
    let calls = counted(now.calls, "call", "calls");
    writeln!(out, "recording took {} in {calls}, {cost} each, on {}", time(now.recording_ns), paths(now.paths))?;
    if functions.is_empty() {
        return writeln!(
            out,
            "\nnothing to leave out: no function costs much more to record than its calls take by themselves"
        );
    }
    writeln!(out)?;
    let names = short_names(functions.iter().map(|function| &*function.name));
    let row = |function: &super::Advised| Row {
        numbers: vec![
            count(function.calls),
            time(function.recording_ns),
            resolved(function.self_ns, function.self_error_ns),
        ],
        name: names.get(&*function.name).cloned().unwrap_or_else(|| function.name.clone()),
        ..Row::default()
    };
    let rows = functions.iter().map(row).collect();
    let grid = Grid {
        columns: COLUMNS.to_vec(),
        name_title: "costs more to record than it takes",
        least_name: LEAST_NAME,
        rows,
    };
    for line in grid.lines(screen) {
        writeln!(out, "{line}")?;
    }
    let calls =
        format!("{} of {} calls ({})", count(left.calls), count(now.calls), share(left.calls as f64, now.calls as f64));
    let paths = format!("{} of {}", count(left.paths), paths(now.paths));
    writeln!(out, "\nwithout hooks in them: {calls}, {paths}, and about {} of recording", time(left.recording_ns))?;
    writeln!(out, "{}", dim("an estimate: calls × what the report subtracts for one; --verify measures", screen))?;
    if let Some(verified) = &document.verified {
        verification(verified, screen, out)?;
    }
    writeln!(out, "\nfor the recorder, which then times no call of them; hooks still run, and call paths are kept:")?;
    writeln!(out, "  DIYTRACE_EXCLUDE={}", quoted(&document.exclude))?;
    if !document.flags.is_empty() {
        writeln!(out, "\nfor gcc, which then puts no hooks into them:")?;
    }
    for flag in &document.flags {
        writeln!(out, "  {}", quoted(&flag.option))?;
    }
    for (part, others) in document.flags.iter().flat_map(|flag| &flag.also) {
        writeln!(out, "  `{part}` would leave out {}, too", some(others))?;
    }
    if !document.unnamed.is_empty() {
        writeln!(out, "  gcc cannot be told of {}", some(&document.unnamed))?;
    }
    Ok(())
}

/// What runs came to.
fn verification(verified: &Verified, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let runs = counted(u64::from(verified.runs), "run", "runs");
    writeln!(out, "\nverified: {runs} each way, by turns, of {}\n", verified.command.join(" "))?;
    let row = |name: &str, measured: &Measured| {
        let (wall, bytes) = (&measured.wall_ns, &measured.profile_bytes);
        Row {
            numbers: vec![
                time(wall.median),
                format!("{} to {}", time(wall.min), time(wall.max)),
                human_bytes(bytes.median as u64),
                count(measured.calls.median as u64),
            ],
            name: name.to_owned(),
            ..Row::default()
        }
    };
    let rows = vec![row("as it was", &verified.now), row("with the exclude list", &verified.left)];
    let columns = vec![
        Column::number("time", 0),
        Column::number("range", 1),
        Column::number("profile", 0),
        Column::number("calls", 2),
    ];
    for line in (Grid { columns, name_title: "recorded", least_name: LEAST_NAME, rows }).lines(screen) {
        writeln!(out, "{line}")?;
    }
    let change = |spread: &Spread, [less, more]: [&str; 2]| {
        let (median, word) = if spread.median < 0.0 { (-spread.median, more) } else { (spread.median, less) };
        format!("{median:.1}% {word} (from {:.1}% to {:.1}%)", spread.min, spread.max)
    };
    let faster = change(&verified.faster_percent, ["faster", "slower"]);
    let smaller = change(&verified.smaller_percent, ["smaller", "larger"]);
    writeln!(out, "\nof each two runs the second kind was {faster}, and its profile {smaller}")?;
    if verified.faster_percent.min < 0.0 && verified.faster_percent.max > 0.0 {
        writeln!(out, "{}", dim("not each of them was faster: what it gains is less than runs vary", screen))?;
    }
    Ok(())
}

fn paths(number: u64) -> String {
    counted(number, "call path", "call paths")
}

/// The first of them, and how many more there are.
fn some(names: &[String]) -> String {
    let short = short_names(names.iter().map(String::as_str));
    let mut named: Vec<&str> = short.values().map(String::as_str).take(MOST_NAMED).collect();
    let more = format!("{} more", names.len() - named.len());
    if names.len() > named.len() {
        named.push(&more);
    }
    named.join(", ")
}

/// As a shell takes it.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-=,./:+".contains(c);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Writes advice as CSV: a row for each function.
pub fn csv(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record([
        "name",
        "symbol",
        "module",
        "file",
        "line",
        "calls",
        "recording_ns",
        "self_ns",
        "self_error_ns",
    ])?;
    for function in &document.functions {
        writer.write_record([
            function.name.clone(),
            function.symbol.clone(),
            function.module.clone(),
            function.file.clone().unwrap_or_default(),
            function.line.map(|line| line.to_string()).unwrap_or_default(),
            function.calls.to_string(),
            format!("{:.3}", function.recording_ns),
            format!("{:.3}", function.self_ns),
            format!("{:.3}", function.self_error_ns),
        ])?;
    }
    writer.flush()
}
