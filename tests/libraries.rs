//! Shared libraries, there from the start or loaded later.

mod common;

use std::os::unix::fs::MetadataExt;

use common::{Build, Program, Recorded, each_build, fixture_with, write_script};
use needs::needs;

#[test]
fn calls_into_a_library_and_back() {
    each_build("library.c", |program| calls_into_a_library(program).assert_agrees_with_the_event_log());
}

/// The first page of such files is mapped for their code, too: that was taken for another module, and nothing had a name.
#[needs(lld)]
#[test]
fn small_files_whose_parts_share_a_page() {
    let program = fixture_with("library.c", Build::GCC_O2, &["-fuse-ld=lld"]).unwrap();
    calls_into_a_library(&program);
    program.record().roots("shape_area").run().report().assert_calls(
        "3 shape_area
         3 shape_area → square
         3 square",
    );
}

fn calls_into_a_library(program: &Program) -> Recorded {
    let recorded = program.record().logged().run();
    let report = recorded.report();
    report.assert_calls(
        "1 main
         3 main → shape_area
         3 shape_area
         3 shape_area → square
         3 square
         1 main → shape_each
         1 shape_each
         4 shape_each → visit
         4 visit",
    );
    assert_eq!(report.function("main").callee("shape_area").call, "plt");
    assert_eq!(report.function("shape_each").callee("visit").call, "indirect");
    assert!(report.function("square").module.ends_with("/libshape.so"));
    assert!(report.function("visit").module.ends_with("/library"));
    recorded
}

/// The next function of a name was looked up when it was called first: under the loader's lock, which whoever waits for the call may hold; and a
/// look-up takes the text of an earlier error away. The output is that of a run without the recorder.
#[test]
fn a_constructor_that_waits_for_a_thread() {
    each_build("waiting-constructor.c", |program| {
        let library = program.folder.join("waiting.so");
        for what in ["syscall", "prctl", "name", "fork"] {
            let recorded = program.record().arg(&library).arg(what).run();
            assert_eq!(recorded.stdout, "an error\nopened\n", "{what}");
        }
    });
}

/// What is wrong is said while the recorder is loaded. Later, standard error may be the program's data.
#[test]
fn nothing_is_written_where_standard_error_was() {
    each_build("standard-error-is-data.c", |program| {
        let library = program.folder.join("data.so");
        for (variable, value) in [("OUT", "/proc/nothing/here"), ("CLOCK", "sundial")] {
            let recorded = program.record().arg(&library).set(variable, value).complaining().run();
            assert_eq!((&*recorded.stdout, &*recorded.stderr), ("one\ntwo\n", ""), "{variable}");
        }
    });
}

/// Making the profile takes more stack than a small one has: this ended the program, or wrote to what lies behind. Nothing is recorded until a call
/// comes on a larger one, and the report says of how many calls.
#[test]
fn first_calls_on_a_small_stack() {
    each_build("small-first-stack.c", |program| {
        let library = program.folder.join("small.so");
        for how in ["thread", "handler"] {
            let report = program.record().arg(&library).arg(how).run().report();
            assert_eq!((report.function("work").calls, report.lost_calls), (1, 1000), "{how}");
        }
    });
}

/// What the recorder computes leaves no note in the program's processor state.
#[test]
fn no_number_was_rounded_before_the_program_begins() {
    each_build("rounded.c", |program| {
        assert_eq!(program.record().run().stdout, "0 0\n");
    });
}

#[test]
fn libraries_that_are_loaded_later() {
    each_build("plugins.c", |program| {
        let red = program.folder.join("red.so");
        let recorded = program.record().arg("5").arg(&red).arg(&red).run();
        let report = recorded.report();
        report.assert_calls(
            "1 main
             2 main → use
             2 use
             2 use → plugin_run
             2 plugin_run
             10 plugin_run → red_step
             10 red_step",
        );
        assert_eq!(report.function("red_step").module, red.display().to_string());
    });
}

/// What a module is called found no room, and its functions had addresses for names.
#[test]
fn a_library_that_is_opened_once_the_profile_is_full() {
    each_build("full-profile.c", |program| {
        let late = program.folder.join("late.so");
        let report = program.record().arg(&late).set("MEMORY", "2M").run().report();
        assert_eq!(report.function("main").callee("late").calls, 100);
        assert_eq!(report.function("late").callee("inner").calls, 100);
        assert_eq!(report.function("inner").module, late.display().to_string());
    });
}

/// Functions that were first met in a full profile were not in it: the notes of calibration windows, or records of who was off the
/// processor, had taken what is set aside for them; or all paths that might give way had about the same number of calls or time, and were
/// not cold.
#[test]
fn what_makes_times_true_leaves_room_for_functions() {
    each_build("full-profile.c", |program| {
        for (memory, how) in [("2M", &[][..]), ("2100K", &[]), ("4M", &["waits"]), ("4M", &["twelve"])] {
            let late = program.folder.join("late.so");
            let report = program.record().arg(&late).args(how).set("MEMORY", memory).run().report();
            // First: what else would be missed follows from these.
            let without_room = (report.folded_calls, report.lost_calls);
            assert_eq!(without_room, (0, 0), "{memory} {how:?}");
            assert_eq!(report.function("main").callee("late").calls, 100, "{memory} {how:?}");
            assert_eq!(report.function("inner").calls, 100, "{memory} {how:?}");
        }
    });
}

