//! A report, made by hand.

use std::collections::BTreeSet;

use crate::report::{Callee, Document, Format, Function, Layout, Report, Site, Spent};
use crate::subject::{Clock, Overhead, Process, Subject};
use diytrace_profile::functions::{CallKind, Kinds};
use diytrace_profile::timeline::{Timeline, TimelineSlice};
use diytrace_profile::units::Address;

/// A server's report: with roots, or without.
pub fn document(roots: &[&str]) -> Document {
    let mut functions = vec![
        Function {
            timeline: Some(timeline()),
            callees: vec![callee("parse", 0x1300, 1_200_000.0), inlined()],
            ..function("handle", 0x1200, 100_000)
        },
        Function { total_ns: 1_200_000.0, self_ns: 1_200_000.0, ..function("parse", 0x1300, 100_000) },
        Function {
            total_ns: 20_000.0,
            self_ns: 20_000.0,
            mean_ns: Some(0.1),
            ..function("std::vector<int, std::allocator<int> >::operator[](unsigned long)", 0x1400, 200_000)
        },
    ];
    for function in &mut functions {
        function.root = roots.contains(&function.name.as_str());
    }
    let process = Process {
        pid: 42,
        ppid: 1,
        exe: "/srv/server".to_owned(),
        cmdline: vec!["server".to_owned()],
        started_unix_ns: 1_700_000_000_000_000_000,
        state: "exited",
    };
    let subject = Subject {
        label: None,
        process: Some(process),
        thread: None,
        processes: 1,
        programs: vec!["/srv/server".to_owned()],
        calls: 400_000,
        lost_calls: 0,
        folded_calls: 12,
        unwound: 0,
        untimed_calls: 0,
        has_folded_recursion: false,
        timing: "all",
        open_bounds: BTreeSet::new(),
        overhead: Overhead { inner_ns: 8.25, outer_ns: 13.0, error_ns: 0.5, windows: 40 },
        preempted_ns: Some(0.0),
        preempted_share: 0.0,
    };
    Document {
        schema: "diytrace-report/1",
        clock: Clock { source: "tsc", hz: 2e9 },
        runs: 1,
        warnings: vec!["something is odd".to_owned()],
        roots: roots.iter().map(|&root| root.to_owned()).collect(),
        raw: false,
        reports: vec![Report {
            subject,
            all_self_ns: 3_000_000.0,
            unlisted: 0,
            unlisted_calls: 0,
            unlisted_roots: 0,
            unlisted_self_ns: 0.0,
            all_self_spent_ns: None,
            functions,
        }],
        limit: None,
        layout: if roots.is_empty() { Layout::Functions(Vec::new()) } else { Layout::Roots },
        format: Format::Table,
    }
}

fn function(name: &str, address: u64, calls: u64) -> Function {
    Function {
        name: name.to_owned(),
        symbol: Some(name.to_owned()),
        build: None,
        module: "/srv/server".to_owned(),
        address: Address(address),
        file: Some("/src/server.c".to_owned()),
        line: Some(7),
        root: false,
        calls,
        are_only_counted: false,
        open: 0,
        open_ns: 0.0,
        open_bound: None,
        entered_before: None,
        unwound: 0,
        inlined_calls: 0,
        total_ns: 3_000_000.0,
        self_ns: 1_780_000.0,
        total_error_ns: 50_000.0,
        self_error_ns: 10_000.0,
        spent: Spent::default(),
        total_raw_ns: 9_000_000.0,
        self_raw_ns: 5_000_000.0,
        mean_ns: Some(30.0),
        min_ns: Some(10.0),
        p50_ns: Some(25.0),
        p75_ns: Some(40.0),
        p90_ns: Some(45.5),
        p95_ns: Some(50.0),
        p99_ns: Some(80.0),
        p999_ns: Some(1_234.0),
        max_ns: Some(56_789.0),
        processes: 1,
        addresses: 1,
        kinds: Kinds { direct: calls, ..Kinds::default() },
        inlined_into: Vec::new(),
        histogram: None,
        timeline: None,
        callees: Vec::new(),
    }
}

/// A burst, a pause, and fewer calls that take longer.
fn timeline() -> Timeline {
    let slice = |index: u64| match index {
        0..30 => TimelineSlice { calls: 2_000.0 + 50.0 * index as f64, total_ns: 20_000.0 + 500.0 * index as f64 },
        30..60 => TimelineSlice::default(),
        _ => TimelineSlice { calls: 400.0, total_ns: 50_000.0 },
    };
    Timeline { start_unix_ns: 1_700_000_000_000_000_000, slice_ns: 9.4e6, slices: (0..100).map(slice).collect() }
}

fn callee(name: &str, address: u64, total_ns: f64) -> Callee {
    Callee {
        name: name.to_owned(),
        module: "/srv/server".to_owned(),
        build: None,
        address: Address(address),
        call: CallKind::Direct,
        via: Some("qsort".to_owned()),
        sites: vec![Site {
            address: Address(0x1250),
            file: None,
            line: None,
            calls: 100_000,
            call: CallKind::Direct,
            via: Some("qsort".to_owned()),
        }],
        calls: 100_000,
        total_ns,
        self_ns: total_ns,
        spent: Spent::default(),
        total_raw_ns: 2.0 * total_ns,
        total_error_ns: 25_000.0,
        self_error_ns: 5_000.0,
        nested_ns: 0.0,
    }
}

fn inlined() -> Callee {
    let name = "std::vector<int, std::allocator<int> >::operator[](unsigned long)";
    Callee { call: CallKind::Inlined, via: None, calls: 199_999, ..callee(name, 0x1400, 20_000.0) }
}
