//! `diytrace annotate`: which lines of a function call, and what.

mod common;

use std::fs;
use std::path::Path;

use common::{Build, Recorded, diytrace, each_build, fixture, line_of, run_to_end};
use serde_json::Value;

fn annotate(recorded: &Recorded, options: &[&str]) -> Value {
    let output = recorded.diytrace(&[&["annotate", "--format", "json"], options].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    let mut document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "diytrace-annotate/1");
    document["reports"][0]["functions"][0].take()
}

/// "line: calls callee", for each line that calls.
fn calls(function: &Value) -> Vec<String> {
    let lines = function["lines"].as_array().unwrap().iter();
    let calls = lines.flat_map(|line| line["calls"].as_array().unwrap().iter().map(move |call| (line, call)));
    let shown = |(line, call): (&Value, &Value)| {
        format!("{}: {} {}", line["number"], call["calls"], call["name"].as_str().unwrap())
    };
    calls.map(shown).collect()
}

#[test]
fn each_line_that_calls_says_what() {
    each_build("roots.c", |program| {
        let recorded = program.record().run();
        let outer = annotate(&recorded, &["outer"]);
        let line = line_of("roots.c", "for (int i = 0; i < 3; i++) middle();");
        assert_eq!(calls(&outer), [format!("{line}: 6 middle"), format!("{}: 2 helper", line + 1)]);
        let lines = outer["lines"].as_array().unwrap();
        let text = |number: u32| lines.iter().find(|line| line["number"] == number).map(|line| &line["text"]);
        assert_eq!(text(line).unwrap(), "    for (int i = 0; i < 3; i++) middle();");
        assert!(lines.last().unwrap()["number"].as_u64().unwrap() <= u64::from(line) + 2, "{lines:?}");
        assert_eq!(outer["elsewhere"], Value::Array(Vec::new()));
    });
}

#[test]
fn calls_of_inlined_bodies_are_on_the_lines_where_they_are_written() {
    each_build("inlined.c", |program| {
        let recorded = program.record().run();
        let line = line_of("inlined.c", "for (int i = 0; i < 10; i++) add(i);");
        let sum_up = annotate(&recorded, &["sum_up"]);
        assert_eq!(calls(&sum_up), [format!("{line}: 10 add"), format!("{}: 10 add", line + 1)]);
        let add = annotate(&recorded, &["add"]);
        assert_eq!(calls(&add), [format!("{}: 21 check", line_of("inlined.c", "check(n);"))]);
    });
}

#[test]
fn calls_through_other_code_are_on_no_line() {
    each_build("callback.c", |program| {
        let recorded = program.record().run();
        let sort = annotate(&recorded, &["sort"]);
        assert_eq!(sort["elsewhere"][0]["name"], "compare");
        assert!(sort["elsewhere"][0]["via"].is_string(), "{sort:#}");
    });
}

#[test]
fn lines_and_own_time_make_the_total_whatever_recurs() {
    let program = fixture("recursion.c", Build::GCC_O0);
    let recorded = program.record().args(&["branch", "6"]).run();
    for name in ["left", "right", "main"] {
        let function = annotate(&recorded, &[name]);
        let lines = function["lines"].as_array().unwrap().iter();
        let times =
            lines.flat_map(|line| line["calls"].as_array().unwrap()).map(|call| call["total_ns"].as_f64().unwrap());
        let sum = times.sum::<f64>() + function["self_ns"].as_f64().unwrap();
        let total = function["total_ns"].as_f64().unwrap();
        assert!((sum - total).abs() <= total * 1e-6 + 1.0, "{name}: {sum} of {total}: {function:#}");
    }
}

