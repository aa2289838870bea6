//! Random trees of calls, compared with what the program counts itself, and with the independent event log.

mod common;

use std::collections::BTreeMap;

use common::{Program, Recorded, assert_same_counts, builds, fixture};

const SEEDS: std::ops::Range<u32> = 0..12;

/// Of so many calls one may be given to a caller that longjmp has left: when an old return address in a variable that has
/// no value yet says so, there is no telling.
const ONE_MISTAKE_IN: u64 = 1000;

#[test]
fn calls_that_return() {
    each_seed("calm", |recorded| {
        assert_same_counts(&callers(recorded), &callers_by_the_program(recorded));
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn jumps_out_of_calls() {
    each_seed("direct", |recorded| {
        assert_almost_the_same(&callers(recorded), &callers_by_the_program(recorded));
        recorded.assert_functions_agree_with_the_event_log();
    });
}

#[test]
fn jumps_out_of_calls_through_one_pointer() {
    each_seed("indirect", |recorded| {
        assert_almost_the_same(&callers(recorded), &callers_by_the_program(recorded));
        recorded.assert_functions_agree_with_the_event_log();
    });
}

/// Tells a story for every seed; of the builds, every other takes the even ones.
fn each_seed(how: &str, story: impl Fn(&Recorded)) {
    for (index, &build) in (0..).zip(builds()) {
        let program: Program = fixture("random-tree.c", build);
        for seed in SEEDS.filter(|seed| seed % 2 == index % 2) {
            eprintln!("── random-tree {how} {seed} by {build}"); // shown if the story ends badly
            let recorded = program.record().args(&[how, &seed.to_string()]).logged().run();
            story(&recorded);
        }
    }
}

fn callers(recorded: &Recorded) -> BTreeMap<String, u64> {
    let report = recorded.report();
    assert_eq!((report.lost_calls, report.folded_calls), (0, 0));
    let mut counts = report.counts();
    counts.retain(|who, _| who.starts_with('f') && who.contains('→'));
    counts
}

fn callers_by_the_program(recorded: &Recorded) -> BTreeMap<String, u64> {
    let count = |line: &str| {
        let [caller, callee, calls] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        (format!("{caller} → {callee}"), calls.parse().unwrap())
    };
    recorded.stdout.lines().map(count).collect()
}

#[track_caller]
fn assert_almost_the_same(found: &BTreeMap<String, u64>, expected: &BTreeMap<String, u64>) {
    let calls: u64 = expected.values().sum();
    assert_eq!(found.values().sum::<u64>(), calls);
    let missed = |(who, calls): (&String, &u64)| calls.saturating_sub(found.get(who).copied().unwrap_or(0));
    let mistaken: u64 = expected.iter().map(missed).sum();
    if mistaken * ONE_MISTAKE_IN > calls {
        assert_same_counts(found, expected);
    }
}
