//! Programs with sanitizers: their runtimes find nothing that they do not find without the recorder, and the counts are those
//! of the program without them. Those with a shared AddressSanitizer end themselves where anything is preloaded before it,
//! unless they are asked not to.
//!
//! What is left out here does not end, or ends by a fault, without the recorder too: timers' handlers under ThreadSanitizer,
//! which puts signals off, and threads' destructors under clang's.

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::{Build, Program, diytrace, fixture, fixture_with, run_to_end};
use needs::needs;
use tempfile::TempDir;

#[needs(gcc_address)]
#[test]
fn a_refusal_comes_with_what_to_do() {
    let here = program();
    let refused = record(&here, "ASAN_OPTIONS", "");
    let said = stderr(&refused);
    assert_ne!(refused.status.code(), Some(7), "{said}");
    assert!(said.contains("program has a shared AddressSanitizer"), "{said}");
    assert!(said.ends_with("run it again with ASAN_OPTIONS=verify_asan_link_order=0\n"), "{said}");

    let said = stderr(&record(&here, "ASAN_OPTIONS", "detect_leaks=0"));
    assert!(said.ends_with(" ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0\n"), "{said}");
}

#[needs(gcc_address)]
#[test]
fn the_advice_helps() {
    let here = program();
    let output = record(&here, "ASAN_OPTIONS", "verify_asan_link_order=0");
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    assert!(stderr(&output).contains("diytrace: profile in "), "{}", stderr(&output));
}

const FIXTURES: [(&str, &[&str]); 7] = [
    ("plain.c", &[]),
    ("threads.c", &["together", "8", "100"]),
    ("threads.c", &["in-turn", "20", "5"]),
    ("forks.c", &["20", "4"]),
    ("longjmp.c", &[]),
    ("recursion.c", &["fib", "15"]),
    ("exceptions.cc", &[]),
];

#[needs(gcc_address)]
#[test]
fn the_address_sanitizer_of_gcc() {
    each_fixture_with("-fsanitize=address", "gcc");
}

#[needs(gcc_undefined)]
#[test]
fn the_undefined_behaviour_sanitizer_of_gcc() {
    each_fixture_with("-fsanitize=undefined", "gcc");
}

#[needs(gcc_thread)]
#[test]
fn the_thread_sanitizer_of_gcc() {
    each_fixture_with("-fsanitize=thread", "gcc");
}

#[needs(clang_address)]
#[test]
fn the_address_sanitizer_of_clang() {
    each_fixture_with("-fsanitize=address", "clang");
}

#[needs(clang_undefined)]
#[test]
fn the_undefined_behaviour_sanitizer_of_clang() {
    each_fixture_with("-fsanitize=undefined", "clang");
}

#[needs(clang_thread)]
#[test]
fn the_thread_sanitizer_of_clang() {
    each_fixture_with("-fsanitize=thread", "clang");
}

fn each_fixture_with(sanitizer: &str, compiler: &'static str) {
    let build = Build { compiler, level: "-O2" };
    for (source, arguments) in FIXTURES {
        eprintln!("── {source} {arguments:?} by {build} {sanitizer}"); // shown if it ends badly
        let program = sanitized(source, build, sanitizer).unwrap();
        let report = program.record().args(arguments).run().report(); // it does and says what it does without
        assert_eq!((report.lost_calls, report.folded_calls), (0, 0));
        let plain = fixture(source, build).record().args(arguments).run().report();
        assert_eq!((report.counts(), report.unwound), (plain.counts(), plain.unwound));
    }
}

fn sanitized(source: &str, build: Build, sanitizer: &str) -> Result<Program, String> {
    let program = fixture_with(source, build, &[sanitizer])?;
    Ok(program.wrapped("export ASAN_OPTIONS=verify_asan_link_order=0; exec \"$PROGRAM\" \"$@\""))
}

fn program() -> TempDir {
    let here = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c-fixtures/plain.c");
    let mut compiler = Command::new("gcc"); // whose sanitizer is shared unless one asks otherwise
    compiler.args(["-g", "-finstrument-functions", "-fsanitize=address", "-o", "program"]).arg(source);
    assert!(compiler.current_dir(&here).status().unwrap().success());
    here
}

fn record(here: &TempDir, variable: &str, value: &str) -> Output {
    run_to_end(diytrace(here.path()).args(["record", "./program"]).env(variable, value))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
