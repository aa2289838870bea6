//! `--root`, `--function`, `--min-percent` and `--depth` mean the same in every view and export, and what they leave out is told.

mod common;

use common::{Build, Recorded, fixture};
use serde_json::Value;

/// main ─▶ hidden_step (4), outer (2) ─▶ middle (6) ─▶ inner (12) ─▶ helper (12), setup (1); the first, the second and the last
/// call `helper`, too.
fn recorded() -> Recorded {
    fixture("roots.c", Build::GCC_O0).record().run()
}

fn said(recorded: &Recorded, line: &str) -> String {
    let output = recorded.diytrace(&line.split(' ').collect::<Vec<_>>());
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(recorded: &Recorded, line: &str) -> Value {
    serde_json::from_str(&said(recorded, &format!("{line} --format json"))).unwrap()
}

/// Names and calls of a tree's nodes.
fn nodes(document: &Value) -> Vec<(String, u64)> {
    let nodes = document["trees"][0]["nodes"].as_array().unwrap();
    nodes.iter().map(|node| (node["name"].as_str().unwrap().to_owned(), node["calls"].as_u64().unwrap())).collect()
}

fn names(document: &Value) -> Vec<String> {
    nodes(document).into_iter().map(|(name, _)| name).collect()
}

/// The stacks of an export, and the sum of their times.
fn stacks(recorded: &Recorded, options: &str) -> (Vec<String>, u64) {
    let folded = said(recorded, &format!("export folded --raw{options}"));
    let lines = folded.lines().map(|line| line.rsplit_once(' ').unwrap());
    let sum = lines.clone().map(|(_, time)| time.parse::<u64>().unwrap()).sum();
    (lines.map(|(stack, _)| stack.to_owned()).collect(), sum)
}

#[test]
fn only_ways_that_a_function_is_on() {
    let recorded = recorded();
    let tree = json(&recorded, "tree --function middle --sort name");
    assert_eq!(names(&tree), ["main", "outer", "middle", "inner", "helper"]);
    let hidden = &tree["trees"][0]["nodes"][0]["hidden"];
    assert_eq!((hidden["nodes"].as_u64(), hidden["calls"].as_u64()), (Some(2), Some(5)), "hidden_step and setup");
    let table = said(&recorded, "tree --function middle --min-percent 0");
    assert!(table.contains("left out, with all below: ") && table.contains("--function"), "{table}");

    let (all, whole) = stacks(&recorded, "");
    assert!(!all.iter().any(|stack| stack.contains("left out")));
    let (some, sum) = stacks(&recorded, " --function middle");
    assert_eq!(sum, whole, "no time is lost");
    let is_told = |stack: &String| stack.contains(";middle") || stack.ends_with("(left out)");
    let on_the_way = ["main", "main;outer"];
    assert!(some.iter().all(|stack| is_told(stack) || on_the_way.contains(&&**stack)), "{some:?}");
    assert!(some.contains(&"main;(left out)".to_owned()) && some.contains(&"main;outer;(left out)".to_owned()));

    assert_eq!(json(&recorded, "report --function middle")["reports"][0]["unlisted"], 6);
    let unknown = recorded.diytrace(&["tree", "--function", "midle"]);
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("nothing in the profile is called `midle`"));
}

/// What a filter leaves out is not said to have done nothing.
#[test]
fn roots_and_functions_that_are_left_out_are_told() {
    let recorded = recorded();
    let all = said(&recorded, "report --root outer,middle --min-time 1s");
    assert!(all.contains("2 roots that were called are left out by the filters"), "{all}");
    let one = said(&recorded, "report --root outer,middle --function outer");
    assert!(one.contains("1 root that was called is left out by the filters"), "{one}");
    assert!(!one.contains("none of the roots"), "{all}{one}");

    let callers = said(&recorded, "tree --callers --raw --limit 1 --min-percent 0");
    let functions = recorded.report().functions.len() as u64;
    let told = format!("left out: {} functions (self ", functions - 1);
    assert!(callers.contains(&told) && callers.contains(&format!("… {} more", functions - 1)), "{told}: {callers}");
}

