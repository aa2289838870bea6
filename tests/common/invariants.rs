//! What must hold in every report, whatever was recorded.

use std::collections::{BTreeMap, BTreeSet};

use super::{Callee, Document, Function, Report};

/// Sums of numbers that were rounded to a part of a nanosecond may be off by this part, and by a nanosecond.
const ROUNDING: f64 = 1e-6;

/// By how much a function's self time may fall below nothing in one process, where it is cut off: what the recorder spends is taken off
/// callers as other readings of the clock tell it than theirs. On a quiet machine up to 90 ns were met, beside other work 170.
const CUT_OFF_NS: f64 = 1000.0;

/// Checks a document. It is complete if no functions were selected.
pub fn check(document: &Document, is_complete: bool) {
    assert_eq!(document.schema, "diytrace-report/1");
    assert!(["tsc", "clock_gettime"].contains(&&*document.clock.source), "{:?}", document.clock);
    assert!(document.clock.hz > 0.0);
    let started = |report: &Report| report.process.as_ref().map(|process| process.started_unix_ns);
    let first = document.reports.iter().filter_map(started).min();
    for report in &document.reports {
        let is_forked = started(report) > first; // or may be: its parent may have made no call
        check_report(report, is_forked, document.warns_of(&["gave way to others"]));
        let calls: u64 = report.functions.iter().map(|function| function.calls).sum();
        assert!(calls == report.calls || (!is_complete && calls < report.calls), "{calls} of {} calls", report.calls);
    }
}

fn check_report(report: &Report, is_forked: bool, gave_way: bool) {
    let recursive = recursive(report);
    // What gave way is corrected, and scaled up for calls that were not timed, apart from trees: it fits about.
    let scaled = if report.untimed_calls > report.calls / 10 { 0.5 } else { 0.01 };
    // Where only some calls were timed, sums are estimates.
    let is_sum = report.timing == "all" && !hides_functions(report) && !is_folded(report, &recursive);
    let mut callers: BTreeMap<(&str, &str), (u64, f64, f64)> = BTreeMap::new();
    for function in &report.functions {
        let is_recursive = recursive.contains(&(&*function.module, &*function.address));
        let error = match gave_way {
            // Either side has its own.
            true => function.total_error_ns + error_of_callees(report, function) + scaled * function.total_raw_ns,
            false => 0.0,
        };
        check_function(function, is_recursive, report.timing != "off", is_sum, error);
        // What a forked child has of calls that were open at the fork is in a function's total there; they are no calls of it.
        let is_one_call =
            !is_forked && (function.calls, function.open, function.unwound, report.processes) == (1, 0, 0, 1);
        if let Some(mean) = function.mean_ns.filter(|_| is_one_call && is_sum && !is_recursive) {
            let error = error + function.total_error_ns;
            assert_at_most(mean, function.total_ns + error, "the mean and the total of one call", function);
            assert_at_most(function.total_ns, mean + error, "the total and the mean of one call", function);
        }
        for callee in &function.callees {
            let sums = callers.entry((&callee.module, &callee.address)).or_default();
            *sums = (sums.0 + callee.calls, sums.1 + callee.total_ns, sums.2 + callee.total_raw_ns);
        }
    }
    for function in &report.functions {
        let id = (&*function.module, &*function.address);
        let (calls, total_ns, total_raw_ns) = callers.get(&id).copied().unwrap_or_default();
        assert!(calls <= function.calls, "{} has {calls} callers, but {} calls", function.name, function.calls);
        if is_sum && recursive.is_empty() && !function.total_ns.is_nan() {
            let error = if gave_way { function.total_error_ns } else { 0.0 };
            assert_at_most(
                total_ns,
                function.total_ns + error,
                "the time of its calls, by caller, and its total",
                function,
            );
            assert_at_most(
                total_raw_ns,
                function.total_raw_ns + error,
                "the raw time of its calls, by caller, and its total",
                function,
            );
        }
    }
    let open: u64 = report.functions.iter().map(|function| function.open).sum();
    assert!(open <= report.calls);
    let unwound: u64 = report.functions.iter().map(|function| function.unwound).sum();
    assert!(unwound <= report.unwound, "{unwound} calls of functions were left, {} of all", report.unwound);
    for cost in [report.overhead.inner_ns, report.overhead.outer_ns, report.overhead.error_ns] {
        assert!(cost >= 0.0 && cost.is_finite(), "{:?}", report.overhead);
    }
}

