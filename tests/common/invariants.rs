//! What must hold in every report, whatever was recorded.

use std::collections::{BTreeMap, BTreeSet};

use super::{Document, Function, Report};

/// Sums of numbers that were rounded to a part of a nanosecond may be off by this part, and by a nanosecond.
const ROUNDING: f64 = 1e-6;

/// Checks a document. It is complete if no functions were selected.
pub fn check(document: &Document, is_complete: bool) {
    assert_eq!(document.schema, "diytrace-report/1");
    assert!(["tsc", "clock_gettime"].contains(&&*document.clock.source), "{:?}", document.clock);
    assert!(document.clock.hz > 0.0);
    for report in &document.reports {
        check_report(report);
        let calls: u64 = report.functions.iter().map(|function| function.calls).sum();
        assert!(calls == report.calls || (!is_complete && calls < report.calls), "{calls} of {} calls", report.calls);
    }
}

fn check_report(report: &Report) {
    let recursive = recursive(report);
    let mut called_from: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for function in &report.functions {
        check_function(function, recursive.contains(&(&*function.module, &*function.address)), report.timing != "off");
        for callee in &function.callees {
            *called_from.entry((&callee.module, &callee.address)).or_default() += callee.calls;
        }
    }
    for function in &report.functions {
        let calls = called_from.get(&(&*function.module, &*function.address)).copied().unwrap_or(0);
        assert!(calls <= function.calls, "{} has {calls} callers, but {} calls", function.name, function.calls);
    }
    for cost in [report.overhead.inner_ns, report.overhead.outer_ns, report.overhead.error_ns] {
        assert!(cost >= 0.0, "{:?}", report.overhead);
    }
}

fn check_function(function: &Function, is_recursive: bool, is_timed: bool) {
    let f = function;
    assert!(f.open <= f.calls, "{f:#?}");
    assert!(f.inlined_calls <= f.calls, "{f:#?}");
    if !is_timed {
        return;
    }
    let times = [f.total_ns, f.self_ns, f.total_error_ns, f.total_raw_ns, f.self_raw_ns];
    let spread = [f.min_ns, f.p50_ns, f.p90_ns, f.p99_ns, f.p999_ns, f.max_ns];
    for time in times.into_iter().chain(spread.into_iter().flatten()).chain(f.mean_ns) {
        assert!(time >= 0.0 && time.is_finite(), "{f:#?}");
    }
    assert_at_most(f.self_ns, f.total_ns, "self time and total", f);
    assert_at_most(f.self_raw_ns, f.total_raw_ns, "raw self time and total", f);

    let known: Vec<f64> = spread.into_iter().flatten().collect();
    let without_bins = known.len() == 2 && f.p50_ns.is_none(); // extremes, and no room for the distribution
    assert!(known.is_empty() || without_bins || known.len() == spread.len(), "some percentiles are missing: {f:#?}");
    for pair in known.windows(2) {
        assert_at_most(pair[0], pair[1], "minimum, percentiles, maximum", f);
    }
    if let (Some(mean), [min, .., max]) = (f.mean_ns, &known[..]) {
        assert_at_most(*min, mean, "minimum and mean", f);
        assert_at_most(mean, *max, "mean and maximum", f);
    }

    for callee in &f.callees {
        let at_sites: u64 = callee.sites.iter().map(|site| site.calls).sum();
        assert_eq!(at_sites, callee.calls, "the calls of {} at all sites: {f:#?}", callee.name);
        for time in [callee.total_ns, callee.self_ns, callee.total_raw_ns] {
            assert!(time >= 0.0 && time.is_finite(), "{f:#?}");
        }
    }
    if !is_recursive {
        let sum: f64 = f.callees.iter().map(|callee| callee.total_ns).sum();
        assert_at_most(sum, f.total_ns, "the callees' total and the caller's", f);
        let sum: f64 = f.callees.iter().map(|callee| callee.total_raw_ns).sum();
        assert_at_most(sum, f.total_raw_ns, "the callees' raw total and the caller's", f);
    }
}

fn assert_at_most(low: f64, high: f64, what: &str, function: &Function) {
    assert!(low <= high * (1.0 + ROUNDING) + 1.0, "{what}: {low} ns is more than {high} ns in {function:#?}");
}

/// Functions that call themselves, directly or through others.
fn recursive(report: &Report) -> BTreeSet<(&str, &str)> {
    type Id<'a> = (&'a str, &'a str);
    let mut callees: BTreeMap<Id, Vec<Id>> = BTreeMap::new();
    for function in &report.functions {
        let below = function.callees.iter().map(|callee| (&*callee.module, &*callee.address));
        callees.entry((&function.module, &function.address)).or_default().extend(below);
    }
    let reaches_itself = |start: &Id| {
        let mut seen = BTreeSet::new();
        let mut next = callees[start].clone();
        while let Some(id) = next.pop() {
            if id == *start {
                return true;
            }
            if seen.insert(id) {
                next.extend(callees.get(&id).into_iter().flatten());
            }
        }
        false
    };
    callees.keys().copied().filter(reaches_itself).collect()
}
