//! Programs without symbols, whose debug files were split off: names, roots and lines are as they were before.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{Build, Program, Recorded, copy_program, diytrace, each_build, fixture, run_to_end};
use tempfile::TempDir;

/// Fixtures, each with a static function and how often it is called.
const SOURCES: [(&str, &str, u64); 2] =
    [("roots.c", "hidden_step", 4), ("names.cc", "(anonymous namespace)::hidden()", 12)];

/// Where a debug file may lie, as seen from the program's folder.
const FOLDERS: [&str; 2] = [".", ".debug"];

#[test]
fn a_debug_link_leads_to_all_that_was_stripped() {
    for (source, hidden, calls) in SOURCES {
        each_build(source, |fixture| {
            for folder in FOLDERS {
                let (_here, program) = copy(fixture);
                let recorded = program.record().run();
                let whole = told(&recorded, hidden);
                assert!(whole.contains(&format!("/c-fixtures/{source}\",\n")), "{whole}");
                split(&program, folder);
                assert_eq!(told(&recorded, hidden), whole, "of a profile from before stripping, {folder}");

                let recorded = program.record().run();
                assert_eq!(recorded.report().function(hidden).calls, calls);
                assert_eq!(places(&told(&recorded, hidden)), places(&whole), "of a new profile, {folder}");
            }
        });
    }
}

#[test]
fn without_a_build_id() {
    let (_here, mut program) = copy(&fixture("roots.c", Build::GCC_O2));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c-fixtures/roots.c");
    program.path = program.folder.join("without");
    let options = ["-g", "-O2", "-finstrument-functions", "-Wl,--build-id=none", "-o"];
    run(Command::new("gcc").args(options).args([&program.path, &source]));
    let whole = told(&program.record().run(), "hidden_step");
    split(&program, ".");
    assert_eq!(places(&told(&program.record().run(), "hidden_step")), places(&whole));
}

#[test]
fn a_debug_file_of_another_build_is_not_believed() {
    let (_here, program) = copy(&fixture("roots.c", Build::GCC_O0));
    let debug = split(&program, ".");
    let mut bytes = fs::read(&debug).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&debug, bytes).unwrap();
    let document = program.record().run().document(&[]);
    assert!(document.warns_of(&["roots is stripped", "by address"]), "{:?}", document.warnings);
    let report = document.into_only_report();
    assert!(!report.has("hidden_step") && !report.has("main"), "{:?}", report.counts());
}

/// `strip -x` leaves the others, and nothing was said. A debug file has them all the same.
#[test]
fn a_program_without_its_static_functions_is_stripped() {
    let (_here, program) = copy(&fixture("roots.c", Build::GCC_O0));
    let debug = program.folder.join("roots.debug");
    run(Command::new("objcopy").arg("--only-keep-debug").args([&program.path, &debug]));
    let before = program.record().run();
    assert!(before.report().has("hidden_step"));
    run(Command::new("strip").arg("-x").arg(&program.path));
    let document = before.document(&[]);
    assert_eq!(document.warnings, [""; 0], "names were saved beside the profile");
    assert!(document.into_only_report().has("hidden_step"));

    let recorded = program.record().run();
    let document = recorded.document(&[]);
    assert!(document.warns_of(&["roots is stripped", "by address"]), "{:?}", document.warnings);
    let report = document.into_only_report();
    assert!(report.has("main") && !report.has("hidden_step"), "{:?}", report.counts());

    run(Command::new("objcopy").arg(format!("--add-gnu-debuglink={}", debug.display())).arg(&program.path));
    let document = program.record().run().document(&[]);
    assert_eq!(document.warnings, [""; 0]);
    assert!(document.into_only_report().has("hidden_step"));
}

