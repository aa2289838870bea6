//! What processes share through the file: which module is whose, and who owns an arena, where their numbers do not tell.

mod common;

use common::{Build, each_build, fixture};
use needs::needs;

/// Modules were numbered by process, and one sibling's calls had the other's names.
#[test]
fn siblings_that_load_different_libraries() {
    each_build("siblings.c", |program| {
        let [red, green] = ["red.so", "green.so"].map(|name| program.folder.join(name));
        let recorded = program.record().arg(&red).arg(&green).arg(&red).run();
        let report = recorded.report();
        report.assert_calls(
            "1 main
             3 main → use
             3 use
             3 use → plugin_run
             3 plugin_run
             1_000 plugin_run → green_step
             1_000 green_step
             2_000 plugin_run → red_step
             2_000 red_step",
        );
        assert_eq!(report.function("red_step").module, red.display().to_string());
        assert_eq!(report.function("green_step").module, green.display().to_string());
    });
}

/// The owner of an arena was asked after by its number, which says nothing in another namespace: two wrote to one arena.
#[needs(process_numbers)]
#[test]
fn processes_of_several_pid_namespaces() {
    each_build("namespaces.c", |program| {
        let run = program.record().set("DIYTRACE_KEEP", "0").args(&["apart", "4", "500000"]).run();
        let report = run.report();
        assert_eq!((report.function("work").calls, report.function("run").calls), (2_000_004, 4));
        assert_eq!((report.lost_calls, report.processes), (0, 5));
    });
}

/// After that the kernel is not asked for a thread's number any more, and all seemed to be nobody's.
#[test]
fn processes_that_restricted_their_system_calls() {
    each_build("namespaces.c", |program| {
        let run = program.record().set("DIYTRACE_KEEP", "0").args(&["sealed", "4", "500000"]).run();
        let report = run.report();
        assert_eq!((report.function("work").calls, report.function("run").calls), (2_000_004, 4));
        assert_eq!(report.lost_calls, 0);
    });
}

/// One refusal of the kernel's was taken for the end of the file's room.
#[test]
fn without_a_file_descriptor_for_a_moment() {
    each_build("no-descriptors.c", |program| {
        let report = program.record().run().report();
        assert_eq!((report.function("leaf").calls, report.lost_calls), (4096, 0));
        assert_eq!(report.function("main").callee("later").calls, 1);
    });
}

/// It was shown as killed.
#[test]
fn a_process_that_ends_by_a_thread_without_calls() {
    each_build("exits-elsewhere.c", |program| {
        let report = program.record().run().report();
        assert_eq!(report.process.as_ref().unwrap().state, "exited");
        assert_eq!(report.function("leaf").calls, 10);
    });
}

/// They kept the program's name.
#[test]
fn threads_that_are_named_after_their_first_call() {
    each_build("renamed.c", |program| {
        let mut names: Vec<(String, String)> = Vec::new();
        for report in program.record().run().reports_by_thread() {
            let name = report.thread.as_ref().unwrap().name.clone();
            names.extend(
                report.functions.iter().filter(|f| f.name.starts_with("by_")).map(|f| (f.name.clone(), name.clone())),
            );
        }
        names.sort();
        let expected = [("by_itself", "by-itself"), ("by_main", "by-main"), ("by_prctl", "by-prctl")];
        assert_eq!(names, expected.map(|(function, thread)| (function.to_owned(), thread.to_owned())));
    });
}

/// Its handler could not run, as the recorder had blocked it: the kernel ended the process.
#[test]
fn stacks_that_overflow_in_the_recorder() {
    each_build("edge-of-stack.c", |program| {
        let recorded = program.record().arg("60").run();
        assert_eq!(recorded.stdout, "0 ended otherwise\n");
    });
}

#[test]
fn roots_with_several_implementations() {
    for build in [Build::GCC_O2, Build::GCC_O0] {
        let report = fixture("chosen.c", build).record().roots("chosen").run().report();
        assert_eq!((report.function("fast").calls, report.function("leaf").calls), (3, 3));
    }
}
