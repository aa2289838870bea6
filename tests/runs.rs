//! Runs in a folder: `diytrace list` tells of them, `--run` takes one, `clean` removes old ones, and nothing counts twice.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use common::{Build, Endless, Program, diytrace, fixture, run_to_end, wait_until};
use serde_json::Value;
use tempfile::TempDir;

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run(here: &Path, line: &[&str]) -> Output {
    run_to_end(diytrace(here).args(line))
}

#[track_caller]
fn done(here: &Path, line: &[&str]) -> String {
    let output = run(here, line);
    assert!(output.status.success(), "{line:?}: {}", said(&output.stderr));
    said(&output.stdout)
}

fn json(here: &Path, line: &[&str]) -> Value {
    serde_json::from_str(&done(here, &[line, &["--format", "json"]].concat())).unwrap()
}

fn calls(here: &Path, line: &[&str]) -> u64 {
    json(here, line)["reports"][0]["calls"].as_u64().unwrap()
}

/// Records a program, under a label.
fn record(here: &Path, label: Option<&str>, program: &Program, arguments: &[&str]) {
    let label = label.map(|label| ["--label", label]);
    let mut command = diytrace(here);
    command.arg("record").args(label.iter().flatten()).arg("--").arg(&program.path).args(arguments);
    assert!(run_to_end(&mut command).status.success());
}

/// Three runs: of `recursion` with a label, of `fork`, and of `recursion` again, which is shorter.
fn three() -> (TempDir, [u64; 3]) {
    let here = tempfile::tempdir().unwrap();
    let (recursion, fork) = (fixture("recursion.c", Build::GCC_O0), fixture("fork.c", Build::GCC_O0));
    record(here.path(), Some("before the fix"), &recursion, &["down", "20"]);
    record(here.path(), None, &fork, &["return"]);
    record(here.path(), Some("after"), &recursion, &["down", "5"]);
    (here, [22, 7, 7])
}

