//! Valgrind's memcheck finds nothing in the recorder, and programs under it are counted as they are without.
//!
//! It cannot work for programs that restrict their system calls (it makes others), nor for coroutines whose stacks it takes for
//! one that grows. It makes forks of vforks, and executes itself in the place of /proc/self/exe. Its threads take turns, so
//! nothing runs at once; and its time is not the program's.

mod common;

use common::{Build, builds, fixture_with};
use needs::needs;

const FIXTURES: [(&str, &[&str]); 15] = [
    ("plain.c", &[]),
    ("threads.c", &["together", "8", "100"]),
    ("threads.c", &["left", "8", "5"]),
    ("thread-ends.c", &["destructors", "20"]),
    ("forks.c", &["20", "4"]),
    ("fork.c", &["grandchild"]),
    ("processes.c", &["bare"]),
    ("longjmp.c", &[]),
    ("jumps.c", &["alternate", "50"]),
    ("recursion.c", &["branch", "7"]),
    ("paths.c", &[]),
    ("exceptions.cc", &[]),
    ("throws.cc", &["across"]),
    ("early.c", &[]),
    ("late.c", &[]),
];

#[needs(valgrind)]
#[test]
fn the_first_few() {
    for &build in builds().iter().filter(|build| build.is_optimized()) {
        for (source, arguments) in [FIXTURES[0], FIXTURES[1], FIXTURES[4], FIXTURES[8]] {
            assert_clean(source, build, arguments);
        }
    }
}

#[needs(valgrind)]
#[test]
#[ignore = "takes minutes: cargo test --test valgrind -- --ignored"]
fn all() {
    for (source, arguments) in FIXTURES {
        builds().iter().for_each(|&build| assert_clean(source, build, arguments));
    }
}

fn assert_clean(source: &str, build: Build, arguments: &[&str]) {
    eprintln!("── {source} {arguments:?} by {build}"); // shown if it ends badly
    let program = fixture_with(source, build, &["-gdwarf-4"]).unwrap(); // what older valgrinds can read
    let suppressions = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/valgrind.supp");
    let script = format!("exec valgrind -q --error-exitcode=99 --suppressions='{suppressions}' \"$PROGRAM\" \"$@\"");
    let under = program.wrapped(&script).record().args(arguments).run(); // and its errors are those without the recorder
    assert_ne!(under.status.code(), Some(99), "{}", under.stderr);
    let (report, plain) = (under.report(), program.record().args(arguments).run().report());
    assert_eq!((report.lost_calls, report.folded_calls, report.unwound), (0, plain.folded_calls, plain.unwound));
    assert_eq!(report.counts(), plain.counts());
}
