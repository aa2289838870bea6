//! What `diytrace diff` says of builds whose one difference is known.
//!
//! Times depend on what else the machine does: where ten programs share two processors, one that is kept waiting seems to
//! take 30 ms longer, wherever it was. So verdicts on times are asked of runs whose times are made up, waiting included; of
//! recorded ones, what no time can change.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use common::simulated::{Chance, Hooks, Program as Simulated, Times};
use common::{Build, Program, Recorded, copy_program, diytrace, fixture, fixture_with, profiles_in, run_to_end};
use serde_json::{Value, json};

fn build(options: &[&str]) -> Program {
    match options {
        [] => fixture("changes.c", Build::GCC_O2),
        _ => fixture_with("changes.c", Build::GCC_O2, options).unwrap(),
    }
}

/// Records runs of programs, one after the other, so that all of them see the same machine.
fn record(here: &Path, sets: &[(&str, &Program)], runs: usize, requests: &str) {
    for run in 1..=runs {
        for (set, program) in sets {
            let recorded = program.record().arg(requests).run();
            let folder = here.join(set).join(run.to_string());
            fs::create_dir_all(&folder).unwrap();
            for profile in recorded.profiles() {
                fs::copy(&profile, folder.join(profile.file_name().unwrap())).unwrap();
            }
        }
    }
}

/// What calls take themselves, in nanoseconds.
fn own(function: &str, parse: f64) -> f64 {
    match function {
        "main" => 50.0,
        "handle" => 20.0,
        "parse" => parse,
        "lookup" => 400.0,
        "compare" => 130.0,
        "render" => 2_000.0,
        other => panic!("changes.c has no {other}"),
    }
}

/// Makes up runs of programs in which a call of `parse` takes so long, set by set in any order: from run to run a function
/// takes a hundredth more or less, and one run in three is kept waiting somewhere.
fn make_up(here: &Path, sets: &[(&str, &Recorded, f64)], runs: usize) {
    make_up_where(here, sets, runs, 1.0 / 3.0, false);
}

/// The same, where so many of the runs are kept waiting; the recordings may know that it is for others.
fn make_up_where(here: &Path, sets: &[(&str, &Recorded, f64)], runs: usize, waiting: f64, knows_preempted: bool) {
    const HOOKS: Hooks = Hooks { inner: 12.0, outer: 30.0, counted: 9.0 };
    let mut chance = Chance::new(1);
    for (set, recorded, parse) in sets {
        let program = Simulated::of(recorded);
        for run in 1..=runs {
            let functions = ["main", "handle", "parse", "lookup", "compare", "render"];
            let own_ns = functions.map(|function| own(function, *parse) * (1.0 + 0.01 * chance.normal()));
            let own = |function: &str| own_ns[functions.iter().position(|name| *name == function).unwrap()];
            let where_it_waits = functions[(chance.part() * functions.len() as f64) as usize];
            let times = Times {
                own: &own,
                variation: 0.1,
                hooks: HOOKS,
                hooks_variation: 0.2,
                found: HOOKS,
                found_error: 0.2 * (HOOKS.inner + HOOKS.outer),
                windows: (0..20).map(|_| HOOKS.inner + HOOKS.outer - HOOKS.counted + 5.0 * chance.normal()).collect(),
                wait: (chance.part() < waiting).then_some((where_it_waits, 30e6)),
                knows_preempted,
            };
            program.run(&times, &mut chance, &here.join(set).join(run.to_string()));
        }
    }
}

fn diff(here: &Path, arguments: &[&str]) -> Output {
    run_to_end(diytrace(here).arg("diff").args(arguments))
}

/// The result as JSON, and the exit status.
fn compared(here: &Path, arguments: &[&str]) -> (Value, i32) {
    let output = diff(here, &[arguments, &["--format", "json"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    let json = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    (json, output.status.code().unwrap())
}

fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

fn function<'a>(json: &'a Value, name: &str) -> &'a Value {
    let functions = json["queries"][0]["functions"].as_array().unwrap();
    functions.iter().find(|function| function["name"] == name).unwrap_or_else(|| panic!("{name} is not there"))
}

/// Functions of a verdict.
fn of_verdict<'a>(json: &'a Value, verdict: &str) -> Vec<&'a str> {
    let functions = json["queries"][0]["functions"].as_array().unwrap();
    let named = functions.iter().filter(|function| function["verdict"] == verdict);
    named.map(|function| function["name"].as_str().unwrap()).collect()
}

