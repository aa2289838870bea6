//! Why a function changed, as `diytrace diff` says: real builds that differ in one thing, and times that are made up.

mod common;

use std::fs;
use std::path::Path;

use common::simulated::{Chance, Hooks, Program as Simulated, Times};
use common::{Build, Program, Recorded, copy_program, diytrace, fixture, fixture_with, run_to_end, warn};
use serde_json::{Value, json};

const REQUESTS: &str = "100";
const FUNCTIONS: [(&str, f64); 8] = [
    ("main", 50.0),
    ("request", 50.0),
    ("plan", 2_000.0),
    ("helper", 500.0),
    ("deform", 600.0),
    ("fetch", 400.0),
    ("next", 200.0),
    ("doze", 100.0),
];

fn build(options: &[&str]) -> Program {
    match options {
        [] => fixture("causes.c", Build::GCC_O2),
        _ => fixture_with("causes.c", Build::GCC_O2, options).unwrap(),
    }
}

fn recorded(options: &[&str]) -> Recorded {
    build(options).record().arg(REQUESTS).run()
}

/// Makes up eight runs of a program in which functions take so many times what they usually do, give or take `noise`.
fn make_up(here: &Path, set: &str, recorded: &Recorded, factors: &[(&str, f64)], noise: f64, seed: u64) {
    const HOOKS: Hooks = Hooks { inner: 12.0, outer: 30.0, counted: 9.0 };
    let mut chance = Chance::new(seed);
    let program = Simulated::of(recorded);
    for run in 1..=8 {
        let own_ns: Vec<(&str, f64)> = FUNCTIONS
            .iter()
            .map(|&(name, ns)| {
                let factor = factors.iter().find(|(other, _)| *other == name).map_or(1.0, |(_, factor)| *factor);
                (name, ns * factor * (1.0 + noise * chance.normal()))
            })
            .collect();
        let own = |function: &str| own_ns.iter().find(|(name, _)| *name == function).unwrap().1;
        let times = Times {
            own: &own,
            variation: 0.05,
            hooks: HOOKS,
            hooks_variation: 0.2,
            found: HOOKS,
            found_error: 0.2 * (HOOKS.inner + HOOKS.outer),
            windows: (0..20).map(|_| HOOKS.inner + HOOKS.outer - HOOKS.counted + 2.0 * chance.normal()).collect(),
            wait: None,
            knows_preempted: false,
        };
        program.run(&times, &mut chance, &here.join(set).join(run.to_string()));
    }
}

/// The result as JSON and as text, and the exit status.
fn compared(here: &Path, arguments: &[&str]) -> (Value, String, i32) {
    let diff = |format: &[&str]| run_to_end(diytrace(here).arg("diff").args(arguments).args(format));
    let json = diff(&["--format", "json"]);
    let said = String::from_utf8_lossy(&json.stderr).into_owned();
    let text = String::from_utf8_lossy(&diff(&[]).stdout).into_owned();
    let value = serde_json::from_slice(&json.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    (value, text, json.status.code().unwrap())
}

fn function<'a>(json: &'a Value, name: &str) -> &'a Value {
    let functions = json["queries"][0]["functions"].as_array().unwrap();
    functions.iter().find(|function| function["name"] == name).unwrap_or_else(|| panic!("{name} is not there"))
}

fn of_verdict<'a>(json: &'a Value, verdict: &str) -> Vec<&'a str> {
    let functions = json["queries"][0]["functions"].as_array().unwrap();
    let named = functions.iter().filter(|function| function["verdict"] == verdict);
    named.map(|function| function["name"].as_str().unwrap()).collect()
}

/// The functions whose code is in that state.
fn of_code<'a>(json: &'a Value, state: &str) -> Vec<&'a str> {
    let functions = json["queries"][0]["functions"].as_array().unwrap();
    let mut named: Vec<&str> = functions
        .iter()
        .filter(|function| function["code"] == state)
        .map(|function| function["name"].as_str().unwrap())
        .collect();
    named.sort_unstable();
    named
}

