//! All functions, by self time.

use rustc_hash::FxHashMap;

use super::grid::{self, Grid, LEAST_NAME, Row, Style};
use super::histogram::Axis;
use super::{disturbed, error_of_call, of_build, open, resolved, short};
use crate::report::columns::{Column, USUAL, Value};
use crate::report::{Document, Function, Report};
use crate::view::Screen;
use diytrace_profile::human::{count, counted, resolved_self, share, shorten, time};

/// A function with this share of all self time stands out.
const HOT: f64 = 0.1;

/// A name beside the function's own takes at most so many columns.
const LONGEST_OTHER: usize = 24;

/// The table's lines.
pub fn lines(document: &Document, report: &Report, chosen: &[Column], screen: &Screen) -> Vec<String> {
    let called: Vec<&Function> = report.called().collect();
    // Functions of one name are told apart by their addresses.
    let mut names: FxHashMap<(&str, &str), u32> = FxHashMap::default();
    for function in &called {
        *names.entry((&function.name, &function.module)).or_default() += 1;
    }

    let limit = document.limit.unwrap_or(usize::MAX);
    let shown = &called[..called.len().min(limit)];
    let axis = Axis::of(shown.iter().filter_map(|function| function.histogram.as_deref()));
    let title = axis.as_ref().map(Axis::title);
    let is_worth_telling = |column: &Column| match column {
        Column::SelfWait => have_waited(&called),
        Column::SelfPreempted => disturbed(&report.subject).is_some(),
        _ => true,
    };
    let usual: Vec<Column> = USUAL.into_iter().filter(is_worth_telling).collect();
    let columns = if chosen.is_empty() { &usual[..] } else { chosen };
    let has_module = |function: &Function| !columns.contains(&Column::Module) && is_elsewhere(report, function);
    let number = |function: &Function, column: Column| match text(document, report, function, column) {
        // Most functions never were off the processor.
        _ if chosen.is_empty() && is_off(column) && column.value(function) == Value::Time(Some(0.0)) => String::new(),
        // Of what somebody has asked for, nothing is an answer.
        text if text.is_empty() && !chosen.is_empty() && !column.is_text() => none(column.value(function)).to_owned(),
        text => text,
    };
    let row = |function: &&Function| {
        let mut numbers: Vec<String> = columns.iter().map(|&column| number(function, column)).collect();
        if let Some(axis) = &axis {
            numbers.push(axis.cells(function.histogram.as_deref().unwrap_or_default()));
        }
        let has_namesakes = names[&(function.name.as_str(), function.module.as_str())] > 1;
        Row {
            numbers,
            prefix: String::new(),
            name: function.name.clone(),
            remark: remark(function, has_module(function), has_namesakes && !columns.contains(&Column::Address)),
            detail: inlined_into(function),
            style: if function.self_ns >= report.all_self_ns * HOT { Style::Strong } else { Style::Plain },
        }
    };
    let rows: Vec<Row> = shown.iter().map(row).collect();
    let unlisted = (report.unlisted > 0).then(|| {
        let functions =
            counted(report.unlisted, "function that was not asked for is", "functions that were not asked for are");
        format!("  {functions} left out: {}", amount(report, report.unlisted_calls, report.unlisted_self_ns))
    });
    if called.is_empty() {
        return [String::new(), "  no functions".to_owned()].into_iter().chain(unlisted).collect();
    }
    let mut columns: Vec<grid::Column> =
        columns.iter().map(|&column| grid_column(column, !chosen.is_empty())).collect();
    columns.extend(title.as_deref().map(|title| grid::Column::text(title, 0)));
    let grid = Grid { columns, name_title: "function", least_name: LEAST_NAME, rows };
    let mut lines = vec![String::new()];
    if !grid.rows.is_empty() {
        lines.extend(grid.lines(screen));
    }
    if called.len() > limit {
        let rest = &called[limit..];
        let calls = rest.iter().fold(0u64, |sum, function| sum.saturating_add(function.calls));
        let own: f64 = rest.iter().map(|function| function.self_ns).sum();
        let functions = counted(rest.len() as u64, "more function", "more functions");
        lines.push(format!("  … and {functions}: {}", amount(report, calls, own)));
    }
    lines.extend(unlisted);
    lines
}

fn is_off(column: Column) -> bool {
    matches!(column, Column::SelfWait | Column::SelfPreempted)
}

/// Whether functions have waited long enough for a column of it: a hundredth of their time.
fn have_waited(functions: &[&Function]) -> bool {
    let all: f64 = functions.iter().map(|function| function.self_ns.max(0.0)).sum();
    functions.iter().filter_map(|function| function.spent.self_wait_ns).sum::<f64>() >= all / 100.0 && all > 0.0
}

