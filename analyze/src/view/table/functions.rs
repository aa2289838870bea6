//! All functions, by self time.

use std::collections::HashMap;

use super::grid::{Column, Grid, LEAST_NAME, Row, Style};
use super::{error_of_call, resolved, short};
use crate::report::{Document, Function, Report};
use crate::view::Screen;
use crate::view::human::{count, counted, share};

const COLUMNS: [Column; 8] = [
    Column::number("calls", 0),
    Column::number("total", 0),
    Column::number("self", 0),
    Column::number("self %", 2),
    Column::number("mean", 3),
    Column::number("p50", 5),
    Column::number("p99", 1),
    Column::number("max", 4),
];

/// A function with this share of all self time stands out.
const HOT: f64 = 0.1;

/// The table's lines.
pub fn lines(document: &Document, report: &Report, screen: &Screen) -> Vec<String> {
    let all: f64 = report.functions.iter().map(|function| function.self_ns).sum();
    let called = report.functions.iter().filter(|function| function.calls > 0 || function.total_ns > 0.0);
    let called: Vec<&Function> = called.collect();
    let mut modules: Vec<&str> = called.iter().map(|function| function.module.as_str()).collect();
    modules.sort_unstable();
    modules.dedup();

    // Functions of one name are told apart by their addresses.
    let mut names: HashMap<(&str, &str), u32> = HashMap::new();
    for function in &called {
        *names.entry((&function.name, &function.module)).or_default() += 1;
    }

    let limit = document.limit.unwrap_or(usize::MAX);
    let error = error_of_call(document, report);
    let row = |function: &&Function| {
        let known = |ns: Option<f64>| ns.map(|ns| resolved(ns, error)).unwrap_or_default();
        let percentile = |ns: Option<f64>| if document.raw { String::new() } else { known(ns) };
        let total_error = if document.raw { 0.0 } else { function.total_error_ns };
        Row {
            numbers: vec![
                count(function.calls),
                resolved(function.total_ns, total_error),
                // The self time is within the total, so it cannot be told better.
                resolved(function.self_ns, if function.total_ns < total_error { total_error } else { 0.0 }),
                share(function.self_ns, all),
                known(function.mean_ns),
                percentile(function.p50_ns),
                percentile(function.p99_ns),
                percentile(function.max_ns),
            ],
            prefix: String::new(),
            name: function.name.clone(),
            remark: remark(function, modules.len() > 1, names[&(function.name.as_str(), function.module.as_str())] > 1),
            style: if function.self_ns >= all * HOT { Style::Strong } else { Style::Plain },
        }
    };
    let rows: Vec<Row> = called.iter().take(limit).map(row).collect();
    if rows.is_empty() {
        return vec![String::new(), "  no functions".to_owned()];
    }
    let grid = Grid { columns: COLUMNS.to_vec(), name_title: "function", least_name: LEAST_NAME, rows };
    let mut lines = vec![String::new()];
    lines.extend(grid.lines(screen));
    if called.len() > limit {
        lines.push(format!("  … and {}", counted((called.len() - limit) as u64, "more function", "more functions")));
    }
    lines
}

fn remark(function: &Function, has_modules: bool, has_namesakes: bool) -> String {
    let mut remarks = Vec::new();
    if has_namesakes {
        remarks.push(function.address.to_string());
    }
    if has_modules {
        remarks.push(short(&function.module).to_owned());
    }
    if function.addresses > 1 {
        remarks.push(format!("×{}", function.addresses));
    }
    if function.open > 0 {
        remarks.push(format!("{} open", count(function.open)));
    }
    remarks.join(" · ")
}
