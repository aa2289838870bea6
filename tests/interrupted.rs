//! Handlers that come while the recorder makes room: deep calls of theirs, and jumps out of whatever it does.

mod common;

use std::collections::BTreeMap;

use common::{Document, Program, assert_same_counts, each_build, parse_counts};

const PROCESSES: u64 = 300;
const JUMPS: u64 = 20_000;

/// What the program printed, apart from the calls of its functions, the calls, and what was recorded.
fn interrupt(program: &Program, how: &str, number: u64) -> ((u64, u64), BTreeMap<String, u64>, Document) {
    let number = number.to_string();
    let recorded = program.record().args(&[how, &number]).with_output_of_its_own().run();
    let mut said = parse_counts(&recorded.stdout);
    let [killed, ticks] = ["killed", "ticks"].map(|what| said.remove(what).unwrap());
    said.retain(|_, calls| *calls > 0);
    ((killed, ticks), said, recorded.document(&[]))
}

/// Of 300 processes 132 died: the handler's frames moved the stack of frames away under a hook that was about to fill one.
#[test]
fn a_handler_with_deep_calls_comes_while_frames_and_paths_are_made() {
    each_build("interrupted.c", |program| {
        let (killed_and_ticks, calls, document) = interrupt(program, "deep", PROCESSES);
        assert_eq!(killed_and_ticks, (0, PROCESSES), "killed, and ticks");
        let report = document.into_only_report();
        let mut recorded = report.counts();
        recorded.retain(|who, _| !who.contains('→'));
        assert_same_counts(&recorded, &calls);
        assert_eq!((report.lost_calls, report.unwound), (0, 0));
    });
}

/// Every jump leaves one call at most that has been entered, and has not counted itself. What follows a jump is no part of
/// what was left.
#[test]
fn a_handler_jumps_out_of_hooks_many_thousand_times() {
    each_build("interrupted.c", |program| {
        let ((_, ticks), calls, document) = interrupt(program, "jump", JUMPS);
        for words in ["were reset", "sound clock", "damaged"] {
            assert!(!document.warns_of(&[words]), "{:?}", document.warnings);
        }
        let report = document.into_only_report();
        let mut left = 0;
        for (name, calls) in &calls {
            let recorded = report.function(name).calls;
            assert!((*calls..=calls + JUMPS).contains(&recorded), "{name}: {recorded} calls, expected {calls}");
            left += recorded - calls;
        }
        assert!(left <= JUMPS && ticks == JUMPS, "{left} calls have not counted themselves after {ticks} jumps");
        let [work, main] = ["work", "main"].map(|name| report.function(name));
        assert_eq!(main.callee("work").calls, work.calls, "who calls `work`: {:#?}", report.counts());
        assert_eq!(report.lost_calls, 0);
    });
}

/// Signals are not blocked for every path where a program has made many and has no handler. One that it gets after it was asked
/// loses no call, and none of the path that it interrupts.
#[test]
fn a_handler_that_comes_after_many_paths_were_made() {
    each_build("late-handler.c", |program| {
        let recorded = program.record().with_output_of_its_own().run();
        let ticks: u64 = recorded.stdout.trim().parse().unwrap();
        assert!(ticks > 0, "no signal came");
        let report = recorded.document(&[]).into_only_report();
        let calls = |name: &str| report.function(name).calls;
        assert_eq!((calls("on_tick"), calls("in_handler")), (ticks, 2 * ticks));
        for (level, name) in ["tree", "tree_1", "tree_2", "tree_3", "tree_4", "tree_5"].into_iter().enumerate() {
            assert_eq!(calls(name), 4 * 8_u64.pow(level as u32), "{name}");
        }
        assert_eq!(report.lost_calls, 0);
    });
}

/// Where the stack ended while the recorder had signals blocked, and the handler went on by `longjmp`, no signal came any more.
#[test]
fn signals_come_in_after_a_stack_has_ended_in_the_recorder() {
    each_build("end-of-stack.c", |program| {
        for windows in ["131072", "5"] {
            let recorded = program.record().set("WINDOWS", windows).run();
            assert_eq!((recorded.stdout.as_str(), recorded.status.code()), ("0\n", Some(0)), "windows of {windows}");
        }
    });
}

/// Nor was it noticed that what the stack's end had interrupted was left: for long, calls were counted by function only, for want of room, the
/// report said.
#[test]
fn calls_have_callers_after_a_stack_has_ended_in_the_recorder() {
    each_build("end-of-stack.c", |program| {
        for windows in ["3", "5", "10"] {
            let report = program.record().arg("12").set("WINDOWS", windows).run().report();
            let counts = report.counts();
            assert_eq!((report.folded_calls, report.lost_calls), (0, 0), "windows of {windows}");
            assert_eq!(counts["leaf"], counts["descend → leaf"], "windows of {windows}");
        }
    });
}
