//! What `diytrace report` says where there is no answer: one sentence, and exit status 2.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use common::{Build, Recorded, copy_program, diytrace, fixture, run_to_end};

fn plain() -> Recorded {
    fixture("plain.c", Build::GCC_O0).record().run()
}

fn report(here: &Path, arguments: &[&str]) -> Output {
    run_to_end(diytrace(here).arg("report").args(arguments))
}

/// Asserts that a report failed with one sentence that has these words.
#[track_caller]
fn assert_refused(output: &Output, words: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(2), &b""[..]), "{said}");
    assert!(said.starts_with("diytrace: ") && said.lines().count() == 1, "one sentence, not {said}");
    for word in words {
        assert!(said.contains(word), "{word:?} in {said}");
    }
}

#[test]
fn no_profile() {
    let here = tempfile::tempdir().unwrap();
    assert_refused(&report(here.path(), &[]), &["there is no profile at diytrace.data", "diytrace record"]);
    assert_refused(&report(here.path(), &["nowhere.diyt"]), &["there is no profile at nowhere.diyt"]);
    fs::create_dir(here.path().join("diytrace.data")).unwrap();
    assert_refused(&report(here.path(), &[]), &["no profile in diytrace.data", "-finstrument-functions"]);
}

/// What is written appears whole or not at all, and replaces nothing that nobody can make again.
#[test]
fn an_output_that_would_replace_what_was_recorded() {
    let recorded = plain();
    let here = recorded.folder();
    let run = |line: &str| run_to_end(diytrace(here).args(line.split(' ')));
    for line in ["merge out -o all.diya", "push out --store store.db"] {
        assert!(run(line).status.success(), "{line}");
    }
    let profile = common::profiles_in(&here.join("out")).remove(0);
    fs::copy("/bin/true", here.join("program")).unwrap();
    let profile = profile.to_str().unwrap();
    for (path, what) in
        [(profile, "a recording"), ("all.diya", "an archive"), ("store.db", "a store"), ("program", "a program")]
    {
        let before = fs::read(here.join(path)).unwrap();
        for line in ["report out", "export folded out --raw"] {
            let output = run(&format!("{line} -o {path}"));
            assert_refused(&output, &[&format!("is {what}, and this would replace it: name another file")]);
        }
        if what != "an archive" {
            assert_refused(&run(&format!("merge out -o {path}")), &[&format!("it is {what}, and would be replaced")]);
        }
        assert!(fs::read(here.join(path)).unwrap() == before, "{path}");
    }
    // What was there stays if something cannot be written to the end, and its rights and its name if it can.
    assert_refused(&run("report out -o /dev/full"), &["cannot write /dev/full: No space left"]);
    fs::write(here.join("report.txt"), "before").unwrap();
    fs::set_permissions(here.join("report.txt"), fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("report.txt", here.join("link")).unwrap();
    assert_refused(&run("export folded out --function nobody -o report.txt"), &["nobody"]);
    assert_eq!(fs::read_to_string(here.join("report.txt")).unwrap(), "before");
    assert!(run("report out -o link").status.success());
    let facts = fs::symlink_metadata(here.join("report.txt")).unwrap();
    assert_eq!((facts.permissions().mode() & 0o777, facts.len() > 6), (0o640, true));
    assert!(fs::symlink_metadata(here.join("link")).unwrap().is_symlink());
}

#[test]
fn a_foreign_file() {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("notes.txt"), "These are no bytes of a profile.").unwrap();
    assert_refused(&report(here.path(), &["notes.txt"]), &["notes.txt", "not a diytrace profile"]);
    fs::write(here.path().join("empty"), "").unwrap();
    assert_refused(&report(here.path(), &["empty"]), &["empty"]);
}

#[test]
fn a_profile_of_an_older_version() {
    for version in [1, 2] {
        let old = format!("{}/fuzz/seeds/load/version-{version}.bin", env!("CARGO_MANIFEST_DIR"));
        let says = [&format!("version-{version}.bin"), &format!("version {version}"), "record again"];
        assert_refused(&report(Path::new("/"), &[&old]), &says);
    }
}

#[test]
fn a_truncated_file() {
    let recorded = plain();
    let bytes = fs::read(&recorded.profiles()[0]).unwrap();
    let path = recorded.folder().join("short.diyt");
    fs::write(&path, &bytes[..100]).unwrap();
    assert_refused(&report(recorded.folder(), &["short.diyt"]), &["short.diyt", "truncated"]);
    // With a header, what is left is shown, with a warning, or refused: never a panic.
    let used = u64::from_le_bytes(bytes[16..24].try_into().unwrap()) as usize; // the rest is a hole
    for length in (200..used).step_by(used / 40) {
        fs::write(&path, &bytes[..length]).unwrap();
        let output = report(recorded.folder(), &["--format", "json", "short.diyt"]);
        match output.status.code() {
            Some(0) => {
                let document = common::Document::parse(&output.stdout);
                assert!(document.warns_of(&["truncated"]), "{length} bytes: {:?}", document.warnings);
            }
            _ => assert_refused(&output, &["short.diyt"]),
        }
    }
}

