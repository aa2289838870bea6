//! Functions over builds, commits and time: what a store tells of them, and which changes stay.

mod common;

use std::path::Path;
use std::process::Output;

use common::{Program, Recording, builds, diytrace, fixture, run_to_end};
use serde_json::Value;
use tempfile::TempDir;

fn run(folder: &Path, line: &str) -> Output {
    let mut command = diytrace(folder);
    run_to_end(command.args(line.split(' ')).env("DIYTRACE_CACHE", "off"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(folder: &Path, line: &str) -> Value {
    let output = run(folder, line);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{line}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A store with five recordings of each commit, of servers that fork so many children.
fn store(commits: &[(&str, u32)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let program: Program = fixture("forks.c", builds()[0]);
    for (commit, children) in commits {
        for _ in 0..5 {
            let recorded = Recording::of(&program).args(&[&children.to_string(), "4"]).run();
            let out = recorded.out();
            let pushed = run(folder.path(), &format!("push --store s.db --label commit={commit} {}", out.display()));
            assert!(pushed.status.success(), "{}", text(&pushed.stderr));
        }
    }
    folder
}

fn function<'a>(history: &'a Value, name: &str) -> &'a Value {
    let functions = history["functions"].as_array().unwrap();
    functions.iter().find(|function| function["name"] == name).unwrap_or_else(|| panic!("no {name} in {history}"))
}

fn steps<'a>(function: &'a Value, measure: &str) -> Vec<&'a Value> {
    function["steps"].as_array().unwrap().iter().filter(|step| step["measure"] == measure).collect()
}

#[test]
fn what_is_called_more_often_since_a_commit_is_a_step_there() {
    let folder = store(&[("a1", 4), ("b2", 4), ("c3", 4), ("d4", 12), ("e5", 12), ("f6", 12)]);
    let history = json(folder.path(), "history leaf --store s.db --over commit --format json");
    assert_eq!(history["schema"], "diytrace-history/1");
    let leaf = function(&history, "leaf");
    let points: Vec<_> = leaf["points"].as_array().unwrap().iter().collect();
    let told: Vec<_> =
        points.iter().map(|point| (point["value"].as_str().unwrap(), point["calls"].as_u64().unwrap())).collect();
    assert_eq!(told, [("a1", 40), ("b2", 40), ("c3", 40), ("d4", 120), ("e5", 120), ("f6", 120)]);
    assert!(points.iter().all(|point| point["runs"] == 5));
    let [step] = steps(leaf, "calls_per_run")[..] else { panic!("{leaf}") };
    assert_eq!((&step["point"], &step["before"], &step["after"]), (&3.into(), &8.0.into(), &24.0.into()));
    assert_eq!(step["side_by_side"], Value::Null);

    // All functions that did so, and that is a "no".
    let output = run(folder.path(), "history --regressions --store s.db --over commit --format json");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    for name in ["leaf", "handle", "quit"] {
        assert_eq!(steps(function(&all, name), "calls_per_run").len(), 1, "{name}");
    }
    let named: Vec<_> = all["functions"].as_array().unwrap().iter().map(|function| &function["name"]).collect();
    assert!(!named.iter().any(|name| *name == "main" && steps(function(&all, "main"), "calls_per_run").len() == 1));
    let table = text(&run(folder.path(), "history leaf --store s.db --over commit").stdout);
    assert!(table.contains("▲ calls +200%"), "{table}");
}

#[test]
fn calls_that_stay_the_same_are_no_step() {
    let folder = store(&[("a1", 4), ("b2", 4), ("c3", 4)]);
    let history = json(folder.path(), "history * --store s.db --over commit --format json");
    for function in history["functions"].as_array().unwrap() {
        assert!(steps(function, "calls_per_run").is_empty(), "{function}");
    }
}

#[test]
fn slices_of_time_add_up_to_the_report_with_all_bins() {
    let folder = store(&[("a1", 4), ("b2", 8)]);
    let report = json(folder.path(), "report --store s.db --format json");
    let over = json(folder.path(), "history leaf handle --store s.db --over time --histogram --format json");
    assert!(over["slice_ns"].as_i64().unwrap() >= 250_000_000);
    for name in ["leaf", "handle"] {
        let points = function(&over, name)["points"].as_array().unwrap();
        let sum = |of: &dyn Fn(&Value) -> u64| points.iter().map(of).sum::<u64>();
        let functions = report["reports"][0]["functions"].as_array().unwrap();
        let whole = functions.iter().find(|function| function["name"] == name).unwrap();
        assert_eq!(Value::from(sum(&|point| point["calls"].as_u64().unwrap())), whole["calls"], "{name}");
        let bars = |point: &Value| -> u64 {
            point["histogram"].as_array().unwrap().iter().map(|bar| bar["calls"].as_u64().unwrap()).sum()
        };
        // A call of `handle` never returns: its process ends in it.
        let returned = whole["calls"].as_u64().unwrap() - whole["open"].as_u64().unwrap();
        assert_eq!(sum(&bars), returned, "{name}");
    }
}

#[test]
fn bad_use_is_one_sentence() {
    let folder = store(&[("a1", 4)]);
    for (line, expected) in [
        ("history laef --store s.db", "leaf"),
        ("history leaf --store s.db --over branch", "no series has a label `branch`"),
        ("history leaf --store s.db --select commit=zz", "a1"),
        ("history leaf --store nowhere.db", "there is no store"),
    ] {
        let output = run(folder.path(), line);
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""), "{line}");
        let said = text(&output.stderr);
        assert!(said.contains(expected) && said.lines().count() == 1, "{line}: {said}");
    }
    let few = run(folder.path(), "history --regressions --store s.db --over commit");
    assert_eq!(few.status.code(), Some(0));
    assert!(text(&few.stderr).contains("too few recordings"), "{}", text(&few.stderr));
}
