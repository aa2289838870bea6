//! `diytrace tree` and `diytrace callers`: who calls whom, as programs did it.

mod common;

use std::collections::BTreeMap;

use common::{Recorded, each_build, line_of, run_to_end};
use serde_json::Value;

/// `diytrace tree --format json`, with the levels that it shows: "calls name [what is special]".
fn tree(recorded: &Recorded, options: &[&str]) -> Vec<String> {
    let output = recorded.diytrace(&[&["tree", "--format", "json", "--sort", "name"], options].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "diytrace-tree/1");
    let nodes = document["trees"][0]["nodes"].as_array().unwrap();
    sums_hold(nodes, !options.contains(&"--callers"));
    nodes.iter().map(line).collect()
}

fn line(node: &Value) -> String {
    let text = |name: &str| node[name].as_str().map(|text| format!(" {} {text}", name.replace('_', " ")));
    let mut line = "  ".repeat(node["depth"].as_u64().unwrap() as usize);
    line += &format!("{} {}", node["calls"], node["name"].as_str().unwrap());
    line += if node["is_recursion"] == true { " recursion" } else { "" };
    line += if node["is_recorded"] == false { " unrecorded" } else { "" };
    line += if node["parent"].is_u64() && node["call"] == "inlined" { " inlined" } else { "" };
    line + &text("via").unwrap_or_default()
}

/// Own time and the totals below make the total.
fn sums_hold(nodes: &[Value], leads_down: bool) {
    let number = |node: &Value, name: &str| node[name].as_f64().unwrap();
    for (id, node) in nodes.iter().enumerate().filter(|(_, node)| node["hidden"].is_null()) {
        let below = nodes.iter().filter(|other| other["parent"] == id as u64);
        for (total, own) in [("total_ns", "self_ns"), ("total_raw_ns", "self_raw_ns")] {
            let sum: f64 = below.clone().map(|node| number(node, total)).sum();
            let sum = sum + if leads_down { number(node, own) } else { 0.0 };
            let is_leaf = below.clone().next().is_none();
            let difference = (sum - number(node, total)).abs();
            assert!((is_leaf && !leads_down) || difference < 0.1, "{total} of {node:#}: {sum}");
        }
    }
}

#[test]
fn a_tree_tells_who_called_whom_below_whom() {
    each_build("roots.c", |program| {
        let recorded = program.record().run();
        let shown = tree(&recorded, &[]);
        let expected = "1 main\n  4 hidden_step\n    4 helper\n  2 outer\n    2 helper\n    6 middle\n      12 inner\n        \
                        12 helper\n  1 setup\n    1 helper";
        assert_eq!(without_inlining(&shown), expected);
        let below = tree(&recorded, &["--root", "middle", "--depth", "1"]);
        assert_eq!(without_inlining(&below), "6 middle\n  12 inner");
        let callers = tree(&recorded, &["--root", "helper", "--callers", "--depth", "1"]);
        assert_eq!(without_inlining(&callers), "19 helper\n  4 hidden_step\n  12 inner\n  2 outer\n  1 setup");
    });
}

/// -O2 inlines what it likes.
fn without_inlining(lines: &[String]) -> String {
    lines.iter().map(|line| line.trim_end_matches(" inlined")).collect::<Vec<_>>().join("\n")
}

#[test]
fn recursion_is_one_branch_unless_its_levels_are_asked_for() {
    each_build("recursion.c", |program| {
        let recorded = program.record().args(&["down", "9"]).run();
        if program.build.is_optimized() {
            return; // may be a loop
        }
        assert_eq!(tree(&recorded, &["--root", "down"]), ["1 down", "  9 down recursion"]);
        let levels = tree(&recorded, &["--root", "down", "--recursion", "3"]);
        assert_eq!(levels, ["1 down", "  1 down", "    1 down", "      7 down recursion"]);
        let parity = program.record().args(&["parity", "1000"]).run();
        let levels = tree(&parity, &["--root", "is_even", "--recursion", "1"]);
        assert_eq!(
            levels,
            ["1 is_even", "  501 is_odd", "    500 is_even recursion"].map(|line| line.replace("501", "500"))
        );
        let callers = tree(&parity, &["--root", "is_odd", "--callers", "--depth", "1"]);
        assert_eq!(callers, ["500 is_odd", "  500 is_even"]);
    });
}

#[test]
fn code_without_hooks_between_caller_and_callee_is_named() {
    each_build("callback.c", |program| {
        let recorded = program.record().run();
        let compared: u64 = recorded.stdout.split_whitespace().next().unwrap().parse().unwrap();
        let shown = tree(&recorded, &["--root", "sort", "--root", "compare"]);
        let compare = shown.iter().find(|line| line.contains("compare")).unwrap();
        assert!(compare.starts_with(&format!("  {compared} compare via ")), "{shown:?}");
        assert_eq!(shown[0], "1 sort", "{shown:?}");
    });
}

