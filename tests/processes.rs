//! Ways to make a process, one by one: each child's calls are its own, and counted once.

mod common;

use std::os::unix::fs::MetadataExt;

use common::{Recorded, builds, diytrace, each_build, fixture, run_to_end};
use needs::needs;
use serde_json::Value;

fn run(program: &common::Program, arguments: &[&str]) -> Recorded {
    let recorded = program.record().args(arguments).logged().run();
    assert_eq!(recorded.status.code(), Some(0), "{arguments:?}");
    recorded.assert_agrees_with_the_event_log();
    recorded
}

/// Each child is kept apart, with its own two leaves.
fn assert_children(recorded: &Recorded, count: u64) {
    let report = recorded.report();
    report.assert_calls(&format!(
        "1 main
         1 main → leaf
         {count} main → child
         {count} child
         {} child → leaf
         {} leaf",
        2 * count,
        2 * count + 1
    ));
    assert_eq!((report.processes, report.lost_calls, report.unwound), (count + 1, 0, 0));
    let reports = recorded.reports_by_process();
    assert_eq!(reports.len() as u64, count + 1);
    for child in reports.iter().filter(|report| !report.has("main") || report.has("child")) {
        assert_eq!((child.function("child").calls, child.function("leaf").calls), (1, 2));
        assert_eq!(child.process.as_ref().unwrap().state, "exited");
    }
}

#[test]
fn children_of_children() {
    each_build("processes.c", |program| {
        assert_children(&run(program, &["chain", "10"]), 10);
        assert_children(&run(program, &["tree", "4"]), 30);
    });
}

#[test]
fn two_hundred_at_once() {
    each_build("processes.c", |program| assert_children(&run(program, &["crowd", "200"]), 200));
}

#[test]
fn without_libcs_fork() {
    each_build("processes.c", |program| {
        for how in ["bare", "clone"] {
            assert_children(&run(program, &[how]), 1);
        }
    });
}

#[test]
fn a_child_that_outlives_its_parent() {
    each_build("processes.c", |program| assert_children(&run(program, &["orphan"]), 1));
}

/// libc's function ends the first process by an `_exit` of its own.
#[test]
fn a_daemon_of_libcs() {
    each_build("processes.c", |program| {
        let recorded = run(program, &["daemon"]);
        let report = recorded.report();
        report.assert_calls("1 main\n 1 main → leaf\n 1 main → child\n 1 child\n 2 child → leaf\n 3 leaf");
        assert_eq!((report.lost_calls, report.unwound), (0, 0));
    });
}

#[test]
fn a_child_with_an_empty_environment_records_nothing_of_what_it_executes() {
    each_build("processes.c", |program| {
        let recorded = run(program, &["emptied"]);
        assert_eq!(recorded.profiles().len(), 1);
        let report = recorded.report();
        report.assert_calls("1 main\n 1 main → leaf\n 1 main → child\n 1 child\n 2 child → leaf\n 3 leaf");
        assert_eq!((report.processes, report.lost_calls, report.unwound), (2, 0, 0));
    });
}

#[test]
fn exec_in_a_thread_ends_the_others() {
    each_build("processes.c", |program| {
        let recorded = program.record().arg("threads-exec").run();
        assert_eq!((recorded.status.code(), recorded.profiles().len()), (Some(0), 2));
        let report = recorded.report();
        assert_eq!((report.function("main").calls, report.function("child").callee("leaf").calls), (2, 2));
        assert!(report.function("leaf").calls > 1_000 + 2, "{:?}", report.counts());
        assert_eq!((report.lost_calls, report.unwound), (0, 0));
    });
}

#[test]
fn threads_that_fork_while_another_records() {
    each_build("processes.c", |program| {
        let recorded = program.record().args(&["threads", "20"]).logged().run();
        recorded.assert_agrees_with_the_event_log();
        let report = recorded.report();
        assert_eq!((report.function("child").calls, report.function("child").callee("leaf").calls), (20, 40));
        assert_eq!((report.processes, report.lost_calls, report.unwound), (21, 0, 0));
    });
}

#[test]
fn exec_that_fails_and_returns() {
    each_build("processes.c", |program| {
        let report = run(program, &["failed"]).report();
        report.assert_calls(
            "1 main
             2 main → child
             2 child
             4 child → leaf
             1 main → leaf
             5 leaf",
        );
        assert_eq!(report.processes, 2, "the child of vfork counts as its parent");
    });
}

/// States of processes, the parent's first.
fn states(recorded: &Recorded) -> Vec<String> {
    let mut processes: Vec<_> = recorded.reports_by_process().into_iter().filter_map(|report| report.process).collect();
    processes.sort_by_key(|process| process.started_unix_ns);
    processes.into_iter().map(|process| process.state).collect()
}

#[test]
fn a_process_that_becomes_another_program_has_ended_by_itself() {
    each_build("processes.c", |program| {
        for (how, expected) in [("emptied", 2), ("threads-exec", 2), ("late-daemon", 3)] {
            let states = states(&program.record().arg(how).run());
            assert_eq!(states, vec!["exited"; expected], "{how}");
        }
    });
}

