//! Programs that give up system calls, or the clock, in ways that leave little.

mod common;

use common::each_build;

#[test]
fn the_strict_mode() {
    each_build("confined.c", |program| {
        let recorded = program.record().arg("strict").run();
        assert_eq!(recorded.status.code(), Some(0));
        let document = recorded.document(&[]);
        assert!(document.warns_of(&["clock"]), "{:?}", document.warnings);
        let report = document.into_only_report();
        // The kernel forbids the clock: what comes behind is counted by function.
        let calls = ["known", "fresh"].map(|name| report.function(name).calls);
        assert_eq!((calls, report.folded_calls, report.lost_calls), ([2_001, 1], 1_002, 0));
    });
}

#[test]
fn a_child() {
    each_build("confined.c", |program| {
        let report = program.record().arg("child").run().report();
        report.assert_calls(
            "1 main
             2_000 main → known
             1 main → fresh
             1 fresh
             1 fresh → known
             2_001 known",
        );
        assert_eq!((report.lost_calls, report.folded_calls), (0, 0));
    });
}

/// Only the thread that restricts them all has room made ahead.
#[test]
fn all_threads_at_once() {
    each_build("confined.c", |program| {
        let report = program.record().arg("threads").run().report();
        let calls = |name: &str| report.function(name).calls;
        assert_eq!(calls("main") + calls("known") + calls("fresh") + report.lost_calls, 1 + 2_003 + 2);
        assert_eq!(report.function("main").callee("known").calls, 2_000);
    });
}

#[test]
fn no_clock() {
    each_build("timeless.c", |program| {
        let document = program.record().run().document(&[]);
        assert!(document.warns_of(&["clock"]) && document.warns_of(&["see above"]), "{:?}", document.warnings);
        assert!(!document.warns_of(&["larger DIYTRACE_MEMORY"]), "more would not help: {:?}", document.warnings);
        let report = document.into_only_report();
        let calls = ["known", "fresh"].map(|name| report.function(name).calls);
        assert_eq!((calls, report.folded_calls, report.lost_calls), ([2_000, 1_000], 2_000, 0));
    });
}
