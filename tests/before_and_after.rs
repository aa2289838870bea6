//! Calls before the recorder is ready and after it has said goodbye, and where libc calls instrumented code.

mod common;

use common::{Document, Program, each_build};

#[test]
fn resolvers_that_run_before_the_recorder_is_ready() {
    each_build("ifunc.c", |program| {
        let report = program.record().run().report();
        report.assert_calls(
            "1 main
             1 chosen
             1 chosen → look
             1 look
             2 main → first_choice
             2 first_choice
             3 main → library_use
             3 library_use
             3 library_use → library_choice
             3 library_choice",
        );
        assert_eq!(report.lost_calls, 2, "the library's resolver, and its `library_look`");
    });
}

#[test]
fn an_instrumented_allocator() {
    each_build("allocator.c", |program| {
        let recorded = program.record().with_output_of_its_own().run();
        let said: Vec<u64> = recorded.stdout.split_whitespace().map(|count| count.parse().unwrap()).collect();
        let [mallocs, callocs, frees, carves] = said[..] else { panic!("{said:?}") };
        let report = recorded.report();
        let calls = |name: &str| report.function(name).calls;
        assert_eq!((calls("malloc"), calls("calloc"), calls("carve")), (mallocs, callocs, carves));
        assert_eq!(report.function("malloc").callee("carve").calls, mallocs);
        assert_eq!(report.function("work").callee("malloc").calls, 2_000);
        assert!(calls("free") >= frees, "libc frees more when all is done");
        assert_eq!((report.unwound, report.lost_calls), (0, 0));
    });
}

/// The recorder has its own: the program's would lead from its hooks into its hooks, without an end.
#[test]
fn instrumented_memory_functions() {
    each_build("memory-functions.c", |program| {
        for roots in ["", "work", "*len"] {
            let recorded = program.record().roots(roots).run();
            let said: Vec<u64> = recorded.stdout[3..].split_whitespace().map(|count| count.parse().unwrap()).collect();
            let report = recorded.report();
            assert_eq!((report.processes, report.lost_calls, report.unwound), (2, 0, 0));
            let calls = |name: &str| report.function(name).calls;
            if roots == "*len" {
                assert_eq!((calls("strlen"), report.calls), (said[4] + 1, said[4] + 1));
                continue;
            }
            assert_eq!(calls("work"), 3);
            let counted = ["memset", "memcpy", "memmove", "memcmp", "strlen"].map(calls);
            let by_the_child = [1, 1, 2, 1, 1];
            assert_eq!(counted.to_vec(), said.iter().zip(by_the_child).map(|(s, c)| s + c).collect::<Vec<_>>());
        }
    });
}

#[test]
fn handlers_and_destructors_behind_the_recorders_end() {
    each_build("late.c", |program| {
        let recorded = program.record().logged().run();
        let report = recorded.report();
        report.assert_calls(
            "1 program_starts
             1 main
             1 main → library_call
             1 library_call
             1 library_call → library_leaf
             2 at_exit
             4 at_exit → leaf
             1 program_ends
             4 program_ends → leaf
             8 leaf
             2 library_ends
             2 library_ends → library_leaf
             3 library_leaf",
        );
        assert_eq!((report.processes, report.unwound, report.lost_calls), (2, 0, 0));
        recorded.assert_agrees_with_the_event_log();
    });
}

fn loaded(program: &Program, how: &str) -> Document {
    program.record().arg(how).arg(&program.folder).run().document(&[])
}

#[test]
fn libraries_whose_hooks_are_bound_elsewhere() {
    each_build("deepbind.c", |program| {
        for how in ["deep", "apart"] {
            let document = loaded(program, how);
            assert!(document.warns_of(&["red.so", "RTLD_DEEPBIND", "dlmopen"]), "{how}: {:?}", document.warnings);
            document.into_only_report().assert_calls("1 main\n 1 main → use\n 1 use\n 1 main → leaf\n 1 leaf");
        }
    });
}

#[test]
fn libraries_whose_hooks_are_ours() {
    each_build("deepbind.c", |program| {
        let document = loaded(program, "usual");
        assert_eq!(document.warnings, [""; 0]);
        assert_eq!(document.into_only_report().function("red_step").calls, 10);
    });
}