#[test]
fn libraries_at_one_address_stay_apart() {
    each_build("plugins.c", |program| {
        let [red, green] = ["red.so", "green.so"].map(|name| program.folder.join(name));
        let recorded = program.record().arg("5").arg(&red).arg(&green).arg(&red).run();
        let report = recorded.report();
        report.assert_calls(
            "1 main
             3 main → use
             3 use
             3 use → plugin_run
             3 plugin_run
             10 plugin_run → red_step
             10 red_step
             5 plugin_run → green_step
             5 green_step",
        );
        let runs = report.functions.iter().filter(|function| function.name == "plugin_run");
        let mut runs: Vec<_> = runs.map(|run| (run.module.rsplit('/').next().unwrap(), run.calls)).collect();
        runs.sort();
        assert_eq!(runs, [("green.so", 1), ("red.so", 2)]);
    });
}

/// Each time such a library came, all its paths were once new, and what was known of all libraries was written down anew, in the
/// program's memory.
#[test]
fn libraries_that_come_and_go_for_as_long_as_the_program_runs() {
    each_build("plugins.c", |program| {
        let [red, green] = ["red.so", "green.so"].map(|name| program.folder.join(name));
        for root in ["", "plugin_run"] {
            let run = |how: &str, rounds: u64| {
                let record = program.record().arg("3").arg(how).arg(rounds.to_string()).arg(&red).arg(&green);
                let recorded = record.roots(root).set("KEEP", "0").run();
                assert_eq!(recorded.stdout, "no more\n", "{how} {rounds}");
                let report = recorded.report();
                assert_eq!(report.function("red_step").calls, 3 * rounds, "{how}");
                assert_eq!(report.function("green_step").calls, 3 * rounds, "{how}");
                let [profile] = &recorded.profiles()[..] else { panic!("one profile") };
                profile.metadata().unwrap().blocks() * 512
            };
            for how in ["-n", "-f"] {
                let (few, many) = (run(how, 20), run(how, 200));
                assert!(many <= few + (64 << 10), "{how}: {few} bytes for 20 rounds, {many} for 200");
            }
        }
    });
}

/// The functions are counted all the same; they have no names where the file that has them is gone.
#[test]
fn files_that_go_while_they_are_loaded() {
    each_build("replaced.c", |program| {
        for (how, names) in [("removed", ["main", "leaf"]), ("other", ["main", "leaf"])] {
            let recorded = program.record().arg(how).arg(&program.folder).run();
            let document = recorded.document(&[]);
            assert!(document.warns_of(&["plugin.so", "by address"]), "{how}: {:?}", document.warnings);
            let report = document.into_only_report();
            for name in names {
                assert_eq!(report.function(name).calls, 1, "{how}: {name}");
            }
            let mut nameless: Vec<_> =
                report.functions.iter().filter(|f| f.name == f.address).map(|f| f.calls).collect();
            nameless.sort_unstable();
            assert_eq!((nameless, report.calls), (vec![1, 10], 13), "{how}");
        }
    });
}

#[test]
fn a_program_that_removes_its_own_file() {
    each_build("replaced.c", |fixture| {
        let place = tempfile::tempdir().unwrap();
        let script = place.path().join("replaced");
        let text = format!("#!/bin/sh\ncp '{}' program && exec ./program \"$@\"\n", fixture.path.display());
        write_script(&script, &text);
        let program = Program { path: script, ..fixture.clone() };
        let document = program.record().arg("program").arg(&program.folder).run().document(&[]);
        assert!(document.warns_of(&["program", "by address"]), "{:?}", document.warnings);
        let report = document.into_only_report();
        assert_eq!((report.function("red_step").calls, report.function("plugin_run").calls, report.calls), (10, 1, 13));
    });
}

/// The recorder asked for it as it started, by a hook of which it asked again, until there was no stack left.
#[test]
fn a_program_with_a_function_of_libcs_that_the_recorder_might_call() {
    each_build("own-auxiliary.c", |program| {
        let recorded = program.record().run();
        assert_eq!(recorded.status.code(), Some(0));
        recorded.report().assert_calls(
            "1 main
             1 main → getauxval
             1 getauxval
             1 getauxval → next_one
             1 next_one",
        );
    });
}

#[test]
fn hooks_before_the_recorders_constructor_and_after_its_destructor() {
    each_build("early.c", |program| {
        let recorded = program.record().run();
        let report = recorded.report();
        report.assert_calls(
            "1 first_of_all
             1 first_of_all → leaf
             1 library_starts
             2 library_starts → library_leaf
             1 program_starts
             1 program_starts → leaf
             1 main
             1 main → library_call
             1 library_call
             1 library_call → library_leaf
             1 program_ends
             1 program_ends → leaf
             1 library_ends
             1 library_ends → library_leaf
             3 leaf
             4 library_leaf",
        );
    });
}
