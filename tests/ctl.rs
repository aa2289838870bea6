//! A recording that is steered and copied while the program runs.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use common::{Document, Endless, Waiting, diytrace, each_build, profiles_in, run_to_end, wait_until};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn paused_it_counts_nothing_and_resumed_it_goes_on() {
    let mut endless = Endless::start();
    let said = text(&endless.ctl(&["pause", "out"]).stdout);
    assert!(said.contains("paused; the threads of"), "{said}");
    // A thread that was kept waiting in a hook counts that call when it goes on.
    wait_until("nothing is counted", || {
        let before = endless.calls();
        sleep(Duration::from_millis(200));
        endless.calls() == before
    });
    let paused = endless.calls();
    let status = &endless.status()[0];
    assert_eq!((status["paused"].as_bool(), status["lost_calls"].as_u64()), (Some(true), Some(0)));
    assert!(status["running"].as_u64() >= Some(1) && status["used_bytes"].as_u64() < status["capacity_bytes"].as_u64());
    assert_eq!(status["reset_unix_ns"], 0, "they never were");
    assert!(text(&endless.ctl(&["status", "out"]).stdout).contains("paused · "));

    // By its number, in the folder of the environment.
    let mut resume = diytrace(endless.here.path());
    let said = text(&run_to_end(resume.args(["ctl", "resume", &endless.pid()]).env("DIYTRACE_OUT", "out")).stdout);
    assert!(said.contains("recording; the threads of"), "{said}");
    wait_until("calls are counted again", || endless.calls() > paused);

    endless.stop();
    assert_eq!(endless.ctl(&["status", "out"]).status.code(), Some(1));
    let refused = endless.ctl(&["pause", "out"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("nothing of out"), "{}", text(&refused.stderr));
    let profile = profiles_in(&endless.here.path().join("out")).remove(0);
    let bytes = fs::read(&profile).unwrap();
    assert_eq!(endless.ctl(&["resume", profile.to_str().unwrap()]).status.code(), Some(2));
    assert!(bytes == fs::read(&profile).unwrap(), "a finished profile was changed");
}

#[test]
fn what_is_entered_while_it_is_paused_ends_no_call_that_is_open() {
    each_build("waiting.c", |program| {
        let mut waiting = Waiting::of(program);
        waiting.tell("ddd");
        waiting.run(&["ctl", "pause", "out"]);
        waiting.tell("ddw");
        waiting.run(&["ctl", "resume", "out"]);
        // Two that are not recorded return, and are called by the same function from the same place as those that are.
        waiting.tell("wuuw");
        let report = waiting.report("out");
        assert_eq!(report.open(), [("main", 1), ("wait_deeper", 3), ("wait_here", 4)].into());
        assert_eq!((report.function("wait_here").calls, report.function("work").calls), (4, 2));
        waiting.tell("uuuw");
        assert_eq!(waiting.report("out").open(), [("main", 1), ("wait_here", 1)].into());
        waiting.quit();
    });
}

