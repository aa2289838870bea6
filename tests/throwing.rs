//! Exceptions that cross static initialisers, libraries and many frames. gcc calls exit hooks where it cleans up, clang
//! does not: then the calls count as unwound.

mod common;

use std::fs;
use std::os::unix::fs::MetadataExt;

use common::{Program, Report, builds, copy_program, each_build, fixture};

fn report(program: &Program, how: &str) -> Report {
    let recorded = program.record().arg(how).logged().run();
    recorded.assert_agrees_with_the_event_log();
    let report = recorded.report();
    assert_eq!(report.open(), [].into(), "{how}");
    report
}

#[track_caller]
fn assert_unwound_by_clang_only(program: &Program, report: &Report, calls: u64) {
    let expected = if program.build.compiler == "clang" { calls } else { 0 };
    assert_eq!(report.unwound, expected, "calls left without an exit");
}

#[test]
fn a_static_initialiser() {
    each_build("throws.cc", |program| {
        let report = report(program, "static");
        report.assert_calls(
            "1 main
             300 main → attempt(char const*, int)
             300 attempt(char const*, int)
             300 attempt(char const*, int) → with_static(int)
             300 with_static(int)
             5 with_static(int) → Picky::Picky(int)
             5 Picky::Picky(int)
             300 attempt(char const*, int) → after()
             300 after()",
        );
        assert_unwound_by_clang_only(program, &report, 4 * 2);
    });
}

#[test]
fn through_a_library() {
    each_build("throws.cc", |program| {
        let report = report(program, "across");
        report.assert_calls(
            "1 main
             300 main → attempt(char const*, int)
             300 attempt(char const*, int)
             300 attempt(char const*, int) → library_each(int, void (*)(int))
             300 library_each(int, void (*)(int))
             300 library_each(int, void (*)(int)) → Count::Count(int*)
             300 Count::Count(int*)
             1_000 library_each(int, void (*)(int)) → visit(int)
             1_000 visit(int)
             300 library_each(int, void (*)(int)) → Count::~Count()
             300 Count::~Count()
             300 attempt(char const*, int) → after()
             300 after()",
        );
        // The destructor runs while the exception passes: `visit` is left then, and `library_each` behind it.
        assert_unwound_by_clang_only(program, &report, 100 * 2);
    });
}

#[test]
fn again_and_as_another() {
    each_build("throws.cc", |program| {
        let report = report(program, "again");
        report.assert_calls(
            "1 main
             300 main → attempt(char const*, int)
             300 attempt(char const*, int)
             300 attempt(char const*, int) → outermost(int)
             300 outermost(int)
             300 outermost(int) → middle(int)
             300 middle(int)
             300 middle(int) → inner(int)
             300 inner(int)
             300 middle(int) → after()
             300 attempt(char const*, int) → after()
             600 after()",
        );
        assert_unwound_by_clang_only(program, &report, 300 * 3);
    });
}

#[test]
fn over_many_frames() {
    each_build("throws.cc", |program| {
        let report = report(program, "deep");
        report.assert_calls(
            "1 main
             300 main → attempt(char const*, int)
             300 attempt(char const*, int)
             300 attempt(char const*, int) → deep(int)
             14_700 deep(int) → deep(int)
             15_000 deep(int)
             300 attempt(char const*, int) → after()
             300 after()",
        );
        assert_unwound_by_clang_only(program, &report, 300 * 50);
    });
}

/// The library is by the other compiler: where it is gcc's, its exits fire as the exception passes, where it is clang's not.
#[test]
fn through_a_library_of_another_compiler() {
    for &build in builds() {
        for &other in builds().iter().filter(|other| other.compiler != build.compiler) {
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join("throws");
            copy_program(fixture("throws.cc", build).path, &path);
            let library = fixture("throws.cc", other).folder.join("libthrows.so");
            fs::copy(library, place.path().join("libthrows.so")).unwrap();
            let program = Program { build, folder: place.path().to_owned(), path };
            let report = report(&program, "across");
            assert_eq!(report.function("visit(int)").calls, 1_000, "{build} with {other}");
            assert_eq!(report.function("after()").calls, 300);
            let left = if other.compiler == "clang" { "library_each(int, void (*)(int))" } else { "visit(int)" };
            assert_eq!((left, report.unwound), (left, 100), "{build} with {other}");
        }
    }
}

/// What the process had noted as it ended is counted by the reader, which once said nothing of calls without an exit in it.
#[test]
fn among_the_last_calls_of_a_process() {
    each_build("throws.cc", |program| {
        for rounds in 60..80 {
            let recorded = program.record().args(&["across", &rounds.to_string()]).set("WINDOWS", "30").run();
            assert_unwound_by_clang_only(program, &recorded.report(), u64::div_ceil(rounds, 3) * 2);
        }
    });
}

#[test]
fn so_many_that_what_they_leave_must_not_pile_up() {
    each_build("throws.cc", |program| {
        for how in ["across", "deep"] {
            let recorded = program.record().args(&[how, "20000"]).run();
            let report = recorded.report();
            assert_eq!((report.function("after()").calls, report.open(), report.lost_calls), (20_000, [].into(), 0));
            let [profile] = &recorded.profiles()[..] else { panic!("one profile") };
            let size = profile.metadata().unwrap().blocks() * 512;
            assert!(size < 1 << 20, "{how}: {size} bytes");
        }
    });
}

/// Where the function that caught it returned in the very moment in which a calibration window had to end, the body that was left went on as an
/// open call of its caller, and what that called next was the body's.
#[test]
fn bodies_that_are_left_in_a_window_are_over_when_their_function_is() {
    each_build("caught-around.cc", |program| {
        for windows in ["3", "5"].repeat(3) {
            let report = program.record().set("WINDOWS", windows).run().report();
            report.assert_calls(
                "1 main
                 8_000 main → handle(int)
                 8_000 handle(int)
                 8_000 handle(int) → body(int)
                 8_000 body(int)
                 8_000 body(int) → leaf()
                 203_000 handle(int) → leaf()
                 211_000 leaf()",
            );
        }
    });
}