#[test]
fn a_newer_file() {
    let recorded = plain();
    let path = &recorded.profiles()[0];
    let mut bytes = fs::read(path).unwrap();
    bytes[8..12].copy_from_slice(&(diytrace_format::VERSION + 1).to_le_bytes());
    fs::write(path, bytes).unwrap();
    let version = format!("version {}", diytrace_format::VERSION + 1);
    assert_refused(&report(recorded.folder(), &[path.to_str().unwrap()]), &[&version, "newer diytrace"]);
    assert_refused(&report(recorded.folder(), &["out"]), &[&version]);
}

#[test]
fn a_bad_file_beside_a_good_one() {
    let recorded = plain();
    fs::write(recorded.out().join("bad.diyt"), "no profile").unwrap();
    let document = recorded.document(&[]);
    assert!(document.warns_of(&["bad.diyt", "not a diytrace profile"]), "{:?}", document.warnings);
    assert_eq!(document.into_only_report().function("leaf").calls, 7);
}

#[test]
fn nothing_instrumented() {
    let here = tempfile::tempdir().unwrap();
    let output = run_to_end(diytrace(here.path()).args(["record", "true"]));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "the command's own status");
    assert!(said.contains("not instrumented") && said.contains("-finstrument-functions"), "{said}");
    assert_refused(&report(here.path(), &[]), &["there is no profile"]);
}

#[test]
fn a_program_that_is_gone() {
    let recorded = in_its_own_place(|program| fs::remove_file(program).unwrap());
    assert_shown_by_address(&recorded, &["plain"]);
}

#[test]
fn a_program_that_was_rebuilt() {
    let recorded = in_its_own_place(|program| {
        fs::remove_file(program).unwrap();
        let mut compiler = Command::new("gcc");
        compiler.args(["-xc", "-", "-g", "-finstrument-functions", "-o"]).arg(program);
        let mut child = compiler.stdin(std::process::Stdio::piped()).spawn().unwrap();
        use std::io::Write;
        child.stdin.take().unwrap().write_all(b"void other(void) {} int main(void) { other(); }").unwrap();
        assert!(child.wait().unwrap().success());
    });
    assert_shown_by_address(&recorded, &["plain"]);
}

#[test]
fn a_program_without_symbols() {
    let mut program = fixture("plain.c", Build::GCC_O0);
    let place = tempfile::tempdir().unwrap();
    let stripped = place.path().join("plain");
    assert!(Command::new("strip").arg("-o").arg(&stripped).arg(&program.path).status().unwrap().success());
    program.path = stripped;
    let report = program.record().run().report();
    let mut calls: Vec<_> = report.functions.iter().map(|function| function.calls).collect();
    calls.sort_unstable();
    assert_eq!(calls, [1, 1, 3, 7]);

    let document = program.record().roots("thrice").run().document(&[]);
    assert!(document.warns_of(&["thrice"]), "{:?}", document.warnings);
    assert!(document.reports.iter().all(|report| report.calls == 0));
}

/// Records a copy of a program, to which something then happens.
fn in_its_own_place(change: impl Fn(&Path)) -> Recorded {
    let mut program = fixture("plain.c", Build::GCC_O0);
    let place = tempfile::tempdir().unwrap();
    let copy = place.path().join("plain");
    copy_program(&program.path, &copy);
    program.path.clone_from(&copy);
    let recorded = program.record().run();
    change(&copy);
    let document = recorded.document(&[]);
    assert_eq!(document.reports.len(), 1);
    recorded.keeping(place)
}

#[track_caller]
fn assert_shown_by_address(recorded: &Recorded, words: &[&str]) {
    let document = recorded.document(&[]);
    assert!(document.warns_of(&[words, &["address"]].concat()), "{:?}", document.warnings);
    let report = document.into_only_report();
    let mut calls: Vec<_> = report.functions.iter().map(|function| function.calls).collect();
    calls.sort_unstable();
    assert_eq!(calls, [1, 1, 3, 7]);
    for function in &report.functions {
        assert_eq!(function.name, function.address, "{function:#?}");
    }
}

#[test]
fn a_root_that_is_unknown() {
    let recorded = plain();
    for (root, nearest) in [("thirce", "`thrice`"), ("Leaf", "`leaf`"), ("one", "`once`")] {
        let output = recorded.diytrace(&["report", "--root", root]);
        assert_refused(&output, &[&format!("`{root}`"), nearest]);
    }
}

#[test]
fn a_process_that_is_unknown() {
    assert_refused(&plain().diytrace(&["report", "--pid", "1"]), &["no process 1"]);
}

#[test]
fn bad_options() {
    let here = tempfile::tempdir().unwrap();
    for (arguments, word) in [
        (&["--fromat", "json"][..], "--format"),
        (&["--format", "jsn"], "json"),
        (&["--by", "moon"], "process"),
        (&["--limit", "few"], "few"),
        (&["--sort", "beauty"], "beauty"),
        (&["--root", ","], "names no function"),
        (&["--function", ""], "names no function"),
    ] {
        let output = report(here.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(2), &b""[..]), "{arguments:?}: {said}");
        assert!(said.contains(word), "{arguments:?}: {said}");
    }
}
