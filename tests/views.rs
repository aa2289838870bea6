//! What `diytrace report` writes, as a whole: tables and CSV of a real profile, held against files in `tests/golden/`.
//!
//! Times differ from run to run, so what stands for them is their shape. `DIYTRACE_REGENERATE=1 cargo test --test views`
//! writes the files anew.

mod common;

use std::fs;
use std::path::Path;

use common::{Build, Recorded, diytrace, fixture, run_to_end};

const ROOTS: [&str; 4] = ["--root", "outer", "--root", "hidden_step"];

#[test]
fn a_table_of_functions() {
    golden("functions.txt", &shape_of_table(&report(&without_waits(), &[])));
}

#[test]
fn a_table_of_roots() {
    golden("roots.txt", &shape_of_table(&report(&without_waits(), &ROOTS)));
}

#[test]
fn csv_of_functions() {
    golden("functions.csv", &shape_of_csv(&report(&recorded(), &["--format", "csv"])));
}

#[test]
fn csv_of_roots() {
    golden("roots.csv", &shape_of_csv(&report(&recorded(), &[&ROOTS[..], &["--format", "csv"]].concat())));
}

#[test]
fn no_rows_are_asked_for() {
    let shown = report(&recorded(), &["--limit", "0"]);
    assert!(shown.contains("… and 7 more functions") && !shown.contains("no functions"), "{shown}");
}

#[test]
fn a_column_that_was_asked_for_is_there() {
    let shown = report(&recorded(), &["--columns", "calls,unwound,p50", "--raw", "--function", "main"]);
    let line = |at: usize| shown.lines().nth(at).unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(
        (line(2), line(4)),
        (vec!["calls", "unwound", "p50", "function"], vec!["1", "0", "–", "main"]),
        "{shown}"
    );
}

fn recorded() -> Recorded {
    fixture("roots.c", Build::GCC_O0).record().run()
}

/// On a busy machine there is a column more, and a line, where the recorder knows when others had the processor.
fn without_waits() -> Recorded {
    fixture("roots.c", Build::GCC_O0).record().set("WAITS", "0").run()
}

/// The report in an order that does not depend on times.
fn report(recorded: &Recorded, options: &[&str]) -> String {
    let mut command = diytrace(recorded.folder());
    command.args(["report", "--sort", "name"]).args(options).arg(recorded.out()).env_remove("COLUMNS");
    let output = run_to_end(&mut command);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let is_expected = |line: &str| line.contains("DIYTRACE_WAITS is 0");
    assert!(output.status.success() && stderr.lines().all(is_expected), "{}: {stderr}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// A table without what differs from run to run: times, shares of them, widths, addresses and the process.
fn shape_of_table(table: &str) -> String {
    table.lines().map(|line| shape_of_line(line) + "\n").collect()
}

fn shape_of_line(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut shape: Vec<String> = Vec::new();
    let mut rest = &words[..];
    while let [word, after @ ..] = rest {
        let is_unit = |word: &&str| ["ns", "µs", "ms", "s"].contains(word);
        let is_time = is_number(word) && after.first().is_some_and(is_unit);
        rest = if is_time { &after[1..] } else { after };
        shape.push(match *word {
            "<" => continue, // a time that could not be told from nothing
            _ if is_time => "TIME".to_owned(),
            _ if word.ends_with('%') && word.trim_matches(['<', '%']).parse::<f64>().is_ok() => "SHARE".to_owned(),
            _ if word.starts_with("0x") => "ADDRESS".to_owned(),
            _ if word.starts_with('─') => "─".to_owned(),
            _ if shape.last().is_some_and(|last| last == "process") => "PID,".to_owned(),
            _ => word.to_string(),
        });
    }
    let margin = if line.starts_with(' ') { "  " } else { "" };
    // Nor is how far off it may be told of such a total.
    format!("{margin}{}", shape.join(" ").replace("total TIME ± TIME", "total TIME"))
}

/// CSV without what differs from run to run; each cell of a time must be one.
fn shape_of_csv(csv: &str) -> String {
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut shape = header.join(",") + "\n";
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), header.len(), "{line}");
        let cells: Vec<&str> = header.iter().zip(cells).map(|(&column, cell)| shape_of_cell(column, cell)).collect();
        shape += &(cells.join(",") + "\n");
    }
    shape
}