#[test]
fn others_that_have_the_processor_hide_no_change() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let [base, dear] = [build(&[]), build(&["-DPARSE=2400"])].map(|program| program.record().arg("200").run());
    for (folder, knows) in [("known", true), ("unknown", false)] {
        make_up_where(
            &here.join(folder),
            &[("before", &base, 2_000.0), ("after", &dear, 2_400.0), ("again", &base, 2_000.0)],
            12,
            1.0,
            knows,
        );
    }
    let (json, status) = compared(here, &["known/before", "known/after"]);
    assert_eq!((of_verdict(&json, "changed"), status), (vec!["parse"], 1));
    assert_eq!((&json["queries"][0]["without_preempted"], of_verdict(&json, "unstable")), (&json!(true), vec![]));
    let (same, status) = compared(here, &["known/before", "known/again"]);
    assert_eq!((of_verdict(&same, "changed"), status), (vec![], 0));
    // Where nobody knows, those 30 ms are in functions that take a fraction of one.
    let (unknown, _) = compared(here, &["unknown/before", "unknown/after"]);
    let longest = |json: &Value| {
        let functions = json["queries"][0]["functions"].as_array().unwrap().iter();
        let runs = functions.flat_map(|function| function["self_ns"]["left"].as_array().unwrap());
        runs.filter_map(Value::as_f64).fold(0.0, f64::max)
    };
    assert!(longest(&json) < 2e6 && longest(&unknown) > 30e6, "{} and {}", longest(&json), longest(&unknown));
}

#[test]
fn a_dearer_function_is_named_and_no_other() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let [base, dear] = [build(&[]), build(&["-DPARSE=2400"])].map(|program| program.record().arg("200").run());
    make_up(here, &[("before", &base, 2_000.0), ("after", &dear, 2_400.0), ("again", &base, 2_000.0)], 12);

    let (same, status) = compared(here, &["before", "again"]);
    assert_eq!((of_verdict(&same, "changed"), of_verdict(&same, "calls"), status), (vec![], vec![], 0));
    for function in same["queries"][0]["functions"].as_array().unwrap() {
        assert_eq!(function["calls"]["verdict"], "equal", "{}", function["name"]);
    }
    let query = &same["queries"][0];
    assert_eq!(query["left_overhead"], query["right_overhead"], "hooks of one program cost the same on both sides");
    let error = |json: &Value, field: &str| function(json, "compare")["self_ns"][field].as_f64().unwrap();
    assert!(error(&same, "error_ns") < error(&same, "left_error_ns") / 2.0, "both sides are off alike");
    for edge in query["edges"].as_array().unwrap() {
        for time in ["self_ns", "total_ns"] {
            assert!(edge[time]["error_ns"].as_f64() > Some(0.0), "{time} of {edge}");
        }
    }

    let (json, status) = compared(here, &["before", "after"]);
    assert!(error(&json, "error_ns") > error(&json, "left_error_ns"), "but not of code that lies elsewhere");
    let parse = function(&json, "parse");
    assert_eq!((of_verdict(&json, "changed"), status), (vec!["parse"], 1), "{}", parse["self_ns"]);
    assert_eq!((&parse["split"]["why"], &parse["calls"]["verdict"]), (&json!("cost"), &json!("equal")));
    assert_eq!((&parse["split"]["calls_ns"], &parse["calls"]["left_median"]), (&json!(0.0), &json!(200.0)));
    let difference = parse["self_ns"]["difference"].as_f64().unwrap();
    assert!((difference - 0.2).abs() < 0.02, "{difference}");
    assert!(difference >= parse["self_ns"]["threshold"].as_f64().unwrap(), "{difference}");
    assert!(parse["total_ns"]["right_median"].as_f64() >= parse["self_ns"]["right_median"].as_f64());
    let (_, status) = compared(here, &["after", "before"]);
    assert_eq!(status, 0, "it is faster");
    for (fail_on, expected) in [("never", 0), ("changed", 1)] {
        let (_, status) = compared(here, &["after", "before", "--fail-on", fail_on]);
        assert_eq!(status, expected, "{fail_on}");
    }

    // Fresh runs show it again, or they do not.
    let again = ["before", "after", "--confirm", "again", "after"];
    let (confirmed, status) = compared(here, &again);
    let parse = function(&confirmed, "parse");
    assert_eq!((&parse["verdict"], &parse["repeat"]["is_confirmed"], status), (&json!("changed"), &json!(true), 1));
    let not = ["before", "after", "--confirm", "before", "again"];
    let (unconfirmed, status) = compared(here, &not);
    assert_eq!((of_verdict(&unconfirmed, "unconfirmed"), status), (vec!["parse"], 0));

    // What has changed as much before is no news.
    fs::create_dir_all(here.join("saved/main")).unwrap();
    for (number, set) in [(1, "before"), (2, "after"), (10, "again")] {
        fs::rename(here.join(set), here.join(format!("saved/main/{number}"))).unwrap();
    }
    let against = ["saved/main/1", "saved/main/2", "--history", "saved", "--against", "main"];
    let (usual, status) = compared(here, &against);
    assert_eq!((of_verdict(&usual, "changed"), status), (vec![], 0));
    let min_change = function(&usual, "parse")["min_change"].as_f64().unwrap();
    assert!((min_change / difference - 1.5).abs() < 1e-6, "{min_change} is not 1.5 times {difference}");
    let said = text(&diff(here, &against).stdout);
    assert!(said.contains("Changed as they usually do: parse +"), "{said}");
}

