//! The order of rows.

use std::cmp::Ordering;

use super::columns::{Column, USUAL, Value};
use super::document::{Callee, Function};
use super::options::Sort;

/// Sorts functions: the largest first, those alike by name.
pub fn sort_functions(functions: &mut [Function], sort: Sort) {
    functions.sort_by(|a, b| order(sort, a, b).then_with(|| (&a.name, a.address).cmp(&(&b.name, b.address))));
}

/// Sorts callees.
pub fn sort_callees(callees: &mut [Callee], sort: Sort) {
    callees.sort_by(|a, b| order_callees(sort, a, b).then_with(|| (&a.name, a.address).cmp(&(&b.name, b.address))));
}

fn order(sort: Sort, a: &Function, b: &Function) -> Ordering {
    let Some(column) = column(sort) else { return Ordering::Equal };
    match (column.value(a), column.value(b)) {
        (Value::Count(a), Value::Count(b)) => b.cmp(&a),
        (Value::Time(a), Value::Time(b)) => b.unwrap_or(f64::NEG_INFINITY).total_cmp(&a.unwrap_or(f64::NEG_INFINITY)),
        _ => Ordering::Equal,
    }
}

/// The columns of a table that nobody has chosen any for: the usual ones, and few of them beside one that it is sorted by and
/// that is not among those. Empty where the usual ones do.
pub fn columns_beside(sort: Option<Sort>) -> Vec<Column> {
    let is_always_there =
        |column: &Column| USUAL.contains(column) && ![Column::SelfWait, Column::SelfPreempted].contains(column);
    match sort.and_then(column).filter(|column| !is_always_there(column)) {
        Some(column) => vec![Column::Calls, Column::Total, column, Column::Self_, Column::SelfShare],
        None => Vec::new(),
    }
}

/// The column with the numbers; names have none.
fn column(sort: Sort) -> Option<Column> {
    Some(match sort {
        Sort::Calls => Column::Calls,
        Sort::Total => Column::Total,
        Sort::Self_ => Column::Self_,
        Sort::Mean => Column::Mean,
        Sort::P50 => Column::P50,
        Sort::P90 => Column::P90,
        Sort::P99 => Column::P99,
        Sort::Max => Column::Max,
        Sort::Name => return None,
        Sort::Min => Column::Min,
        Sort::P75 => Column::P75,
        Sort::P95 => Column::P95,
        Sort::P999 => Column::P999,
        Sort::Open => Column::Open,
        Sort::Unwound => Column::Unwound,
        Sort::Inlined => Column::Inlined,
        Sort::Error => Column::Error,
        Sort::TotalRaw => Column::TotalRaw,
        Sort::SelfRaw => Column::SelfRaw,
        Sort::Processes => Column::Processes,
        Sort::Cpu => Column::Cpu,
        Sort::Wait => Column::Wait,
        Sort::Preempted => Column::Preempted,
        Sort::SelfCpu => Column::SelfCpu,
        Sort::SelfWait => Column::SelfWait,
        Sort::SelfPreempted => Column::SelfPreempted,
    })
}

/// Callees have no percentiles of their own: for those they stand in the order of their totals.
fn order_callees(sort: Sort, a: &Callee, b: &Callee) -> Ordering {
    match sort {
        Sort::Calls => b.calls.cmp(&a.calls),
        Sort::Self_ => b.self_ns.total_cmp(&a.self_ns),
        Sort::Name => Ordering::Equal,
        Sort::Cpu | Sort::Wait | Sort::Preempted | Sort::SelfCpu | Sort::SelfWait | Sort::SelfPreempted => {
            let time = |callee: &Callee| part(sort, callee).unwrap_or(f64::NEG_INFINITY);
            time(b).total_cmp(&time(a))
        }
        _ => b.total_ns.total_cmp(&a.total_ns).then(b.nested_ns.total_cmp(&a.nested_ns)),
    }
}

/// The part of a callee's time that an order is of.
fn part(sort: Sort, callee: &Callee) -> Option<f64> {
    let spent = &callee.spent;
    match sort {
        Sort::Cpu => spent.cpu_ns,
        Sort::Wait => spent.wait_ns,
        Sort::Preempted => spent.preempted_ns,
        Sort::SelfCpu => spent.self_cpu_ns,
        Sort::SelfWait => spent.self_wait_ns,
        Sort::SelfPreempted => spent.self_preempted_ns,
        _ => None,
    }
}
