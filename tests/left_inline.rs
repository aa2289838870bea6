//! Exceptions that leave inlined bodies. clang calls no exit hook of them, and the recorder cannot see that they are gone
//! before they are entered again: debug information tells whose the calls in between are.

mod common;

use common::each_build;

#[test]
fn what_is_called_after_an_exception_left_an_inlined_body_is_its_callers() {
    each_build("left-inline.cc", |program| {
        let report = program.record().run().report();
        report.assert_calls(
            "1 main
             1 main → work()
             1 work()
             12 work() → risky(int)
             12 risky(int)
             12 risky(int) → inner(int)
             8 risky(int) → inside(int)
             2 risky(int) → fail(int)
             12 work() → after(int)
             12 work() → note(int)
             12 note(int)
             1 main → keep()
             1 keep()
             12 keep() → kept(int)
             12 kept(int)
             12 kept(int) → inner(int)
             2 kept(int) → after(int)
             12 kept(int) → inside(int)
             12 keep() → after(int)
             24 inner(int)
             24 inner(int) → inside(int)
             4 inner(int) → fail(int)
             44 inside(int)
             26 after(int)
             6 fail(int)",
        );
        assert_eq!(report.open(), [].into());
        let unwound = if program.build.compiler == "clang" { 14 } else { 0 };
        assert_eq!(report.unwound, unwound);
        let own: f64 = report.functions.iter().map(|function| function.self_raw_ns).sum();
        let total = report.function("main").total_raw_ns;
        assert!((own - total).abs() < 1.0, "{own} of {total}");
    });
}

/// In a calibration window the code that a body lies in was asked for the call that it is in, which seemed to have been left.
#[test]
fn bodies_in_a_part_of_a_function_that_was_split_off() {
    each_build("cold-bodies.c", |program| {
        for windows in ["3", "5", "20", "100"] {
            let report = program.record().set("WINDOWS", windows).run().report();
            assert_eq!((report.function("operate").callee("body").calls, report.unwound), (99, 0), "{windows}");
        }
    });
}
