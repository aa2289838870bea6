//! `diytrace ctl reset`: counters that begin anew in the middle of calls.

mod common;

use std::time::{SystemTime, UNIX_EPOCH};

use common::{Program, Recorded, each_build, tool};

/// Main, its thread and its child once, three later children.
const AFTER: &str = "
    0 main
    0 serve
    0 in_thread
    0 in_thread → serve
    0 main → serve
    3 serve → second
    3 main → second
    6 second
    1800 second → f
    600 second → g
    1800 f
    600 g";

fn record(program: &Program, keep: &str, timing: &str) -> Recorded {
    let command = format!("{} ctl reset out >said 2>&1", tool("diytrace").display());
    program.record().arg(command).set("KEEP", keep).set("TIMING", timing).run()
}

fn unix_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64
}

#[test]
fn what_came_before_is_gone_and_what_comes_after_is_exact() {
    each_build("reset.c", |program| {
        for (keep, timing) in [("64", "all"), ("1", "all"), ("1", "off")] {
            let recorded = record(program, keep, timing);
            let said = std::fs::read_to_string(recorded.folder().join("said")).unwrap();
            assert!(said.contains("counts from nothing; the threads of 2 running processes"), "{said}");
            let status = recorded.diytrace(&["ctl", "status", "--format", "json"]);
            let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
            let [reset, now] = [status[0]["reset_unix_ns"].as_u64().unwrap(), unix_ns()];
            assert!((now - 600_000_000_000..now).contains(&reset), "{reset}, and it is {now}");
            let status = recorded.diytrace(&["ctl", "status"]);
            assert!(String::from_utf8_lossy(&status.stdout).contains("\n  counted from nothing since 20"));
            let document = recorded.document(&[]);
            assert!(document.warns_of(&["counters were reset", "what came before is not in here"]));
            let report = document.into_only_report();
            report.assert_calls(AFTER);
            assert_eq!((report.lost_calls, report.unwound), (0, 0), "keep {keep}, {timing}");
            if timing == "all" {
                let serve = report.function("serve");
                let (all, inside) = (serve.total_raw_ns, serve.callee("second").total_raw_ns);
                assert!(serve.open == 0 && all >= inside && inside > 0.0, "{all} and {inside}");
            }
        }
    });
}
