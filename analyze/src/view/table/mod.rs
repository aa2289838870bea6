//! Tables for people.
//!
//! Without roots: functions by self time. With roots: for each a block, and a row for each function that it calls.

mod functions;
mod grid;
mod roots;

use std::io::{self, Write};

use super::Screen;
use super::human::{count, counted, resolved, time};
use crate::report::{Document, Report};

/// Writes a document as tables.
pub fn write(document: &Document, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    for (index, report) in document.reports.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", strong(&title(report), screen))?;
        let lines = match document.roots.is_empty() {
            true => functions::lines(document, report, screen),
            false => roots::lines(document, report, screen),
        };
        for line in lines {
            writeln!(out, "{line}")?;
        }
        for line in footer(document, report) {
            writeln!(out, "{}", dim(&line, screen))?;
        }
    }
    Ok(())
}

/// What is reported.
fn title(report: &Report) -> String {
    let programs: Vec<&str> = report.subject.programs.iter().map(|path| short(path)).collect();
    let mut title = match programs.as_slice() {
        [] => "nothing".to_owned(),
        [one, two, three, _, ..] => format!("{one}, {two}, {three} and {} more", programs.len() - 3),
        few => few.join(", "),
    };
    match &report.subject.process {
        Some(process) => title.push_str(&format!(" · process {}, {}", process.pid, process.state)),
        None => title.push_str(&format!(" · {}", counted(report.subject.processes, "process", "processes"))),
    }
    if let Some(thread) = &report.subject.thread {
        title.push_str(&format!(" · thread {}, {}", thread.tid, thread.name));
    }
    format!("{title} · {}", counted(report.subject.calls, "call", "calls"))
}

/// What was taken off, and what could not be told.
fn footer(document: &Document, report: &Report) -> Vec<String> {
    let overhead = &report.subject.overhead;
    let cost = time(overhead.inner_ns + overhead.outer_ns);
    let mut lines = Vec::new();
    if report.subject.calls > 0 {
        lines.push(String::new());
        lines.push(match document.raw {
            true => format!("times as measured: the recorder's own cost in them is about {cost} a call"),
            false => format!("overhead subtracted: {cost} a call ± {}", time(overhead.error_ns)),
        });
    }
    let uncounted = [
        (report.subject.lost_calls, "lost"),
        (report.subject.folded_calls, "folded"),
        (report.subject.unwound, "unwound"),
    ];
    let uncounted: Vec<_> = uncounted
        .iter()
        .filter(|(calls, _)| *calls > 0)
        .map(|(calls, what)| format!("{} {what}", count(*calls)))
        .collect();
    if !uncounted.is_empty() {
        lines.push(format!("calls {}", uncounted.join(", ")));
    }
    lines
}

/// The last part of a path.
fn short(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What corrections of a single call may be off by: nothing where nothing was corrected.
fn error_of_call(document: &Document, report: &Report) -> f64 {
    if document.raw { 0.0 } else { report.subject.overhead.error_ns }
}

fn strong(text: &str, screen: &Screen) -> String {
    if screen.color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
}

fn dim(text: &str, screen: &Screen) -> String {
    if screen.color { format!("\u{1b}[2m{text}\u{1b}[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{document, golden};

    fn written(document: &Document, width: usize) -> String {
        let mut out = Vec::new();
        write(document, &Screen { width: Some(width), color: false }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn functions_at_several_widths() {
        for width in [120, 80, 60] {
            let text = written(&document(&[]), width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            golden(&format!("functions-{width}.txt"), &text);
        }
    }

    #[test]
    fn roots_at_several_widths() {
        for width in [120, 80] {
            let text = written(&document(&["handle"]), width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            golden(&format!("roots-{width}.txt"), &text);
        }
    }

    #[test]
    fn what_a_limit_leaves_out_is_summed_up() {
        let mut document = document(&["handle"]);
        document.limit = Some(1);
        golden("roots-limited.txt", &written(&document, 100));
    }

    #[test]
    fn times_as_measured_have_no_error() {
        let mut document = document(&["handle"]);
        document.raw = true;
        golden("roots-raw.txt", &written(&document, 100));
    }
}
