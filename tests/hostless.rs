//! The recorder in hard places: what it must leave alone, and what it must do without.

mod common;

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;

use common::{Build, each_build, fixture, run_to_end, tool};

const PLAIN: &str = "
    1 main
    1 main → once
    3 main → thrice
    1 once
    1 once → leaf
    3 thrice
    6 thrice → leaf
    7 leaf";

#[test]
fn errno_is_kept() {
    each_build("errno.c", |program| {
        let recorded = program.record().run();
        assert_eq!(recorded.stdout, "");
        assert_eq!(recorded.report().function("callee").calls, 3 * 4 * 2);
    });
}

#[test]
fn descriptors_are_as_before() {
    each_build("descriptors.c", |program| {
        let recorded = program.record().run();
        assert_eq!(recorded.report().function("open_another").calls, 2);
    });
}

#[test]
fn a_daemon_closes_all_descriptors() {
    each_build("daemon.c", |program| {
        for how in ["daemon", "reopen", "here"] {
            let recorded = program.record().arg(how).logged().run();
            assert_eq!(recorded.status.code(), Some(0), "{how}");
            let report = recorded.report();
            assert_eq!(report.function("be_daemon").callee("level_0").calls, 1, "{how}");
            for level in 0..=12 {
                assert_eq!(report.function(&format!("level_{level}")).calls, 1 << level, "{how}: level {level}");
            }
            assert_eq!((report.lost_calls, report.folded_calls), (0, 0), "{how}");
            recorded.assert_agrees_with_the_event_log();
        }
    });
}

#[test]
fn a_daemon_whose_profile_may_not_be_able_to_grow() {
    each_build("daemon.c", |program| {
        for how in ["full", "user", "limit"] {
            let recorded = program.record().arg(how).run();
            assert_eq!(recorded.status.code(), Some(0), "{how}");
            let document = recorded.document(&[]);
            let says_so = document.warns_of(&["lost"]);
            let report = document.into_only_report();
            let levels = report.functions.iter().filter(|function| function.name.starts_with("level_"));
            let counted: u64 = levels.map(|function| function.calls).sum();
            // Where the recorder could not extend its file beforehand, it has to stop; but it says what it missed.
            assert_eq!(counted + report.lost_calls, 8191, "{how}: {} calls were lost", report.lost_calls);
            assert_eq!(report.lost_calls > 0, says_so, "{how}");
        }
    });
}

#[test]
fn with_little_memory_paths_give_way_and_all_is_counted() {
    each_build("layers.c", |program| {
        let recorded = program.record().arg("1500").set("MEMORY", "1M").run();
        let document = recorded.document(&[]);
        let [profile] = &recorded.profiles()[..] else { panic!("one profile") };
        assert!(profile.metadata().unwrap().len() <= 1 << 20);
        assert!(document.warns_of(&["DIYTRACE_MEMORY", "gave way to others"]), "{:?}", document.warnings);
        let report = document.into_only_report();
        assert_eq!((report.folded_calls, report.lost_calls), (0, 0));
        // The program writes, for each two functions, how often one has called the other.
        let last = |line: &str| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
        let functions = report.functions.iter().filter(|function| function.name.starts_with('f'));
        let calls: u64 = functions.map(|function| function.calls).sum();
        assert_eq!(calls, recorded.stdout.lines().map(last).sum::<u64>());
    });
}

#[test]
fn paused() {
    each_build("plain.c", |program| {
        let document = program.record().set("PAUSED", "1").run().document(&[]);
        assert!(document.reports.iter().all(|report| report.calls == 0), "{document:#?}");
    });
}

#[test]
fn bad_values_are_said_once_and_the_defaults_are_used() {
    let program = fixture("plain.c", Build::GCC_O0);
    for (variable, value) in
        [("DEPTH", "0"), ("DEPTH", "deep"), ("MEMORY", "much"), ("MEMORY", "12"), ("KEEP", "-1"), ("PAUSED", "maybe")]
    {
        let recorded = program.record().set(variable, value).complaining().run();
        let said: Vec<_> = recorded.stderr.lines().filter(|line| *line != "done").collect();
        let [said] = said[..] else { panic!("{variable}={value}: one line, not {said:?}") };
        assert!(said.starts_with(&format!("diytrace: DIYTRACE_{variable} is \"{value}\"")), "{said}");
        let document = recorded.document(&[]);
        assert!(document.warns_of(&[&format!("DIYTRACE_{variable}"), value]), "{:?}", document.warnings);
        document.into_only_report().assert_calls(PLAIN);
    }
}

