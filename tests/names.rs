//! C++ names as people write them.

mod common;

use common::{Build, Recorded, copy_program, diytrace, each_build, fixture, run_to_end};
use serde_json::Value;

#[test]
fn are_demangled() {
    each_build("names.cc", |program| {
        let recorded = program.record().logged().run();
        let report = recorded.report();
        for (name, calls) in [
            ("main", 1),
            ("geometry::scale(int)", 2),
            ("geometry::scale(int, long)", 1),
            ("int geometry::twice<int>(int)", 1),
            ("double geometry::twice<double>(double)", 2),
            ("geometry::Square::Square(int)", 1),
            ("geometry::Square::~Square()", 1),
            ("geometry::Square::area() const", 1),
            ("geometry::Square::operator()(int)", 1),
            ("geometry::Square::sides()", 1),
            ("(anonymous namespace)::hidden()", 12),
        ] {
            assert_eq!(report.function(name).calls, calls, "{name}");
        }
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn overloads_stay_apart() {
    each_build("names.cc", |program| {
        let report = program.record().run().report();
        let main = report.function("main");
        assert_eq!(main.callee("geometry::scale(int)").calls, 2);
        assert_eq!(main.callee("geometry::scale(int, long)").calls, 1);
    });
}

#[test]
fn lambdas_have_a_name() {
    each_build("names.cc", |program| {
        let report = program.record().run().report();
        let lambda =
            report.functions.iter().find(|function| function.name.contains("lambda") || function.name.contains("$_"));
        assert_eq!(lambda.map(|lambda| lambda.calls), Some(1), "{:#?}", report.counts());
    });
}

#[test]
fn are_short_for_people_and_whole_for_programs() {
    let recorded = fixture("names.cc", Build::GCC_O0).record().run();
    let shown = |options: &[&str]| {
        let mut report = diytrace(recorded.folder());
        let output = run_to_end(report.arg("report").args(options).arg(recorded.out()));
        String::from_utf8(output.stdout).unwrap()
    };
    let short = shown(&[]);
    let has = |text: &str, name: &str| text.lines().any(|line| line.trim_end().ends_with(name));
    for name in [
        "geometry::Square::area",
        "geometry::Square::operator()",
        "geometry::Square::~Square",
        "(anonymous)::hidden",
        // Nothing but that tells these apart.
        "geometry::scale(int)",
        "geometry::scale(int, long)",
        "geometry::twice‹…›(int)",
        "geometry::twice‹…›(double)",
    ] {
        assert!(has(&short, name), "{name}\n{short}");
    }
    let full = shown(&["--names", "full"]);
    assert!(has(&full, "geometry::Square::area() const") && has(&full, "(anonymous namespace)::hidden()"), "{full}");
    let mangled = shown(&["--names", "mangled"]);
    assert!(has(&mangled, "_ZNK8geometry6Square4areaEv"), "{mangled}");
    assert!(shown(&["--format", "csv"]).contains("geometry::Square::area() const"), "programs get all there is");
    assert!(shown(&["--format", "csv", "--names", "short"]).contains(",geometry::Square::area,"));
}

/// The longest line's columns, and what a report at a terminal of that many columns says.
fn at_columns(recorded: &Recorded, columns: &str, options: &[&str]) -> (usize, String) {
    let mut report = diytrace(recorded.folder());
    let output = run_to_end(report.arg("report").args(options).arg(recorded.out()).env("COLUMNS", columns));
    let text = String::from_utf8(output.stdout).unwrap();
    (text.lines().map(|line| line.chars().count()).max().unwrap_or_default(), text)
}

#[test]
fn what_a_function_is_called_stays_where_there_is_little_room() {
    let recorded = fixture("long-names.cc", Build::GCC_O0).record().run();
    let (widest, text) = at_columns(&recorded, "80", &[]);
    assert!(widest <= 80, "{text}");
    let is_there = |name: &str| text.lines().any(|line| line.contains(name));
    assert!(is_there("multiCompare(Token ") && is_there("multiCompare(char "), "{text}");
    assert!(!text.contains("…t*, int)"), "{text}");
}

#[test]
fn overloads_have_what_differs_and_templates_too() {
    let recorded = fixture("long-names.cc", Build::GCC_O0).record().run();
    let (_, text) = at_columns(&recorded, "500", &[]);
    let has = |name: &str| text.lines().any(|line| line.trim_end().ends_with(name));
    for name in [
        "TokenList::multiCompare(Token const*, …)",
        "TokenList::multiCompare(char const*, …)",
        "visit‹…›(…, TokenList::first::{lambda#1} const&)",
        "Holder‹…›::put(std::string const&, …)",
        "Holder‹…›::put(std::pair‹…› const&, …)",
    ] {
        assert!(has(name), "{name}\n{text}");
    }
}

#[test]
fn what_a_function_is_shown_as_in_short_means_it() {
    for source in ["names.cc", "long-names.cc", "local-names.cc"] {
        let recorded = fixture(source, Build::GCC_O0).record().run();
        let functions = |command: &[&str]| -> Vec<(String, u64)> {
            let mut told = diytrace(recorded.folder());
            let output = run_to_end(told.args(command).args(["--format", "json"]).arg(recorded.out()));
            assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
            let document: Value = serde_json::from_slice(&output.stdout).unwrap();
            let functions = document["reports"][0]["functions"].as_array().unwrap().iter();
            functions.map(|row| (row["name"].as_str().unwrap().to_owned(), row["calls"].as_u64().unwrap())).collect()
        };
        let all = functions(&["report", "--names", "short"]);
        assert!(all.len() > 5, "{all:?}");
        for (name, calls) in all.iter().filter(|(name, _)| name.contains(['{', '‹'])) {
            let found = functions(&["report", "--function", name]);
            assert_eq!(found.iter().map(|(_, calls)| calls).sum::<u64>(), *calls, "{name}: {found:?}");
        }
    }
}

#[test]
fn a_root_may_have_local_types_of_another_function_in_its_name() {
    let local = fixture("local-names.cc", Build::GCC_O0);
    for (root, whole, calls) in [
        ("Table<1>::each", "void Table<1>::each<turn(int)::{lambda(int)#1}>(turn(int)::{lambda(int)#1})", 1),
        ("turn(int)::{lambda(int)#1}::operator()", "turn(int)::{lambda(int)#1}::operator()(int) const", 4),
        ("turn(int)::Local::mark", "turn(int)::Local::mark()", 1),
        ("Table<1>::operator,", "Table<1>::operator,(Table<1> const&)", 2),
        ("turn", "turn(int)", 1),
    ] {
        let report = local.record().roots(root).run().report();
        assert_eq!(report.function(whole).calls, calls, "{root}: {:#?}", report.counts());
        assert!(report.functions.iter().all(|function| function.name != "main"), "{root}: {:#?}", report.counts());
    }
}

#[test]
fn functions_are_told_only_from_those_that_are_shown() {
    let recorded = fixture("long-names.cc", Build::GCC_O0).record().run();
    let one = ["--sort", "calls", "--limit", "1"];
    let (_, text) = at_columns(&recorded, "500", &one);
    assert!(text.lines().any(|line| line.ends_with("TokenList::multiCompare")), "{text}");
}

#[test]
fn a_rule_is_no_longer_than_people_read() {
    let recorded = fixture("long-names.cc", Build::GCC_O0).record().run();
    let mut report = diytrace(recorded.folder());
    let output = run_to_end(report.args(["report", "--names", "full"]).arg(recorded.out()));
    let text = String::from_utf8(output.stdout).unwrap();
    let width = |line: &str| line.chars().count();
    assert!(text.lines().any(|line| width(line) > 200), "a pipe has whole names: {text}");
    // There is a column more where the program has waited.
    assert!(text.lines().filter(|line| line.contains('─')).all(|line| width(line) <= 140), "{text}");
}

#[test]
fn functions_of_two_builds_of_a_program_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    for (number, level) in ["-O0", "-O2"].into_iter().enumerate() {
        let mut program = fixture("forks.c", Build { compiler: "gcc", level });
        let home = folder.path().join(number.to_string());
        std::fs::create_dir(&home).unwrap();
        copy_program(&program.path, home.join("server"));
        program.path = home.join("server");
        let recorded = program.record().args(&["5", "2"]).run();
        std::fs::rename(recorded.out(), home.join("diytrace.data")).unwrap();
    }
    let report = |arguments: &[&str]| {
        let output = run_to_end(diytrace(folder.path()).arg("report").args(arguments));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let both = report(&["0/diytrace.data", "1/diytrace.data"]);
    let mut builds: Vec<&str> =
        both.lines().filter_map(|line| line.split_once("leaf  server@")).map(|(_, rest)| &rest[..8]).collect();
    builds.sort_unstable();
    builds.dedup();
    assert_eq!(builds.len(), 2, "{both}");
    assert!(both.contains("\nserver · 12 processes"), "{both}");
    let roots = report(&["--root", "leaf", "0/diytrace.data", "1/diytrace.data"]);
    assert!(builds.iter().all(|build| roots.contains(&format!("leaf  server@{build}"))), "{roots}");
    assert!(!report(&["0/diytrace.data"]).contains('@'));
    // Trees of the two begin with what tells them apart, and so does who calls a function; below is the same build.
    let told = |command: &[&str]| {
        let both = ["0/diytrace.data", "1/diytrace.data"];
        let output = run_to_end(diytrace(folder.path()).args(command).args(both));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for command in [&["tree"][..], &["tree", "--root", "handle"], &["callers", "leaf"], &["report", "--root", "handle"]]
    {
        let text = told(command);
        for build in &builds {
            assert_eq!(text.matches(&format!("server@{build}")).count(), 1, "{command:?}: {text}");
        }
    }
    let json = told(&["tree", "--root", "handle", "--format", "json"]);
    assert!(builds.iter().all(|build| json.contains(&format!("\"build\": \"{build}"))), "{json}");
}
