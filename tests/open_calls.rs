//! Calls that are open for longer than anybody looks: between two readings, and since before a reset.

mod common;

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use common::{Program, Report, Waiting, builds, copy_program, diytrace, each_build, fixture, run_to_end};
use diytrace_format::node::mark;
use diytrace_format::reader::File;
use serde_json::Value;

/// Time for there to be some.
const A_WHILE: Duration = Duration::from_millis(120);

/// What is open once it has been told to go deeper once.
const OPEN: [(&str, u64); 3] = [("main", 1), ("wait_here", 2), ("wait_deeper", 1)];

fn assert_open(report: &Report) {
    let open: Vec<_> = OPEN.iter().map(|&(name, _)| (name, report.function(name).open)).collect();
    assert_eq!(open, OPEN);
}

/// The sum of self times is the time of the only root.
fn assert_adds_up(report: &Report) {
    for (own, total) in [
        (report.functions.iter().map(|function| function.self_ns).sum::<f64>(), report.function("main").total_ns),
        (
            report.functions.iter().map(|function| function.self_raw_ns).sum::<f64>(),
            report.function("main").total_raw_ns,
        ),
    ] {
        assert!((own - total).abs() < 1.0, "{own} of {total}");
    }
}

#[test]
fn calls_that_are_open_at_both_readings_are_in_the_interval() {
    each_build("waiting.c", |program| {
        let mut waiting = Waiting::of(program);
        waiting.tell("wd");
        let mut take = |orders: &str, name: &str| {
            waiting.run(&["ctl", "snapshot", "out", "-o", name]);
            sleep(A_WHILE);
            waiting.tell(orders);
        };
        take("", "a.diyt");
        take("", "b.diyt");
        take("wu", "c.diyt");
        take("", "d.diyt");
        let whole = |profile: &str| waiting.report(profile).function("main").total_raw_ns;
        let passed = |from: &str, to: &str| whole(to) - whole(from);

        // Nothing was called, and nothing returned.
        let quiet = waiting.report("a.diyt..b.diyt");
        assert_eq!(quiet.calls, 0);
        assert_open(&quiet);
        assert_adds_up(&quiet);
        let all = passed("a.diyt", "b.diyt");
        assert!(all >= A_WHILE.as_nanos() as f64);
        for (name, _) in OPEN {
            assert!((quiet.function(name).total_raw_ns - all).abs() < 10.0, "{name}");
        }
        assert!(quiet.function("wait_here").self_raw_ns > 0.999 * all);
        assert!(quiet.function("main").callees.iter().any(|callee| callee.total_raw_ns > 0.999 * all));
        let tree = waiting.said(&["tree", "a.diyt..b.diyt", "--color", "never"]);
        assert!(tree.contains("main  1 open since before") && !tree.contains("fork"), "{tree}");

        // One that was open at the first returned, after one more call.
        let busy = waiting.report("c.diyt..d.diyt");
        busy.assert_calls("1 work\n 1 leaf\n 1 wait_here → work\n 1 work → leaf");
        assert_adds_up(&busy);
        let open = |name| busy.function(name).open;
        assert_eq!([open("main"), open("wait_here"), open("wait_deeper")], [1, 1, 0]);
        assert!((busy.function("main").total_raw_ns - passed("c.diyt", "d.diyt")).abs() < 10.0);
        let part = busy.function("wait_deeper").total_raw_ns;
        assert!(part >= A_WHILE.as_nanos() as f64 && part < busy.function("main").total_raw_ns, "{part}");
        waiting.quit();
    });
}

