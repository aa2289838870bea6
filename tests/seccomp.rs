//! A program that is killed for any system call that it has not listed lives on, and so does its profile.

mod common;

use std::os::unix::fs::MetadataExt;

use common::{Build, each_build, fixture};

#[test]
fn what_has_room_is_counted() {
    each_build("seccomp.c", |program| {
        for way in ["prctl", "seccomp"] {
            let recorded = program.record().arg(way).arg("5000").run();
            assert_eq!(recorded.status.code(), Some(0), "{way}");
            let document = recorded.document(&[]);
            assert!(document.warns_of(&["restricted its system calls"]), "{way}: {:?}", document.warnings);
            let report = document.into_only_report();
            assert_eq!((report.lost_calls, report.process.as_ref().unwrap().state.as_str()), (0, "exited"), "{way}");
            report.assert_calls(
                "1 main
                 1 main → before
                 1 before
                 1 before → leaf
                 1 main → after
                 1 after
                 1_000 after → leaf
                 1_001 leaf
                 1 main → down
                 4_999 down → down
                 5_000 down",
            );
        }
    });
}

#[test]
fn what_has_none_is_counted_by_function() {
    each_build("seccomp.c", |program| {
        let recorded = program.record().arg("seccomp").arg("100000").run();
        let report = recorded.report();
        assert!(report.folded_calls > 0 && report.lost_calls == 0, "{report:?}");
        assert_eq!(report.function("down").calls, 100_000);
        assert_eq!(report.function("leaf").calls, 1_001);
        // They took no time that anyone knows: it looked as if they took next to none.
        let callers = recorded.diytrace(&["callers", "down"]);
        let callers = String::from_utf8(callers.stdout).unwrap();
        let unknown = callers.lines().find(|line| line.contains("(unknown)")).unwrap_or_else(|| panic!("{callers}"));
        assert!(!unknown.contains('%') && !unknown.contains(" ns"), "{unknown}");
    });
}

/// libseccomp asks whether there is the system call by a strict mode that is refused: the recorder gave up the clock, and all
/// calls of any program that uses it were counted by function only.
#[test]
fn filters_that_are_refused_restrict_nothing() {
    each_build("refused-filters.c", |program| {
        let recorded = program.record().run();
        assert_eq!(recorded.status.code(), Some(0));
        let document = recorded.document(&[]);
        let is_said = ["restricted its system calls", "gave up the clock"].map(|what| document.warns_of(&[what]));
        assert_eq!(is_said, [false, false], "{:?}", document.warnings);
        let report = document.into_only_report();
        assert_eq!((report.folded_calls, report.lost_calls), (0, 0));
        report.assert_calls("1 main\n 2 main → work\n 2 work\n 2_000 work → leaf\n 2_000 leaf");
    });
}

/// There was no more room in the index of functions than for 1,584, and no more in the profile, whatever its size.
#[test]
fn functions_that_are_met_after_a_filter() {
    let program = fixture("sealed-functions.c", Build::GCC_O2);
    for (memory, functions) in [("256M", "1900"), ("1G", "8000")] {
        let report = program.record().set("MEMORY", memory).arg(functions).run().report();
        let calls = 2_001 + functions.parse::<u64>().unwrap();
        assert_eq!((report.calls, report.folded_calls, report.lost_calls), (calls, 0, 0), "{memory}");
    }
}

/// A child that had recorded nothing told of its end in what is its parent's.
#[test]
fn a_parent_that_was_killed_after_its_child_has_ended() {
    each_build("sealed-parent.c", |program| {
        let report = program.record().run().report();
        assert_eq!((report.function("leaf").calls, report.lost_calls), (1, 0));
        assert_eq!(report.process.as_ref().unwrap().state, "killed");
    });
}

/// Each took room of its own ahead, which its successor took over, asked for as its own and added to: 1,000 took 142 seconds and the whole file.
#[test]
fn of_children_that_come_one_after_the_other() {
    each_build("sealed-children.c", |program| {
        let recorded = program.record().set("MEMORY", "64M").set("KEEP", "0").run();
        assert_eq!(recorded.status.code(), Some(0));
        let [profile] = &recorded.profiles()[..] else { panic!("one profile") };
        let size = profile.metadata().unwrap().blocks() * 512; // root's file has a hole at its end
        assert!(size < 16 << 20, "{size} bytes");
        let report = recorded.report();
        assert_eq!((report.folded_calls, report.lost_calls), (0, 0));
        report.assert_calls("1 main\n 200 main → session\n 200 session\n 20_000 session → leaf\n 20_000 leaf");
    });
}

/// Room is made before a filter is set, which takes the recorder milliseconds: they were counted as the caller's.
#[test]
fn what_is_done_before_a_filter_is_no_time_of_the_program() {
    let program = fixture("sealing.c", Build::GCC_O2);
    // Where others take the processor meanwhile, it is not taken off; so once is enough.
    let is_taken_off = || {
        let recorded = program.record().with_output_of_its_own().run();
        let all_ns: f64 = recorded.stdout.trim().parse().unwrap();
        recorded.report().function("seal").total_ns < all_ns / 2.0
    };
    assert!((0..20).any(|_| is_taken_off()));
}

/// The recorder's own system calls were delivered to the program's handler.
#[test]
fn a_program_that_has_system_calls_delivered_to_itself() {
    each_build("dispatched.c", |program| {
        let recorded = program.record().run();
        assert_eq!(recorded.status.code(), Some(0), "Linux before 5.11 cannot do this");
        let document = recorded.document(&[]);
        assert!(document.warns_of(&["restricted its system calls"]), "{:?}", document.warnings);
        let report = document.into_only_report();
        report.assert_calls("1 main\n 1 main → work\n 1 work\n 1_000 work → leaf\n 1_000 leaf");
    });
}