fn shape_of_cell<'a>(column: &str, cell: &'a str) -> &'a str {
    match column {
        _ if column.ends_with("_ns") => {
            assert!(cell.parse::<f64>().is_ok_and(|ns| ns >= 0.0), "{column}: {cell}");
            "TIME"
        }
        "pid" if is_number(cell) => "PID",
        "address" if cell.starts_with("0x") => "ADDRESS",
        "module" => cell.rsplit('/').next().unwrap(),
        _ => cell,
    }
}

fn is_number(text: &str) -> bool {
    text.replace(',', "").parse::<f64>().is_ok()
}

/// Holds an output against the one that is kept, or keeps it if `DIYTRACE_REGENERATE` is set.
#[track_caller]
fn golden(name: &str, output: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("DIYTRACE_REGENERATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, output).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == output,
        "{} is no longer what comes out; to keep what does: DIYTRACE_REGENERATE=1 cargo test --test views\n{output}",
        path.display()
    );
}

/// The names of the list's functions, in its order.
fn listed(options: &[&str]) -> Vec<String> {
    let csv = report(&recorded(), &[options, &["--format", "csv"]].concat());
    csv.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().to_owned()).collect()
}

#[test]
fn functions_are_listed_by_name_module_file_and_time() {
    assert_eq!(listed(&["--function", "*er"]), ["helper", "inner", "outer"]);
    assert_eq!(listed(&["--function", "setup,main"]), ["main", "setup"]);
    assert_eq!(listed(&["--module", "roots", "--file", "c-fixtures/roots.?"]).len(), 7);
    assert_eq!(listed(&["--module", "libc*"]), [""; 0]);
    assert_eq!(listed(&["--file", "other.c"]), [""; 0]);
    assert_eq!(listed(&["--min-time", "1000s"]), [""; 0]);
    let output = recorded().diytrace(&["report", "--function", "midle"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `middle`?"));
}

#[test]
fn columns_are_chosen() {
    let options = ["--columns", "calls,p75,p99.9,call,source", "--function", "middle"];
    let csv = report(&recorded(), &[&options[..], &["--format", "csv"]].concat());
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "pid,tid,name,calls,p75_ns,p999_ns,call,source");
    let line = common::line_of("roots.c", "void middle(void)") + 1; // where its code begins
    let is_there = |end: &str| lines[1].ends_with(end);
    assert!(lines[1].contains(",middle,6,") && lines[1].contains(",direct,"), "{csv}");
    assert!(is_there(&format!("/roots.c:{line}")) || is_there(&format!("/roots.c:{}", line - 1)), "{csv}");
    let table = report(&recorded(), &options);
    let title = table.lines().nth(2).unwrap();
    assert_eq!(title.split_whitespace().collect::<Vec<_>>(), ["calls", "p75", "p99.9", "call", "source", "function"]);
}

#[test]
fn distributions_are_drawn() {
    let table = report(&recorded(), &["--histogram"]);
    assert!(table.lines().any(|line| line.contains('█') && line.ends_with("helper")), "{table}");
    let blocks = report(&recorded(), &["--histogram", "--root", "helper"]);
    let calls: u64 = (blocks.lines().filter(|line| line.contains(" – ") && line.contains('%')))
        .map(|line| line.split_whitespace().nth(5).unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(calls, 19, "{blocks}");
}

#[test]
fn bodies_that_are_inlined_tell_where() {
    let inlined = fixture("inlined.c", Build::GCC_O2).record().run();
    let table = report(&inlined, &["--columns", "calls,call"]);
    let is_marked = |line: &str| {
        line.split_whitespace().collect::<Vec<_>>().join(" ").starts_with("21 inlined check inlined into sum_up")
    };
    assert!(table.lines().any(is_marked), "{table}");
    let document = inlined.diytrace(&["report", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_slice(&document.stdout).unwrap();
    let functions = document["reports"][0]["functions"].as_array().unwrap();
    let check = functions.iter().find(|function| function["name"] == "check").unwrap();
    assert_eq!(check["kinds"]["inlined"], 21);
    assert_eq!(
        check["inlined_into"],
        serde_json::json!([{"name": "sum_up", "calls": 20}, {"name": "main", "calls": 1}])
    );
}
