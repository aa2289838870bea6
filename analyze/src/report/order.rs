//! The order of rows.

use std::cmp::Ordering;

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
    let largest = |value: fn(&Function) -> f64| value(b).total_cmp(&value(a));
    let unknown = f64::NEG_INFINITY;
    match sort {
        Sort::Calls => b.calls.cmp(&a.calls),
        Sort::Total => largest(|f| f.total_ns),
        Sort::Self_ => largest(|f| f.self_ns),
        Sort::Mean => b.mean_ns.unwrap_or(unknown).total_cmp(&a.mean_ns.unwrap_or(unknown)),
        Sort::P50 => b.p50_ns.unwrap_or(unknown).total_cmp(&a.p50_ns.unwrap_or(unknown)),
        Sort::P90 => b.p90_ns.unwrap_or(unknown).total_cmp(&a.p90_ns.unwrap_or(unknown)),
        Sort::P99 => b.p99_ns.unwrap_or(unknown).total_cmp(&a.p99_ns.unwrap_or(unknown)),
        Sort::Max => b.max_ns.unwrap_or(unknown).total_cmp(&a.max_ns.unwrap_or(unknown)),
        Sort::Name => Ordering::Equal,
    }
}

/// Callees have no percentiles of their own: for those they stand in the order of their totals.
fn order_callees(sort: Sort, a: &Callee, b: &Callee) -> Ordering {
    match sort {
        Sort::Calls => b.calls.cmp(&a.calls),
        Sort::Self_ => b.self_ns.total_cmp(&a.self_ns),
        Sort::Name => Ordering::Equal,
        _ => b.total_ns.total_cmp(&a.total_ns).then(b.nested_ns.total_cmp(&a.nested_ns)),
    }
}