#[test]
fn more_calls_are_the_callers_doing_and_what_they_call_follows() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    record(here, &[("before", &build(&[])), ("after", &build(&["-DLOOKUPS=5"]))], 3, "100");
    let (json, status) = compared(here, &["before", "after", "--fail-on", "changed"]);
    assert_eq!(
        (of_verdict(&json, "calls"), of_verdict(&json, "follows"), status),
        (vec!["lookup"], vec!["compare"], 1)
    );
    assert_eq!(function(&json, "lookup")["calls"]["difference"], json!(0.25));
    assert_eq!(function(&json, "compare")["follows"], json!(["lookup"]));
    for unchanged in ["main", "handle", "parse", "render"] {
        assert_eq!(function(&json, unchanged)["calls"]["verdict"], "equal", "{unchanged}");
    }
    let edges = json["queries"][0]["edges"].as_array().unwrap();
    let edge = |caller: &str, callee: &str| {
        edges.iter().find(|edge| edge["caller"] == caller && edge["callee"] == callee).unwrap()
    };
    assert_eq!(edge("handle", "lookup")["per_call"], json!([4.0, 5.0]));
    assert_eq!(edge("handle", "lookup")["is_per_call_changed"], true);
    assert_eq!(edge("lookup", "compare")["is_per_call_changed"], false);
    let said = text(&diff(here, &["before", "after"]).stdout);
    assert!(said.contains("lookup  handle makes 4 → 5 a call"), "{said}");

    // Two runs a side cannot tell a count that never varies from one that seldom does.
    for set in ["before", "after"] {
        fs::remove_dir_all(here.join(set).join("3")).unwrap();
    }
    let (json, _) = compared(here, &["before", "after"]);
    assert_eq!(
        (of_verdict(&json, "calls"), function(&json, "lookup")["verdict"].clone()),
        (vec![], json!("underpowered"))
    );
}

#[test]
fn functions_on_one_side_are_listed_and_a_new_name_is_guessed() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let after = build(&["-DAUDIT", "-Drender=paint"]);
    let plain = here.join("changes-2.0"); // a build may be called differently
    copy_program(&after.path, &plain);
    let after = Program { path: plain, ..after };
    record(here, &[("before", &build(&[])), ("after", &after)], 3, "100");
    let (json, status) = compared(here, &["before", "after"]);
    // Whether three runs show that the new name takes what the old one did, others on the machine decide.
    let mut alone = [of_verdict(&json, "one-sided"), of_verdict(&json, "moved")].concat();
    alone.sort_unstable();
    assert_eq!((alone, status), (vec!["audit", "paint", "render"], 0));
    for (name, on, perhaps) in
        [("audit", "right", Value::Null), ("paint", "right", json!("render")), ("render", "left", json!("paint"))]
    {
        assert_eq!((&function(&json, name)["on"], &function(&json, name)["perhaps"]), (&json!(on), &perhaps), "{name}");
    }
    assert_eq!(function(&json, "parse")["on"], "both");
    let (_, status) = compared(here, &["before", "after", "--fail-on", "changed"]);
    assert_eq!(status, 1);
}