#[test]
fn inlined_bodies_are_marked() {
    each_build("inlined.c", |program| {
        let recorded = program.record().run();
        let shown = tree(&recorded, &["--root", "sum_up"]);
        assert_eq!(shown, ["1 sum_up", "  20 add inlined", "    20 check inlined"]);
    });
}

#[test]
fn the_table_is_the_same_tree() {
    each_build("recursion.c", |program| {
        let recorded = program.record().args(&["branch", "5"]).run();
        let output = recorded.diytrace(&["tree", "--min-percent", "0"]);
        let table = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && table.contains("└ left") && table.contains("right"), "{table}");
        let mut narrow = common::diytrace(recorded.folder());
        narrow.args(["tree", "--min-percent", "0"]).arg(recorded.out()).env("COLUMNS", "80");
        let table = String::from_utf8(run_to_end(&mut narrow).stdout).unwrap();
        let rows = table.lines().take_while(|line| !line.starts_with("overhead"));
        assert!(rows.clone().count() > 5 && rows.into_iter().all(|row| row.chars().count() <= 80), "{table}");
    });
}

#[test]
fn callers_are_told_with_their_lines() {
    each_build("roots.c", |program| {
        let recorded = program.record().run();
        let output = recorded.diytrace(&["callers", "middle", "--format", "json"]);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let nodes = document["trees"][0]["nodes"].as_array().unwrap();
        let line = line_of("roots.c", "for (int i = 0; i < 3; i++) middle();");
        // The loop may have become three calls.
        let is_there = |node: &Value| node["name"] == "outer" && node["sites"][0]["line"] == line;
        assert!(nodes[1..].iter().all(is_there), "{document:#}");
        assert_eq!(nodes[1..].iter().map(|node| node["calls"].as_u64().unwrap()).sum::<u64>(), 6);

        let table = String::from_utf8(recorded.diytrace(&["callers", "helper"]).stdout).unwrap();
        for (calls, caller, from) in [
            ("12", "inner", "void inner("),
            ("1", "setup", "void setup("),
            ("4", "hidden_step", "static void hidden_step("),
        ] {
            let row = table.lines().find(|line| line.contains(caller)).unwrap_or_else(|| panic!("{table}"));
            let line = format!("roots.c:{}", line_of("roots.c", from));
            assert!(row.trim().starts_with(calls) && row.contains(&line), "{row}");
        }
    });
}

/// A caller that was called as often as it called had its own mean and p99 there.
#[test]
fn the_mean_beside_a_caller_is_of_the_calls_that_it_makes() {
    each_build("roots.c", |program| {
        let recorded = program.record().run();
        let output = recorded.diytrace(&["callers", "helper", "--format", "json"]);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let nodes = document["trees"][0]["nodes"].as_array().unwrap();
        let callers = nodes.iter().filter(|node| node["parent"].is_u64());
        assert!(callers.clone().any(|node| node["name"] == "setup"), "{document:#}");
        for node in callers {
            let [mean, total, calls] = ["mean_ns", "total_ns", "calls"].map(|name| node[name].as_f64().unwrap());
            assert!((mean - total / calls).abs() < 0.01 && node["p99_ns"].is_null(), "{node:#}");
        }
    });
}

/// That was said to be 0 ns.
#[test]
fn calls_that_were_only_counted_have_no_time() {
    each_build("confined.c", |program| {
        let recorded = program.record().arg("strict").run();
        for words in [&["tree"][..], &["callers", "fresh"]] {
            let output = recorded.diytrace(&[words, &["--format", "json"]].concat());
            let document: Value = serde_json::from_slice(&output.stdout).unwrap();
            let nodes = document["trees"][0]["nodes"].as_array().unwrap();
            let fresh = nodes.iter().find(|node| node["name"] == "fresh").unwrap();
            assert_eq!(fresh["calls"], 1, "{words:?}: {fresh:#}");
            for time in ["total_ns", "self_ns", "total_error_ns", "total_raw_ns", "mean_ns", "share"] {
                assert!(fresh[time].is_null(), "{words:?}: {time}: {fresh:#}");
            }
        }
        let all = &["tree", "--min-percent", "0"][..];
        for words in [all, &["callers", "fresh"], &["callers", "known"], &["annotate", "fresh"]] {
            let table = String::from_utf8(recorded.diytrace(words).stdout).unwrap();
            assert!(!table.contains(" 0 ns") && !table.contains("0x0 "), "{words:?}: {table}");
        }
        let table = String::from_utf8(recorded.diytrace(all).stdout).unwrap();
        let row = table.lines().find(|line| line.ends_with(" fresh")).unwrap();
        assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["–", "–", "1", "fresh"], "{table}");
    });
}

#[test]
fn callers_without_hooks_are_told_too() {
    each_build("callback.c", |program| {
        let recorded = program.record().roots("sort").run();
        let table = String::from_utf8(recorded.diytrace(&["callers", "sort"]).stdout).unwrap();
        let row = table.lines().find(|line| line.ends_with("main  not recorded"));
        assert!(row.is_some_and(|row| row.contains("callback.c:")) || program.build.is_optimized(), "{table}");
    });
}

