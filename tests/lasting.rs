//! Names that last: what a report needs of programs is saved with the recording, so that a rebuild makes no older run nameless.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Build, Endless, copy_program, diytrace, each_build, fixture, run_to_end, tool, wait_until};
use tempfile::TempDir;

/// Views that show names, files and lines.
const VIEWS: [&[&str]; 9] = [
    &["report"],
    &["report", "--by", "process", "--columns", "calls,total,source"],
    &["report", "--format", "json"],
    &["report", "--format", "csv"],
    &["tree"],
    &["tree", "--format", "json"],
    &["callers", "main"],
    &["export", "folded"],
    &["export", "callgrind"],
];

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What all views say, on both streams.
fn views(here: &Path, profile: &str) -> Vec<(String, String)> {
    let said = VIEWS.iter().map(|line| {
        let output = run_to_end(diytrace(here).args(*line).arg(profile));
        assert!(output.status.success(), "{line:?}: {}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    });
    said.collect()
}

fn report(here: &Path, profile: &str) -> (String, String) {
    let output = run_to_end(diytrace(here).args(["report", profile]));
    assert!(output.status.success(), "{}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// The files of that kind in `out`.
fn files(here: &Path, extension: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(here.join("out")).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
}

/// A folder where a copy of a program was recorded, by `diytrace record` or by hand.
fn recorded(program: &Path, by_hand: bool) -> TempDir {
    let here = tempfile::tempdir().unwrap();
    copy_program(program, here.path().join("program"));
    let mut command = match by_hand {
        false => diytrace(here.path()),
        true => std::process::Command::new(here.path().join("program")),
    };
    match by_hand {
        false => command.args(["record", "--out", "out", "./program"]),
        true => command.current_dir(here.path()).env("DIYTRACE_OUT", "out").env("LD_PRELOAD", tool("libdiytrace.so")),
    };
    assert!(run_to_end(&mut command).status.success());
    here
}

/// Another program comes to lie where that one was.
fn rebuild(here: &Path) {
    copy_program(&fixture("small.c", Build::GCC_O0).path, here.join("program"));
}

#[test]
fn a_report_is_the_same_after_a_rebuild_and_without_the_program() {
    // With inlined bodies, and with exceptions that leave them: debug information is asked where calls belong.
    for name in ["inlined.c", "left-inline.cc"] {
        each_build(name, |program| {
            let here = recorded(&program.path, false);
            let here = here.path();
            let before = views(here, "out");
            assert!(before[0].0.contains("main"), "{}", before[0].0);
            rebuild(here);
            assert_eq!(views(here, "out"), before, "{name}: rebuilt");
            fs::remove_file(here.join("program")).unwrap();
            assert_eq!(views(here, "out"), before, "{name}: gone");
            // An archive that is made now has the names, too.
            if name == "inlined.c" {
                assert!(run_to_end(diytrace(here).args(["symbolize", "out", "-o", "late.diya"])).status.success());
                assert_eq!(report(here, "late.diya").0, before[0].0, "{name}: archived");
            }

            fs::remove_file(&files(here, "names")[0]).unwrap();
            let (nameless, warning) = report(here, "out");
            assert!(!nameless.contains(" main") && warning.contains("program is gone: its functions"), "{warning}");
        });
    }
}

#[test]
fn the_first_reader_saves_them_where_nobody_has() {
    let here = recorded(&fixture("small.c", Build::GCC_O2).path, true);
    let here = here.path();
    assert!(files(here, "names").is_empty());
    let before = report(here, "out");
    assert_eq!(files(here, "names").len(), 1);
    fs::remove_file(here.join("program")).unwrap();
    assert_eq!(report(here, "out"), before);
    // The profile itself is untouched, and what lies beside it goes with it.
    let list = run_to_end(diytrace(here).args(["clean", "--keep", "0", "out"]));
    assert_eq!(text(&list.stdout).lines().count(), 1, "{}", text(&list.stdout));
    assert!(files(here, "names").is_empty() && files(here, "diyt").is_empty());
}

#[test]
fn each_run_has_its_own() {
    let here = recorded(&fixture("small.c", Build::GCC_O2).path, true);
    let here = here.path();
    copy_program(&fixture("recursion.c", Build::GCC_O2).path, here.join("program"));
    let mut second = std::process::Command::new(here.join("program"));
    second.args(["down", "3"]).current_dir(here).env("DIYTRACE_OUT", "out").env("LD_PRELOAD", tool("libdiytrace.so"));
    assert!(run_to_end(&mut second).status.success());
    // Of the first one the names are lost: its program was replaced before anybody read it.
    let before = report(here, "out");
    assert!(before.0.contains("down") && before.1.contains("has changed"), "{before:?}");
    assert_eq!(files(here, "names").len(), 2);
    fs::remove_file(here.join("program")).unwrap();
    assert_eq!(report(here, "out").0, before.0);
}

#[test]
fn a_daemons_are_saved_by_a_snapshot_and_grow_with_its_readers() {
    let program = tempfile::tempdir().unwrap();
    let mut copy = common::Program { ..fixture("endless.c", Build::GCC_O0).clone() };
    copy.path = program.path().join("endless");
    copy_program(&fixture("endless.c", Build::GCC_O0).path, &copy.path);
    let mut endless = Endless::of(&copy);
    wait_until("something is recorded", || {
        endless.ctl(&["status", "out"]).status.code() == Some(0) && endless.calls() > 0
    });
    assert!(endless.ctl(&["snapshot", "-o", "then.diyt", "out"]).status.success());
    assert!(endless.here.path().join("then.names").exists());
    let then = report(endless.here.path(), "then.diyt");
    report(endless.here.path(), "out");
    assert_eq!(files(endless.here.path(), "names").len(), 1);
    endless.stop();
    let now = report(endless.here.path(), "out");
    fs::remove_file(&copy.path).unwrap();
    assert_eq!(report(endless.here.path(), "out"), now);
    assert_eq!(report(endless.here.path(), "then.diyt"), then);
}

#[test]
fn where_nothing_can_be_written_nobody_hears_of_it() {
    let here = recorded(&fixture("small.c", Build::GCC_O2).path, true);
    let here = here.path();
    let profile = &files(here, "diyt")[0];
    fs::create_dir(profile.with_extension("names")).unwrap(); // also for root, who can write everywhere
    let (shown, warnings) = report(here, "out");
    assert!(shown.contains("main") && warnings.is_empty(), "{warnings}");
}

#[test]
fn damaged_names_are_one_sentence() {
    let here = recorded(&fixture("small.c", Build::GCC_O2).path, false);
    let here = here.path();
    let before = report(here, "out");
    let names = &files(here, "names")[0];
    let whole = fs::read(names).unwrap();
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 0x55;
    for bytes in [&changed[..], b"", b"no names", &whole[..whole.len() / 2]] {
        fs::write(names, bytes).unwrap();
        assert_eq!(report(here, "out"), before, "with the program, they are not needed");
        fs::write(names, bytes).unwrap();
        fs::rename(here.join("program"), here.join("elsewhere")).unwrap();
        let (nameless, warning) = report(here, "out");
        assert!(!nameless.contains(" main"), "{nameless}");
        assert_eq!(warning.lines().count(), 1, "{warning}");
        assert!(warning.contains("program is gone, and what was saved of it in ") && warning.contains(" is damaged"));
        fs::rename(here.join("elsewhere"), here.join("program")).unwrap();
    }
    // Nobody lost the names: the program is here again, and they are saved again.
    report(here, "out");
    fs::remove_file(here.join("program")).unwrap();
    assert_eq!(report(here, "out"), before);
}

#[test]
fn a_stripped_program_has_its_old_names() {
    let here = recorded(&fixture("small.c", Build::GCC_O2).path, false);
    let here = here.path();
    let before = report(here, "out");
    assert!(run_to_end(std::process::Command::new("strip").arg(here.join("program"))).status.success());
    assert_eq!(report(here, "out"), before);
}