#[test]
fn what_a_few_runs_of_one_side_call_is_not_new() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let (plain, audited) = (build(&[]), build(&["-DAUDIT"]));
    record(here, &[("before", &plain), ("after", &plain), ("audited", &audited)], 5, "100");
    fs::remove_dir_all(here.join("after/5")).unwrap();
    fs::rename(here.join("audited/5"), here.join("after/5")).unwrap();
    let (json, _) = compared(here, &["before", "after"]);
    assert_eq!((&function(&json, "audit")["on"], of_verdict(&json, "one-sided")), (&json!("right"), vec![]));
    let (json, _) = compared(here, &["before", "audited"]);
    assert_eq!(of_verdict(&json, "one-sided"), ["audit"]);
}

#[test]
fn the_folder_has_every_number_and_a_page_that_needs_no_network() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    record(here, &[("before", &build(&[])), ("after", &build(&["-DLOOKUPS=5"]))], 3, "100");
    let output = diff(here, &["before", "after", "-o", "new/report", "--format", "json"]);
    let read = |name: &str| fs::read_to_string(here.join("new/report").join(name)).unwrap();
    assert_eq!(read("report.json"), text(&output.stdout));

    // A verdict can be redone: medians from the table of runs are those of the table of functions.
    let rows = |name: &str| -> Vec<Vec<String>> {
        read(name).lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
    };
    let of = |side: &str| {
        let mine = |row: &&Vec<String>| row[1] == side && row[3] == "parse";
        let mut values: Vec<f64> = rows("runs.tsv").iter().filter(mine).map(|row| row[7].parse().unwrap()).collect();
        values.sort_by(f64::total_cmp);
        values[1]
    };
    let heading: Vec<String> = read("functions.tsv").lines().next().unwrap().split('\t').map(str::to_owned).collect();
    let functions = rows("functions.tsv");
    let parse = functions.iter().find(|row| row[1] == "parse").unwrap();
    let column = |name: &str| parse[heading.iter().position(|column| column == name).unwrap()].parse::<f64>().unwrap();
    assert_eq!((of("left"), of("right")), (column("left_median"), column("right_median")));
    assert!((column("difference") - (of("right") / of("left") - 1.0)).abs() < 1e-12);
    assert_eq!(rows("edges.tsv").len(), 5, "main, handle thrice, lookup");
    assert!(rows("stacks.tsv").iter().any(|row| row[1] == "main;handle;lookup;compare"));
    assert_eq!(rows("metrics.tsv").len(), 0);

    let page = read("report.html").replace("http://www.w3.org/", "a name, not a place: ");
    for outside in ["src=\"http", "@import", "<link", "fetch("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("before → after") && !page.contains("{{"));
    let csv = text(&diff(here, &["before", "after", "--format", "csv"]).stdout);
    assert_eq!(csv.lines().count(), 1 + functions.len());
}

#[test]
fn timelines_of_both_sides_are_laid_over_each_other() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    record(here, &[("before", &build(&[])), ("after", &build(&["-DLOOKUPS=5"]))], 3, "2000");
    let (json, _) = compared(here, &["before", "after", "-o", "report"]);
    let main = function(&json, "main");
    let timeline = &main["timeline"];
    let slice_ns = timeline["slice_ns"].as_f64().unwrap();
    for side in ["left", "right"] {
        let of = |which: &str| -> Vec<f64> {
            timeline[side][which].as_array().unwrap().iter().map(|ns| ns.as_f64().unwrap()).collect()
        };
        let [low, median, high] = ["low_ns", "median_ns", "high_ns"].map(of);
        assert!((1..=128).contains(&median.len()) && low.len() == median.len() && high.len() == median.len());
        for slice in 0..median.len() {
            assert!(low[slice] <= median[slice] && median[slice] <= high[slice], "{timeline}");
            assert!(high[slice] <= slice_ns * 1.02, "one thread has no more time than there is: {timeline}");
        }
        let totals: Vec<f64> =
            main["total_ns"][side].as_array().unwrap().iter().map(|ns| ns.as_f64().unwrap()).collect();
        let [low, high] = [low, high].map(|all| all.iter().sum::<f64>());
        let least = totals.iter().copied().fold(f64::INFINITY, f64::min);
        let most = totals.iter().copied().fold(0.0, f64::max);
        assert!(low <= least * 1.02 && most <= high * 1.02, "{low} to {high} in slices of runs that took {totals:?}");
        assert!(high > 0.0);
    }
    assert!(function(&json, "parse")["timeline"].is_null(), "it is called by what is recorded");

    let table = fs::read_to_string(here.join("report/timelines.tsv")).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    let medians: Vec<Value> = rows.iter().map(|row| row[7].parse::<u64>().unwrap().into()).collect();
    assert!(rows.iter().all(|row| row[1] == "main"), "{table}");
    assert_eq!(timeline["left"]["median_ns"], Value::Array(medians));
}

