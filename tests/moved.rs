//! Refactorings, as `diytrace diff` sees them: real builds of one program before and after, and times that are made up. The
//! cost of a part moves with it and the whole takes as long, so nothing has changed.

mod common;

use std::path::Path;

use common::simulated::{Chance, Hooks, Program as Simulated, Times};
use common::{Build, builds, diytrace, fixture_with, run_to_end};
use serde_json::{Value, json};

const REQUESTS: &str = "100";

/// What a call takes before; clang records libc's inline function, too.
const BEFORE: [(&str, f64); 7] = [
    ("main", 50.0),
    ("atoi", 50.0),
    ("request", 50.0),
    ("parse", 2_000.0),
    ("scan", 500.0),
    ("check", 600.0),
    ("store", 400.0),
];

/// Makes up eight runs of a program in which functions take so long, give or take a hundredth; the others as before.
fn make_up(here: &Path, set: &str, build: Build, options: &[&str], own_ns: &[(&str, f64)], seed: u64) {
    const HOOKS: Hooks = Hooks { inner: 12.0, outer: 30.0, counted: 9.0 };
    let program = fixture_with("refactored.c", build, options).unwrap();
    let simulated = Simulated::of(&program.record().arg(REQUESTS).run());
    let mut chance = Chance::new(seed);
    for run in 1..=8 {
        let factors: Vec<(&str, f64)> =
            own_ns.iter().chain(&BEFORE).map(|&(name, ns)| (name, ns * (1.0 + 0.01 * chance.normal()))).collect();
        let own = |function: &str| factors.iter().find(|(name, _)| *name == function).expect(function).1;
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
        simulated.run(&times, &mut chance, &here.join(set).join(run.to_string()));
    }
}

/// The result as JSON and as text, and the exit status.
fn compared(here: &Path, before: &str, after: &str) -> (Value, String, i32) {
    let diff = |format: &[&str]| run_to_end(diytrace(here).args(["diff", before, after]).args(format));
    let json = diff(&["--format", "json"]);
    let text = String::from_utf8_lossy(&diff(&[]).stdout).into_owned();
    let value = serde_json::from_slice(&json.stdout).unwrap_or_else(|error| panic!("{error}: {text}"));
    (value, text, json.status.code().unwrap())
}

fn of_verdict<'a>(json: &'a Value, verdict: &str) -> Vec<&'a str> {
    let functions = json["queries"][0]["functions"].as_array().unwrap();
    let named = functions.iter().filter(|function| function["verdict"] == verdict);
    let mut names: Vec<&str> = named.map(|function| function["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    names
}

fn function<'a>(json: &'a Value, name: &str) -> &'a Value {
    let functions = json["queries"][0]["functions"].as_array().unwrap();
    functions.iter().find(|function| function["name"] == name).unwrap_or_else(|| panic!("{name} is not there"))
}

