//! Calibration windows in which calls are only noted, and counted later. With `WINDOWS=50` most calls of a program are in
//! such windows, and each of them is counted all the same.

mod common;

use std::collections::BTreeMap;
use std::fs;

use common::{Recorded, each_build};
use diytrace_format::Calibration;
use diytrace_format::header::clock::TSC;
use diytrace_format::reader::File;

/// The windows of a recording, in 1/1024 ticks.
struct Windows {
    /// What a call and its exit take to record in a loop.
    pair: f64,
    /// What each arena that has had any has found.
    results: Vec<Calibration>,
}

impl Windows {
    /// What timed calls took, window by window, of the arena that has had the most.
    fn timed(&self) -> Vec<f64> {
        let most = self.results.iter().max_by_key(|results| results.made).unwrap();
        let timed = |window: usize| f64::from(most.differences[window]) + f64::from(most.noted[window]);
        (0..most.count as usize).map(timed).collect()
    }
}

/// `None` where the processor has no clock that they could go by.
fn windows(recorded: &Recorded) -> Option<Windows> {
    let bytes = fs::read(&recorded.profiles()[0]).unwrap();
    let file = File::open(&bytes).unwrap();
    let records = file.blocks().filter_map(|block| Some(file.arena(&block)?.calibration)).filter(|record| *record != 0);
    let results = records.filter_map(|record| file.calibration(record)).collect();
    let pair = (file.header().inner_cost + file.header().outer_cost) as f64;
    (file.header().clock == TSC).then_some(Windows { pair, results })
}

#[test]
fn calls_of_threads_and_forked_children_are_counted_with_their_callers() {
    each_build("random-tree.c", |program| {
        for seed in ["11", "12", "13"] {
            let recorded = program.record().args(&["calm", seed]).set("WINDOWS", "50").logged().run();
            recorded.assert_agrees_with_the_event_log();
        }
    });
}

#[test]
fn recursion() {
    each_build("recursion.c", |program| {
        for (shape, n) in [("down", "900"), ("fib", "14"), ("parity", "800"), ("ring", "300"), ("branch", "7")] {
            let recorded = program.record().args(&[shape, n]).set("WINDOWS", "50").logged().run();
            recorded.assert_agrees_with_the_event_log();
        }
    });
}

/// Bodies that are inlined into the call that all others in a window are made from have its stack pointer, and the recorder counts
/// those that are open. It was once wrong about them where a window's last quarter, in which each hook notes twice, had no room
/// for the first of the two notes.
#[test]
fn bodies_in_one_frame_are_told_from_the_call_whose_frame_it_is() {
    each_build("recursion.c", |program| {
        for windows in ["30", "30", "30", "30", "50", "50", "50", "77", "100", "300"] {
            let report = program.record().args(&["fib", "18"]).set("WINDOWS", windows).run().report();
            assert_eq!((report.function("fib").calls, report.unwound), (8361, 0));
        }
    });
}

/// What gcc splits exits elsewhere than where it is inlined. Such bodies were taken for open for good: in a loop over some, every window ended
/// before its time, and what hooks cost was guessed in programs of millions of calls (Lua, whose strings are joined so).
#[test]
fn bodies_that_exit_elsewhere_end_no_window() {
    each_build("split-loop.c", |program| {
        let recorded = program.record().set("WINDOWS", "3000").run();
        let report = recorded.report();
        report.assert_calls(
            "1 main
             1 main → loop
             1 loop
             100_000 loop → whole
             100_000 whole
             100_000 whole → split
             100_000 split
             100_000 split → leaf
             100_000 whole → leaf
             200_000 leaf",
        );
        assert_eq!(report.unwound, 0);
        let Some(windows) = windows(&recorded) else { return };
        assert!(windows.results.iter().map(|results| results.made).sum::<u64>() >= 8);
    });
}

/// It bounds what is taken for noting: without it, times of short calls are too short.
#[test]
fn what_an_empty_call_takes_is_measured_between_windows() {
    each_build("recursion.c", |program| {
        let recorded = program.record().args(&["fib", "24"]).set("WINDOWS", "300").run();
        let Some(windows) = windows(&recorded) else { return };
        let measured: Vec<f64> = windows.results.iter().map(|results| f64::from(results.empty_call)).collect();
        // Three calls and returns: a few ticks at least, and no more than hooks that record would take.
        let possible = 2.0 * 1024.0..windows.pair;
        assert!(measured.iter().all(|ticks| possible.contains(ticks)), "{measured:?} of {possible:?}");
        assert!(!measured.is_empty());
    });
}

/// Where others had the processor for more than half of the time, the calls before a window were once taken for all that were timed
/// since the one before: but windows are where nobody came between, and what calls cost after others have used the caches is
/// in none of them. Here the calls before the first window are slow, and those in it are not.
#[test]
fn what_calls_take_between_windows_counts_however_often_others_had_the_processor() {
    each_build("preempted.c", |program| {
        let recorded = program.record().arg("20000").set("WINDOWS", "20000").run();
        let Some(windows) = windows(&recorded) else { return };
        let timed = windows.timed();
        let quick = timed.iter().skip(1).take(7).copied().fold(f64::INFINITY, f64::min);
        assert!(timed[0] > 1.5 * quick, "{timed:?}");
    });
}

/// Where others took the processor from a thread in a window, what they had it for was once taken off the calls after the window,
/// which then seemed to have taken nothing.
#[test]
fn what_a_thread_was_off_the_processor_in_a_window_is_not_taken_off_the_calls_after_it() {
    each_build("preempted.c", |program| {
        let recorded = program.record().args(&["20000", "often"]).set("WINDOWS", "700").run();
        let Some(windows) = windows(&recorded) else { return };
        // As much as hooks take in a loop, or nearly: less is no call that was recorded. A third of it, as a processor may
        // be faster after it was measured.
        let (timed, least) = (windows.timed(), windows.pair / 3.0);
        assert!(!timed.is_empty() && timed.iter().all(|ticks| *ticks > least), "{timed:?} beside {least}");
    });
}

