//! Both clocks count and time the same calls.

mod common;

use common::each_build;

#[test]
fn counts_do_not_depend_on_the_clock() {
    each_build("fork.c", |program| {
        let counts = ["tsc", "clock_gettime"].map(|clock| {
            let recorded = program.record().set("CLOCK", clock).logged().run();
            recorded.assert_agrees_with_the_event_log();
            let document = recorded.document(&[]);
            assert_eq!(document.clock.source, clock);
            document.into_only_report().counts()
        });
        assert_eq!(counts[0], counts[1]);
    });
}

#[test]
fn a_clock_of_the_programs_own_is_not_asked() {
    each_build("own-clock.c", |program| {
        for clock in ["tsc", "clock_gettime"] {
            let recorded = program.record().set("CLOCK", clock).run();
            let document = recorded.document(&[]);
            assert!(document.clock.hz > 1e8, "{clock}: {:?}", document.clock);
            let report = document.into_only_report();
            report.assert_calls("1 main\n 2 main → clock_gettime\n 2 clock_gettime\n 100 main → leaf\n 100 leaf");
            assert!(report.function("leaf").total_ns > 10_000.0, "{clock}: it does stand still");
        }
    });
}

#[test]
fn a_nanosecond_is_a_tick_of_clock_gettime() {
    each_build("plain.c", |program| {
        let document = program.record().set("CLOCK", "clock_gettime").run().document(&[]);
        assert_eq!(document.clock.hz, 1e9);
    });
}

#[test]
fn a_clock_that_steps_back_is_told() {
    each_build("backward.c", |program| {
        let recorded = program.record().set("CLOCK", "clock_gettime").run();
        recorded.report().assert_calls("1 main\n 1_000 main → step\n 1_000 step");
        let document = recorded.document(&[]);
        assert!(document.warns_of(&["the clock stepped back in"]), "{:?}", document.warnings);
    });
}