#[test]
fn only_what_happens_inside_a_function() {
    let recorded = recorded();
    let callers = json(&recorded, "callers helper --root middle --sort name");
    assert_eq!(nodes(&callers)[..2], [("helper".to_owned(), 12), ("inner".to_owned(), 12)]);
    let annotated = json(&recorded, "annotate helper --root middle");
    assert_eq!(annotated["reports"][0]["functions"][0]["calls"], 12);
    let tree = json(&recorded, "tree --root middle --sort name");
    assert_eq!(nodes(&tree)[0], ("middle".to_owned(), 6));
    let (stacks, _) = stacks(&recorded, " --root middle");
    assert!(stacks.iter().all(|stack| stack.starts_with("middle")), "{stacks:?}");
}

#[test]
fn levels_below_where_it_begins() {
    let recorded = recorded();
    let (_, whole) = stacks(&recorded, "");
    let (flat, sum) = stacks(&recorded, " --depth 1");
    assert_eq!(sum, whole, "no time is lost");
    assert!(flat.contains(&"main;outer;(left out)".to_owned()), "{flat:?}");
    assert!(flat.iter().all(|stack| stack.split(';').count() <= 3), "{flat:?}");
    assert_eq!(names(&json(&recorded, "tree --depth 1 --sort name")), ["main", "hidden_step", "outer", "setup"]);
    let table = said(&recorded, "tree --depth 1 --min-percent 0");
    assert!(table.contains("left out, with all below: ") && table.contains("(--depth)"), "{table}");
}

