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
    golden("functions.txt", &shape_of_table(&report(&recorded(), &[])));
}

#[test]
fn a_table_of_roots() {
    golden("roots.txt", &shape_of_table(&report(&recorded(), &ROOTS)));
}

#[test]
fn csv_of_functions() {
    golden("functions.csv", &shape_of_csv(&report(&recorded(), &["--format", "csv"])));
}

#[test]
fn csv_of_roots() {
    golden("roots.csv", &shape_of_csv(&report(&recorded(), &[&ROOTS[..], &["--format", "csv"]].concat())));
}

fn recorded() -> Recorded {
    fixture("roots.c", Build::GCC_O0).record().run()
}

/// The report in an order that does not depend on times.
fn report(recorded: &Recorded, options: &[&str]) -> String {
    let mut command = diytrace(recorded.folder());
    command.args(["report", "--sort", "name"]).args(options).arg(recorded.out()).env_remove("COLUMNS");
    let output = run_to_end(&mut command);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{}: {stderr}", output.status);
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
    format!("{margin}{}", shape.join(" "))
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