#[test]
fn exec_that_returns_is_no_end() {
    each_build("processes.c", |program| {
        let recorded = program.record().arg("returned").run();
        assert_eq!(states(&recorded), ["exited", "killed"]);
    });
}

#[test]
fn posix_spawn_of_the_program_itself() {
    each_build("processes.c", |program| {
        let recorded = run(program, &["spawn"]);
        assert_eq!(recorded.profiles().len(), 2);
        recorded.report().assert_calls(
            "2 main
             1 main → child
             1 child
             2 child → leaf
             2 main → leaf
             4 leaf",
        );
    });
}

/// Two that run at once with one thread-local storage break libc's own rules, and their calls cannot be told apart. The
/// program must run on all the same, and the report say what happened.
#[test]
fn clones_that_share_everything() {
    each_build("processes.c", |program| {
        let recorded = program.record().arg("shared").run();
        let document = recorded.document(&[]);
        assert!(document.warns_of(&["thread-local storage"]), "{:?}", document.warnings);
        assert!(document.into_only_report().folded_calls > 0);
    });
}

#[test]
fn outsiders_to_their_own_profile() {
    each_build("outsider.c", |program| {
        for how in ["descriptors", "environment"] {
            assert_all_levels(&program.record().arg(how).run().report(), if how == "environment" { 2 } else { 1 }, how);
        }
    });
}

/// What letting signals in again takes was taken off callers as what blocking them had taken, which is more on some kernels: those with
/// next to no time of their own had less than nothing, which is cut off in each process, and more in all of them than in the whole.
#[test]
fn new_paths_leave_no_caller_less_than_nothing() {
    each_build("outsider.c", |program| {
        let recorded = program.record().arg("environment").run();
        let (whole, parts) = (recorded.report(), recorded.reports_by_process());
        assert_eq!(parts.len(), 2);
        for level in 0..12 {
            let name = format!("level_{level}");
            let sum: f64 = parts.iter().map(|part| part.function(&name).self_raw_ns).sum();
            let of_whole = whole.function(&name).self_raw_ns;
            assert!(sum - of_whole < 1.0, "{name}: {sum} ns in both, {of_whole} ns in the whole");
        }
    });
}

fn assert_all_levels(report: &common::Report, times: u64, how: &str) {
    for level in 0..=12 {
        assert_eq!(report.function(&format!("level_{level}")).calls, times << level, "{how}: level {level}");
    }
    assert_eq!((report.lost_calls, report.folded_calls), (0, 0), "{how}");
}

/// As in a server that keeps its rights, and whose workers do not: together they need more than was laid by for one, which is less
/// where files may not be long.
#[test]
fn many_workers_that_give_up_their_rights() {
    each_build("outsider.c", |program| {
        let wrapped = program.wrapped("ulimit -f 200000\nexec \"$PROGRAM\" \"$@\"");
        let recorded = wrapped.record().set("MEMORY", "1G").set("KEEP", "1000").arg("servants").run();
        assert_all_levels(&recorded.report(), 81, "servants");
        let [profile] = &recorded.profiles()[..] else { panic!("one profile") };
        assert!(profile.metadata().unwrap().blocks() * 512 > 32 << 20, "too small to show anything");
    });
}

#[needs(root)]
#[test]
fn workers_of_a_worker_that_has_given_up_its_rights() {
    each_build("outsider.c", |program| {
        let recorded = program.record().set("KEEP", "1000").arg("crew").run();
        assert_all_levels(&recorded.report(), 81, "crew");
    });
}

#[needs(root)]
#[test]
fn roots_that_give_up_their_rights() {
    for how in ["chroot", "user"] {
        each_build("outsider.c", |program| {
            assert_all_levels(&program.record().arg(how).run().report(), 1, how);
        });
    }
}

/// Of programs that end before the first calibration window each has what its own loop took for a hook's cost; together they have another.
#[test]
fn a_call_takes_as_long_as_its_function_in_each_of_several_short_runs() {
    let program = fixture("busy.c", builds()[0]);
    let folder = tempfile::tempdir().unwrap();
    for run in 0..4 {
        let recorded = program.record().args(&["60000", "row"]).run();
        std::fs::rename(recorded.out(), folder.path().join(format!("run-{run}"))).unwrap();
    }
    let output = run_to_end(
        diytrace(folder.path())
            .args(["report", "--by", "process", "--format", "json"])
            .args(["run-0", "run-1", "run-2", "run-3"]),
    );
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let reports = document["reports"].as_array().unwrap();
    assert_eq!(reports.len(), 4);
    for report in reports {
        let main = report["functions"].as_array().unwrap().iter().find(|function| function["name"] == "main").unwrap();
        let of = |name: &str| main[name].as_f64().unwrap();
        let [total, mean, max] = ["total_ns", "mean_ns", "max_ns"].map(of);
        assert_eq!(main["calls"], 1);
        let near = |one: f64| (one - total).abs() <= 2.0 + total * 1e-5;
        assert!(near(mean) && near(max), "total {total}, mean {mean}, max {max}");
    }
}