/// The report shows them by their addresses, and no other command knew these.
#[test]
fn functions_without_names_are_asked_for_by_their_addresses() {
    let (_here, program) = copy(&fixture("roots.c", Build::GCC_O0));
    let named = program.record().run().report();
    let most = named.functions.iter().max_by_key(|function| function.calls).unwrap();
    run(Command::new("strip").arg(&program.path));
    let recorded = program.record().run();
    let address = most.address.clone();
    for command in [&["callers", &address][..], &["tree", "--root", &address], &["report", "--root", &address]] {
        let output = recorded.diytrace(command);
        let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
        assert!(output.status.success(), "{command:?}: {said}");
        assert!(said.contains(&address) && said.contains(&most.calls.to_string()), "{command:?}: {said}");
    }
    let output = recorded.diytrace(&["callers", "leaf"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("`leaf`; its functions have no names, and are called by their addresses"), "{said}");
    assert_eq!(recorded.diytrace(&["callers", "0x1"]).status.code(), Some(2));
}

/// They were found by build ID only.
#[test]
fn a_static_root_of_a_stripped_program_is_found_by_its_debug_link() {
    for folder in FOLDERS {
        let (_here, program) = copy(&fixture("roots.c", Build::GCC_O0));
        split(&program, folder);
        let recorded = program.record().roots("hidden_step,nowhere").run();
        let document = recorded.document(&[]);
        assert!(document.warns_of(&["nothing is called `nowhere`"]), "{:?}", document.warnings);
        let calls: u64 = document.reports.iter().map(|report| report.calls).sum();
        assert_eq!(calls, 8, "{:?}", document.warnings);

        // Whoever starts it is told beforehand what will not be found, and only that.
        let mut command = diytrace(&program.folder);
        let output = run_to_end(command.args(["record", "--root", "hidden_step,nowhere", "./roots"]));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("no function `nowhere`") && !said.contains("hidden_step"), "{said}");
    }
}

/// A debug file that is another program's by now is not read.
#[test]
fn a_debug_link_with_another_checksum_leads_nowhere() {
    let (_here, program) = copy(&fixture("roots.c", Build::GCC_O0));
    let debug = split(&program, ".");
    let mut bytes = fs::read(&debug).unwrap();
    bytes.push(0);
    fs::write(&debug, bytes).unwrap();
    let document = program.record().roots("hidden_step").run().document(&[]);
    assert_eq!(document.reports.iter().map(|report| report.calls).sum::<u64>(), 0, "{:?}", document.warnings);
}

/// A fixture's program in a folder where it can be changed.
fn copy(fixture: &Program) -> (TempDir, Program) {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join(fixture.path.file_name().unwrap());
    copy_program(&fixture.path, &path);
    let program = Program { build: fixture.build, folder: here.path().to_owned(), path };
    (here, program)
}

/// Splits symbols and debug information off a program, as packagers do, and gives the debug file.
fn split(program: &Program, folder: &str) -> std::path::PathBuf {
    let folder = program.folder.join(folder);
    fs::create_dir_all(&folder).unwrap();
    let debug = folder.join(program.path.with_extension("debug").file_name().unwrap());
    run(Command::new("objcopy").arg("--only-keep-debug").args([&program.path, &debug]));
    run(Command::new("strip").arg(&program.path));
    run(Command::new("objcopy").arg(format!("--add-gnu-debuglink={}", debug.display())).arg(&program.path));
    debug
}

/// The report on everything and on one root, with warnings.
fn told(recorded: &Recorded, root: &str) -> String {
    let outputs = [&[][..], &["--root", root]].map(|options| {
        let output = recorded.diytrace(&[&["report", "--format", "json"], options].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat()
    });
    outputs.concat()
}

/// What of a report is the same in every run: what was called, how, from where and how often, but for times, and for the
/// profile and the process.
fn places(told: &str) -> Vec<&str> {
    const SAME: [&str; 9] = [
        "\"name\"",
        "\"module\"",
        "\"address\"",
        "\"file\"",
        "\"line\"",
        "\"calls\"",
        "\"call\"",
        "\"via\"",
        "warning",
    ];
    // Slices of time have calls, too, as parts of numbers.
    let is_slice = |line: &str| line.starts_with("\"calls\"") && line.contains('.');
    let is_same = |line: &&str| SAME.iter().any(|key| line.starts_with(key)) && !is_slice(line);
    let mut lines: Vec<&str> = told.lines().map(str::trim).filter(is_same).collect();
    lines.sort_unstable(); // functions come in the order of their times
    lines
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
