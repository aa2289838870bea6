//! Annotated functions for people: numbers to the left, lines to the right.

use std::io::{self, Write};

use crate::annotate::{Call, Document, Function, Report};
use crate::view::Screen;
use crate::view::table::{dim, disturbed, footer, resolved, short, strong, sums, title, together, wrapped};
use diytrace_profile::functions::CallKind;
use diytrace_profile::human::{count, resolved_self, share, time};

/// A line with this share of the function's time stands out.
const HOT: f64 = 0.25;

/// What is said of the function's own time.
const OWN: &str = "  (self) is spent between the calls: on which lines, calls do not tell";

/// Columns of a tabulator.
const TAB: usize = 4;

/// Writes annotated functions.
pub fn write(document: &Document, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    together(document.runs, screen, out)?;
    for (index, report) in document.reports.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", strong(&title(&report.subject), screen))?;
        let lines = lines(document, report, screen);
        for line in &lines {
            writeln!(out, "{line}")?;
        }
        for line in footer(&report.subject, document.raw, &lines).into_iter().chain(disturbed(&report.subject)) {
            writeln!(out, "{}", dim(&line, screen))?;
        }
    }
    Ok(())
}

fn lines(document: &Document, report: &Report, screen: &Screen) -> Vec<String> {
    let called =
        report.functions.iter().filter(|function| function.calls > 0 || function.open > 0 || function.total_ns > 0.0);
    let mut lines = Vec::new();
    for function in called {
        lines.push(String::new());
        lines.extend(heading(document, report, function, screen));
        lines.push(String::new());
        lines.extend(body(document, function, screen));
    }
    if lines.is_empty() {
        lines.push("  it was not called".to_owned());
    }
    lines
}

fn heading(document: &Document, report: &Report, function: &Function, screen: &Screen) -> Vec<String> {
    let place = match (&function.source, &function.file, function.line) {
        (Some(source), _, Some(line)) => format!("{source}:{line}"),
        (None, Some(file), Some(line)) => format!("{}:{line}", short(file)),
        _ => function.address.to_string(),
    };
    let f = function;
    let bound = report.subject.open_bounds.last().copied();
    let error = |ns: f64| if document.raw { 0.0 } else { ns };
    let total = [f.total_ns, error(f.total_error_ns)];
    let sums = sums(f.calls, (f.open, bound), total, [f.self_ns, error(f.self_error_ns)]);
    let module = short(&function.module);
    // A path is known by its end.
    let room =
        screen.width.map(|width| width.saturating_sub(function.name.chars().count() + module.chars().count() + 3));
    let place = format!("{module} {}", room.map_or(place.clone(), |room| end_of(&place, room)));
    let mut lines = vec![format!("{}  {}", strong(&function.name, screen), dim(&place, screen))];
    lines.extend(wrapped(&sums, screen));
    lines
}

/// A path and line in that many columns: what comes last of it.
fn end_of(place: &str, columns: usize) -> String {
    if place.chars().count() <= columns {
        return place.to_owned();
    }
    let mut ends = place.match_indices('/').map(|(at, _)| &place[at..]);
    let last = place.rfind('/').map(|at| &place[at..]);
    let fitting = ends.find(|end| end.chars().count() < columns).or(last);
    fitting.map_or_else(|| place.to_owned(), |end| format!("…{end}"))
}

/// A line of output.
struct Row<'a> {
    /// Line number or address.
    place: String,
    text: String,
    call: Option<&'a Call>,
    /// Calls, time and own time of several calls together, or of the function itself.
    sum: Option<(Option<u64>, f64, f64)>,
    /// Whether the text is the call, and not what is written there.
    is_callee: bool,
    follows_gap: bool,
}