/// Whether there are functions that are no more than passed through: a forked child has inherited them, and called
/// nothing in them. Recursion through them cannot be seen.
fn hides_functions(report: &Report) -> bool {
    let shown: BTreeSet<_> = report.functions.iter().map(|function| (&function.module, &function.address)).collect();
    let mut callees = report.functions.iter().flat_map(|function| &function.callees);
    callees.any(|callee| !shown.contains(&(&callee.module, &callee.address)))
}

/// Whether recursion may have been folded: a function had enough paths above each other for that.
fn is_folded(report: &Report, recursive: &BTreeSet<(&str, &str)>) -> bool {
    const LEAST_CALLS: u64 = 128;
    let is_here = |function: &&Function| recursive.contains(&(&*function.module, &*function.address));
    report.folded_calls > 0 || report.functions.iter().filter(is_here).any(|function| function.calls >= LEAST_CALLS)
}

/// Checks that the parts of a document (its processes, its threads) add up to the whole.
pub fn check_parts(whole: &Report, parts: &Document) {
    let mut sums: BTreeMap<(&str, &str), Part> = BTreeMap::new();
    for function in parts.reports.iter().flat_map(|report| &report.functions) {
        sums.entry((&function.module, &function.address)).or_default().add(function);
    }
    let sum = |what: fn(&Report) -> u64| parts.reports.iter().map(what).sum::<u64>();
    assert_eq!(sum(|report| report.calls), whole.calls, "calls of all parts");
    assert_eq!(sum(|report| report.lost_calls), whole.lost_calls, "lost calls of all parts");
    assert_eq!(sum(|report| report.folded_calls), whole.folded_calls, "folded calls of all parts");
    assert_eq!(sum(|report| report.unwound), whole.unwound, "unwound calls of all parts");
    assert_eq!(sums.len(), whole.functions.len(), "functions of all parts");
    let recursive = recursive(whole);
    for function in &whole.functions {
        let part = &sums[&(&*function.module, &*function.address)];
        let counts = (part.calls, part.inlined_calls);
        assert_eq!(counts, (function.calls, function.inlined_calls), "{} in all parts", function.name);
        // A thread that is cancelled inside a hook can leave one call too many as returned or left; the whole hides it.
        assert!(part.open >= function.open, "{}: {} open calls in all parts", function.name, part.open);
        let edges: u64 = function.callees.iter().map(|callee| callee.calls).sum();
        assert_eq!(part.callees, edges, "calls by {} in all parts", function.name);
        // Where many calls were not timed, those that were stand for them, in the whole others than in a part.
        let has_many_untimed = whole.untimed_calls > 0 && std::env::var_os("TEST_WINDOWS").is_some();
        if whole.timing != "all" || has_many_untimed || function.self_ns.is_nan() {
            continue;
        }
        // What is less than nothing in one part is cut off there, and uncertain. What a forked child has inherited and
        // not called is no row of its own.
        let near = |found: f64, expected: f64, error: f64, what: &str| {
            let allowed = error + ROUNDING * expected + CUT_OFF_NS * part.parts as f64;
            let is_near = found - expected <= allowed && (expected - found <= allowed || whole.processes > 1);
            assert!(is_near, "{what} of {}: {found} ns in all parts, {expected} ns in the whole", function.name);
        };
        // Calls that were not timed are taken to have taken as long as the others, in each part as in the whole.
        let untimed = function.total_raw_ns * whole.untimed_calls as f64 / whole.calls.max(1) as f64;
        near(part.self_raw_ns, function.self_raw_ns, untimed, "the raw self time");
        near(part.self_ns, function.self_ns, part.error_ns + function.total_error_ns + untimed, "the self time");
        if recursive.contains(&(&*function.module, &*function.address)) {
            continue; // what is taken off calls inside each other is more than what its total tells
        }
        // Of what windows have found each part's calls have their own share: the whole has the mean of that.
        let found = function.total_raw_ns - function.total_ns;
        for (of_parts, of_whole) in [(part.min_ns, function.min_ns), (part.max_ns, function.max_ns)] {
            assert_eq!(of_parts.is_some(), of_whole.is_some(), "extremes of {}", function.name);
            let (Some(of_parts), Some(of_whole)) = (of_parts, of_whole) else { continue };
            let allowed = found + part.error_ns + function.total_error_ns + untimed + CUT_OFF_NS;
            let is_near = (of_parts - of_whole).abs() <= allowed;
            assert!(is_near, "an extreme of {}: {of_parts} ns in all parts, {of_whole} ns in the whole", function.name);
        }
    }
}

