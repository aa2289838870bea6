//! Bodies that the compiler has inlined: counted as calls, and marked.

mod common;

use common::{assert_same_counts, each_build, parse_counts};

#[test]
fn bodies_that_are_always_inlined() {
    each_build("inlined.c", |program| {
        let recorded = program.record().logged().run();
        let report = recorded.report();
        report.assert_calls(
            "1 main
             1 main → add
             1 main → sum_up
             1 sum_up
             20 sum_up → add
             21 add
             21 add → check
             21 check",
        );
        assert_eq!((report.function("add").inlined_calls, report.function("check").inlined_calls), (21, 21));
        assert_eq!((report.function("main").inlined_calls, report.function("sum_up").inlined_calls), (0, 0));
        assert_eq!(report.function("main").callee("add").call, "inlined");
        assert_eq!(report.function("main").callee("sum_up").call, "direct");
        assert_eq!(report.function("sum_up").callee("add").call, "inlined");
        assert_eq!(report.function("add").callee("check").call, "inlined");
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn bodies_that_the_compiler_inlines_by_itself() {
    each_build("small.c", |program| {
        let recorded = program.record().logged().run();
        let report = recorded.report();
        report.assert_calls(
            "1 main
             5 main → grow
             5 grow
             5 grow → one
             5 one
             5 one → bump
             5 grow → two
             5 two
             5 two → bump
             10 bump
             2 main → apart
             2 apart",
        );
        let inlined = if program.build.is_optimized() { 10 } else { 0 };
        assert_eq!(report.function("bump").inlined_calls, inlined);
        assert_eq!(report.function("apart").inlined_calls, 0);
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn an_inlined_body_as_root() {
    each_build("inlined.c", |program| {
        let report = program.record().roots("add").run().report();
        report.assert_calls(
            "21 add
             21 add → check
             21 check",
        );
    });
}

#[test]
fn an_inlined_body_that_is_excluded() {
    each_build("inlined.c", |program| {
        let report = program.record().set("EXCLUDE", "add").run().report();
        report.assert_calls(
            "1 main
             1 main → check
             1 main → sum_up
             1 sum_up
             20 sum_up → check
             21 check",
        );
    });
}

#[test]
fn bodies_inlined_into_each_other() {
    each_build("nested-inline.c", |program| {
        let recorded = program.record().logged().run();
        let report = recorded.report();
        report.assert_calls(
            "1 main
             10 main → outer
             10 outer
             10 outer → inner
             10 inner
             10 outer → second
             10 second
             10 main → rarely
             10 rarely
             10 rarely → around
             10 around
             1 around → step
             1 step
             1 around → sink
             1 sink",
        );
        for inlined in ["outer", "inner", "second", "around", "step"] {
            let function = report.function(inlined);
            assert_eq!(function.inlined_calls, function.calls, "{inlined}");
        }
        let open = [("around", 1), ("main", 1), ("rarely", 1), ("sink", 1)];
        assert_eq!((report.unwound, report.open()), (0, open.into()));
        recorded.assert_agrees_with_the_event_log();
    });
}

/// gcc takes arguments off the stack later: what is inlined behind such a call was entered below its frame's stack pointer, and seemed
/// to be left for good by whatever came next in that frame.
#[test]
fn bodies_behind_calls_whose_arguments_are_still_on_the_stack() {
    each_build("deferred-pops.c", |program| {
        for windows in ["0", "20", "300"] {
            let recorded = program.record().arg("1000").set("WINDOWS", windows).logged().run();
            recorded.assert_agrees_with_the_event_log();
            let report = recorded.report();
            report.assert_calls(
                "1 main
                 1_000 main → work
                 1_000 work
                 2_000 work → eight
                 2_000 eight
                 2_000 work → fourteen
                 2_000 fourteen
                 2_000 work → body
                 2_000 body
                 2_000 work → outer
                 2_000 outer
                 4_000 outer → inner
                 4_000 inner
                 2_000 outer → leaf
                 2_000 leaf",
            );
            assert_eq!(report.unwound, 0, "none was left without a return");
        }
    });
}

/// What such a body calls first has its return address above the body's hook: the body seemed to be gone, and the call was its frame's.
#[test]
fn what_bodies_behind_such_calls_call() {
    each_build("alloca-pops.c", |program| {
        for windows in ["0", "20", "300"] {
            let recorded = program.record().set("WINDOWS", windows).logged().run();
            let report = recorded.report();
            report.assert_calls(
                "1 main
                 1 main → outer
                 1 outer
                 100 outer → emit
                 100 emit
                 100 outer → step
                 100 outer → each
                 100 each
                 300 each → step
                 400 step",
            );
            assert_eq!(report.unwound, 0, "none was left without a return");
            recorded.assert_agrees_with_the_event_log();
        }
    });
}

/// The call site that such a body gives is that of whoever began the coroutine, which is not on the stack any more, so nothing
/// that is open has been left.
#[test]
fn bodies_in_coroutines_that_somebody_else_resumes() {
    each_build("resumed.cc", |program| {
        let report = program.record().run().report();
        let expected = parse_counts(
            "1 main
             100 main → begin(int)
             100 begin(int)
             100 main → turn(Work)
             200 turn(Work)
             200 turn(Work) → next(Work)
             200 next(Work)
             200 next(Work) → after()
             200 after()
             200 step(int)
             200 step(int) → inner(int)
             200 inner(int)
             200 inner(int) → apart(int)
             200 apart(int)",
        );
        let mut counts = report.counts();
        counts.retain(|who, _| expected.contains_key(who)); // the others are the library's, and who calls `step`
        assert_same_counts(&counts, &expected);
        assert_eq!((report.unwound, report.open()), (0, [].into()));
        // gcc has the body as a function of its own.
        let resumed = report.functions.iter().filter(|f| f.callees.iter().any(|callee| callee.name == "step(int)"));
        let resumed: Vec<_> = resumed.map(|function| function.name.as_str()).collect();
        assert_eq!(resumed.len(), 1, "{resumed:?}");
        assert!(program.build.compiler != "clang" || resumed == ["next(Work)"], "{resumed:?}");
    });
}

/// The exit hook of such a function is told of another call site and stack pointer than its enter hook: each call of it seemed to be left where the
/// hook is called, and in calibration windows also where it is jumped to.
#[test]
fn functions_whose_heads_alone_are_inlined() {
    each_build("split-functions.c", |program| {
        for windows in ["0", "7", "30", "131072"] {
            let report = program.record().set("WINDOWS", windows).run().report();
            report.assert_calls(
                "1 main
                 35_000 main → outer
                 35_000 outer
                 35_000 outer → jumps
                 35_000 outer → calls
                 35_000 outer → recurs
                 70_000 outer → work
                 70_000 outer → leaf
                 35_000 jumps
                 35_000 jumps → work
                 35_000 jumps → leaf
                 35_000 calls
                 35_000 calls → work
                 35_000 calls → leaf
                 70_000 recurs → recurs
                 70_000 recurs → eight
                 70_000 eight
                 105_000 recurs
                 210_000 recurs → leaf
                 140_000 work
                 280_000 work → leaf
                 630_000 leaf",
            );
            assert_eq!(report.unwound, 0, "{windows}");
        }
    });
}

/// The call site that such a body gave lay on the stack, as that of another coroutine further out: what was open in between seemed to be left.
#[test]
fn bodies_in_coroutines_that_resume_each_other() {
    each_build("generators.cc", |program| {
        let report = program.record().run().report();
        assert_eq!((report.function("Walk::next()").callee("after()").calls, report.unwound), (3_200, 0));
        assert_eq!((report.function("after()").calls, report.open()), (3_200, [].into()));
    });
}
