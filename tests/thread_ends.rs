//! What happens around the ends of threads.

mod common;

use std::os::unix::fs::MetadataExt;

use common::{builds, each_build, fixture_with};

#[test]
fn two_hundred_and_fifty_six_at_once() {
    each_build("threads.c", |program| {
        let recorded = program.record().args(&["together", "256", "100"]).logged().run();
        recorded.report().assert_calls(
            "1 main
             1 main → together
             1 together
             256 work
             25_600 work → leaf
             25_600 leaf",
        );
        assert_eq!(recorded.reports_by_thread().len(), 257);
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn destructors_of_thread_specific_values() {
    each_build("thread-ends.c", |program| {
        let recorded = program.record().args(&["destructors", "200"]).logged().run();
        recorded.assert_agrees_with_the_event_log();
        let report = recorded.report();
        report.assert_calls(
            "1 main
             200 work
             2_000 work → leaf
             800 clean_up
             800 clean_up → leaf
             2_800 leaf",
        );
        assert_eq!((report.unwound, report.open(), report.lost_calls), (0, [].into(), 0));
    });
}

#[test]
fn destructors_in_thousands_of_threads_leave_a_small_file() {
    each_build("thread-ends.c", |program| {
        let recorded = program.record().args(&["destructors", "5000"]).run();
        assert_eq!(recorded.report().function("clean_up").calls, 20_000);
        let [profile] = &recorded.profiles()[..] else { panic!("one profile") };
        let size = profile.metadata().unwrap().blocks() * 512;
        assert!(size < 4 << 20, "{size} bytes");
    });
}

/// Who unwinds a thread that is cancelled in a hook finds the program behind it: it ended there, and what was locked stayed so.
#[test]
fn cancelled_anywhere_all_is_undone_that_was_begun() {
    for build in builds() {
        let program = fixture_with("thread-ends.c", *build, &["-fexceptions"]).unwrap();
        // Its output is held against that of a run without the recorder.
        program.record().args(&["asynchronous", "300"]).run();
    }
}

#[test]
fn detached_or_waiting_while_main_returns() {
    each_build("thread-ends.c", |program| {
        for how in ["detached", "waiting"] {
            let recorded = program.record().args(&[how, "50"]).logged().run();
            let report = recorded.report();
            report.assert_calls(
                "1 main
                 50 work
                 500 work → leaf
                 500 leaf",
            );
            assert_eq!((report.unwound, report.open(), report.lost_calls), (0, [].into(), 0), "{how}");
            recorded.assert_agrees_with_the_event_log();
        }
    });
}

#[test]
fn running_while_main_returns() {
    each_build("thread-ends.c", |program| {
        let report = program.record().args(&["running", "8"]).run().report();
        let run_away = report.function("run_away");
        assert_eq!((run_away.calls, run_away.callee("leaf").calls, run_away.callee("work_on").calls), (8, 8_000, 8));
        let open = report.open();
        assert_eq!((open["run_away"], open["work_on"]), (8, 8), "{open:?}");
        assert!(open.get("leaf").is_none_or(|&leaves| leaves <= 8) && open.len() <= 3, "{open:?}");
        let leaf = report.function("leaf").calls;
        assert_eq!(leaf, 8_000 + report.function("work_on").callee("leaf").calls);
        assert_eq!((report.unwound, report.lost_calls), (0, 0));
    });
}

#[test]
fn cancelled_anywhere() {
    each_build("thread-ends.c", |program| {
        let report = program.record().args(&["asynchronous", "200"]).run().report();
        let undo = report.function("undo");
        assert_eq!((undo.calls, undo.callee("leaf").calls), (200, 200));
        assert_eq!(report.lost_calls, 0);
    });
}