fn body(document: &Document, function: &Function, screen: &Screen) -> Vec<String> {
    let mut rows: Vec<Row> = Vec::new();
    let is_near = nearness(document, function);
    let mut last = None;
    for (index, line) in function.lines.iter().enumerate().filter(|(index, _)| is_near[*index]) {
        let follows_gap = last.is_some_and(|last| last + 1 != index);
        last = Some(index);
        add(&mut rows, line.number.to_string(), untabbed(&line.text), &line.calls, follows_gap);
    }
    for instruction in &function.instructions {
        let (place, text) = (instruction.address.to_string(), instruction.text.clone());
        add(&mut rows, place, text, &instruction.calls, instruction.follows_gap);
    }
    for call in &function.elsewhere {
        let line = call.file.as_ref().zip(call.line).map(|(file, line)| format!("  {}:{line}", short(file)));
        let text = callee(call) + &line.unwrap_or_default();
        rows.push(Row { place: String::new(), text, call: Some(call), sum: None, is_callee: true, follows_gap: false });
    }
    if rows.is_empty() {
        return vec!["  it calls nothing that is recorded".to_owned()];
    }
    let elsewhere = rows.len() - function.elsewhere.len();
    if let Some(hidden) = &function.hidden {
        rows.push(Row {
            place: String::new(),
            text: format!("… {} more", count(hidden.nodes)),
            call: None,
            sum: Some((Some(hidden.calls), hidden.total_ns, hidden.self_ns)),
            is_callee: false,
            follows_gap: false,
        });
    }
    if function.self_ns > 0.0 {
        rows.push(Row {
            place: String::new(),
            text: "(self)".to_owned(),
            call: None,
            sum: Some((None, function.self_ns, function.self_ns)),
            is_callee: false,
            follows_gap: false,
        });
    }
    let widths = Widths::of(document, function, &rows);
    let mut lines = vec![dim(&widths.title(), screen)];
    for (index, row) in rows.iter().enumerate() {
        if row.follows_gap {
            lines.push(dim(&format!("{}⋮", " ".repeat(widths.numbers() + 1)), screen));
        }
        if index == elsewhere && !function.elsewhere.is_empty() {
            lines.push(dim("  calls that are on none of these lines:", screen));
        }
        lines.push(widths.line(document, function, row, screen));
    }
    if function.self_ns > 0.0 {
        lines.push(dim(OWN, screen));
    }
    lines
}

/// Which lines are shown.
fn nearness(document: &Document, function: &Function) -> Vec<bool> {
    let count = function.lines.len();
    let Some(context) = document.context else { return vec![true; count] };
    let mut is_near = vec![false; count];
    for index in (0..count).filter(|&index| index == 0 || !function.lines[index].calls.is_empty()) {
        let (from, to) = (index.saturating_sub(context), index.saturating_add(context).min(count - 1));
        is_near[from..=to].fill(true);
    }
    is_near
}

/// Adds a line with its calls: in one row if the line says what it calls, and that is all it calls.
fn add<'a>(rows: &mut Vec<Row<'a>>, place: String, text: String, calls: &'a [Call], follows_gap: bool) {
    if let [call] = calls {
        let is_plain = call.via.is_none() && call.call != CallKind::Inlined && !call.is_recursion;
        if is_plain && text.contains(plain_name(&call.name)) {
            rows.push(Row { place, text, call: Some(call), sum: None, is_callee: false, follows_gap });
            return;
        }
    }
    let indent: String = text.chars().take_while(|letter| *letter == ' ').collect();
    let sum = (calls.len() > 1).then(|| {
        let time = |of: fn(&Call) -> f64| calls.iter().map(of).sum();
        let made = calls.iter().fold(0u64, |sum, call| sum.saturating_add(call.calls));
        (Some(made), time(|call| call.total_ns), time(|call| call.self_ns))
    });
    rows.push(Row { place, text, call: None, sum, is_callee: false, follows_gap });
    rows.extend(calls.iter().map(|call| {
        let text = format!("{indent}{}", callee(call));
        Row { place: String::new(), text, call: Some(call), sum: None, is_callee: true, follows_gap: false }
    }));
}

fn callee(call: &Call) -> String {
    let mut text = format!("→ {}", call.name);
    if call.is_recursion {
        text.push_str("  recursion");
    }
    if call.call == CallKind::Inlined {
        text.push_str("  inlined");
    }
    if let Some(via) = &call.via {
        text.push_str(&format!("  via {via}"));
    }
    text
}