#[test]
fn a_line_has_the_time_of_all_its_calls_and_own_time_has_none() {
    let recorded = fixture("roots.c", Build::GCC_O0).record().run();
    let outer = annotate(&recorded, &["outer", "--raw"]);
    let number = |value: &Value| value.as_f64().unwrap();
    let mut lines = 0.0;
    for line in outer["lines"].as_array().unwrap() {
        let calls = line["calls"].as_array().unwrap();
        for field in ["total_ns", "self_ns"] {
            assert!((calls.iter().map(|call| number(&call[field])).sum::<f64>() - number(&line[field])).abs() < 0.1);
        }
        lines += number(&line["total_ns"]);
    }
    assert!((lines + number(&outer["self_ns"]) - number(&outer["total_ns"])).abs() < 1.0, "{outer:#}");
    let table = String::from_utf8(recorded.diytrace(&["annotate", "outer", "--raw"]).stdout).unwrap();
    let own = table.lines().find(|line| line.ends_with("│ (self)")).expect("its own time");
    assert!(own.contains('%') && table.contains("(self) is spent between the calls"), "{table}");
}

#[test]
fn calls_with_a_small_share_are_one_row() {
    let recorded = fixture("roots.c", Build::GCC_O0).record().run();
    let function = |options: &[&str]| annotate(&recorded, &[&["main", "--raw"], options].concat());
    let (whole, part) = (function(&[]), function(&["--min-percent", "100"]));
    assert!(whole["hidden"].is_null() && calls(&part).is_empty(), "{part}");
    let number = |value: &Value| value.as_f64().unwrap();
    assert_eq!(number(&part["hidden"]["nodes"]), calls(&whole).len() as f64);
    let below = number(&part["total_ns"]) - number(&part["self_ns"]);
    assert!((number(&part["hidden"]["total_ns"]) - below).abs() < 1.0, "no time is lost: {part}");
    let text = recorded.diytrace(&["annotate", "main", "--min-percent", "100"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.lines().any(|line| line.trim_end().ends_with(" more")), "{text}");
}

#[test]
fn a_heading_is_no_longer_than_the_screen() {
    let recorded = fixture("roots.c", Build::GCC_O0).record().run();
    let mut command = diytrace(recorded.folder());
    let output = run_to_end(command.args(["annotate", "middle"]).arg(recorded.out()).env("COLUMNS", "40"));
    let text = String::from_utf8(output.stdout).unwrap();
    let heading = text.lines().find(|line| line.starts_with("middle  ")).unwrap();
    assert!(heading.chars().count() <= 40 && heading.contains("…/") && heading.contains("/roots.c:"), "{heading}");
}

#[test]
fn sources_may_lie_elsewhere() {
    let recorded = fixture("roots.c", Build::GCC_O0).record().run();
    let folder = tempfile::tempdir().unwrap();
    let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("c-fixtures/roots.c")).unwrap();
    fs::create_dir(folder.path().join("c-fixtures")).unwrap();
    let moved = folder.path().join("c-fixtures/roots.c");
    fs::write(&moved, source.replace("middle();", "middle(); // here")).unwrap();
    let output = recorded.diytrace(&["annotate", "outer", "--source", folder.path().to_str().unwrap()]);
    let (text, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("middle(); // here"), "{text}");
    assert!(stderr.is_empty() || stderr.contains("was changed after roots was made"), "{stderr}");
}

#[test]
fn machine_code_has_the_calls_where_there_is_no_source() {
    each_build("roots.c", |program| {
        let recorded = program.record().run();
        let outer = annotate(&recorded, &["outer", "--assembly"]);
        let instructions = outer["instructions"].as_array().unwrap();
        let calls = |instruction: &&Value| instruction["calls"].as_array().is_some_and(|calls| !calls.is_empty());
        let of = |name: &str| -> u64 {
            let of_name = instructions.iter().flat_map(|instruction| instruction["calls"].as_array().unwrap());
            of_name.filter(|call| call["name"] == name).map(|call| call["calls"].as_u64().unwrap()).sum()
        };
        assert_eq!((of("middle"), of("helper")), (6, 2), "{outer:#}");
        assert!(
            instructions.iter().filter(calls).all(|call| call["text"].as_str().unwrap().starts_with("call ")),
            "{outer:#}"
        );
        let text = recorded.diytrace(&["annotate", "outer", "--assembly"]);
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        assert!(program.build.is_optimized() || text.contains("<middle>"), "{text}");
    });
}

#[test]
fn a_function_that_nobody_knows_has_near_names() {
    let recorded = fixture("roots.c", Build::GCC_O0).record().run();
    let output = recorded.diytrace(&["annotate", "midle"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `middle`?"));
}
