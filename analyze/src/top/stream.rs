//! Frames for a pipe: as text, as JSON, one a line, or as CSV.

use std::io::{self, Write};
use std::thread::sleep;
use std::time::Instant;

use super::feed::Feed;
use super::frame::{Frame, Row};
use super::view::{Sort, order, sort};
use super::{Options, screen};
use crate::ctl::Error;
use diytrace_profile::human::shorten;
use diytrace_views::report::Format;

/// Functions of a frame as text, unless told otherwise.
const LISTED: usize = 20;

/// Writes frames until there are enough of them, the program has ended, or nobody reads them.
pub fn run(options: &Options, mut feed: Box<dyn Feed>, out: &mut dyn Write) -> Result<(), Error> {
    let mut began = Instant::now();
    let mut is_new = feed.read()?;
    let (mut left, mut is_first) = (options.frames.unwrap_or(u64::MAX), true);
    while left > 0 {
        let Some(mut frame) = feed.frame(options.by).filter(|_| is_new) else {
            sleep((began + options.interval).saturating_duration_since(Instant::now()));
            began = Instant::now();
            is_new = feed.read()?;
            continue;
        };
        is_new = false;
        options.wanted.keep(&mut frame);
        options.names.apply(&mut frame);
        match options.format.unwrap_or_default() {
            Format::Json => write_json(frame, options, out)?,
            Format::Csv => write_csv(&frame, options, std::mem::take(&mut is_first), out)?,
            Format::Table => write_text(&frame, options, out)?,
        }
        out.flush()?;
        left -= 1;
        if feed.has_ended() {
            break; // that was the last of it
        }
    }
    Ok(())
}

fn write_json(mut frame: Frame, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    frame.functions.sort_by(|a, b| order(a, b, options.sort));
    frame.functions.truncate(options.limit.unwrap_or(usize::MAX));
    if options.frames != Some(1) {
        frame.functions.iter_mut().for_each(|row| row.timeline = None);
    }
    serde_json::to_writer(&mut *out, &frame)?;
    writeln!(out)
}

/// A frame as rows; the columns' names are before the first.
fn write_csv(frame: &Frame, options: &Options, is_first: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    if is_first {
        writer.write_record([
            "at_unix_ns",
            "pid",
            "name",
            "module",
            "calls",
            "calls_per_s",
            "self_ns_per_s",
            "total_ns_per_s",
            "mean_ns",
            "p99_ns",
        ])?;
    }
    let mut rows: Vec<_> = frame.functions.iter().collect();
    sort(&mut rows, options.sort);
    rows.truncate(options.limit.unwrap_or(usize::MAX));
    let known = |ns: Option<f64>| ns.map(|ns| format!("{ns:.3}")).unwrap_or_default();
    for row in rows {
        writer.write_record([
            frame.at_unix_ns.to_string(),
            row.pid.map(|pid| pid.to_string()).unwrap_or_default(),
            row.name.clone(),
            row.module.clone(),
            row.calls.to_string(),
            known(Some(row.calls_per_s)),
            known(Some(row.self_ns_per_s)),
            known(Some(row.total_ns_per_s)),
            known(row.mean_ns),
            known(row.p99_ns),
        ])?;
    }
    writer.flush()
}

/// A frame for people.
pub fn write_text(frame: &Frame, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut rows: Vec<_> = frame.functions.iter().collect();
    sort(&mut rows, options.sort);
    // Each root is followed by what it calls.
    let mut rows: Vec<(&str, &Row)> = match options.wanted.roots.is_empty() {
        true => rows.into_iter().map(|row| ("", row)).collect(),
        false => {
            rows.into_iter().flat_map(|root| [("", root)].into_iter().chain(callees(root, options.sort))).collect()
        }
    };
    let limit = options.limit.unwrap_or(LISTED);
    let more = rows.len().saturating_sub(limit);
    rows.truncate(limit);
    writeln!(out, "{}", screen::headline(frame))?;
    let has_pids = rows.iter().any(|(_, row)| row.pid.is_some());
    let pid = |text: &str| if has_pids { format!("{text:>8}  ") } else { String::new() };
    let [calls, own, total, mean, p99, ..] = screen::COLUMNS;
    writeln!(out, "  {}{calls:>10}  {own:>9}  {total:>9}  {mean:>9}  {p99:>9}  function", pid("pid"))?;
    for (before, row) in rows {
        let [calls, own, total, mean, p99, ..] = screen::cells(row);
        let name = format!("{before}{}", shorten(&row.name, 100));
        writeln!(
            out,
            "  {}{calls:>10}  {own:>9}  {total:>9}  {mean:>9}  {p99:>9}  {name}",
            pid(&screen::process(row))
        )?;
    }
    if more > 0 {
        writeln!(out, "  … and {more} more")?;
    }
    if let Some(line) = screen::unlisted(frame) {
        writeln!(out, "  {line}")?;
    }
    writeln!(out)
}

/// What a root calls, as rows below its own.
fn callees(root: &Row, by: Sort) -> impl Iterator<Item = (&'static str, &Row)> {
    let mut callees: Vec<&Row> = root.callees.iter().collect();
    sort(&mut callees, by);
    let last = callees.len().saturating_sub(1);
    callees.into_iter().enumerate().map(move |(at, row)| (if at == last { "└ " } else { "├ " }, row))
}