/// A function's name as it is written in a call.
fn plain_name(name: &str) -> &str {
    let name = diytrace_format::pattern::without_parameters(name);
    let name = name.rsplit("::").next().unwrap_or(name);
    name.split(['<', '.']).next().filter(|name| !name.is_empty()).unwrap_or(name)
}

fn untabbed(text: &str) -> String {
    let mut untabbed = String::with_capacity(text.len());
    let mut column = 0;
    for letter in text.trim_end().chars() {
        let width = if letter == '\t' { TAB - column % TAB } else { 1 };
        match letter {
            '\t' => untabbed.push_str(&" ".repeat(width)),
            letter if letter.is_control() => untabbed.push('\u{fffd}'), // a source may hold a terminal's commands
            letter => untabbed.push(letter),
        }
        column += width;
    }
    untabbed
}

/// Widths of the columns: calls, total, self, share, place.
struct Widths([usize; 5]);

impl Widths {
    fn of(document: &Document, function: &Function, rows: &[Row]) -> Self {
        let mut widths = ["calls", "total", "self", "share", "line"].map(str::len);
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(cells(document, function, row)) {
                *width = cell.chars().count().max(*width);
            }
        }
        Self(widths)
    }

    /// Columns before the place.
    fn numbers(&self) -> usize {
        let [calls, total, own, share, place] = self.0;
        2 + calls + 2 + total + 2 + own + 2 + share + 2 + place
    }

    fn title(&self) -> String {
        let [calls, total, own, share, place] = self.0;
        let titles = ["calls", "total", "self", "share", "line"];
        let [a, b, c, d, e] = titles;
        format!("  {a:>calls$}  {b:>total$}  {c:>own$}  {d:>share$}  {e:>place$}")
    }

    fn line(&self, document: &Document, function: &Function, row: &Row, screen: &Screen) -> String {
        let [calls, total, own, share, place] = self.0;
        let [a, b, c, d, e] = cells(document, function, row);
        let before = format!("  {a:>calls$}  {b:>total$}  {c:>own$}  {d:>share$}  {e:>place$}");
        let room = screen.width.map_or(usize::MAX, |width| width.saturating_sub(self.numbers() + 3).max(20));
        let mut text: String = row.text.chars().take(room).collect();
        if row.text.chars().nth(room).is_some() {
            text.pop();
            text.push('…');
        }
        let line = format!("{before} │ {text}");
        let line = line.trim_end();
        match row.call {
            Some(call) if call.total_ns >= function.total_ns * HOT => strong(line, screen),
            Some(_) => line.to_owned(),
            None if row.is_callee => line.to_owned(),
            None => dim(line, screen),
        }
    }
}

fn cells(document: &Document, function: &Function, row: &Row) -> [String; 5] {
    if let Some((calls, total, own)) = row.sum {
        let calls = calls.map(count).unwrap_or_default();
        return [calls, time(total), time(own), share(total, function.total_ns), row.place.clone()];
    }
    let Some(call) = row.call else {
        return [String::new(), String::new(), String::new(), String::new(), row.place.clone()];
    };
    let error = if document.raw { 0.0 } else { call.total_error_ns };
    let own_error = if document.raw { 0.0 } else { call.self_error_ns };
    let timed = |text: String| if call.is_recursion { String::new() } else { text };
    [
        count(call.calls),
        timed(resolved(call.total_ns, error)),
        timed(resolved_self([call.self_ns, own_error], [call.total_ns, error])),
        timed(share(call.total_ns, function.total_ns)),
        row.place.clone(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::annotated;
    use crate::testing::golden;

    fn written(document: &Document, width: usize) -> String {
        let mut out = Vec::new();
        write(document, &Screen { width: Some(width), color: false }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn source_at_several_widths() {
        for width in [120, 80] {
            let text = written(&annotated(), width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            golden(&format!("annotate-{width}.txt"), &text);
        }
    }

    #[test]
    fn only_lines_around_those_that_call() {
        golden("annotate-context.txt", &written(&Document { context: Some(0), ..annotated() }, 100));
    }

    #[test]
    fn a_source_cannot_command_the_terminal() {
        assert_eq!(untabbed("a\tb\u{1b}[2J  "), "a   b\u{fffd}[2J");
    }
}