#[test]
fn calls_that_are_open_since_before_a_reset_go_on() {
    each_build("waiting.c", |program| {
        let mut waiting = Waiting::of(program);
        waiting.tell("wd");
        waiting.run(&["ctl", "reset", "out"]);
        sleep(A_WHILE);

        // It has made no call since, so it knows nothing of that yet.
        let report = waiting.report("out");
        report.assert_calls("");
        assert_open(&report);
        assert_adds_up(&report);
        let since = report.function("main").total_raw_ns;
        assert!(since >= A_WHILE.as_nanos() as f64, "{since}");
        let tree = waiting.said(&["tree", "out", "--color", "never"]);
        assert!(tree.contains("wait_deeper  1 open since before"), "{tree}");
        let status: Value = serde_json::from_str(&waiting.said(&["ctl", "status", "--format", "json", "out"])).unwrap();
        assert_eq!(status[0]["processes"].as_array().unwrap().len(), 1, "{status}");
        assert_eq!(status[0]["processes"][0]["state"], "running");

        let top = || -> Value { serde_json::from_str(&waiting.said(&["top", "out", "--once", "--json"])).unwrap() };
        let frame = top();
        assert_eq!(frame["running"], 1, "{frame}");
        let shares = |frame: &Value| -> Vec<(String, u64, f64)> {
            let rows = frame["functions"].as_array().unwrap().iter();
            let share = |row: &Value, of: &str| (row[of].as_f64().unwrap() / 1e9 * 1e3).round() / 1e3;
            let row = |row: &Value| {
                (row["name"].as_str().unwrap().to_owned(), row["open"].as_u64().unwrap(), share(row, "total_ns_per_s"))
            };
            let mut shares: Vec<_> = rows.map(row).collect();
            shares.sort_by(|a, b| a.0.cmp(&b.0));
            shares
        };
        let expected =
            [("main".to_owned(), 1, 1.0), ("wait_deeper".to_owned(), 1, 1.0), ("wait_here".to_owned(), 2, 1.0)];
        assert_eq!(shares(&frame), expected);

        // A reading from before it takes the reset up, and one from after.
        waiting.run(&["ctl", "snapshot", "out", "-o", "a.diyt"]);
        sleep(A_WHILE);
        let mut waiting = waiting;
        waiting.tell("wu");
        waiting.run(&["ctl", "snapshot", "out", "-o", "b.diyt"]);
        let moment = |name: &str| waiting.report(name);
        assert!(moment("a.diyt").function("main").total_raw_ns > since);
        let between = waiting.report("a.diyt..b.diyt");
        between.assert_calls("1 work\n 1 leaf\n 1 wait_here → work\n 1 work → leaf");
        assert_adds_up(&between);
        assert!(between.function("main").total_raw_ns >= A_WHILE.as_nanos() as f64);
        assert_eq!((between.function("main").open, between.function("wait_here").open), (1, 1));
        let after = waiting.report("out");
        assert_eq!((after.function("main").open, after.function("wait_here").open), (1, 1));
        assert_adds_up(&after);
        waiting.quit();
        let ended = waiting.report("out");
        assert_eq!(ended.function("work").calls, 1);
        assert_adds_up(&ended);
    });
}

#[test]
fn what_a_forked_child_inherited_is_no_open_call_of_its_own() {
    each_build("waiting.c", |program| {
        let mut waiting = Waiting::of(program);
        waiting.tell("df");
        waiting.run(&["ctl", "snapshot", "out", "-o", "a.diyt"]);
        sleep(A_WHILE);
        waiting.tell("w");
        waiting.run(&["ctl", "snapshot", "out", "-o", "b.diyt"]);
        let between = waiting.report("a.diyt..b.diyt");
        assert_open(&between); // once, in the parent, though two processes are in there
        assert_adds_up(&between);
        let tree = waiting.said(&["tree", "a.diyt..b.diyt", "--by", "process", "--color", "never"]);
        assert!(tree.contains("main  1 open since before") && tree.contains("main  entered before"), "{tree}");
        waiting.quit();
    });
}

/// The command `record` with the program, and the number of the program's process.
fn recorded(program: &Program) -> (Waiting, u32) {
    let here = tempfile::tempdir().unwrap();
    let mut command = diytrace(here.path());
    command.args(["record", "--out", "out", "--"]).arg(&program.path).stderr(Stdio::null());
    let mut waiting = Waiting::start(here, command);
    waiting.tell("d");
    let status: Value = serde_json::from_str(&waiting.said(&["ctl", "status", "--format", "json", "out"])).unwrap();
    let pid = status[0]["processes"][0]["pid"].as_u64().unwrap();
    (waiting, pid as u32)
}

fn kill(pid: u32) {
    // SAFETY: the process is this test's own, and nobody has waited for it.
    assert_eq!(unsafe { libc::kill(pid as i32, libc::SIGKILL) }, 0);
}