#[test]
fn what_is_no_running_profile_is_refused_and_left_alone() {
    let here = tempfile::tempdir().unwrap();
    let mut newer = b"DIYTRACE\x63\0\0\0\x01\0\0\0".to_vec();
    newer.resize(1 << 16, 0);
    for (bytes, says) in [(newer, "has version 99"), (vec![b'x'; 5000], "is not a diytrace profile")] {
        fs::write(here.path().join("file.diyt"), &bytes).unwrap();
        let output = run_to_end(diytrace(here.path()).args(["ctl", "pause", "file.diyt"]));
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(says), "{}", text(&output.stderr));
        assert!(fs::read(here.path().join("file.diyt")).unwrap() == bytes);
    }
    let output = run_to_end(diytrace(here.path()).args(["ctl", "pause", "4194303"]).env("DIYTRACE_OUT", "."));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn snapshots_are_of_one_moment_and_can_be_subtracted() {
    let mut endless = Endless::start();
    let take = |name: &str| {
        let output = endless.ctl(&["snapshot", "out", "-o", name]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(text(&output.stdout).trim(), name);
        sleep(Duration::from_millis(150));
    };
    take("a.diyt");
    take("b.diyt");
    let is_private = fs::metadata(endless.here.path().join("a.diyt")).unwrap().permissions().mode() & 0o777 == 0o600;
    assert!(is_private);
    let [a, b, now] = ["a.diyt", "b.diyt", "out"].map(|profile| endless.report(profile).into_only_report());
    let (of_a, of_b, of_now) = (a.counts(), b.counts(), now.counts());
    let between = endless.report("a.diyt..b.diyt").into_only_report();
    for (function, calls) in between.counts() {
        let before = of_a.get(&function).copied().unwrap_or(0);
        assert_eq!(calls, of_b[&function] - before, "{function}");
    }
    assert_eq!(between.counts().values().sum::<u64>(), of_b.values().sum::<u64>() - of_a.values().sum::<u64>());
    assert!(of_b.iter().all(|(function, calls)| of_now[function] >= *calls), "counts went backwards");
    // `main` never returned: its time in each snapshot lasts until then, so between them it is the time between them.
    let main = |report: &common::Report| report.function("main").total_raw_ns;
    let passed = main(&b) - main(&a);
    assert!((main(&between) - passed).abs() < 1e6 && passed > 150e6, "{} of {passed}", main(&between));
    assert_eq!((between.function("main").calls, between.function("main").open), (0, 1));
    // The same again: a snapshot does not grow older.
    assert_eq!(endless.report("a.diyt").into_only_report().function("main").total_raw_ns, main(&a));

    // What lies between two moments adds to the first, and is a part of the second.
    let together = endless.run(&["report", "--format", "json", "a.diyt", "a.diyt..b.diyt"]);
    assert_eq!(Document::parse(&together.stdout).into_only_report().counts(), of_b);

    let refused = |profile: &str, says: &str| {
        let output = endless.run(&["report"].into_iter().chain(profile.split(' ')).collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{profile}");
        assert!(text(&output.stderr).contains(says), "{profile}: {}", text(&output.stderr));
    };
    refused("b.diyt a.diyt..b.diyt", "and what both have would count twice");
    let pushed = endless.run(&["push", "--store", "store.db", "b.diyt", "a.diyt..b.diyt"]);
    assert_eq!(pushed.status.code(), Some(2), "{}", text(&pushed.stderr));
    assert!(text(&pushed.stderr).contains("and what both have would count twice"), "{}", text(&pushed.stderr));
    refused("b.diyt..a.diyt", "a.diyt is older than b.diyt");
    refused("a.diyt..c.diyt", "cannot read c.diyt");
    let other = Endless::start();
    let theirs = endless.here.path().join("theirs.diyt");
    assert!(other.ctl(&["snapshot", "out", "-o", theirs.to_str().unwrap()]).status.success());
    refused("a.diyt..theirs.diyt", "are not of one family");

    // Beside its profile it does not count twice, and it never replaces one.
    assert!(endless.ctl(&["snapshot", "out", "-o", "out/copy.diyt"]).status.success());
    let output = endless.run(&["report", "out"]);
    assert!(text(&output.stderr).contains("copy.diyt is a snapshot"), "{}", text(&output.stderr));
    let profile = profile_in(&endless.here.path().join("out"));
    assert_eq!(endless.ctl(&["snapshot", "out", "-o", &profile]).status.code(), Some(2));
    endless.stop();
}

#[test]
fn a_snapshot_replaces_no_archive() {
    let mut endless = Endless::start();
    let archive = endless.here.path().join("a.diya");
    assert!(endless.run(&["merge", "out", "-o", "a.diya"]).status.success());
    let before = fs::read(&archive).unwrap();
    let output = endless.ctl(&["snapshot", "out", "-o", "a.diya"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("a.diya is an archive, and a snapshot would replace it: name another file"), "{said}");
    assert_eq!((said.lines().count(), fs::read(&archive).unwrap()), (1, before));
    endless.stop();
}

fn profile_in(folder: &Path) -> String {
    let mut paths = profiles_in(folder).into_iter();
    paths.find(|path| !path.ends_with("copy.diyt")).unwrap().to_str().unwrap().to_owned()
}