/// A set with `runs.json`, from the profiles of one that has none.
fn with_queries(here: &Path, set: &str, queries: &[(&str, &str, u8, f64)]) -> PathBuf {
    let runs: Vec<Value> = queries
        .iter()
        .enumerate()
        .map(|(number, (query, profile, status, wall))| {
            let metrics = json!({"wall_ns": wall});
            json!({"query": query, "number": number + 1, "profile": profile, "status": status, "metrics": metrics})
        })
        .collect();
    let path = here.join(set).join("runs.json");
    fs::write(&path, json!({"schema": "diytrace-runs/1", "name": set, "runs": runs}).to_string()).unwrap();
    path
}

#[test]
fn queries_are_compared_one_by_one_and_failed_runs_left_out() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    record(here, &[("before", &build(&[])), ("after", &build(&["-DLOOKUPS=5"]))], 4, "20");
    for (set, wall) in [("before", 1e6), ("after", 3e6)] {
        let runs = ["1", "2", "3", "4"].map(|run| ("few", run, 0, wall + run.parse::<f64>().unwrap()));
        let failed = [("few", "1", 139, wall), (if set == "before" { "old" } else { "new" }, "1", 0, wall)];
        with_queries(here, set, &[&runs[..], &failed].concat());
    }
    let output = diff(here, &["before", "after", "--format", "json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let queries = json["queries"].as_array().unwrap();
    assert_eq!((queries.len(), &queries[0]["query"], &queries[0]["left_runs"]), (1, &json!("few"), &json!(4)));
    let said = text(&output.stderr);
    for part in
        ["before: run 5 of few was left out: it ended with status 139", "old: only before has", "new: only after has"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    let wall = &queries[0]["metrics"][0];
    assert_eq!((&wall["name"], &wall["verdict"]), (&json!("wall_ns"), &json!("changed")), "4 a side: 2 of 70");
    assert!(text(&diff(here, &["before", "after"]).stdout).contains("wall: 1.00 ms → 3.00 ms  +200.0%"));
}

#[test]
fn sides_that_were_recorded_below_other_roots_are_told() {
    let here = tempfile::tempdir().unwrap();
    let recorded = |root: Option<&str>| {
        let program = fixture("forks.c", Build::GCC_O0);
        let recording = program.record().args(&["3", "2"]);
        match root {
            Some(root) => recording.set("ROOT", root).run(),
            None => recording.run(),
        }
    };
    let [all, below, other] = [None, Some("handle"), Some("handle")].map(recorded);
    let said = |left: &Recorded, right: &Recorded| {
        let output = diff(here.path(), &[left.out().to_str().unwrap(), right.out().to_str().unwrap()]);
        text(&output.stderr)
    };
    let warning = said(&all, &below);
    assert!(
        warning.contains("was recorded without roots, and ") && warning.contains("recorded below handle: "),
        "{warning}"
    );
    assert!(!said(&below, &other).contains("recorded below"));
}

#[test]
fn bad_input_is_one_sentence() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    record(here, &[("before", &build(&[])), ("after", &build(&[]))], 1, "1");
    fs::create_dir_all(here.join("saved/one/1")).unwrap();
    let refused = |arguments: &[&str], expected: &str| {
        let output = diff(here, arguments);
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()), "{arguments:?}: {said}");
        assert!(said.contains(expected) && said.trim_end().lines().count() == 1, "{arguments:?}: {said}");
    };
    refused(&["before", "gone"], "there is no profile at gone");
    refused(&["before", "saved"], "there is no profile in saved");
    refused(&["before", "after", "--history", "saved", "--against", "two"], "there is no history of `two` in saved");
    refused(&["before", "after", "--history", "saved", "--against", "one"], "saved/one has 1 of the two saved sets");
    refused(&["before", "after", "--against", "../x"], "`../x` cannot be a name");
    refused(&["before", "after", "-o", "/dev/null/x"], "cannot write /dev/null/x");
    with_queries(here, "before", &[("q", "1", 0, 1.0)]);
    refused(&["before", "after"], "have no query in common: before has q");
    fs::write(here.join("before/runs.json"), "{").unwrap();
    refused(&["before", "after"], "runs.json is not a set of runs");
    let profile = profiles_in(&here.join("after/1")).remove(0);
    fs::write(profile, "torn").unwrap();
    refused(&["after", "after"], "after has no run that can be compared");
}