#[test]
fn the_runs_of_a_folder() {
    let (here, counts) = three();
    let list = json(here.path(), &["list"]);
    assert_eq!(list["schema"], "diytrace-list/1");
    let runs = list["runs"].as_array().unwrap();
    let of = |name: &str| runs.iter().map(|run| run[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("number"), [1, 2, 3]);
    assert_eq!(of("label"), [Value::from("before the fix"), Value::Null, Value::from("after")]);
    assert_eq!(of("calls"), counts);
    assert_eq!(of("processes"), [1, 2, 1]);
    assert_eq!(of("state"), ["exited"; 3]);
    assert_eq!(runs[0]["arguments"].as_array().unwrap()[1..], ["down", "20"]);
    assert!(runs[0]["programs"][0].as_str().unwrap().ends_with("recursion"));
    assert!(of("bytes").iter().chain(&of("time_ns")).all(|number| number.as_u64().unwrap() > 0));
    let starts = of("started_unix_ns");
    assert!(starts.is_sorted_by_key(|start| start.as_u64()), "{starts:?}");

    let table = done(here.path(), &["list"]);
    let last = table.lines().last().unwrap();
    assert!(last.trim_start().starts_with("3 ") && last.ends_with("  after           recursion down 5"), "{table}");
    let csv = done(here.path(), &["list", "--format", "csv", "-n", "1"]);
    assert!(csv.starts_with("run,label,started_unix_ns,program,") && csv.contains("\n3,after,"), "{csv}");
    assert_eq!(csv.lines().count(), 2);
}

#[test]
fn one_run_of_several() {
    let (here, [first, second, third]) = three();
    let here = here.path();
    let all = first + second + third;
    for (wanted, expected) in [
        ("latest", third),
        ("1", first),
        ("2", second),
        ("before*", first),
        ("after", third),
        ("fork", second),
        ("recursion", first + third),
    ] {
        assert_eq!(calls(here, &["report", "--run", wanted]), expected, "{wanted}");
    }
    assert_eq!(calls(here, &["report", "--run", "1", "--run", "fork"]), first + second);
    assert_eq!(calls(here, &["report"]), all);
    // Every command that takes profiles.
    assert_eq!(json(here, &["tree", "--run", "fork"])["trees"][0]["calls"], second);
    assert_eq!(json(here, &["callers", "down", "--run", "latest"])["trees"][0]["nodes"][0]["calls"], 6);
    assert_eq!(json(here, &["annotate", "down", "--run", "1"])["reports"][0]["calls"], first);
    assert!(done(here, &["export", "folded", "--run", "fork", "--raw"]).contains("split"));
    for command in ["merge", "symbolize"] {
        done(here, &[command, "--run", "latest", "-o", "one.diya"]);
        assert_eq!(calls(here, &["report", "one.diya"]), third, "{command}");
    }
    for wanted in ["4", "nothing", "0"] {
        let output = run(here, &["report", "--run", wanted]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
        let why = said(&output.stderr);
        assert!(why.contains(&format!("no run here is `{wanted}`")) && why.contains("diytrace list"), "{why}");
    }
}

#[test]
fn commands_that_compare_or_watch_take_one_run_of_several() {
    let (here, [_, second, _]) = three();
    let here = here.path();
    let listed = json(here, &["list", "--run", "fork"]);
    assert_eq!((&listed["runs"][0]["number"], listed["runs"].as_array().unwrap().len()), (&Value::from(2), 1));
    let status = |wanted: &str| run(here, &["ctl", "status", "--run", wanted, "--format", "json"]);
    let status_of_second: Value = serde_json::from_slice(&status("fork").stdout).unwrap();
    assert_eq!(status_of_second[0]["calls"], second);
    assert_eq!(status_of_second.as_array().unwrap().len(), 1);

    // One side each, or of folders.
    for folders in [&[][..], &["diytrace.data"], &["diytrace.data", "diytrace.data"]] {
        let line = [&["diff"], folders, &["--run", "before*", "--run", "after", "--format", "json"]].concat();
        let compared: Value = serde_json::from_slice(&run(here, &line).stdout).unwrap();
        let functions = compared["queries"][0]["functions"].as_array().unwrap();
        let down = functions.iter().find(|function| function["name"] == "down").unwrap();
        assert_eq!((&down["calls"]["left"], &down["calls"]["right"]), (&[21].into(), &[6].into()), "{down}");
    }
    let line = ["similar", "--run", "before*", "--run", "after", "--metrics", "down:count", "--format", "json"];
    let compared: Value = serde_json::from_slice(&run(here, &line).stdout).unwrap();
    assert_eq!(compared["pass"], false, "{compared}");

    for line in [&["top", "--once"][..], &["ctl", "status"], &["ctl", "pause"], &["diff"], &["similar"], &["list"]] {
        let output = run(here, &[line, &["--run", "nothing"]].concat());
        let why = said(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line:?}: {why}");
        assert!(why.contains("no run here is `nothing`"), "{line:?}: {why}");
    }
    let three = run(here, &["diff", "--run", "1", "--run", "2", "--run", "3"]);
    assert!(three.status.code() == Some(2) && said(&three.stderr).contains("two sides"), "{}", said(&three.stderr));
    assert_eq!(run(here, &["diff"]).status.code(), Some(2), "two sides must be named");
}

#[test]
fn several_runs_together_say_so_first() {
    let (here, _) = three();
    let here = here.path();
    for line in [&["report"][..], &["tree"], &["callers", "main"], &["annotate", "main"]] {
        let shown = done(here, line);
        assert!(shown.starts_with("3 runs added up; --run latest shows the last alone"), "{line:?}: {shown}");
        assert!(!done(here, &[line, &["--run", "latest"]].concat()).contains("added up"), "{line:?}");
        assert_eq!(json(here, line)["runs"], 3);
    }
    assert!(done(here, &["export", "html"]).contains("3 runs"));
}

#[test]
fn what_one_record_left_is_one_run() {
    let here = tempfile::tempdir().unwrap();
    let program = fixture("recursion.c", Build::GCC_O0);
    let script = format!("'{0}' down 1; '{0}' down 2", program.path.display());
    for label in [&["--label", "both"][..], &[]] {
        let mut command = diytrace(here.path());
        command.arg("record").args(label).args(["--", "sh", "-c", &script]);
        assert!(run_to_end(&mut command).status.success());
    }
    let list = json(here.path(), &["list"]);
    let runs = list["runs"].as_array().unwrap();
    let calls_of: Vec<u64> = runs.iter().map(|run| run["calls"].as_u64().unwrap()).collect();
    assert_eq!((calls_of, runs[0]["profiles"].as_array().unwrap().len()), (vec![7, 7], 2));
    assert_eq!(calls(here.path(), &["report", "--run", "both"]), 7);
    assert!(!done(here.path(), &["report", "--run", "both"]).contains("added up"));
}

#[test]
fn what_is_there_twice_counts_once() {
    let (here, [.., third]) = three();
    let here = here.path();
    let latest = json(here, &["list"])["runs"][2]["profiles"][0].as_str().unwrap().to_owned();
    fs::copy(here.join(&latest), here.join("copy.diyt")).unwrap();
    let again = run(here, &["report", &latest, "copy.diyt", "--format", "json"]);
    let document: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(document["reports"][0]["calls"], third);
    assert!(said(&again.stderr).contains("copy.diyt once more, and counts once"), "{}", said(&again.stderr));
    // An archive, and a profile that is in it.
    done(here, &["merge", "copy.diyt", "-o", "one.diya"]);
    done(here, &["merge", "one.diya", &latest, "-o", "two.diya"]);
    assert_eq!(calls(here, &["report", "two.diya"]), third);
}

#[test]
fn two_moments_of_one_run_are_not_added_up() {
    let mut endless = Endless::start();
    for name in ["a.diyt", "b.diyt"] {
        let before = endless.calls();
        wait_until("more is recorded", || endless.calls() > before);
        assert!(endless.ctl(&["snapshot", "out", "-o", name]).status.success());
    }
    for line in [&["report", "a.diyt", "b.diyt"][..], &["merge", "a.diyt", "b.diyt", "-o", "both.diya"]] {
        let output = endless.run(line);
        let why = said(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{why}");
        assert!(why.contains("a.diyt and b.diyt are of one run at two moments") && why.contains("A..B"), "{why}");
    }
    assert!(endless.run(&["report", "a.diyt..b.diyt"]).status.success());
    endless.stop();
}

#[test]
fn what_still_runs_stays() {
    let mut endless = Endless::start();
    let output = endless.run(&["clean", "--keep", "0", "out"]);
    assert!(output.stdout.is_empty() && said(&output.stderr).contains("1 run is still running and stays"));
    let list: Value = serde_json::from_slice(&endless.run(&["list", "out", "--format", "json"]).stdout).unwrap();
    assert_eq!(list["runs"][0]["state"], "running");
    endless.stop();
    assert!(said(&endless.run(&["clean", "--keep", "0", "out"]).stderr).contains("1 run removed"));
}

#[test]
fn old_runs_go() {
    let (here, [.., third]) = three();
    let here = here.path();
    let files = || fs::read_dir(here.join("diytrace.data")).unwrap().count();
    let before = files();
    let would = run(here, &["clean", "--keep", "1", "--dry-run"]);
    assert_eq!((files(), said(&would.stdout).lines().count()), (before, 2));
    assert!(done(here, &["clean", "--older-than", "1d"]).is_empty());
    let removed = run(here, &["clean", "--keep", "1"]);
    assert_eq!(removed.stdout, would.stdout);
    assert!(said(&removed.stderr).contains("2 runs removed"), "{}", said(&removed.stderr));
    assert_eq!((files(), calls(here, &["report"])), (3, third), "the profile, its label and its names");
    assert_eq!(run(here, &["clean"]).status.code(), Some(2), "it must be told what");
}

/// `postgres -V` ends before any of its functions is called that has hooks.
#[test]
fn a_run_that_has_called_nothing_is_no_unreadable_one() {
    let here = TempDir::new().unwrap();
    let program =
        "int uncalled(void) { return 1; }\n__attribute__((no_instrument_function)) int main(void) { return 0; }\n";
    fs::write(here.path().join("idle.c"), program).unwrap();
    let mut compiler = Command::new("gcc");
    compiler.args(["-finstrument-functions", "-o", "idle", "idle.c"]).current_dir(here.path());
    assert!(run_to_end(&mut compiler).status.success());
    done(here.path(), &["record", "./idle"]);
    let list = done(here.path(), &["list"]);
    assert!(list.contains("no calls") && !list.contains("unreadable"), "{list}");
}