/// A function's sums over parts.
#[derive(Default)]
struct Part {
    parts: u64,
    calls: u64,
    open: u64,
    inlined_calls: u64,
    callees: u64,
    self_ns: f64,
    self_raw_ns: f64,
    error_ns: f64,
    min_ns: Option<f64>,
    max_ns: Option<f64>,
}

impl Part {
    fn add(&mut self, function: &Function) {
        self.parts += 1;
        self.calls += function.calls;
        self.open += function.open;
        self.inlined_calls += function.inlined_calls;
        self.callees += function.callees.iter().map(|callee| callee.calls).sum::<u64>();
        if !function.self_ns.is_nan() {
            self.self_ns += function.self_ns;
            self.self_raw_ns += function.self_raw_ns;
            self.error_ns += function.total_error_ns;
        }
        let fold = |known: Option<f64>, new: Option<f64>, choose: fn(f64, f64) -> f64| match (known, new) {
            (Some(known), Some(new)) => Some(choose(known, new)),
            (known, new) => known.or(new),
        };
        self.min_ns = fold(self.min_ns, function.min_ns, f64::min);
        self.max_ns = fold(self.max_ns, function.max_ns, f64::max);
    }
}

fn check_function(function: &Function, is_recursive: bool, is_timed: bool, is_sum: bool, error: f64) {
    let f = function;
    assert!(f.open <= f.calls, "{f:#?}");
    assert!(f.inlined_calls <= f.calls, "{f:#?}");
    if !is_timed || f.total_ns.is_nan() {
        return; // its calls were only counted
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
    let all = |time: fn(&Callee) -> f64| f.callees.iter().map(time).sum::<f64>();
    let (total_ns, total_raw_ns) = (all(|callee| callee.total_ns), all(|callee| callee.total_raw_ns));
    assert_at_most(total_ns, f.total_ns + error, "the callees' total and the caller's", f);
    assert_at_most(total_raw_ns, f.total_raw_ns + error, "the callees' raw total and the caller's", f);
    if !is_recursive && is_sum {
        // Its total is what it and its callees took. So, over all functions, self times add up to the roots' totals.
        assert_at_most(f.total_ns, f.self_ns + total_ns + error, "the total and its parts", f);
        assert_at_most(f.self_ns + total_ns, f.total_ns + error, "all parts and the total", f);
        assert_at_most(f.total_raw_ns, f.self_raw_ns + total_raw_ns + error, "the raw total and its parts", f);
        assert_at_most(f.self_raw_ns + total_raw_ns, f.total_raw_ns + error, "all raw parts and the total", f);
    }
}

/// The stated errors of what a function has called, each by its share of the calls.
fn error_of_callees(report: &Report, function: &Function) -> f64 {
    let error = |callee: &Callee| {
        let is_it = |other: &&Function| other.module == callee.module && other.address == callee.address;
        let all = report.functions.iter().find(is_it);
        all.map_or(0.0, |all| all.total_error_ns * callee.calls as f64 / all.calls.max(1) as f64)
    };
    function.callees.iter().map(error).sum()
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
