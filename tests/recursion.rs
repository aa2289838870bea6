//! Recursion: each call counts, its time counts once.

mod common;

use common::{Build, Recorded, each_build, fixture};

fn recorded(program: &common::Program, shape: &str, n: u32) -> Recorded {
    program.record().arg(shape).arg(n.to_string()).logged().run()
}

#[test]
fn direct() {
    each_build("recursion.c", |program| {
        let recorded = recorded(program, "down", 9);
        recorded.report().assert_calls(
            "1 main
             1 main → down
             9 down → down
             10 down",
        );
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn deep() {
    each_build("recursion.c", |program| {
        let recorded = recorded(program, "down", 50_000);
        let report = recorded.report();
        report.assert_calls(
            "1 main
             1 main → down
             50_000 down → down
             50_001 down",
        );
        assert_eq!((report.lost_calls, report.open()), (0, [].into()));
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn its_mean_is_one_number() {
    let program = fixture("recursion.c", Build::GCC_O0);
    let recorded = program.record().arg("fib").arg("12").run();
    let json = |line: &str| -> serde_json::Value {
        serde_json::from_slice(&recorded.diytrace(&line.split(' ').collect::<Vec<_>>()).stdout).unwrap()
    };
    let report = json("report --function fib --format json");
    let callers = json("callers fib --format json");
    let mean = &report["reports"][0]["functions"][0]["mean_ns"];
    assert!(mean.is_number());
    assert_eq!(&callers["trees"][0]["nodes"][0]["mean_ns"], mean);
}

#[test]
fn branching() {
    each_build("recursion.c", |program| {
        let recorded = recorded(program, "fib", 20);
        recorded.report().assert_calls(
            "1 main
             1 main → fib
             21_890 fib → fib
             21_891 fib",
        );
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn mutual() {
    each_build("recursion.c", |program| {
        let recorded = recorded(program, "parity", 100);
        recorded.report().assert_calls(
            "1 main
             1 main → is_even
             51 is_even
             50 is_even → is_odd
             50 is_odd
             50 is_odd → is_even",
        );
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn in_a_ring() {
    each_build("recursion.c", |program| {
        let recorded = recorded(program, "ring", 1000);
        recorded.report().assert_calls(
            "1 main
             1 main → first
             1001 first
             1000 first → second
             1000 second
             1000 second → third
             1000 third
             1000 third → first",
        );
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn mutual_and_branching() {
    each_build("recursion.c", |program| {
        let recorded = recorded(program, "branch", 9);
        let report = recorded.report();
        let calls = report.function("left").calls + report.function("right").calls;
        assert_eq!(calls, (3u64.pow(10) - 1) / 2);
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn the_outermost_call_is_the_total() {
    let program = fixture("recursion.c", Build::GCC_O0);
    for (shape, function) in [("down", "down"), ("fib", "fib"), ("parity", "is_even"), ("ring", "first")] {
        let report = recorded(&program, shape, 20).report();
        let (main, recursive) = (report.function("main"), report.function(function));
        assert!(recursive.total_raw_ns <= main.total_raw_ns, "{shape}: {recursive:#?} in {main:#?}");
        assert!(recursive.total_ns <= main.total_ns, "{shape}: {recursive:#?} in {main:#?}");
        let from_main = main.callee(function);
        assert!((from_main.total_raw_ns - recursive.total_raw_ns).abs() < 2.0, "{shape}: {recursive:#?} in {main:#?}");
    }
}
