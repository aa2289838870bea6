//! Programs that end without returning, and calls that are left in great numbers.

mod common;

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;

use common::{Build, Program, Recorded, each_build, fixture};

const TO_THE_LAST: &str = "
    1 main
    1 main → outer
    1 outer
    1_000 outer → step
    1 outer → last
    1 last";

#[test]
fn without_goodbye() {
    each_build("leaving.c", |program| {
        for (how, signal) in [("_exit", 0), ("_Exit", 0), ("abort", 6), ("fault", 11), ("trap", 4)] {
            let recorded = program.record().arg(how).logged().run();
            assert_eq!(recorded.status.signal().unwrap_or(0), signal, "{how}");
            recorded.assert_agrees_with_the_event_log();
            let [report] = &recorded.reports_by_process()[..] else { panic!("one process") };
            report.assert_calls(&format!("{TO_THE_LAST}\n 1_000 step"));
            assert_eq!(report.open(), [("last", 1), ("main", 1), ("outer", 1)].into(), "{how}");
            let state = if signal == 0 { "exited" } else { "killed" };
            assert_eq!(report.process.as_ref().unwrap().state, state, "{how}");
            assert_eq!((report.unwound, report.lost_calls), (0, 0), "{how}");
        }
    });
}

#[test]
fn with_handlers_that_say_goodbye() {
    each_build("leaving.c", |program| {
        for (how, status) in [("exit", 3), ("quick_exit", 4)] {
            let recorded = program.record().arg(how).logged().run();
            assert_eq!(recorded.status.code(), Some(status), "{how}");
            recorded.assert_agrees_with_the_event_log();
            let [report] = &recorded.reports_by_process()[..] else { panic!("one process") };
            report.assert_calls(&format!(
                "{TO_THE_LAST}
                 1 last → goodbye
                 1 goodbye
                 1 goodbye → step
                 1_001 step"
            ));
            assert_eq!(report.open(), [("last", 1), ("main", 1), ("outer", 1)].into(), "{how}");
        }
    });
}

#[test]
fn the_state_after_exit_and_quick_exit() {
    let program = fixture("leaving.c", Build::GCC_O0);
    for how in ["exit", "quick_exit"] {
        let recorded = program.record().arg(how).run();
        let state = |recorded: &Recorded| recorded.reports_by_process()[0].process.as_ref().unwrap().state.clone();
        assert_eq!(state(&recorded), "exited", "{how}");
    }
}

#[test]
fn by_a_function_that_never_returns() {
    each_build("leaving.c", |program| {
        let recorded = program.record().arg("noreturn").logged().run();
        assert_eq!(recorded.status.code(), Some(5));
        recorded.assert_agrees_with_the_event_log();
        let report = recorded.report();
        report.assert_calls(&format!(
            "{TO_THE_LAST}
             1 last → never
             1 never
             1 never → step
             1 never → goodbye
             1 goodbye
             1 goodbye → step
             1_002 step"
        ));
        assert_eq!(report.open(), [("last", 1), ("main", 1), ("never", 1), ("outer", 1)].into());
    });
}

#[test]
fn by_a_handler_of_the_fault() {
    each_build("leaving.c", |program| {
        let recorded = program.record().arg("handled").logged().run();
        assert_eq!(recorded.status.code(), Some(7));
        recorded.assert_agrees_with_the_event_log();
        let report = recorded.report();
        report.assert_calls(&format!(
            "{TO_THE_LAST}
             1 last → on_fault
             1 on_fault
             1 on_fault → step
             1_001 step"
        ));
        assert_eq!(report.open(), [("last", 1), ("main", 1), ("on_fault", 1), ("outer", 1)].into());
    });
}

fn assert_jumped(recorded: &Recorded, times: u64) {
    recorded.report().assert_calls(&format!(
        "1 main
         1 main → loop
         1 loop
         {times} loop → turn
         {times} turn
         {times} turn → on_signal
         {times} on_signal
         {times} on_signal → in_handler
         {times} in_handler
         {times} loop → after
         {times} after",
    ));
    let report = recorded.report();
    assert_eq!((report.unwound, report.open()), (3 * times, [].into()), "turn, on_signal and in_handler are left");
}

#[test]
fn jumps_out_of_handlers() {
    each_build("jumps.c", |program| {
        for stack in ["own", "alternate"] {
            let recorded = program.record().args(&[stack, "2000"]).logged().run();
            assert_jumped(&recorded, 2000);
            recorded.assert_agrees_with_the_event_log();
        }
    });
}

#[test]
fn jumps_over_many_frames() {
    each_build("jumps.c", |program| {
        let recorded = program.record().args(&["deep", "1000"]).logged().run();
        let report = recorded.report();
        report.assert_calls(
            "1 main
             1 main → loop
             1 loop
             1_000 loop → turn
             1_000 turn
             1_000 turn → down
             49_000 down → down
             50_000 down
             1_000 loop → after
             1_000 after",
        );
        assert_eq!((report.unwound, report.open()), (51_000, [].into()), "`turn` and fifty calls of `down` are left");
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn a_million_jumps_leave_a_small_file() {
    assert_a_million(&fixture("jumps.c", Build::GCC_O2), "alternate");
}

#[test]
#[ignore = "takes a minute: cargo test --test leaving -- --ignored"]
fn a_million_jumps_by_every_build() {
    each_build("jumps.c", |program| {
        for stack in ["own", "alternate"] {
            assert_a_million(program, stack);
        }
    });
}

fn assert_a_million(program: &Program, stack: &str) {
    let recorded = program.record().args(&[stack, "1000000"]).run();
    assert_jumped(&recorded, 1_000_000);
    let [profile] = &recorded.profiles()[..] else { panic!("one profile") };
    let size = profile.metadata().unwrap().blocks() * 512;
    assert!(size < 1 << 20, "{size} bytes");
}