/// The same where the processor was taken at the very end of a window: that was taken off the calls that were open, and told as
/// others' time all the same, so that these had it for longer than calls took.
#[test]
fn others_have_the_processor_for_no_longer_than_calls_take() {
    each_build("preempted.c", |program| {
        for _ in 0..3 {
            let report = program.record().args(&["100000", "often"]).set("WINDOWS", "30").run().report();
            if let Some(preempted) = report.all_self_preempted_ns {
                assert!(preempted <= report.all_self_ns, "{preempted} of {}", report.all_self_ns);
            }
        }
    });
}

/// Calls whose exit was noted, further down the stack than their entry, once seemed to go on for ever, and were in no percentile.
#[test]
fn calls_that_return_below_where_they_entered_have_returned() {
    each_build("pushed-arguments.c", |program| {
        for windows in ["30", "700", "131072"] {
            let report = program.record().set("WINDOWS", windows).run().report();
            report.assert_calls(
                "1 main\n20000 main → step\n20000 step\n20000 step → prepare\n20000 prepare\n20000 prepare → many\n20000 many\n\
                 3990000 many → leaf\n3990000 leaf",
            );
            let open: Vec<_> =
                report.functions.iter().filter(|function| function.open + function.unwound > 0).collect();
            assert!(open.is_empty(), "{windows}: {open:?}");
        }
    });
}

/// The first call after a jump, met in a window: whether the call that was left is its caller was only asked of code in that one's
/// module, and all later calls were under it.
#[test]
fn a_call_after_a_jump_out_of_a_library_is_its_callers() {
    each_build("jump-of-library.c", |program| {
        for (windows, how) in
            [("7", &["3000"][..]), ("30", &["3000"]), ("50", &["3000"]), ("30", &["3000", "by-pointer"])]
        {
            let report = program.record().args(how).set("WINDOWS", windows).run().report();
            report.assert_calls(
                "1 main\n3000 main → step\n3000 step\n120000 step → before\n120000 before\n3000 step → attempt\n3000 attempt\n\
                 3000 attempt → thrower\n3000 thrower\n997 attempt → after\n997 after",
            );
        }
    });
}

/// A window that begins may be the first to look for the thread's stack, where an arena of another process has all paths. What that
/// took was once taken off the calls twice, and they ended before they had begun.
#[test]
fn what_is_spent_within_other_work_of_the_recorder_is_taken_off_once() {
    each_build("last-calls.c", |program| {
        let recorded = program.record().arg("100").set("KEEP", "0").set("WINDOWS", "1").run();
        let document = recorded.document(&[]);
        assert!(!document.warns_of(&["the clock stepped back in"]), "{:?}", document.warnings);
        recorded.report().assert_calls("1 main\n100 main → request\n100 request\n300 request → step\n300 step");
    });
}

/// The parent goes on, and its window may be over when the child looks into the ring.
#[test]
fn a_child_that_fork_knows_nothing_of_finds_the_calls_that_were_open() {
    each_build("cloned.c", |program| {
        for n in ["40", "61", "90", "150"] {
            let recorded = program.record().arg(n).set("WINDOWS", "20").run();
            let report = recorded.report();
            let calls = |from: &str, to: &str| report.function(from).callee(to).calls;
            let n: u64 = n.parse().unwrap();
            assert_eq!((calls("inner", "in_the_child"), calls("outer", "step")), (1, n + n % 7));
        }
    });
}

/// The process is killed in a window; with these numbers in some run in each third of one, and between two.
#[test]
fn what_lies_in_the_ring_of_a_killed_process_is_counted_by_the_reader() {
    each_build("killed.c", |program| {
        for windows in ["2", "3", "7", "20", "50", "300", "900"] {
            let recorded = program.record().arg("9").set("WINDOWS", windows).run();
            recorded.report().assert_calls(
                "1 main
                 1 main → outer
                 1 outer
                 1_000 outer → step
                 1_000 step
                 1 outer → last
                 1 last",
            );
        }
    });
}

#[test]
fn no_windows_are_made_where_none_are_wanted() {
    each_build("busy.c", |program| {
        let recorded = program.record().arg("600000").set("WINDOWS", "0").run();
        let report = recorded.report();
        assert_eq!((report.function("leaf").calls, report.untimed_calls), (1_500_000, 0));
    });
}

/// The code that a call was made from was looked up where it would return to: another function's, if the call is the last instruction of its own.
#[test]
fn calls_that_do_not_return_are_made_from_what_lies_before_them() {
    each_build("last-instructions.c", |program| {
        for windows in ["7", "30", "50"] {
            let report = program.record().set("WINDOWS", windows).run().report();
            let callees = |who: &str| {
                let callees = &report.function(who).callees;
                callees.iter().map(|callee| (callee.name.clone(), callee.calls)).collect::<BTreeMap<_, _>>()
            };
            for i in 0..8 {
                let (inner, middle) = (format!("inner_{i}"), format!("middle_{i}"));
                let next = if i < 7 { format!("outer_{}", i + 1) } else { "end".to_owned() };
                let of_outer = [("leaf".to_owned(), 3), (middle.clone(), 1)];
                assert_eq!(callees(&format!("outer_{i}")), of_outer.into(), "windows of {windows}");
                assert_eq!(callees(&middle), [(inner.clone(), 1)].into(), "windows of {windows}");
                assert_eq!(callees(&inner), [(next, 1)].into(), "windows of {windows}");
            }
        }
    });
}
