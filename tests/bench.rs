//! Two sides, run in turn: the order, what is kept of each run, and what is kept when it goes wrong.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{Document, Program, builds, copy_program, diytrace, fixture, run_to_end, wait_until};
use serde_json::Value;
use tempfile::TempDir;

/// A folder to bench in, and the program.
struct Story {
    here: TempDir,
    program: Program,
}

impl Story {
    fn new() -> Self {
        Self { here: tempfile::tempdir().unwrap(), program: fixture("asked.c", builds()[0]) }
    }

    /// A bench whose verdict is not what the story is about.
    fn bench(&self, arguments: &[&str]) -> Command {
        let mut command = self.whole_bench(arguments);
        command.args(["--no-confirm", "--fail-on", "never"]);
        command
    }

    fn whole_bench(&self, arguments: &[&str]) -> Command {
        let mut command = diytrace(self.here.path());
        command.arg("bench").args(arguments).env("ASKED", &self.program.path);
        command
    }

    fn path(&self, name: &str) -> PathBuf {
        self.here.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn set(&self, side: &str) -> Value {
        serde_json::from_str(&self.read(&format!("diytrace.bench/{side}/runs.json"))).unwrap()
    }

    fn runs(&self, side: &str) -> Vec<Value> {
        self.set(side)["runs"].as_array().unwrap().clone()
    }

    /// How often a run called a function, with its profile as the set names it.
    fn calls(&self, side: &str, run: &Value, function: &str) -> u64 {
        let folder = self.path("diytrace.bench").join(side);
        let output =
            run_to_end(diytrace(&folder).args(["report", "--format", "json", run["profile"].as_str().unwrap()]));
        assert!(output.status.success(), "{}", err(&output));
        Document::parse(&output.stdout).into_only_report().counts().get(function).copied().unwrap_or(0)
    }
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn assert_refused(output: &Output, words: &[&str]) {
    let said = err(output);
    let last = said.lines().last().unwrap_or_default();
    assert_eq!(output.status.code(), Some(2), "{said}");
    for word in words {
        assert!(last.starts_with("diytrace: ") && last.contains(word), "{word:?} in {said}");
    }
}

fn exists(pid: &str) -> bool {
    // A zombie in a container without a reaper is not running.
    let status = fs::read_to_string(Path::new("/proc").join(pid.trim()).join("status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
}

#[test]
fn sides_take_turns_and_every_run_has_its_own_profile_and_metrics() {
    let story = Story::new();
    let mut bench = story.bench(&["--runs", "4", "--warmup", "1", "--setup", "echo setup $DIYTRACE_SIDE >>log"]);
    bench.args(["--cleanup", "echo cleanup $DIYTRACE_SIDE >>log", "--prepare", "echo -n . >>dots"]);
    bench.args(["--a", "echo A >>log; $ASKED work 5", "--b", "echo B >>log; $ASKED work 7; echo said"]);
    let output = run_to_end(&mut bench);
    assert!(output.status.success(), "{}", err(&output));
    let order = "setup left,setup right,A,B,A,B,B,A,A,B,B,A,cleanup left,cleanup right,";
    assert_eq!(story.read("log").replace('\n', ","), order);
    assert_eq!(story.read("dots").len(), 10);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("said"));

    for (side, calls) in [("left", 5), ("right", 7)] {
        let set = story.set(side);
        assert_eq!((set["schema"].as_str(), set["name"].as_str()), (Some("diytrace-runs/1"), Some(side)));
        assert!(set["command"].as_str().unwrap().contains("$ASKED work"));
        assert!(set["machine"]["processors"].as_u64() >= Some(1), "{}", set["machine"]);
        let runs = story.runs(side);
        let numbers: Vec<_> = runs.iter().map(|run| run["number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, [1, 2, 3, 4]);
        for run in &runs {
            assert_eq!((story.calls(side, run, "answer"), story.calls(side, run, "part")), (calls, 2 * calls));
            assert_eq!((run["status"].as_u64(), &run["query"]), (Some(0), &Value::Null));
            let metric = |name: &str| run["metrics"][name].as_f64();
            assert!(metric("wall_ns") > Some(1e5) && metric("minor_faults") > Some(10.0), "{run}");
            for name in ["user_ns", "system_ns", "major_faults", "voluntary_switches", "involuntary_switches"] {
                assert!(metric(name) >= Some(0.0), "{name}: {run}");
            }
        }
        let started: Vec<_> = runs.iter().map(|run| run["started_unix_ns"].as_u64().unwrap()).collect();
        assert!(started.is_sorted() && started[0] > 1_600_000_000_000_000_000);
    }
    assert!(!story.path("diytrace.bench/running").exists());
}

#[test]
fn an_earlier_bench_is_kept_and_what_is_no_bench_is_left_alone() {
    let story = Story::new();
    let once = |calls: &str| {
        let command = format!("$ASKED work {calls}");
        run_to_end(&mut story.bench(&["--runs", "1", "--warmup", "0", "--a", &command]))
    };
    for calls in ["1", "2", "3"] {
        assert!(once(calls).status.success());
    }
    assert_eq!(story.calls("left", &story.runs("left")[0], "answer"), 3);
    assert!(story.read("diytrace.bench.old/left/runs.json").contains("$ASKED work 2"));
    fs::remove_file(story.path("diytrace.bench/bench.json")).unwrap();
    assert_refused(&once("4"), &["diytrace.bench is there and was not made by bench"]);
    assert_eq!(story.calls("left", &story.runs("left")[0], "answer"), 3);
}

#[test]
fn a_run_that_fails_ends_it_with_one_sentence_and_what_was_complete() {
    let story = Story::new();
    let command = "echo x >>log; $ASKED work 5; test $(wc -l <log) != 4 || exit 7";
    let arguments = ["--runs", "3", "--warmup", "0", "--a", command, "--b", command];
    let output = run_to_end(&mut story.bench(&arguments));
    assert_refused(&output, &["run 2, left failed with exit status 7: echo x", "--show-output"]);
    assert_eq!((story.runs("left").len(), story.runs("right").len()), (1, 2));

    fs::remove_file(story.path("log")).unwrap();
    let output = run_to_end(story.bench(&arguments).arg("--ignore-failure"));
    assert!(output.status.success(), "{}", err(&output));
    let statuses: Vec<_> = story.runs("left").iter().map(|run| run["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [0, 7, 0]);

    let output = run_to_end(&mut story.bench(&["--a", "true"]));
    assert_refused(&output, &["a warm-up, left left no profile", "-finstrument-functions"]);
    let output = run_to_end(&mut story.bench(&["--a", "true", "--prepare", "kill -9 $$"]));
    assert_refused(&output, &["prepare of left failed with signal 9"]);
    let output =
        run_to_end(&mut story.bench(&["--a", "true", "--setup", "false", "--cleanup", "echo cleaned >cleaned"]));
    assert_refused(&output, &["setup of left failed with exit status 1: false"]);
    assert_eq!(story.read("cleaned"), "cleaned\n");
}

#[test]
fn interrupted_it_ends_the_run_and_keeps_what_is_complete() {
    let story = Story::new();
    let command = "echo x >>log; $ASKED work 5; if test $(wc -l <log) = 4; then
        trap 'echo asked >ended; exit 1' TERM; echo $$ >pid; sleep 600 & wait; fi";
    let mut bench = story.bench(&["--runs", "9", "--warmup", "0", "--a", command, "--b", command]);
    bench.args(["--cleanup", "echo cleanup >>cleaned"]);
    let said = story.path("stderr");
    let mut bench = bench
        .stdout(fs::File::create(story.path("stdout")).unwrap())
        .stderr(fs::File::create(&said).unwrap())
        .spawn()
        .unwrap();
    wait_until("the fourth run begins", || story.read("pid").ends_with('\n'));
    assert!(Command::new("sh").args(["-c", &format!("kill -s INT {}", bench.id())]).status().unwrap().success());
    assert_eq!(bench.wait().unwrap().code(), Some(130), "{}", story.read("stderr"));
    assert!(!exists(&story.read("pid")), "the run goes on");
    assert_eq!(story.read("ended"), "asked\n", "it was killed without a word");
    assert_eq!((story.runs("left").len(), story.runs("right").len()), (1, 2));
    assert_eq!(story.calls("right", &story.runs("right")[1], "answer"), 5);
    assert!(story.read("stderr").contains("interrupted; the 3 runs that were complete"), "{}", story.read("stderr"));
    assert!(story.read("stderr").contains("right: 2 runs, "), "{}", story.read("stderr"));
    assert!(story.read("stdout").contains("left → right"), "it reports what it has: {}", story.read("stdout"));
    assert_eq!(story.read("cleaned"), "cleanup\ncleanup\n");
    assert!(!story.path("diytrace.bench/running").exists());
}

#[test]
fn what_changed_is_run_again_and_reported() {
    let story = Story::new();
    let bench = |b: &str| {
        let _ = fs::remove_file(story.path("log"));
        let a = "echo A >>log; $ASKED work 1000";
        let arguments = ["--runs", "8", "--warmup", "0", "--fail-on", "changed", "--a", a, "--b", b];
        run_to_end(&mut story.whole_bench(&arguments))
    };
    let output = bench("echo B >>log; $ASKED work 1250");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}{}", err(&output));
    assert!(said.contains("1,000  1,250  +25.0%") && said.contains("answer"), "{said}");
    assert_eq!(story.read("log").replace('\n', ""), "ABBA".repeat(8), "as many runs to find it as to confirm it");
    let report: Value = serde_json::from_str(&story.read("diytrace.bench/report/report.json")).unwrap();
    assert!(report["confirmation"]["left"].as_str().unwrap().ends_with("diytrace.bench/confirm/left"), "{report}");
    assert!(story.path("diytrace.bench/report/report.html").is_file());

    let output = bench("echo B >>log; $ASKED work 1000");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!said.contains("Called more or less often"), "{said}");
}

#[test]
fn a_history_that_is_not_there_is_told_before_anything_runs() {
    let story = Story::new();
    let output = run_to_end(&mut story.bench(&["--a", "echo >>log", "--b", "true", "--against", "main"]));
    assert_refused(&output, &["there is no history of `main` in diytrace.history"]);
    assert_eq!((story.read("log"), story.path("diytrace.bench").exists()), (String::new(), false));
}

#[test]
fn it_stops_when_the_median_is_known_or_when_time_is_up() {
    let story = Story::new();
    let output = run_to_end(&mut story.bench(&["--precision", "100", "--a", "$ASKED work 5", "--b", "$ASKED work 5"]));
    assert!(output.status.success(), "{}", err(&output));
    let runs = story.runs("left").len();
    assert!(runs >= 6 && story.runs("right").len() == runs, "{runs}"); // how many more, others on the machine decide
    assert!(!err(&output).contains("the time limit came"), "{}", err(&output));

    let late =
        ["--precision", "0.01", "--time-limit", "0.5s", "--a", "$ASKED work 5", "--b", "sleep 0.01; $ASKED work 5"];
    let output = run_to_end(&mut story.bench(&late));
    assert!(output.status.success(), "{}", err(&output));
    assert!(err(&output).contains("the time limit came before the medians were known to <0.1%"), "{}", err(&output));
    assert!(!story.runs("left").is_empty() && story.runs("left").len() == story.runs("right").len());
}

#[test]
fn runs_are_added_only_where_they_may_decide_and_up_to_the_most() {
    let story = Story::new();
    let bench = |arguments: &[&str]| {
        let _ = fs::remove_file(story.path("log"));
        let sides = ["--warmup", "0", "--a", "echo A >>log; $ASKED work 20", "--b", "echo B >>log; $ASKED work 20"];
        let output = run_to_end(story.bench(arguments).args(sides));
        assert!(output.status.success(), "{}", err(&output));
        assert_eq!(story.runs("left").len(), story.runs("right").len());
        (story.runs("left").len(), err(&output))
    };
    // With so small a level no number of runs up to the most tells anything, so the first look is the last.
    let (runs, said) = bench(&["--runs", "3", "--most-runs", "9", "--level", "0.00000001"]);
    assert_eq!((runs, said.contains("adding some")), (3, false), "{said}");
    let report: Value = serde_json::from_str(&story.read("diytrace.bench/report/report.json")).unwrap();
    assert_eq!(report["options"]["looks"], serde_json::json!({"first": 3, "most": 9}));
    assert!(report["queries"][0]["level"].as_f64() < Some(0.00000001), "one look has its part of the level");
    // Whether times look like a change, others on the machine decide; looks are at these numbers of runs.
    let (runs, said) = bench(&["--runs", "4", "--most-runs", "8"]);
    assert!([4, 6, 8].contains(&runs) && (runs > 4) == said.contains("adding some, 8 at most"), "{runs}: {said}");
    assert_eq!(story.read("log").replace('\n', "").get(..8), Some("ABBAABBA"));
    // Who says how many runs, gets as many.
    assert_eq!(bench(&["--runs", "2"]).0, 2);
    let fewer = run_to_end(&mut story.bench(&["--runs", "5", "--most-runs", "3", "--a", "true", "--b", "true"]));
    assert_refused(&fewer, &["--most-runs 3 is less than --runs 5"]);
    let refused = run_to_end(&mut story.bench(&["--most-runs", "5", "--precision", "1", "--a", "true"]));
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn runs_are_spread_over_layouts_and_over_places_of_the_stack() {
    let story = Story::new();
    let side = "echo $DIYTRACE_SIDE $DIYTRACE_LAYOUT ${#DIYTRACE_PADDING} >>log; $ASKED work 5";
    let link = "echo $DIYTRACE_SIDE $DIYTRACE_LAYOUT >>links";
    let spread = ["--layouts", "2", "--link", link, "--runs", "3", "--warmup", "0", "--a", side, "--b", side];
    let output = run_to_end(&mut story.bench(&spread));
    assert!(output.status.success(), "{}", err(&output));
    assert_eq!(story.read("links").replace('\n', ","), "left 1,right 1,left 2,right 2,");
    let order = "left 1 0,right 1 0,right 2 592,left 2 592,left 1 1184,right 1 1184,";
    assert_eq!(story.read("log").replace('\n', ","), order);

    // A change is confirmed in layouts that it was not found in.
    fs::remove_file(story.path("links")).unwrap();
    let (few, many) = ("$ASKED work 10", "$ASKED work 20");
    let changed = ["--layouts", "2", "--link", link, "--runs", "4", "--fail-on", "changed", "--a", few, "--b", many];
    let output = run_to_end(&mut story.whole_bench(&changed));
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    let order = "left 1,right 1,left 2,right 2,left 3,right 3,left 4,right 4,";
    assert_eq!(story.read("links").replace('\n', ","), order);

    let refused = run_to_end(&mut story.bench(&["--layouts", "2", "--link", "false", "--a", "true"]));
    assert_refused(&refused, &["linking of left failed with exit status 1: false"]);
    let refused = run_to_end(&mut story.bench(&["--layouts", "2", "--a", "true"]));
    assert_eq!(refused.status.code(), Some(2));
}

const SERVERS: &str = r#"
[left]
setup = "mkdir left.dir"
start = "rm -f $SOCKET; echo started >>starts; echo $$ >left.dir/pid; exec $ASKED serve $SOCKET"
ready = "test -S $SOCKET"
env = { SOCKET = "left.dir/socket" }

[right]                             # it starts in the background, and `stop` ends it
setup = "mkdir right.dir"
start = "rm -f $SOCKET; $ASKED serve $SOCKET & echo $! >right.dir/pid"
ready = "test -S $SOCKET"
stop = "kill $(cat right.dir/pid)"
cleanup = "echo $(cat right.dir/pid) >stopped"
env = { SOCKET = "right.dir/socket" }

[[query]]
name = "some"
command = "echo some $DIYTRACE_SIDE >>log; $ASKED ask $SOCKET 10"

[[query]]
name = "m/any"
prepare = "$ASKED ask $SOCKET 1000"
command = "echo many $DIYTRACE_SIDE >>log; $ASKED ask $SOCKET $((20 + $(echo $DIYTRACE_SIDE | wc -c)))"
"#;

#[test]
fn of_two_servers_a_run_is_what_they_did_for_a_query_and_nothing_else() {
    let story = Story::new();
    story.write("servers.toml", SERVERS);
    let output = run_to_end(&mut story.bench(&["servers.toml", "--runs", "3", "--warmup", "0"]));
    assert!(output.status.success(), "{}", err(&output));
    let order = "some left,some right,many left,many right,some right,some left,many right,many left,";
    assert!(story.read("log").replace('\n', ",").starts_with(order), "{}", story.read("log"));
    assert_eq!(story.read("starts").lines().count(), 3, "each round has servers of its own");
    for (side, many) in [("left", 25), ("right", 26)] {
        let runs = story.runs(side);
        assert_eq!(runs.len(), 6);
        for run in &runs {
            let expected = if run["query"] == "some" { 10 } else { many };
            assert_eq!(story.calls(side, run, "answer"), expected, "{run}");
            // What the child did after it had answered is there, and what it did for `prepare` is not.
            assert_eq!(story.calls(side, run, "tidy"), 3, "{run}");
            assert!(run["metrics"]["wall_ns"].as_f64() > Some(1e5) && run["metrics"]["user_ns"].is_null());
        }
        assert!(runs[1]["profile"].as_str().unwrap().starts_with("m_any/001/"), "{}", runs[1]["profile"]);
    }
    assert!(!exists(&story.read("stopped")), "the right server runs on");
    let left = story.path("diytrace.bench/left/server");
    assert_eq!(run_to_end(diytrace(story.here.path()).args(["ctl", "status"]).arg(left)).status.code(), Some(1));
}

#[test]
fn servers_may_stay_and_are_warmed_up_after_each_start() {
    let story = Story::new();
    for (after, starts, warmups) in [(0, 1, 1), (2, 2, 2)] {
        story.write("servers.toml", &format!("restart_after = {after}\n{SERVERS}"));
        let output = run_to_end(&mut story.bench(&["servers.toml", "--runs", "3"]));
        assert!(output.status.success(), "{}", err(&output));
        assert_eq!(story.read("starts").lines().count(), starts);
        assert_eq!(story.read("log").matches("some").count(), 2 * (3 + warmups));
        assert_eq!(story.calls("right", &story.runs("right")[5], "tidy"), 3);
        for left in ["left.dir", "right.dir"] {
            fs::remove_dir_all(story.path(left)).unwrap();
        }
        for file in ["starts", "log"] {
            fs::remove_file(story.path(file)).unwrap();
        }
    }
}

#[test]
fn what_an_earlier_server_has_left_makes_none_ready() {
    let story = Story::new();
    let late = SERVERS
        .replace("rm -f $SOCKET; $ASKED serve $SOCKET &", "(sleep 0.5; rm -f $SOCKET; exec $ASKED serve $SOCKET) &");
    story.write(
        "servers.toml",
        &late.replace("setup = \"mkdir right.dir\"", "setup = \"mkdir right.dir; $ASKED leave right.dir/socket\""),
    );
    let output = run_to_end(&mut story.bench(&["servers.toml", "--runs", "1", "--warmup", "0"]));
    assert!(output.status.success(), "{}", err(&output));
}

#[test]
fn a_server_that_does_not_come_up_or_goes_away_is_told() {
    let story = Story::new();
    let refused = |from: &str, to: &str, words: &[&str]| {
        for side in ["left", "right"] {
            let _ = fs::remove_dir_all(story.path(&format!("{side}.dir")));
        }
        assert!(SERVERS.contains(from), "{from}");
        story.write("servers.toml", &SERVERS.replace(from, to));
        let output = run_to_end(&mut story.bench(&["servers.toml", "--runs", "1", "--warmup", "0"]));
        assert_refused(&output, words);
    };
    refused(
        "exec $ASKED serve $SOCKET",
        "echo sorry; exit 9",
        &["the left server ended with exit status 9 before it was ready", "server.log"],
    );
    assert_eq!(story.read("diytrace.bench/left/server.log"), "sorry\n");
    refused(
        "ready = \"test -S $SOCKET\"\nenv",
        "ready = \"false\"\ntime_limit = 0.2\nenv",
        &["the left server was not ready within 0.2 s (false)"],
    );
    refused(
        "$ASKED ask $SOCKET 10",
        "$ASKED ask left.dir/socket 10",
        &["the right server counted no call during run 1 of some, right"],
    );
    refused("$ASKED ask $SOCKET 10", "kill $(cat left.dir/pid); sleep 0.1", &["the left server ended with signal 15"]);
    refused(
        "[[query]]\nname = \"m/any\"",
        "[[query]]\nnmae = \"m/any\"",
        &["servers.toml: there is no key `nmae` in [[query]]; did you mean `name`?"],
    );
}

#[test]
fn a_scenario_of_programs_runs_each_query_afresh() {
    let story = Story::new();
    story.write("programs.toml", "left.env.N = '2'\nright.env.N = '3'\nrecord.root = ['part']\n[[query]]\nname = 'q'\ncommand = '$ASKED work $N'\n");
    let output = run_to_end(&mut story.bench(&["programs.toml", "--runs", "2"]));
    assert!(output.status.success(), "{}", err(&output));
    for (side, parts) in [("left", 4), ("right", 6)] {
        for run in story.runs(side) {
            assert_eq!((story.calls(side, &run, "part"), story.calls(side, &run, "answer")), (parts, 0));
        }
    }
}

#[test]
fn what_is_saved_tells_the_same_when_the_program_is_gone() {
    let story = Story::new();
    copy_program(&story.program.path, story.path("program"));
    let save = |arguments: &[&str]| {
        let mut bench = story.bench(&["--runs", "2", "--a", "./program work 5", "--b", "./program work 6"]);
        run_to_end(bench.args(arguments).env("DIYTRACE_HISTORY", "kept"))
    };
    for number in ["1", "2"] {
        let output = save(&["--save", "main"]);
        assert!(output.status.success(), "{}", err(&output));
        assert!(err(&output).contains(&format!("saved the left side as kept/main/{number}")), "{}", err(&output));
    }
    fs::remove_file(story.path("program")).unwrap();
    for number in ["1", "2"] {
        let folder = story.path("kept/main").join(number);
        let set: Value = serde_json::from_str(&fs::read_to_string(folder.join("runs.json")).unwrap()).unwrap();
        let runs = set["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 2);
        for run in runs {
            let mut report = diytrace(&folder);
            report.args(["report", "--format", "json", run["profile"].as_str().unwrap()]).env("DIYTRACE_CACHE", "off");
            let report = Document::parse(&run_to_end(&mut report).stdout).into_only_report();
            assert_eq!(report.counts()["answer"], 5);
            assert!(run["metrics"]["wall_ns"].as_f64() > Some(0.0));
        }
    }
    assert_eq!(fs::read_dir(story.path("kept")).unwrap().count(), 1, "something is left of saving");
    assert_eq!(save(&["--save", "../main"]).status.code(), Some(2));
}