#[test]
fn a_side_effect_is_not_the_function_that_changed() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let (base, dear) = (recorded(&[]), recorded(&["-DPLAN=50"]));
    make_up(here, "before", &base, &[], 0.01, 1);
    make_up(here, "again", &base, &[], 0.01, 2);
    make_up(here, "after", &dear, &[("plan", 1.25), ("deform", 1.3)], 0.01, 3);
    make_up(here, "only", &dear, &[("deform", 1.2)], 0.01, 4);

    let (json, text, status) = compared(here, &["before", "after"]);
    assert_eq!(
        (of_verdict(&json, "changed"), of_verdict(&json, "same-code"), status),
        (vec!["plan"], vec!["deform"], 1)
    );
    assert_eq!((of_code(&json, "another"), of_code(&json, "unknown")), (vec!["plan"], vec![]), "{text}");
    assert_eq!(function(&json, "plan")["cause"], json!({"kind": "code", "by": [], "relation": null}));
    let memory = json!({"kind": "memory", "by": ["plan"], "relation": "sibling"});
    assert_eq!(function(&json, "deform")["cause"], memory);
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("plan takes 2") && first.ends_with(" a run): its code changed."), "{text}");
    assert!(
        text.contains("\nSame code, other cost\n") && text.contains("memory, as beside it, plan changed"),
        "{text}"
    );
    // Half a microsecond of the 0.68 that a request takes longer are the plan's.
    let explained = &json["queries"][0]["explained"];
    let [whole, changed, same, rest] =
        ["difference_ns", "changed_ns", "same_code_ns", "rest_ns"].map(|field| explained[field].as_f64().unwrap());
    assert!((changed / whole - 0.735).abs() < 0.1 && (same / whole - 0.265).abs() < 0.1, "{explained}");
    assert!((changed + same + rest - whole).abs() < 1.0, "{explained}");

    // By itself it is no reason to fail, unless somebody asks.
    let (json, text, status) = compared(here, &["before", "only"]);
    assert_eq!((of_verdict(&json, "changed"), of_verdict(&json, "same-code"), status), (vec![], vec!["deform"], 0));
    assert!(
        text.starts_with("No function changed; deform takes ")
            && text.contains("Code changed, no change of time found: plan"),
        "{text}"
    );
    for (fail_on, expected) in [("same-code", 1), ("never", 0), ("slower", 0)] {
        let (_, _, status) = compared(here, &["before", "only", "--fail-on", fail_on]);
        assert_eq!(status, expected, "{fail_on}");
    }
    let (json, _, _) = compared(here, &["before", "only", "--confirm", "before", "again"]);
    assert_eq!(of_verdict(&json, "unconfirmed"), ["deform"]);

    // A program against itself says nothing; of one build, a time that moved is a change, and no code is the cause.
    let (json, text, status) = compared(here, &["before", "again"]);
    assert_eq!((of_verdict(&json, "changed"), of_verdict(&json, "same-code"), status), (vec![], vec![], 0));
    assert!(text.starts_with("No function changed.\n") && !text.contains("Candidates"), "{text}");
    make_up(here, "given", &base, &[("deform", 1.3)], 0.01, 5);
    let (json, _, status) = compared(here, &["before", "given"]);
    assert_eq!((of_verdict(&json, "changed"), status), (vec!["deform"], 1));
    assert_eq!(function(&json, "deform")["cause"]["kind"], "surroundings");
}

#[test]
fn code_that_lies_elsewhere_is_the_same() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    make_up(here, "before", &recorded(&[]), &[], 0.01, 1);
    make_up(here, "after", &recorded(&["-DAHEAD"]), &[("deform", 1.2)], 0.01, 2);
    let (json, text, status) = compared(here, &["before", "after"]);
    assert_eq!((of_verdict(&json, "same-code"), status), (vec!["deform"], 0), "{text}");
    assert_eq!(of_code(&json, "same").len(), FUNCTIONS.len(), "{text}");
    assert_eq!(function(&json, "deform")["cause"]["kind"], "layout");
    assert_eq!(function(&json, "deform")["is_moved"], true);
}

#[test]
fn a_function_that_is_asked_for_more_costs_more() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    make_up(here, "before", &recorded(&[]), &[], 0.01, 1);
    make_up(here, "after", &recorded(&["-DWIDTH=6"]), &[("fetch", 1.4)], 0.01, 2);
    let (json, text, _) = compared(here, &["before", "after"]);
    assert_eq!((of_verdict(&json, "changed"), of_verdict(&json, "same-code")), (vec!["next"], vec!["fetch"]), "{text}");
    assert_eq!(function(&json, "fetch")["cause"]["kind"], "asked-for-more");
    assert_eq!(function(&json, "fetch")["cause"]["by"], json!(["next"]));
    assert_eq!(function(&json, "next")["cause"], json!({"kind": "calls", "by": ["fetch"], "relation": null}));
    assert!(text.contains("it makes 4 → 6 calls of next a call"), "{text}");
}

#[test]
fn calls_that_are_as_many_more_in_fresh_runs_are_confirmed_whatever_their_time_does() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let (base, more) = (recorded(&[]), recorded(&["-DWIDTH=6"]));
    make_up(here, "before", &base, &[], 0.01, 1);
    make_up(here, "after", &more, &[], 0.01, 2);
    make_up(here, "before2", &base, &[], 0.01, 3);
    make_up(here, "after2", &more, &[("next", 4.0 / 6.0)], 0.01, 4);
    let (json, text, _) = compared(here, &["before", "after"]);
    assert_eq!(of_verdict(&json, "changed"), ["next"], "{text}");
    let (json, text, _) = compared(here, &["before", "after", "--confirm", "before2", "after2"]);
    let next = function(&json, "next");
    assert_eq!((&next["verdict"], &next["repeat"]["is_confirmed"]), (&json!("calls"), &json!(true)), "{text}");
}

