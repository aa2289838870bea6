//! Tables for people.
//!
//! Without roots: functions by self time. With roots: for each a block, and a row for each function that it calls. Or
//! when functions ran.

mod functions;
pub mod grid;
mod histogram;
pub(super) mod open;
mod roots;
mod timelines;

use std::io::{self, Write};

use super::Screen;
use crate::report::{Document, Function, Layout, Report};
use crate::subject::{self, Overhead, Subject};
pub(super) use diytrace_profile::human::resolved;
use diytrace_profile::human::{counted, resolved_self, share, time};
use diytrace_profile::merge::Bound;
pub(super) use roots::wrapped;

/// A share of the time for which others had the processor that is told with it: on a quiet machine it is less.
const DISTURBED: f64 = 0.05;

/// Writes a document as tables.
pub fn write(document: &Document, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    together(document.runs, screen, out)?;
    for (index, report) in document.reports.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", strong(&title(&report.subject), screen))?;
        let lines = match &document.layout {
            Layout::Functions(columns) => functions::lines(document, report, columns, screen),
            Layout::Roots => roots::lines(document, report, screen),
            Layout::Timelines => timelines::lines(document, report, screen),
        };
        for line in &lines {
            writeln!(out, "{line}")?;
        }
        let preempted = disturbed(&report.subject).map(|what| format!("{what}: see --sort self-cpu"));
        for line in footer(&report.subject, document.raw, &lines).into_iter().chain(preempted) {
            writeln!(out, "{}", dim(&line, screen))?;
        }
    }
    Ok(())
}

/// That several runs are added up, where they are: what is below is of no single one.
pub(super) fn together(runs: usize, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    if runs > 1 {
        let said =
            format!("{} runs added up; --run latest shows the last alone, and `diytrace list` has them all", runs);
        writeln!(out, "{}\n", dim(&said, screen))?;
    }
    Ok(())
}

/// What is reported.
pub(super) fn title(subject: &Subject) -> String {
    let mut programs: Vec<&str> = subject.programs.iter().map(|path| short(path)).collect();
    programs.dedup(); // of several builds
    let mut title = match programs.as_slice() {
        [] => "nothing".to_owned(),
        [one, two, three, _, ..] => format!("{one}, {two}, {three} and {} more", programs.len() - 3),
        few => few.join(", "),
    };
    if let Some(label) = &subject.label {
        title.push_str(&format!(" · {label}"));
    }
    match &subject.process {
        Some(process) => title.push_str(&format!(" · process {}, {}", process.pid, process.state)),
        None => title.push_str(&format!(" · {}", counted(subject.processes, "process", "processes"))),
    }
    if let Some(thread) = &subject.thread {
        title.push_str(&format!(" · thread {}, {}", thread.tid, thread.name));
    }
    format!("{title} · {}", counted(subject.calls, "call", "calls"))
}

/// A function's calls and times, as facts in a row; each time with how far off it may be, which is 0 of what is as measured.
pub(super) fn sums(calls: u64, (open, bound): (u64, Option<Bound>), total: [f64; 2], own: [f64; 2]) -> Vec<String> {
    let mut sums = vec![counted(calls, "call", "calls")];
    let [total_ns, error_ns] = total;
    if !total_ns.is_nan() {
        let error =
            if error_ns > 0.0 && total_ns >= error_ns { format!(" ± {}", time(error_ns)) } else { String::new() };
        sums.push(format!("total {}{error}", resolved(total_ns, error_ns)));
        sums.push(format!("self {}", resolved_self(own, total)));
    }
    if open > 0 {
        sums.push(open::remark(open, bound));
    }
    sums
}

/// What was taken off, what could not be told, and what the marks in what is shown mean.
pub(super) fn footer(subject: &Subject, raw: bool, shown: &[String]) -> Vec<String> {
    let overhead: &Overhead = &subject.overhead;
    let cost = time(overhead.inner_ns + overhead.outer_ns);
    let mut lines = Vec::new();
    if subject.calls > 0 {
        lines.push(String::new());
        lines.push(match raw {
            _ if subject.timing == "off" => "calls were counted, not timed".to_owned(),
            true => format!("times as measured: the recorder's own cost in them is about {cost} a call"),
            false => format!("overhead subtracted: {cost} a call ± {}", time(overhead.error_ns)),
        });
    }
    let uncounted = [
        (subject.lost_calls, "counted nowhere (lost)"),
        (subject.unwound, "left without a return (unwound), by longjmp, an exception or the like"),
        (subject.folded_calls, "only counted, by function (folded)"),
    ];
    for (calls, what) in uncounted.into_iter().filter(|(calls, _)| *calls > 0) {
        lines.push(format!("{} {what}", counted(calls, "call was", "calls were")));
    }
    if subject.folded_calls > 0 {
        lines.push("  they and their hooks are in their callers' times".to_owned());
    }
    if subject.has_folded_recursion && subject.timing != "off" {
        lines.push(
            "levels of a deep recursion were not recorded apart: totals of functions in it are lower bounds".to_owned(),
        );
    }
    lines.extend(subject.open_bounds.iter().filter_map(|&bound| open::note(bound, shown)));
    lines
}

