//! Programs with a shared AddressSanitizer, which end themselves where anything is preloaded before it.

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::{diytrace, run_to_end};
use tempfile::TempDir;

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

#[test]
fn the_advice_helps() {
    let here = program();
    let output = record(&here, "ASAN_OPTIONS", "verify_asan_link_order=0");
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    assert!(stderr(&output).contains("diytrace: profile in "), "{}", stderr(&output));
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