#[test]
fn good_values_are_silent() {
    let program = fixture("plain.c", Build::GCC_O0);
    for (variable, value) in [("DEPTH", "100"), ("MEMORY", "1G"), ("MEMORY", "2048k"), ("KEEP", "0"), ("PAUSED", "0")] {
        let document = program.record().set(variable, value).run().document(&[]);
        assert_eq!(document.warnings, [""; 0], "{variable}={value}");
        document.into_only_report().assert_calls(PLAIN);
    }
}

#[test]
fn an_empty_value_is_as_none() {
    let program = fixture("plain.c", Build::GCC_O0);
    let variables = ["ROOT", "EXCLUDE", "DEPTH", "MEMORY", "KEEP", "PAUSED", "TIMING", "WINDOWS", "WAITS", "CLOCK"];
    let record = variables.iter().fold(program.record(), |record, variable| record.set(variable, ""));
    let document = record.run().document(&[]);
    assert_eq!(document.warnings, [""; 0]);
    document.into_only_report().assert_calls(PLAIN);
}

#[test]
fn every_bad_value_is_said() {
    let program = fixture("plain.c", Build::GCC_O0);
    let variables = ["ROOT", "EXCLUDE", "DEPTH", "MEMORY", "KEEP", "PAUSED", "TIMING", "WINDOWS", "WAITS", "CLOCK"];
    let bad = || OsString::from_vec(vec![0xff]); // no number, no word, and no UTF-8
    let record = variables.iter().fold(program.record().complaining(), |record, variable| record.set(variable, bad()));
    let document = record.run().document(&[]);
    for variable in variables {
        assert!(document.warns_of(&[&format!("DIYTRACE_{variable}")]), "{variable}: {:?}", document.warnings);
    }
}

/// It was silent, and everything was recorded where a root was wanted.
#[test]
fn a_misspelt_variable_is_said_with_the_one_that_was_meant() {
    let program = fixture("plain.c", Build::GCC_O0);
    let misspelt = [
        ("ROOTS", "ROOT"),
        ("MEM", "MEMORY"),
        ("KEPE", "KEEP"),
        ("DEPHT", "DEPTH"),
        ("OUTPUT", "OUT"),
        ("root", "ROOT"),
    ];
    for (variable, meant) in misspelt {
        let recorded = program.record().set(variable, "1").complaining().run();
        let wanted = format!("there is no variable DIYTRACE_{variable}, which is set: did you mean DIYTRACE_{meant}?");
        assert!(recorded.stderr.contains(&format!("diytrace: {wanted}\n")), "{}", recorded.stderr);
        let document = recorded.document(&[]);
        assert!(document.warns_of(&[&wanted]), "{:?}", document.warnings);
        document.into_only_report().assert_calls(PLAIN);
    }
    // The command's, and somebody else's.
    for variable in ["CACHE", "LIB", "HISTORY", "LOG"] {
        assert_eq!(program.record().set(variable, "1").run().document(&[]).warnings, [""; 0], "{variable}");
    }
}

#[test]
fn the_folder_is_made_where_the_program_was_started() {
    let program = fixture("plain.c", Build::GCC_O0);
    let recorded = program.record().set("OUT", "some/new folder").run();
    let made: Vec<_> = fs::read_dir(recorded.folder().join("some/new folder")).unwrap().collect();
    assert_eq!(made.len(), 1);
}

#[test]
fn a_folder_that_cannot_be_made() {
    each_build("plain.c", |program| {
        let recorded = program.record().set("OUT", "/proc/no/such/folder").complaining().run();
        let said: Vec<_> = recorded.stderr.lines().filter(|line| *line != "done").collect();
        let [said] = said[..] else { panic!("one line, not {said:?}") };
        assert!(said.starts_with("diytrace: nothing is recorded, as /proc/no/such/folder cannot be made"), "{said}");
    });
}

#[test]
fn programs_without_hooks_leave_nothing() {
    let here = tempfile::tempdir().unwrap();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "true | cat; ls"]).current_dir(&here).env("LD_PRELOAD", tool("libdiytrace.so"));
    let output = run_to_end(&mut shell);
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    assert!(!here.path().join("diytrace.data").exists());
}

#[test]
fn the_environment_is_overwritten() {
    each_build("title.c", |program| {
        let recorded = program.record().roots("work").run();
        assert_eq!(recorded.profiles().len(), 1);
        recorded.report().assert_calls(
            "2 work
             6 work → leaf
             6 leaf",
        );
    });
}
