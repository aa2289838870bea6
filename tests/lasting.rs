//! Names that last: what a report needs of programs is saved with the recording, so that a rebuild makes no older run nameless.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::service::{Agent, Service};
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

/// What a store or a service says of a recording that they get after the rebuild is what the recording says.
#[test]
fn a_store_and_a_service_have_the_names_of_a_recording_whose_program_was_rebuilt() {
    let named = |report: &str| {
        let report: serde_json::Value = serde_json::from_str(report).unwrap();
        let functions = report["reports"][0]["functions"].as_array().unwrap();
        let names = functions.iter().map(|function| (function["name"].to_string(), function["calls"].to_string()));
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    };
    // Debug information is asked where the calls belong that come after an exception.
    let program = fixture("left-inline.cc", Build::GCC_O2);
    let here = recorded(&program.path, false);
    let here = here.path();
    let json = |line: &[&str]| text(&run_to_end(diytrace(here).args(line).args(["--format", "json"])).stdout);
    let before = named(&json(&["report", "out"]));
    assert!(before.iter().any(|(name, _)| name == "\"main\""), "{before:?}");
    rebuild(here);
    assert!(run_to_end(diytrace(here).args(["push", "--store", "runs.db", "out"])).status.success());
    assert_eq!(named(&json(&["report", "--store", "runs.db"])), before, "pushed");

    let service = Service::start(here, &[]);
    let agent = Agent::start(here, &service.url());
    wait_until("the service has it, with names", || {
        let answer = service.get("/v1/report");
        answer.status == 200 && named(&text(&answer.body)) == before
    });
    agent.end();
}

#[test]
fn a_set_of_runs_has_names_after_a_rebuild() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    copy_program(&fixture("recursion.c", Build::GCC_O0).path, here.join("program"));
    let line = ["bench", "--a", "./program down 5", "--b", "./program down 5", "--runs", "2", "--no-confirm"];
    assert!(run_to_end(diytrace(here).args(line).args(["--fail-on", "never"])).status.success());
    let compare = || {
        let line = ["diff", "diytrace.bench/left", "diytrace.bench/right", "--format", "json"];
        let compared = run_to_end(diytrace(here).args(line).args(["--fail-on", "never"])).stdout;
        let compared: serde_json::Value = serde_json::from_slice(&compared).unwrap();
        let functions = compared["queries"][0]["functions"].as_array().unwrap();
        functions.iter().map(|function| function["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let before = compare();
    assert!(before.contains(&"down".to_owned()), "{before:?}");
    rebuild(here);
    assert_eq!(compare(), before);
}
