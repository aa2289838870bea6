//! Which calls are timed (`DIYTRACE_TIMING`), and what is known of the others: their number, exactly.

mod common;

use common::{Program, Recorded, each_build};

const WAYS: [&str; 2] = ["all", "off"];

/// The report, whose times may be null.
fn json(recorded: &Recorded) -> serde_json::Value {
    let output = recorded.diytrace(&["report", "--format", "json"]);
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn calls_are_counted_exactly_whichever_are_timed() {
    each_build("random-tree.c", |program| {
        for timing in WAYS {
            for arguments in [["direct", "11"], ["calm", "13"]] {
                let recorded = program.record().args(&arguments).set("TIMING", timing).logged().run();
                recorded.assert_agrees_with_the_event_log();
            }
        }
    });
}

fn busy(program: &Program, calls: u64, timing: &str) -> Recorded {
    program.record().args(&[&calls.to_string()]).set("TIMING", timing).run()
}

fn assert_busy_calls(recorded: &Recorded, calls: u64) {
    let report = json(recorded);
    for (name, expected) in [("work", 4), ("spin", calls / 2 * 5), ("leaf", calls / 2 * 5)] {
        let functions = report["reports"][0]["functions"].as_array().unwrap();
        let function = functions.iter().find(|function| function["name"] == name).unwrap();
        let counts = (function["calls"].as_u64(), function["open"].as_u64());
        assert_eq!(counts, (Some(expected), Some(0)), "calls of {name}");
    }
}

#[test]
fn what_is_not_timed_has_no_time() {
    each_build("busy.c", |program| {
        let recorded = busy(program, 2_000, "off");
        assert_busy_calls(&recorded, 2_000);
        let report = json(&recorded);
        let first = &report["reports"][0];
        assert_eq!(first["timing"], "off");
        for function in first["functions"].as_array().unwrap() {
            for time in ["total_ns", "self_ns", "total_raw_ns", "mean_ns", "p50_ns", "max_ns"] {
                assert!(function[time].is_null(), "{time} of {function}");
            }
        }
        let warnings = report["warnings"].to_string();
        assert!(warnings.contains("counted, not timed"), "{warnings}");
        for format in ["flamegraph", "folded"] {
            let output = recorded.diytrace(&["export", format]);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{said}");
            assert!(said.contains("no time to export, as calls were counted, not timed"), "{said}");
        }
    });
}

/// They had counted among those that a mean is of, and halved what a call's hooks were said to cost.
#[test]
fn calls_that_are_only_counted_change_no_time() {
    each_build("busy.c", |program| {
        let [timed, counted] = WAYS.map(|timing| busy(program, 2_000, timing));
        let alone = json(&timed);
        let other = counted.out();
        let output = timed.diytrace(&["report", "--format", "json", other.to_str().unwrap()]);
        let both: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let [alone, both] = [&alone, &both].map(|report| &report["reports"][0]);
        assert_eq!(both["overhead"], alone["overhead"]);
        for function in alone["functions"].as_array().unwrap() {
            let mut functions = both["functions"].as_array().unwrap().iter();
            let same = functions.find(|same| same["name"] == function["name"]).unwrap();
            assert_eq!(same["calls"].as_u64().unwrap(), 2 * function["calls"].as_u64().unwrap());
            for time in ["total_ns", "self_ns", "total_error_ns", "mean_ns", "min_ns", "p50_ns", "max_ns"] {
                let [alone, both] = [function, same].map(|function| function[time].as_f64().unwrap());
                assert!((both - alone).abs() <= 0.001 * alone, "{time}: {both} with others, and alone {function}");
            }
        }
    });
}

#[test]
fn windows_tell_what_timing_costs_and_count_every_call() {
    each_build("busy.c", |program| {
        // Windows begin after 131,072 calls of a thread, and are few.
        assert_some_run_is_tried(|| {
            let recorded = busy(program, 3_000_000, "all");
            assert_busy_calls(&recorded, 3_000_000);
            recorded
        });
    });
}

#[test]
fn windows_go_on_from_one_call_of_a_root_to_the_next() {
    each_build("busy.c", |program| {
        assert_some_run_is_tried(|| {
            let recorded = program.record().args(&["4000000", "row"]).set("ROOT", "row").run();
            assert_eq!(recorded.report().function("leaf").calls, 3_999_960);
            recorded
        });
    });
}

/// Runs a program until there are windows enough to tell its cost. A window in which its thread was kept waiting tells nothing,
/// and the next is then far away.
fn assert_some_run_is_tried(run: impl Fn() -> Recorded) {
    let overheads = (0..20).map(|_| json(&run())["reports"][0]["overhead"].clone());
    assert!(
        overheads.into_iter().any(|overhead| overhead["trials"].as_u64() >= Some(8)),
        "no run has had eight windows"
    );
}

#[test]
fn a_bad_way_to_time_is_told() {
    each_build("plain.c", |program| {
        let recorded = program.record().set("TIMING", "often").complaining().run();
        let said = json(&recorded)["warnings"].to_string();
        assert!(said.contains("DIYTRACE_TIMING") && said.contains("all or off"), "{said}");
    });
}