#[test]
fn functions_that_are_called_near_where_recording_began() {
    let recorded = recorded();
    let document = json(&recorded, "report --depth 1 --sort name");
    let report = &document["reports"][0];
    let functions = report["functions"].as_array().unwrap();
    let names: Vec<&str> = functions.iter().map(|function| function["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["hidden_step", "main", "outer", "setup"], "as in a tree of one level");
    let listed: u64 = functions.iter().map(|function| function["calls"].as_u64().unwrap()).sum();
    assert_eq!(listed + report["unlisted_calls"].as_u64().unwrap(), report["calls"].as_u64().unwrap());
    let table = said(&recorded, "report --depth 1");
    assert!(table.contains("3 functions that were not asked for are left out: "), "{table}");

    // Of a root, one level are its callees.
    let rows = |depth: &str| said(&recorded, &format!("report --root outer --raw --depth {depth}"));
    assert!(rows("1").contains("middle") && !rows("1").contains("… "), "{}", rows("1"));
    assert!(!rows("0").contains("middle") && rows("0").contains("… 2 others"), "{}", rows("0"));
    let root = json(&recorded, "report --root outer --depth 0");
    assert_eq!(root["reports"][0]["functions"][0]["callees"].as_array().unwrap().len(), 0);
}

/// Beyond a limit, functions counted as listed.
#[test]
fn what_a_limit_leaves_out_is_counted_and_the_first_are_the_same() {
    let recorded = recorded();
    for sort in ["self", "total", "calls", "max", "name"] {
        let [whole, some, rows] = ["", " --limit 3", " --limit 3 --compact"]
            .map(|more| json(&recorded, &format!("report --sort {sort}{more}"))["reports"][0].clone());
        let all = whole["functions"].as_array().unwrap();
        assert_eq!(some["functions"].as_array().unwrap()[..], all[..3], "{sort}");
        assert_eq!((&some["unlisted"], &rows["unlisted"]), (&(all.len() - 3).into(), &(all.len() - 3).into()));
        let calls: u64 = all[..3].iter().map(|function| function["calls"].as_u64().unwrap()).sum();
        for report in [&some, &rows] {
            assert_eq!(calls + report["unlisted_calls"].as_u64().unwrap(), whole["calls"].as_u64().unwrap());
        }
        // Name and calls are the first and the fourth column.
        let listed = rows["functions"].as_array().unwrap().iter().map(|row| (row[0].clone(), row[3].clone()));
        let same = all[..3].iter().map(|function| (function["name"].clone(), function["calls"].clone()));
        assert!(listed.eq(same), "{sort}: {rows}");
    }
}

/// Rows have what the nodes have, and what a limit leaves out is told below the same ones.
#[test]
fn branches_as_rows_are_those_of_the_tree() {
    let recorded = recorded();
    for limit in ["", " --limit 3"] {
        let [whole, rows] = ["", " --compact"].map(|more| json(&recorded, &format!("tree{limit}{more}")));
        let (tree, compact) = (&whole["trees"][0], &rows["trees"][0]);
        let nodes = tree["nodes"].as_array().unwrap();
        assert_eq!(compact["nodes"].as_array().unwrap().len(), nodes.len(), "{rows}");
        for (row, node) in compact["nodes"].as_array().unwrap().iter().zip(nodes) {
            for (at, column) in rows["columns"].as_array().unwrap().iter().enumerate() {
                match column.as_str().unwrap() {
                    "function" => {
                        let function = &rows["functions"][row[at].as_u64().unwrap() as usize];
                        assert_eq!((&function[0], &function[1]), (&node["name"], &node["module"]));
                    }
                    "is_recursion" => assert_eq!(row[at] == 1, node["is_recursion"] == true),
                    column => assert_eq!(row[at], node[column], "{column}"),
                }
            }
        }
        let below = nodes.iter().enumerate().map(|(at, node)| (Value::from(at), &node["hidden"]));
        let hidden = below.chain([(Value::Null, &tree["hidden"])]).filter(|(_, hidden)| !hidden.is_null());
        let expected: Vec<Value> = hidden
            .map(|(at, hidden)| {
                Value::Array(vec![at, hidden["nodes"].clone(), hidden["calls"].clone(), hidden["total_ns"].clone()])
            })
            .collect();
        assert_eq!(compact["hidden"], Value::Array(expected), "{limit}");
        assert_eq!(compact["hidden"].as_array().unwrap().is_empty(), limit.is_empty());
    }
    let refused = recorded.diytrace(&["tree", "--compact"]);
    assert_eq!(refused.status.code(), Some(2), "{}", String::from_utf8_lossy(&refused.stderr));
}

#[test]
fn what_takes_too_little() {
    let recorded = recorded();
    let (_, whole) = stacks(&recorded, "");
    let (thick, sum) = stacks(&recorded, " --min-percent 100");
    assert_eq!((thick, sum), (vec!["main".to_owned(), "main;(left out)".to_owned()], whole));
    assert_eq!(names(&json(&recorded, "tree --min-percent 100 --raw")), ["main"]);
    let document = json(&recorded, "report --min-percent 100 --raw");
    let report = &document["reports"][0];
    let [main] = &report["functions"].as_array().unwrap()[..] else { panic!("main alone takes as long as all") };
    assert_eq!(main["name"], "main");
    let number = |value: &Value| value.as_f64().unwrap();
    assert_eq!(number(&report["unlisted_calls"]) + number(&main["calls"]), number(&report["calls"]));
    let own = number(&report["unlisted_self_ns"]) + number(&main["self_ns"]);
    assert!((own - number(&report["all_self_ns"])).abs() < 1.0, "{report}");
    let table = said(&recorded, "report --min-percent 100 --raw");
    assert!(
        table.contains("6 functions that were not asked for are left out: ") && table.contains(" calls, self "),
        "{table}"
    );
    let limited = said(&recorded, "report --limit 1");
    assert!(limited.contains("… and 6 more functions: ") && limited.contains("self "), "{limited}");
}

#[test]
fn every_export_can_leave_out() {
    let recorded = recorded();
    for format in ["flamegraph", "folded", "pprof", "callgrind", "speedscope", "firefox", "dot", "html"] {
        let line = ["export", format, "--raw", "--depth", "1", "--min-percent", "1", "--function", "outer"];
        let output = recorded.diytrace(&line);
        assert!(output.status.success(), "{format}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(format == "pprof" || String::from_utf8_lossy(&output.stdout).contains("(left out)"), "{format}");
    }
}