#[test]
fn a_function_that_nobody_knows_has_near_names() {
    each_build("roots.c", |program| {
        let recorded = program.record().run();
        for command in [&["tree", "--root", "midle"][..], &["callers", "midle"]] {
            let output = recorded.diytrace(command);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2));
            assert!(stderr.contains("nothing in the profile is called `midle`; did you mean `middle`?"), "{stderr}");
        }
        let output = recorded.diytrace(&["tree", "--root", "xyzzy"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(stderr, "diytrace: nothing in the profile is called `xyzzy`\n");
    });
}

#[test]
fn calls_that_were_not_timed_have_no_times() {
    let program = common::fixture("roots.c", common::Build::GCC_O0);
    let recorded = program.record().set("TIMING", "off").run();
    for command in [
        &["tree"][..],
        &["tree", "--callers"],
        &["callers", "middle"],
        &["annotate", "outer"],
        &["report", "--root", "outer"],
    ] {
        let text = String::from_utf8(recorded.diytrace(command).stdout).unwrap();
        assert!(text.contains("middle") && text.contains("counted, not timed"), "{text}");
        let has_time = |line: &str| [" ns", " µs", " ms", " s ", "NaN"].iter().any(|unit| line.contains(unit));
        assert!(!text.lines().any(has_time), "{text}");
    }
    let csv = String::from_utf8(recorded.diytrace(&["tree", "--format", "csv"]).stdout).unwrap();
    assert!(csv.contains(",middle,") && !csv.contains("NaN"), "{csv}");
}

/// What a tree and a report say of each function: name, calls and self time.
fn functions(of: &[Value]) -> BTreeMap<String, (u64, f64)> {
    let mut functions: BTreeMap<String, (u64, f64)> = BTreeMap::new();
    for function in of {
        let (calls, own) = functions.entry(function["name"].as_str().unwrap().to_owned()).or_default();
        *calls += function["calls"].as_u64().unwrap();
        *own += function["self_ns"].as_f64().unwrap();
    }
    functions
}

#[test]
fn what_was_folded_or_gave_way_is_in_the_tree_as_in_the_report_or_the_tree_says_why_not() {
    // Paths without room, and a recursion whose levels were not told apart.
    let wide = common::fixture("wide.c", common::Build::GCC_O0).record().set("MEMORY", "4M").run();
    let deep = common::fixture("recursion.c", common::Build::GCC_O0).record().args(&["ring", "500"]).run();
    for (recorded, gave_way, note) in [
        (
            wide,
            true,
            "[other calls] are on paths that gave way to others, as there was no room for all: `diytrace report` tells whose they are",
        ),
        (deep, false, "levels of a deep recursion were not recorded apart: totals of functions in it are lower bounds"),
    ] {
        let json = |command: &str| -> Value {
            serde_json::from_slice(&recorded.diytrace(&[command, "--format", "json"]).stdout).unwrap()
        };
        let (report, tree) = (json("report"), json("tree"));
        let reported = functions(report["reports"][0]["functions"].as_array().unwrap());
        let nodes = tree["trees"][0]["nodes"].as_array().unwrap();
        let shown = functions(nodes);
        for (name, (calls, own)) in &reported {
            if gave_way {
                assert!(shown.get(name).is_none_or(|shown| shown.0 <= *calls), "{name}");
                continue;
            }
            assert_eq!(shown[name].0, *calls, "{name}");
            assert!((shown[name].1 - own).abs() <= 0.01 + own * 1e-6, "{name}: {} and {own}", shown[name].1);
        }
        assert!(gave_way || shown.len() == reported.len());
        let table = recorded.diytrace(&["tree"]);
        let table = String::from_utf8_lossy(&table.stdout);
        assert!(table.lines().any(|line| line == note), "{table}");
        // The whole is the same in both. Of paths that gave way each is corrected by itself: a time below nothing is cut off, here of what
        // else one function called, there of calls of one function by another. So they differ by less than both may be off.
        let whole = |tree: &Value, of: &str| -> f64 {
            let nodes = tree["trees"][0]["nodes"].as_array().unwrap();
            let tops = nodes.iter().filter(|node| node["parent"].is_null());
            tops.map(|top| top[of].as_f64().unwrap()).sum()
        };
        let (all, error) = (whole(&tree, "total_ns"), whole(&tree, "total_error_ns"));
        let own: f64 = reported.values().map(|(_, own)| own).sum();
        let raw = |command: &str| -> Value {
            serde_json::from_slice(&recorded.diytrace(&[command, "--raw", "--format", "json"]).stdout).unwrap()
        };
        let reported = functions(raw("report")["reports"][0]["functions"].as_array().unwrap());
        let (measured, sum) = (whole(&raw("tree"), "total_ns"), reported.values().map(|(_, own)| own).sum::<f64>());
        assert!((measured - sum).abs() <= sum * 1e-6 + 1.0, "as measured: {measured} and {sum}");
        let near = if gave_way { error } else { own * 1e-6 + 1.0 };
        assert!((all - own).abs() <= near, "{all} and {own}");
    }
}
