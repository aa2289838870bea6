//! Threads: each counts for itself, and the sums are exact.

mod common;

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;

use common::{Build, each_build, fixture};

#[test]
fn at_once() {
    each_build("threads.c", |program| {
        let recorded = program.record().args(&["together", "8", "1000"]).logged().run();
        recorded.report().assert_calls(
            "1 main
             1 main → together
             1 together
             8 work
             8_000 work → leaf
             8_000 leaf",
        );
        recorded.assert_agrees_with_the_event_log();
    });
}

/// A thread's first hook took 13 KB of its stack, and its second new path had all mappings read: 1,000 threads took 8 s of processor time.
#[test]
fn hundreds_at_once_on_the_smallest_stacks() {
    each_build("small-stacks.c", |program| {
        let recorded =
            program.wrapped("ulimit -t 5; exec \"$PROGRAM\" \"$@\"").record().arg("1000").set("WINDOWS", "0").run();
        assert_eq!(recorded.status.code(), Some(0));
        recorded.report().assert_calls(
            "1 main
             2_000 work
             200_000 work → leaf
             200_000 leaf",
        );
    });
}

#[test]
fn each_has_its_own_report() {
    each_build("threads.c", |program| {
        let recorded = program.record().args(&["together", "8", "1000"]).run();
        let reports = recorded.reports_by_thread();
        let tids: BTreeMap<u32, u64> =
            reports.iter().map(|report| (report.thread.as_ref().unwrap().tid, report.calls)).collect();
        assert_eq!(tids.len(), 9, "{tids:?}");
        let of_threads: Vec<_> = reports.iter().filter(|report| report.has("work")).collect();
        assert_eq!(of_threads.len(), 8);
        for report in of_threads {
            report.assert_calls("1 work\n 1_000 work → leaf\n 1_000 leaf");
        }
    });
}

#[test]
fn one_after_the_other() {
    each_build("threads.c", |program| {
        let recorded = program.record().args(&["in-turn", "500", "3"]).logged().run();
        recorded.report().assert_calls(
            "1 main
             1 main → in_turn
             1 in_turn
             500 in_turn → together
             500 together
             500 work
             1_500 work → leaf
             1_500 leaf",
        );
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn many_short_ones_leave_a_small_file() {
    each_build("threads.c", |program| {
        let recorded = program.record().args(&["in-turn", "5000", "2"]).run();
        let report = recorded.report();
        assert_eq!((report.function("work").calls, report.function("leaf").calls), (5_000, 10_000));
        assert_eq!((report.unwound, report.open(), report.lost_calls), (0, [].into(), 0));
        let [profile] = &recorded.profiles()[..] else { panic!("one profile") };
        let size = profile.metadata().unwrap().blocks() * 512;
        assert!(size < 4 << 20, "{size} bytes");
    });
}

const LEFT: &str = "
    1 main
    1 main → together
    1 together
    50 work
    100 work → leaf
    100 leaf
    50 work → leave
    50 leave";

#[test]
fn ended_by_pthread_exit_or_cancelled() {
    each_build("threads.c", |program| {
        for how in ["left", "cancelled"] {
            let recorded = program.record().args(&[how, "50", "2"]).logged().run();
            let report = recorded.report();
            report.assert_calls(LEFT);
            let left_open = [("leave", 50), ("work", 50)].into();
            assert_eq!((report.unwound, report.open(), report.lost_calls), (0, left_open, 0), "{how}");
            recorded.assert_agrees_with_the_event_log();
        }
    });
}

/// It took long once to let signals in after a new path: the thread's open calls were told to have begun so much later, as it could have
/// taken as long the next time.
#[test]
fn whose_signals_were_let_in_late() {
    let slow = fixture("slow-unblocking.c", Build::GCC_O2).path;
    let script = format!("exec '{}' \"$PROGRAM\" \"$@\"", slow.display());
    each_build("threads.c", |program| {
        let program = program.wrapped(&script);
        // What it took is asked after where the thread was not switched out, as far as is known.
        let recorded = program.record().args(&["cancelled", "4", "2"]).set("WAITS", "0").set("WINDOWS", "0").run();
        let report = recorded.report();
        assert_eq!(report.open(), [("leave", 4), ("work", 4)].into());
        assert!(report.function("work").self_raw_ns > 0.0, "{:#?}", report.function("work"));
    });
}

#[test]
fn a_thread_that_ends_the_process() {
    each_build("threads.c", |program| {
        let recorded = program.record().args(&["exit", "1", "5"]).logged().run();
        assert_eq!(recorded.status.code(), Some(3));
        let [report] = &recorded.reports_by_process()[..] else { panic!("one process") };
        report.assert_calls(
            "1 main
             1 main → together
             1 together
             1 work
             5 work → leaf
             5 leaf
             1 work → leave
             1 leave",
        );
        assert_eq!(report.process.as_ref().unwrap().state, "exited");
        assert_eq!(report.open(), [("leave", 1), ("main", 1), ("together", 1), ("work", 1)].into());
        recorded.assert_agrees_with_the_event_log();
    });
}
