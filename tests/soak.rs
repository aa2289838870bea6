//! Random trees of calls, compared with what the program counts itself, and with the independent event log: every function,
//! every caller, every process.

mod common;

use common::{Program, assert_same_counts, builds, fixture};

const SEEDS: std::ops::Range<u32> = 0..12;

fn compare(program: &Program, how: &str, seed: u32) {
    eprintln!("── random-tree {how} {seed} by {}", program.build); // shown if the story ends badly
    let recorded = program.record().args(&[how, &seed.to_string()]).logged().run();
    let report = recorded.report();
    assert_eq!((report.lost_calls, report.folded_calls), (0, 0));
    let of_the_program = recorded.stdout.lines().map(|line| {
        let [caller, callee, calls] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        (format!("{caller} → {callee}"), calls.parse().unwrap())
    });
    let mut counts = report.counts();
    counts.retain(|who, _| who.starts_with('f') && who.contains('→'));
    assert_same_counts(&counts, &of_the_program.collect());
    if how == "direct" {
        recorded.assert_agrees_with_the_event_log();
    }
}

/// Every build has half of the seeds.
fn compare_all(how: &str) {
    for (index, &build) in (0..).zip(builds()) {
        let program = fixture("random-tree.c", build);
        SEEDS.filter(|seed| (seed / 2 + index) % 2 == 0).for_each(|seed| compare(&program, how, seed));
    }
}

#[test]
fn calls_from_places_of_their_own() {
    compare_all("direct");
}

#[test]
fn calls_through_one_pointer() {
    compare_all("indirect");
}