/// Where others had the processor for so much of the time that it decides what is on top: that they did.
pub(super) fn disturbed(subject: &Subject) -> Option<String> {
    let preempted_ns = subject.preempted_ns.filter(|_| subject.preempted_share >= DISTURBED)?;
    let percent = share(subject.preempted_share, 1.0);
    Some(format!("others had the processor for {} ({percent}) of all time", time(preempted_ns)))
}

/// A module by its file's name, and which of several builds.
pub fn of_build(build: Option<&str>, file: &str) -> String {
    match build {
        Some(build) => format!("{file}@{build}"),
        None => file.to_owned(),
    }
}

/// The last part of a path.
pub fn short(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What the correction of a single call of a function may be off by: nothing where nothing was corrected.
fn error_of_call(document: &Document, report: &Report, function: &Function) -> f64 {
    match document.raw {
        true => 0.0,
        false => subject::error_of_call(report.subject.overhead.error_ns, function.total_error_ns, function.calls),
    }
}

/// Text that stands out.
pub fn strong(text: &str, screen: &Screen) -> String {
    if screen.color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// Text that stands back.
pub fn dim(text: &str, screen: &Screen) -> String {
    if screen.color { format!("\u{1b}[2m{text}\u{1b}[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::document;
    use crate::testing::golden;

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
    fn calls_that_were_only_counted_have_no_time() {
        let mut document = document(&[]);
        let function = &mut document.reports[0].functions[0];
        function.are_only_counted = true;
        let name = function.name.clone();
        let text = written(&document, 200);
        let row = text.lines().find(|line| line.contains(&name)).unwrap();
        assert_eq!((row.matches('–').count(), row.contains('%')), (2, false), "{row}");
    }

    #[test]
    fn marks_are_explained_where_they_are_shown() {
        let mut document = document(&[]);
        document.reports[0].subject.open_bounds.insert(Bound::LastSign);
        let explains = |text: &str| text.contains("† open when");
        assert!(!explains(&written(&document, 200)));
        let function = &mut document.reports[0].functions[0];
        (function.open, function.open_bound) = (1, Some(Bound::LastSign));
        assert!(explains(&written(&document, 200)));
    }

    /// A run beside others, whose largest self times were where the kernel had switched it out, told nothing of that.
    #[test]
    fn what_others_had_the_processor_for_is_told_where_it_decides_what_is_on_top() {
        let mut document = document(&[]);
        assert!(!written(&document, 120).contains("preempted"));
        let report = &mut document.reports[0];
        (report.subject.preempted_ns, report.subject.preempted_share) = (Some(1_500_000.0), 0.5);
        for (function, ns) in report.functions.iter_mut().zip([1_250_000.0, 250_000.0]) {
            function.spent.self_preempted_ns = Some(ns);
        }
        golden("functions-disturbed.txt", &written(&document, 120));
        let narrow = written(&document, 80);
        assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
        document.layout = Layout::Roots;
        assert!(written(&document, 120).contains("others had the processor for 1.50 ms (50.0%) of all time"));
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
    fn timelines_at_several_widths() {
        for width in [120, 80, 50] {
            let mut document = document(&[]);
            document.layout = Layout::Timelines;
            let text = written(&document, width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            golden(&format!("timelines-{width}.txt"), &text);
        }
    }

    #[test]
    fn what_a_limit_leaves_out_is_summed_up() {
        let mut document = document(&["handle"]);
        document.limit = Some(1);
        golden("roots-limited.txt", &written(&document, 100));
    }

    /// A callee's self time, which is of all its calls, was more than its total, which is of those outside a recursion of the root.
    #[test]
    fn a_callee_that_is_mostly_called_in_a_recursion_of_the_root_has_all_its_time_in_brackets() {
        let mut document = document(&["handle"]);
        let callee = &mut document.reports[0].functions[0].callees[0];
        (callee.total_ns, callee.self_ns, callee.nested_ns) = (16_200.0, 17_000.0, 1_300.0);
        let text = written(&document, 120);
        let row = text.lines().find(|line| line.contains("  parse")).unwrap();
        assert!(row.contains("(17.5 µs)") && row.contains("17.0 µs") && !row.contains("16.2"), "{row}");
        assert!(text.contains("(…) all or in part inside a recursion of the root: already in another row"), "{text}");
    }

    #[test]
    fn times_as_measured_have_no_error() {
        let mut document = document(&["handle"]);
        document.raw = true;
        golden("roots-raw.txt", &written(&document, 100));
    }
}