/// Calls and self time of functions that have no row.
fn amount(report: &Report, calls: u64, own_ns: f64) -> String {
    let calls = counted(calls, "call", "calls");
    match share(own_ns, report.all_self_ns) {
        _ if own_ns.is_nan() => calls,
        share if share.is_empty() => format!("{calls}, self {}", time(own_ns)),
        share => format!("{calls}, self {} ({share})", time(own_ns)),
    }
}

/// Columns that were chosen are shown, whatever it takes.
fn grid_column(column: Column, is_chosen: bool) -> grid::Column<'static> {
    let dispensable = match column {
        _ if is_chosen => 0,
        Column::SelfShare => 2,
        Column::SelfWait | Column::SelfPreempted => 1,
        Column::Mean => 3,
        Column::P50 => 5,
        Column::P99 => 1,
        Column::Max => 4,
        _ => 0,
    };
    grid::Column { title: column.title(), dispensable, is_text: column.is_text(), is_chosen }
}

fn text(document: &Document, report: &Report, function: &Function, column: Column) -> String {
    let known = |error_ns: f64| if document.raw { 0.0 } else { error_ns };
    let error = known(function.total_error_ns);
    match (column, column.value(function)) {
        (Column::SelfShare | Column::TotalShare, _) if function.are_only_counted => String::new(),
        (Column::Total | Column::Self_ | Column::Error | Column::TotalRaw | Column::SelfRaw, value)
            if function.are_only_counted =>
        {
            none(value).to_owned()
        }
        (Column::Total, _) => resolved(function.total_ns, error),
        (Column::Self_, _) => {
            resolved_self([function.self_ns, known(function.self_error_ns)], [function.total_ns, error])
        }
        (Column::Address, _) => function.address.to_string(),
        (Column::Module, _) => short(&function.module).to_owned(),
        (Column::Error | Column::TotalRaw | Column::SelfRaw, Value::Time(ns)) => ns.map(time).unwrap_or_default(),
        (
            Column::Cpu | Column::Wait | Column::Preempted | Column::SelfCpu | Column::SelfWait | Column::SelfPreempted,
            Value::Time(ns),
        ) => ns.map_or_else(|| none(Value::Time(None)).to_owned(), time),
        (_, Value::Time(_)) if document.raw && column.is_of_distribution() => String::new(),
        (_, Value::Time(ns)) => {
            ns.map(|ns| resolved(ns, error_of_call(document, report, function))).unwrap_or_default()
        }
        (Column::Calls, Value::Count(number)) => count(number),
        (_, Value::Count(number)) => {
            if number > 0 {
                count(number)
            } else {
                String::new()
            }
        }
        (_, Value::Share(ns)) => share(ns, report.all_self_ns),
        (_, Value::Text(text)) => text.to_owned(),
        (_, Value::Line(line)) => line.map(|(file, line)| format!("{}:{line}", short(file))).unwrap_or_default(),
    }
}

/// What a column says that has nothing of a function.
fn none(value: Value) -> &'static str {
    match value {
        Value::Count(_) => "0",
        _ => "–",
    }
}

/// Whether a function is not in the program that the title names: all others are.
fn is_elsewhere(report: &Report, function: &Function) -> bool {
    match &report.subject.programs[..] {
        _ if function.build.is_some() => true,
        [program] => *program != function.module,
        _ => report.functions.iter().any(|other| other.module != function.module),
    }
}

fn remark(function: &Function, has_module: bool, has_namesakes: bool) -> String {
    let mut remarks = Vec::new();
    if has_namesakes {
        remarks.push(function.address.to_string());
    }
    if has_module {
        // `libstdc++.so.6.0.30`: which of its versions tells nothing here, and takes the name's room.
        let file = short(&function.module);
        remarks.push(of_build(function.build.as_deref(), file.split_inclusive(".so").next().unwrap_or(file)));
    }
    if function.addresses > 1 {
        remarks.push(format!("×{}", function.addresses));
    }
    if function.open > 0 {
        remarks.push(open::remark(function.open, function.open_bound));
    }
    remarks.extend(open::entered_before(function.entered_before));
    if !function.inlined_into.is_empty() {
        remarks.push(match function.inlined_calls == function.calls {
            true => "inlined".to_owned(),
            false => format!("{} inlined", share(function.inlined_calls as f64, function.calls as f64)),
        });
    }
    remarks.join(" · ")
}

/// Where its bodies are, behind that they are inlined.
fn inlined_into(function: &Function) -> String {
    match &function.inlined_into[..] {
        [] => String::new(),
        [first] => format!(" into {}", shorten(&first.name, LONGEST_OTHER)),
        [first, others @ ..] => format!(" into {} +{}", shorten(&first.name, LONGEST_OTHER), others.len()),
    }
}