/// A refactoring: its option, what functions take after it, which moved and under which parent.
type Refactoring = (&'static str, &'static [(&'static str, f64)], &'static [&'static str], Option<&'static str>);

const REFACTORINGS: [Refactoring; 8] = [
    ("-DRENAMED", &[("verify", 600.0)], &["check", "verify"], Some("request")),
    ("-DSPLIT", &[("parse", 1_200.0), ("tokenise", 800.0)], &["parse", "tokenise"], Some("parse")),
    ("-DMERGED", &[("parse", 2_500.0)], &["parse", "scan"], Some("parse")),
    ("-DINLINED", &[("parse", 2_500.0)], &["parse", "scan"], Some("parse")),
    ("-DOUTLINED", &[("store", 250.0), ("flush", 150.0)], &["flush", "store"], Some("request")),
    (
        "-DEXTRACTED",
        &[("check", 500.0), ("store", 300.0), ("common", 100.0)],
        &["check", "common", "store"],
        Some("request"),
    ),
    ("-DSHIFTED", &[("check", 450.0), ("store", 550.0)], &["check", "store"], Some("request")),
    ("-DREORDERED", &[], &[], None),
];

#[test]
fn a_refactoring_moves_cost_and_changes_nothing() {
    for &build in builds() {
        eprintln!("── {build}"); // shown if the story ends badly
        let here = tempfile::tempdir().unwrap();
        let here = here.path();
        make_up(here, "before", build, &[], &[], 1);
        for (seed, (option, own_ns, moved, parent)) in (2..).zip(REFACTORINGS) {
            let set = option.trim_start_matches("-D");
            make_up(here, set, build, &[option], own_ns, seed);
            let (json, text, status) = compared(here, "before", set);
            assert_eq!((of_verdict(&json, "moved"), status), (moved.to_vec(), 0), "{option}: {text}");
            for verdict in ["changed", "one-sided", "same-code"] {
                assert!(of_verdict(&json, verdict).is_empty(), "{option}, {verdict}: {text}");
            }
            for name in moved {
                assert_eq!(function(&json, name)["cause"]["kind"], "moved", "{option}: {text}");
            }
            let groups = json["queries"][0]["moved"].as_array().unwrap();
            assert_eq!(groups.len(), usize::from(!moved.is_empty()), "{option}: {text}");
            if let Some(parent) = parent {
                assert_eq!(groups[0]["parent"], parent, "{option}: {text}");
                assert!(text.starts_with("No function changed; of ") && text.contains("\nMoved: "), "{text}");
            }
        }
        let (json, text, _) = compared(here, "before", "SPLIT");
        let moved = json!({"kind": "moved", "by": ["tokenise"], "relation": "callee"});
        assert_eq!(function(&json, "parse")["cause"], moved);
        assert!(
            text.contains("its cost moved to tokenise") && text.contains("  parse, tokenise under parse: "),
            "{text}"
        );
        let tables = run_to_end(diytrace(here).args(["diff", "before", "SPLIT", "-o", "report"]));
        assert!(tables.status.success());
        let table = std::fs::read_to_string(here.join("report/functions.tsv")).unwrap();
        assert!(table.contains("\tmoved\ttokenise\tcallee\t"), "{table}");
    }
}

#[test]
fn what_moved_and_takes_longer_there_has_changed() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    make_up(here, "before", Build::GCC_O2, &[], &[], 1);
    // A fifth dearer where it went to, and where it came from.
    make_up(here, "merged", Build::GCC_O2, &["-DMERGED"], &[("parse", 3_000.0)], 2);
    make_up(here, "shifted", Build::GCC_O2, &["-DSHIFTED"], &[("check", 450.0), ("store", 620.0)], 3);
    for (set, changed) in [("merged", vec!["parse"]), ("shifted", vec!["check", "store"])] {
        let (json, text, status) = compared(here, "before", set);
        assert_eq!((of_verdict(&json, "changed"), status), (changed, 1), "{text}");
        assert!(of_verdict(&json, "moved").is_empty(), "{text}");
    }
}

/// A function that was split took "100% less", and one that was renamed was "new": that both took longer than before was told by nothing.
#[test]
fn of_what_was_split_or_renamed_or_merged_the_sum_tells_whether_it_takes_longer() {
    for &build in builds() {
        eprintln!("── {build}"); // shown if the story ends badly
        let here = tempfile::tempdir().unwrap();
        let here = here.path();
        make_up(here, "before", build, &[], &[], 1);
        type Case = (&'static str, &'static str, &'static [(&'static str, f64)], &'static [&'static str], i32);
        let cases: [Case; 4] = [
            ("split", "-DSPLIT", &[("parse", 1_400.0), ("tokenise", 1_200.0)], &["parse", "tokenise"], 1),
            ("renamed", "-DRENAMED", &[("verify", 780.0)], &["check", "verify"], 1),
            ("faster", "-DRENAMED", &[("verify", 420.0)], &["check", "verify"], 0),
            // It takes longer by itself, and what is in it now is gone.
            ("merged", "-DMERGED", &[("parse", 2_150.0)], &["parse", "scan"], 0),
        ];
        for (seed, (set, option, own_ns, names, expected)) in (2..).zip(cases) {
            make_up(here, set, build, &[option], own_ns, seed);
            let (json, text, status) = compared(here, "before", set);
            let query = &json["queries"][0];
            let group = &query["together"][0];
            let place = |place: &Value| query["functions"][place.as_u64().unwrap() as usize]["name"].as_str().unwrap();
            let mut those: Vec<&str> = group["functions"].as_array().unwrap().iter().map(place).collect();
            those.sort_unstable();
            assert_eq!((&those[..], &group["verdict"], status), (names, &json!("changed"), expected), "{set}: {text}");
            let longer = if expected == 1 { "longer" } else { "less" };
            let first = text.lines().next().unwrap();
            assert!(first.contains(" together take ") && first.contains(longer), "{set}: {text}");
            assert!(text.contains("\nChanged together: "), "{set}: {text}");
        }
        // Fresh runs show it again, or that nothing but cost has moved.
        make_up(here, "before-2", build, &[], &[], 6);
        make_up(here, "split-2", build, &["-DSPLIT"], &[("parse", 1_400.0), ("tokenise", 1_200.0)], 7);
        make_up(here, "as-before", build, &["-DSPLIT"], &[("parse", 1_200.0), ("tokenise", 800.0)], 8);
        for (fresh, verdict, expected) in [("split-2", "changed", 1), ("as-before", "unconfirmed", 0)] {
            let words = ["diff", "before", "split", "--format", "json", "--confirm", "before-2", fresh];
            let output = run_to_end(diytrace(here).args(words));
            let json: Value = serde_json::from_slice(&output.stdout).unwrap();
            let group = &json["queries"][0]["together"][0];
            assert_eq!((&group["verdict"], output.status.code()), (&json!(verdict), Some(expected)), "{fresh}: {json}");
        }
    }
}

#[test]
fn what_changed_beside_a_refactoring_is_named_and_the_refactoring_is_not() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    make_up(here, "before", Build::GCC_O2, &[], &[], 1);
    let dearer = [("parse", 1_200.0), ("tokenise", 800.0), ("check", 450.0), ("store", 700.0)];
    make_up(here, "after", Build::GCC_O2, &["-DSPLIT", "-DSHIFTED"], &dearer, 2);
    let (json, text, status) = compared(here, "before", "after");
    assert_eq!(
        (of_verdict(&json, "changed"), of_verdict(&json, "moved"), status),
        (vec!["check", "store"], vec!["parse", "tokenise"], 1),
        "{text}"
    );
}