#[test]
fn what_was_inlined_takes_its_callers_time() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    make_up(here, "before", &recorded(&[]), &[], 0.01, 1);
    make_up(here, "after", &recorded(&["-DINLINED"]), &[("plan", 1.45)], 0.01, 2); // nearly twice what `helper` took
    let (json, text, _) = compared(here, &["before", "after"]);
    assert_eq!(
        (of_verdict(&json, "changed"), of_verdict(&json, "one-sided")),
        (vec!["plan"], vec!["helper"]),
        "{text}"
    );
    assert_eq!(function(&json, "plan")["cause"], json!({"kind": "inlining", "by": ["helper"], "relation": null}));
}

#[test]
fn small_changes_of_code_are_found_where_times_vary_little_and_candidates_where_they_do_not_matter() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    make_up(here, "before", &recorded(&[]), &[], 0.001, 1);
    make_up(here, "again", &recorded(&[]), &[], 0.001, 3);
    make_up(here, "after", &recorded(&["-DPLAN=41"]), &[("plan", 1.03)], 0.001, 2);
    let (json, text, status) = compared(here, &["before", "after"]);
    assert_eq!((of_verdict(&json, "changed"), status), (vec!["plan"], 1), "{text}");
    let (json, text, status) = compared(here, &["before", "again"]);
    assert_eq!((of_verdict(&json, "changed"), status), (vec![], 0), "{text}");

    let (json, text, status) = compared(here, &["before", "after", "--min-change", "5"]);
    let candidates: Vec<&Value> =
        json["queries"][0]["functions"].as_array().unwrap().iter().filter(|one| one["is_candidate"] == true).collect();
    assert_eq!((candidates.len(), &candidates[0]["name"], status), (1, &json!("plan"), 0), "{text}");
    let line = text.lines().find(|line| line.starts_with("  plan +")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.ends_with("%: its code changed; less than the 5.0% that matter"), "{text}");
}

/// The same path on both sides, as of a program that is built in place.
#[test]
fn code_is_known_after_a_rebuild_where_names_were_saved_and_never_guessed() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let record = |set: &str, options: &[&str], deform: f64, seed: u64| {
        let mut program = build(options);
        copy_program(&program.path, here.join("program"));
        program.path = here.join("program");
        let recorded = program.record().arg(REQUESTS).run();
        make_up(here, set, &recorded, &[("deform", deform)], 0.01, seed);
    };
    record("before", &[], 1.0, 1);
    for run in 1..=8 {
        assert!(run_to_end(diytrace(here).args(["report", &format!("before/{run}")])).status.success());
    }
    record("after", &["-DPLAN=50"], 1.3, 2);
    let (json, text, _) = compared(here, &["before", "after"]);
    assert_eq!((of_verdict(&json, "changed"), of_verdict(&json, "same-code")), (vec![], vec!["deform"]), "{text}");
    assert_eq!(of_code(&json, "another"), ["plan"]);

    // An older command saved names, and no code.
    for run in 1..=8 {
        let names = fs::read_dir(here.join(format!("before/{run}"))).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|path| path.extension().is_some_and(|one| one == "names")).for_each(|path| without_code(&path));
    }
    let (json, text, status) = compared(here, &["before", "after"]);
    assert_eq!((of_verdict(&json, "changed"), of_verdict(&json, "same-code"), status), (vec!["deform"], vec![], 1));
    assert_eq!((of_code(&json, "unknown").len(), &function(&json, "deform")["cause"]["kind"]), (8, &json!("unknown")));
    assert!(text.starts_with("deform takes ") && text.contains("nobody can tell whether its code changed"), "{text}");
}

/// Renames what an archive says of code, so that it is as if it were not there.
fn without_code(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    // A file's name stands before its content and in the directory at the end, where its length stands before it.
    let is_name = |at: &usize| {
        bytes[*at..].starts_with(b"code")
            && (bytes[at - 4..*at] == [4, 0, 0, 0] || *at > 46 && bytes[at - 18..at - 16] == [4, 0])
    };
    let found: Vec<usize> = (46..bytes.len() - 4).filter(is_name).collect();
    assert!(found.len() >= 2, "{}", path.display());
    found.into_iter().for_each(|at| bytes[at..at + 4].copy_from_slice(b"edoc"));
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_function_that_waits_longer_is_told_from_one_that_works_longer() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    for (set, options) in [("before", "-DDOZE=20000"), ("after", "-DDOZE=60000")] {
        for run in 1..=5 {
            let recorded = build(&[options]).record().arg(REQUESTS).run();
            let folder = here.join(set).join(run.to_string());
            fs::create_dir_all(&folder).unwrap();
            for profile in recorded.profiles() {
                fs::copy(&profile, folder.join(profile.file_name().unwrap())).unwrap();
            }
        }
    }
    let (json, text, _) = compared(here, &["before", "after"]);
    let doze = function(&json, "doze");
    if doze["wait_ns"].is_null() {
        return warn("this machine does not tell when threads wait: a function that waits longer was not tried");
    }
    assert_eq!((&doze["verdict"], &doze["code"]), (&json!("same-code"), &json!("same")), "{text}");
    assert_eq!(doze["cause"]["kind"], "waits");
}
