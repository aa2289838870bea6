//! Roots: each with its own figures and a row for each function that it calls.

use super::grid::{Column, Grid, LEAST_NAME, Row, Style};
use super::histogram;
use super::{dim, error_of_call, of_build, open, resolved, short, strong, sums};
use crate::report::{Callee, Document, Function, Report};
use crate::view::{Screen, timeline};
use diytrace_profile::functions::CallKind;
use diytrace_profile::human::{count, counted, ratio, resolved_self, share, time};

const COLUMNS: [Column<'static>; 6] = [
    Column::number("address", 1),
    Column::number("calls", 0),
    Column::number("a call", 2),
    Column::number("total", 0),
    Column::number("self", 0),
    Column::number("share", 0),
];

/// Space before facts.
const INDENT: &str = "  ";

/// A callee with this share of the root's time stands out.
const HOT: f64 = 0.25;

/// All blocks' lines.
pub fn lines(document: &Document, report: &Report, screen: &Screen) -> Vec<String> {
    let mut lines = Vec::new();
    for root in report.called().filter(|function| function.root) {
        lines.push(String::new());
        lines.extend(heading(document, report, root, screen));
        lines.push(String::new());
        lines.extend(grid(document, root).lines(screen));
        if root.callees.iter().any(|callee| total_with_nested(callee).is_some()) {
            let line = "  (…) all or in part inside a recursion of the root: already in another row";
            lines.push(dim(line, screen));
        }
    }
    match report.unlisted_roots as u64 {
        0 if lines.is_empty() => lines.push("  none of the roots was called".to_owned()),
        0 => {}
        roots => {
            let roots = counted(roots, "root that was called is", "roots that were called are");
            lines.extend([String::new(), format!("  {roots} left out by the filters")]);
        }
    }
    lines
}

fn heading(document: &Document, report: &Report, root: &Function, screen: &Screen) -> Vec<String> {
    let source = match (&root.file, root.line) {
        (Some(file), Some(line)) => format!("{}:{line}", short(file)),
        _ => root.address.to_string(),
    };
    let source = format!("{} {source}", of_build(root.build.as_deref(), short(&root.module)));
    let [total, own] = with_errors(document, root);
    let mut sums = sums(root.calls, (root.open, root.open_bound), total, own);
    sums.extend(open::entered_before(root.entered_before));
    if root.inlined_calls > 0 {
        sums.push(format!("{} inlined", count(root.inlined_calls)));
    }
    if report.subject.processes > 1 {
        sums.push(counted(root.processes, "process", "processes"));
    }
    let of_call = error_of_call(document, report, root);
    let spread = [
        ("mean", root.mean_ns),
        ("p50", root.p50_ns),
        ("p90", root.p90_ns),
        ("p99", root.p99_ns),
        ("p99.9", root.p999_ns),
        ("max", root.max_ns),
    ];
    let spread = spread.iter().filter(|(what, _)| !document.raw || *what == "mean");
    let spread: Vec<_> =
        spread.filter_map(|(what, ns)| Some(format!("{what} {}", resolved((*ns)?, of_call)))).collect();
    let mut lines = vec![format!("{}  {}", strong(&root.name, screen), dim(&source, screen))];
    lines.extend(wrapped(&sums, screen));
    // One call has no distribution.
    if root.calls.saturating_sub(root.open) > 1 && !spread.is_empty() {
        lines.extend(wrapped(&spread, screen));
    }
    if let Some(timeline) = &root.timeline {
        let room = screen.width.map(|width| width.saturating_sub(INDENT.len()));
        let of_time = timeline::lines(timeline, report.subject.timing == "all", room);
        lines.extend(of_time.iter().map(|line| format!("{INDENT}{line}")));
    }
    if let Some(bars) = &root.histogram {
        lines.push(String::new());
        lines.extend(histogram::block(bars));
    }
    lines
}

/// A root's total and self time, each with how far off it may be.
fn with_errors(document: &Document, root: &Function) -> [[f64; 2]; 2] {
    let error = |ns: f64| if document.raw { 0.0 } else { ns };
    [[root.total_ns, error(root.total_error_ns)], [root.self_ns, error(root.self_error_ns)]]
}

