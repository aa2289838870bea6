//! What sampled profiles say, as tables, CSV and a flame graph.

use std::io::{self, Write};

use diytrace_pprof::folded;
use diytrace_profile::human::{bytes, counted, moment, share, time};
use diytrace_views::export::{Drawing, draw};
use diytrace_views::view::Screen;
use diytrace_views::view::table::dim;
use diytrace_views::view::table::grid::{Column, Grid, LEAST_NAME, Row};

use crate::document::{Document, TagValue};
use crate::per::amount;
use crate::{Chosen, Error, List};

/// Most values of one label in a table.
const MOST_TAGS: usize = 5;

/// A value, as people read its unit.
fn shown(value: i64, unit: &str) -> String {
    amount(value as f64, unit)
}

/// Writes functions as a table, and labels of samples below.
pub fn write_table(document: &Document, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let Document { shown: of, .. } = document;
    let profiles = counted(document.profiles as u64, "sampled profile", "sampled profiles");
    let stacks = counted(document.samples as u64, "stack", "stacks");
    let total = shown(of.total, &of.unit);
    writeln!(out, "{profiles} · {}: {total} · {stacks}", of.name)?;
    let others = document.types.iter().filter(|other| (&other.name, &other.unit) != (&of.name, &of.unit));
    let others: Vec<&str> = others.map(|other| other.name.as_str()).collect();
    if !others.is_empty() {
        writeln!(out, "{}", dim(&format!("also: {} (--type)", others.join(", ")), screen))?;
    }
    writeln!(out)?;
    if document.functions.is_empty() && document.left_out == 0 {
        return writeln!(out, "  nothing was sampled: all values are 0");
    }
    let percent = |value: i64| share(value as f64, of.total as f64);
    let rows = document.functions.iter().map(|row| Row {
        numbers: vec![shown(row.flat, &of.unit), percent(row.flat), shown(row.cum, &of.unit), percent(row.cum)],
        name: match (&row.file, row.line) {
            (Some(file), Some(line)) => format!("{}  {}:{line}", row.name, file_name(file)),
            (Some(file), None) => format!("{}  {}", row.name, file_name(file)),
            _ => row.name.clone(),
        },
        ..Row::default()
    });
    let columns = vec![
        Column::number("flat", 0),
        Column::number("flat %", 1),
        Column::number("cum", 0),
        Column::number("cum %", 2),
    ];
    let grid = Grid { columns, name_title: "function", least_name: LEAST_NAME, rows: rows.collect() };
    for line in grid.lines(screen) {
        writeln!(out, "{line}")?;
    }
    if document.left_out > 0 {
        writeln!(out, "{}", dim(&format!("  {} left out", counted(document.left_out as u64, "row", "rows")), screen))?;
    }
    write_tags(document, screen, out)
}

fn write_tags(document: &Document, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    for tags in document.tags.chunk_by(|a, b| a.key == b.key) {
        let values = tags.iter().take(MOST_TAGS).map(|tag| {
            let value = match (&tag.value, &tag.unit) {
                (TagValue::Text(text), _) => text.replace(char::is_control, "·"),
                (TagValue::Number(number), Some(unit)) => shown(*number, unit),
                (TagValue::Number(number), None) => number.to_string(),
            };
            format!("{value} ({})", share(tag.total as f64, document.shown.total as f64))
        });
        let values = values.collect::<Vec<_>>().join(", ");
        let more = match tags.len().saturating_sub(MOST_TAGS) {
            0 => String::new(),
            more => format!(", {more} more"),
        };
        writeln!(out, "\n{} {values}{more}", dim(&format!("{}:", tags[0].key), screen))?;
    }
    Ok(())
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Writes functions as CSV.
pub fn write_csv(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(["name", "file", "line", "type", "unit", "flat", "cum"])?;
    for row in &document.functions {
        let line = row.line.map_or_else(String::new, |line| line.to_string());
        let file = row.file.as_deref().unwrap_or_default();
        let (flat, cum) = (row.flat.to_string(), row.cum.to_string());
        csv.write_record([&row.name, file, &line, &document.shown.name, &document.shown.unit, &flat, &cum])?;
    }
    csv.flush()
}

/// Draws all stacks as a flame graph.
pub fn drawing(chosen: &Chosen) -> Result<Vec<u8>, Error> {
    let Chosen { sum, of, profiles, .. } = chosen;
    let kind = &sum.types()[*of];
    let lines = folded(sum, *of);
    if lines.is_empty() {
        return Err(Error::Nothing);
    }
    let total = shown(sum.total(*of), &kind.unit);
    let profiles = counted(profiles.len() as u64, "sampled profile", "sampled profiles");
    let drawing = Drawing {
        title: kind.name.clone(),
        subtitle: format!("{}: {total} · {profiles}", kind.name),
        unit: kind.unit.clone(),
        notes: String::new(),
    };
    Ok(draw(&lines, drawing)?)
}

/// Writes which profiles there are.
pub fn write_list(list: &List, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let rows = list.profiles.iter().map(|facts| {
        let first = facts.types.first();
        let value = first.map_or_else(String::new, |of| shown(of.total, &of.unit));
        Row {
            numbers: vec![
                facts.id.clone(),
                u64::try_from(facts.ended).map_or_else(|_| String::new(), moment),
                time(facts.ended.saturating_sub(facts.started).max(0) as f64),
                first.map_or_else(String::new, |of| of.name.clone()),
                value,
                bytes(facts.bytes),
            ],
            name: facts.labels.named(),
            ..Row::default()
        }
    });
    let columns = vec![
        Column::text("id", 0),
        Column::text("ended", 1),
        Column::number("took", 3),
        Column::text("type", 0),
        Column::number("value", 0),
        Column::number("size", 4),
    ];
    let grid = Grid { columns, name_title: "series", least_name: LEAST_NAME, rows: rows.collect() };
    for line in grid.lines(screen) {
        writeln!(out, "{line}")?;
    }
    if list.left_out > 0 {
        let older = counted(list.left_out as u64, "older profile is", "older profiles are");
        writeln!(out, "{}", dim(&format!("  {older} left out"), screen))?;
    }
    Ok(())
}

/// The same as CSV: a row for each type of each profile.
pub fn write_list_csv(list: &List, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record([
        "id",
        "labels",
        "started_unix_ns",
        "ended_unix_ns",
        "type",
        "unit",
        "total",
        "samples",
        "bytes",
    ])?;
    for facts in &list.profiles {
        for of in &facts.types {
            let (started, ended) = (facts.started.to_string(), facts.ended.to_string());
            let (total, samples) = (of.total.to_string(), facts.samples.to_string());
            let size = facts.bytes.to_string();
            csv.write_record([
                &facts.id,
                &facts.labels.named(),
                &started,
                &ended,
                &of.name,
                &of.unit,
                &total,
                &samples,
                &size,
            ])?;
        }
    }
    csv.flush()
}