fn functions(waiting: &Waiting, profile: &str) -> Vec<Value> {
    let said: Value = serde_json::from_str(&waiting.said(&["report", "--format", "json", profile])).unwrap();
    said["reports"][0]["functions"].as_array().unwrap().clone()
}

#[test]
fn a_call_in_which_a_process_was_killed_lasts_until_that_was_seen() {
    each_build("waiting.c", |program| {
        let (mut waiting, pid) = recorded(program);
        sleep(A_WHILE);
        let open: Vec<Value> =
            functions(&waiting, "out").iter().map(|function| function["open_bound"].clone()).collect();
        assert_eq!(open, ["running", "running", "running"]);
        kill(pid);
        assert_eq!(waiting.process.wait().unwrap().code(), Some(128 + 9));
        assert!(waiting.run(&["merge", "out", "-o", "a.diya"]).status.success());
        for profile in ["out", "a.diya"] {
            let report = waiting.report(profile);
            assert_open(&report);
            assert_adds_up(&report);
            for function in functions(&waiting, profile) {
                assert!(function["total_ns"].as_f64().unwrap() >= A_WHILE.as_nanos() as f64, "{function}");
                assert_eq!(
                    (&function["open_bound"], &function["open_ns"]),
                    (&"seen ended".into(), &function["total_ns"])
                );
            }
            let table = waiting.said(&["report", profile]);
            assert!(table.contains("1 open ‡") && table.contains("\n‡ open when their process ended"), "{table}");
        }
    });
}

#[test]
fn a_call_in_which_a_process_was_killed_unseen_lasts_until_its_last_sign_of_life() {
    each_build("waiting.c", |program| {
        let mut waiting = Waiting::of(program);
        waiting.tell("d");
        sleep(A_WHILE);
        waiting.tell("w");
        kill(waiting.process.id());
        waiting.process.wait().unwrap();
        let report = waiting.report("out");
        assert_open(&report);
        assert!(report.function("main").total_ns >= A_WHILE.as_nanos() as f64);
        let bounds: Vec<(String, Value)> = functions(&waiting, "out")
            .iter()
            .map(|function| (function["name"].as_str().unwrap().to_owned(), function["open_bound"].clone()))
            .collect();
        for (name, bound) in bounds {
            let is_open = OPEN.iter().any(|&(open, _)| open == name);
            assert_eq!(bound, if is_open { "last sign of life".into() } else { Value::Null }, "{name}");
        }
        let table = waiting.said(&["tree", "out", "--min-percent", "0"]);
        assert!(table.contains("1 open †") && table.contains("\n† open when their process ended"), "{table}");
    });
}

#[test]
fn a_program_that_was_executed_by_another_was_not_that_one_when_it_was_killed() {
    let here = tempfile::tempdir().unwrap();
    let waiting = fixture("waiting.c", builds()[0]);
    let other = here.path().join("other");
    copy_program(&waiting.path, &other);
    let mut command = diytrace(here.path());
    // What was recorded was `other`; what is killed is a shell.
    let script = "exec sh -c 'kill -9 $$'";
    command.args(["record", "--out", "out", "--", "sh", "-c"]).arg(format!("echo q | ./other >answers; {script}"));
    assert_eq!(run_to_end(&mut command).status.code(), Some(128 + 9));
    let notes = std::fs::read_dir(here.path().join("out")).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(notes.filter(|path| path.extension().is_some_and(|extension| extension == "end")).count(), 0);
}

/// Thousands of paths are made below `main`, which exits from within: it was reported as having taken all that this took.
#[test]
fn what_the_recorder_has_spent_is_in_no_call_that_never_returned() {
    each_build("paths.c", |program| {
        let recorded = program.record().arg("exit").run();
        assert_eq!(recorded.report().function("main").open, 1);
        let bytes = fs::read(&recorded.profiles()[0]).unwrap();
        let file = File::open(&bytes).unwrap();
        let block = file.blocks().find(|block| file.arena(block).is_some()).unwrap();
        let (arena, main) = (file.arena(&block).unwrap(), file.nodes(&block).next().unwrap().1);
        assert!(arena.spent > 0);
        let began = main.slots[0].mark & !mark::BITS;
        assert!(began >= arena.started + arena.spent, "{began}: {} and {}", arena.started, arena.spent);
    });
}