/// Facts in a row, or in several where one is too long.
pub(in crate::view) fn wrapped(facts: &[String], screen: &Screen) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for fact in facts {
        let fits =
            |line: &String| screen.width.is_none_or(|width| line.chars().count() + 3 + fact.chars().count() <= width);
        match lines.last_mut().filter(|line| fits(line)) {
            Some(line) => line.push_str(&format!(" · {fact}")),
            None => lines.push(format!("  {fact}")),
        }
    }
    lines
}

fn grid(document: &Document, root: &Function) -> Grid<'static> {
    let called: Vec<&Callee> = root.callees.iter().filter(|callee| callee.calls > 0 || callee.total_ns > 0.0).collect();
    let limit = document.limit.unwrap_or(usize::MAX);
    let mut rows: Vec<Row> = called.iter().take(limit).map(|callee| row(document, root, callee)).collect();
    if called.len() > limit {
        let rest = &called[limit..];
        let sum = |value: fn(&Callee) -> f64| rest.iter().map(|callee| value(callee)).sum::<f64>();
        let calls = rest.iter().map(|callee| callee.calls).sum();
        rows.push(Row {
            numbers: vec![
                String::new(),
                count(calls),
                ratio(calls, root.calls),
                time(sum(|callee| callee.total_ns)),
                time(sum(|callee| callee.self_ns)),
                share(sum(|callee| callee.total_ns), root.total_ns),
            ],
            prefix: String::new(),
            name: format!("… {}", counted(rest.len() as u64, "other", "others")),
            remark: String::new(),
            detail: String::new(),
            style: Style::Dim,
        });
    }
    // What closes the sum: with recursion that is the self time of the outermost calls only.
    let callees: f64 = root.callees.iter().map(|callee| callee.total_ns).sum();
    let own = root.total_ns - callees;
    let own = if own < 0.0 { 0.0 } else { own }; // what is not known stays so
    let [total, [_, error]] = with_errors(document, root);
    let told = resolved_self([own, error], total);
    rows.push(Row {
        numbers: vec![String::new(), String::new(), String::new(), told.clone(), told, share(own, root.total_ns)],
        prefix: String::new(),
        name: "(self)".to_owned(),
        remark: String::new(),
        detail: String::new(),
        style: Style::Dim,
    });
    Grid { columns: COLUMNS.to_vec(), name_title: "callee", least_name: LEAST_NAME, rows }
}

fn row(document: &Document, root: &Function, callee: &Callee) -> Row {
    let error = if document.raw { 0.0 } else { callee.total_error_ns };
    let (total, own) = match total_with_nested(callee) {
        Some(total) => (format!("({})", time(total)), time(callee.self_ns)),
        None => {
            let own_error = if document.raw { 0.0 } else { callee.self_error_ns };
            let own = resolved_self([callee.self_ns, own_error], [callee.total_ns, error]);
            (resolved(callee.total_ns, error), own)
        }
    };
    Row {
        numbers: vec![
            callee.address.to_string(),
            count(callee.calls),
            ratio(callee.calls, root.calls),
            total,
            own,
            share(callee.total_ns, root.total_ns),
        ],
        prefix: String::new(),
        name: callee.name.clone(),
        remark: remark(root, callee),
        detail: String::new(),
        style: if callee.total_ns >= root.total_ns * HOT { Style::Strong } else { Style::Plain },
    }
}

/// The time of a callee's calls with that of those inside a recursion of the root, where their self time has more of that than the time
/// outside has.
fn total_with_nested(callee: &Callee) -> Option<f64> {
    let is_nested = callee.nested_ns > 0.0 && (callee.total_ns == 0.0 || callee.self_ns > callee.total_ns);
    is_nested.then_some(callee.total_ns + callee.nested_ns)
}

fn remark(root: &Function, callee: &Callee) -> String {
    let mut remarks = Vec::new();
    if (callee.address, &callee.module) == (root.address, &root.module) {
        remarks.push("recursion".to_owned());
    }
    if callee.call == CallKind::Inlined {
        remarks.push("inlined".to_owned());
    }
    if let Some(via) = &callee.via {
        remarks.push(format!("via {via}"));
    }
    if (&callee.module, &callee.build) != (&root.module, &root.build) {
        remarks.push(of_build(callee.build.as_deref(), short(&callee.module)));
    }
    remarks.join(" · ")
}
