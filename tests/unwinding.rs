//! Calls that are left without an exit, and code on other stacks: who called whom stays true.

mod common;

use common::each_build;

#[test]
fn longjmp() {
    each_build("longjmp.c", |program| {
        let recorded = program.record().logged().run();
        let report = recorded.report();
        report.assert_calls(
            "1 main
             1_000 main → attempt
             1_000 attempt
             1_000 attempt → level_1
             1_000 level_1
             1_000 level_1 → level_2
             1_000 level_2
             1_000 level_2 → level_3
             1_000 level_3
             1_000 attempt → after
             1_000 after",
        );
        assert_eq!((report.unwound, report.open()), (3_000, [].into()));
        recorded.assert_agrees_with_the_event_log();
    });
}

/// A copy of the return address, left on the stack by a hook, was taken for that of the next command, whose larger frame has it among variables without
/// a value: so the one that had jumped out was said to have called it, for good.
#[test]
fn commands_that_jump_back_to_their_loop() {
    each_build("commands.c", |program| {
        let recorded = program.record().logged().run();
        let report = recorded.report();
        let called = |who: &str| report.function(who).callees.iter().map(|callee| callee.calls).sum::<u64>();
        for i in 0..8 {
            let (fails, works) = (format!("fails_{i}"), format!("works_{i}"));
            let of_main = |who: &str| report.function("main").callee(who).calls;
            assert_eq!((of_main(&fails), of_main(&works)), (100, 100), "{i}");
            assert_eq!((called(&fails), called(&works)), (0, 0), "{i}");
        }
        assert_eq!(report.unwound, 800);
        recorded.assert_functions_agree_with_the_event_log();
    });
}

/// Whose stack a thread runs on was only ever read from the kernel's list of mappings: where that could not be read, each call
/// seemed to lie on another stack than the one before, none was closed, and every hook went through all of them.
#[test]
fn longjmp_where_mappings_cannot_be_looked_up() {
    each_build("unlisted.c", |program| {
        for how in ["first", "thread", "coroutine"] {
            let recorded = if how == "first" { program.record() } else { program.record().arg(how) };
            let report = recorded.run().report();
            for name in ["attempt", "level_1", "level_2", "level_3", "after"] {
                assert_eq!(report.function(name).calls, 1000, "{how}: {name}");
            }
            assert_eq!(report.open(), [].into(), "{how}");
            for (caller, callee) in
                [("attempt", "level_1"), ("level_1", "level_2"), ("level_2", "level_3"), ("attempt", "after")]
            {
                assert_eq!(report.function(caller).callee(callee).calls, 1000, "{how}: {caller} → {callee}");
            }
            assert_eq!(report.unwound, 3000, "{how}");
        }
    });
}

/// In a calibration window nobody can look at the stack any more when the calls are counted, and the code that calls tells what was left: where
/// the ring had gone on to calls further out meanwhile, not that of the one that had made the call.
#[test]
fn a_call_in_the_place_of_one_that_was_left_in_a_window() {
    each_build("jump-windows.c", |program| {
        for windows in ["3", "8", "20", "28"] {
            let report = program.record().set("WINDOWS", windows).run().report();
            assert_eq!(report.function("attempt").callee("split").calls, 900, "{windows}");
            assert_eq!(report.function("split").calls, 900);
        }
    });
}

/// What the recorder had left on the stack as it counted what was noted in a window, return addresses among it, lay where a call had room for its
/// variables later: it seemed to have been called by the one that was left.
#[test]
fn a_call_with_a_large_frame_in_the_place_of_one_that_was_left_after_a_window() {
    each_build("jump-large.c", |program| {
        for windows in ["3", "8", "20"] {
            let report = program.record().set("WINDOWS", windows).run().report();
            let attempt = report.function("attempt");
            assert_eq!((attempt.callee("rare").calls, attempt.callee("split").calls), (900, 900), "{windows}");
        }
    });
}

/// The last call that a window had noted seemed to be open where it had jumped out: what lay in its place on the stack by then told that its caller was
/// gone, and the one before, down to `main`.
#[test]
fn a_jump_out_of_the_last_call_of_a_window() {
    each_build("jump-to-main.c", |program| {
        for windows in ["3", "3", "5", "5", "13", "30"] {
            let report = program.record().set("WINDOWS", windows).run().report();
            let main = report.function("main");
            assert_eq!((main.callee("begin").calls, main.callee("leaf").calls), (60, 285), "{windows}");
        }
    });
}

#[test]
fn a_larger_frame_in_the_place_of_one_that_was_left() {
    each_build("larger-frame.c", |program| {
        let recorded = program.record().logged().run();
        let report = recorded.report();
        report.assert_calls(
            "1 main
             1_000 main → attempt
             1_000 attempt
             1_000 attempt → small
             1_000 small
             100 small → large
             1_000 attempt → large
             1_100 large
             1_100 large → leaf
             1_000 attempt → larger
             1_000 larger
             1_000 larger → leaf
             2_100 leaf",
        );
        assert_eq!((report.unwound, report.open()), (1_000, [].into()));
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn another_function_called_from_the_same_place() {
    each_build("same-site.c", |program| {
        let report = program.record().run().report();
        report.assert_calls(
            "1 main
             200 main → attempt
             200 attempt
             200 attempt → small
             200 small
             100 attempt → large
             100 large
             100 large → leaf
             100 attempt → alike
             100 alike
             100 alike → leaf
             200 leaf",
        );
        assert_eq!((report.unwound, report.open()), (200, [].into()));
    });
}

#[test]
fn a_larger_frame_with_an_old_return_address_in_it() {
    each_build("stale-address.c", |program| {
        let recorded = program.record().logged().run();
        recorded.report().assert_calls(
            "1 main
             10 main → deep
             10 deep
             10 deep → attempt
             10 main → deeper
             10 deeper
             10 deeper → attempt
             10 main → attempt
             30 attempt
             30 attempt → small
             30 small
             30 attempt → large
             30 large",
        );
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn exceptions() {
    each_build("exceptions.cc", |program| {
        let recorded = program.record().logged().run();
        let report = recorded.report();
        report.assert_calls(
            "1 main
             500 main → attempt(int)
             500 attempt(int)
             500 attempt(int) → outer(int)
             500 outer(int)
             500 outer(int) → guarded(int)
             500 guarded(int)
             500 guarded(int) → thrower(int)
             500 thrower(int)
             250 attempt(int) → handle()
             250 handle()
             500 attempt(int) → after()
             500 after()",
        );
        assert_eq!(report.open(), [].into());
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn signal_handlers_that_interrupt_hooks() {
    each_build("signals.c", |program| {
        for stack in ["own", "alternate"] {
            let recorded = program.record().arg(stack).logged().with_output_of_its_own().run();
            let (ticks, works) = counts(&recorded.stdout);
            let report = recorded.report();
            for (name, calls) in [
                ("main", 1),
                ("busy", 1),
                ("on_tick", ticks),
                ("in_handler", 2 * ticks),
                ("work", works),
                ("leaf", 3 * works),
            ] {
                assert_eq!(report.function(name).calls, calls, "{stack}: {name}");
            }
            assert_eq!(report.function("on_tick").callee("in_handler").calls, 2 * ticks, "{stack}");
            assert_eq!(report.function("work").callee("leaf").calls, 3 * works, "{stack}");
            assert_eq!((report.unwound, report.open()), (0, [].into()), "{stack}");
            recorded.assert_agrees_with_the_event_log_but_for_callers_of(&["on_tick"]);
        }
    });
}

#[test]
fn signal_handlers_that_jump_out() {
    each_build("signals.c", |program| {
        let recorded = program.record().arg("jump").with_output_of_its_own().run();
        let (ticks, works) = counts(&recorded.stdout);
        let report = recorded.report();
        assert_eq!(report.function("on_tick").calls, ticks);
        assert_eq!(report.function("in_handler").calls, 2 * ticks);
        assert_eq!(report.function("on_tick").callee("in_handler").calls, 2 * ticks);
        // A jump out of a hook, or from just behind it, leaves a call that the program did not count, or we did not.
        let jumps = ticks / 3;
        let counted = report.function("work").calls;
        assert!(counted.abs_diff(works) <= jumps, "{counted} calls of work, and the program says {works}");
        let open: u64 = report.open().values().sum();
        assert!(open <= jumps, "{:?}", report.open());
    });
}

#[test]
fn coroutines_on_stacks_of_their_own() {
    each_build("coroutines.c", |program| {
        let report = program.record().run().report();
        for (name, calls) in [("main", 1), ("ping", 1), ("pong", 1), ("leaf", 300)] {
            assert_eq!(report.function(name).calls, calls, "{name}");
        }
        let open = report.open(); // `ping` and `pong` never return
        assert!(open.contains_key("ping") && open.contains_key("pong") && open.len() == 2, "{open:?}");
        assert_eq!((report.unwound, report.lost_calls), (0, 0));
    });
}

#[test]
fn the_callers_in_coroutines() {
    each_build("coroutines.c", |program| {
        let report = program.record().run().report();
        for caller in ["main", "ping", "pong"] {
            assert_eq!(report.function(caller).callee("leaf").calls, 100, "{caller}");
        }
        // Who calls a coroutine is a matter of taste: whoever switches to it first.
        assert_eq!(report.function("ping").callee("pong").calls, 1);
    });
}

/// Where a call began is where it is counted; that it ends in another thread is not known there.
#[test]
fn a_coroutine_that_another_thread_goes_on_with() {
    each_build("wandering.c", |program| {
        let report = program.record().run().report();
        for (name, calls) in [("main", 1), ("body", 1), ("inner", 100), ("leaf", 100), ("last", 100), ("own", 101)] {
            assert_eq!(report.function(name).calls, calls, "{name}");
        }
        assert_eq!(report.function("inner").callee("leaf").calls, 100);
        assert_eq!(report.function("main").callee("own").calls, 101);
        assert_eq!(report.open(), [("body", 1), ("inner", 100)].into());
        assert_eq!((report.unwound, report.lost_calls), (0, 0));
    });
}

/// A fault in a hook that has not counted yet leaves a call neither counted by us nor by the program, or by us alone.
#[test]
fn a_stack_that_overflows() {
    each_build("overflow.c", |program| {
        let recorded = program.record().with_output_of_its_own().run();
        let downs: u64 = recorded.stdout.trim().parse().unwrap();
        let report = recorded.report();
        let counted = report.function("down").calls;
        assert!(counted >= downs && counted <= downs + 100, "{counted} calls of down, and the program says {downs}");
        assert_eq!((report.function("in_handler").calls, report.function("after").calls), (100, 100));
        assert_eq!(report.function("main").callee("after").calls, 100);
        assert_eq!((report.unwound, report.open(), report.lost_calls), (counted, [].into(), 0));
    });
}

fn counts(stdout: &str) -> (u64, u64) {
    let (ticks, works) = stdout.trim().split_once(' ').unwrap();
    (ticks.parse().unwrap(), works.parse().unwrap())
}

/// What it would return to is another function's first instruction, and that was said to have made the call.
#[test]
fn a_call_that_does_not_return_is_made_by_the_function_that_it_ends() {
    each_build("noreturn-callee.c", |program| {
        let report = program.record().arg("1000").run().report();
        let call = report.function("attempt").callee("thrower");
        assert_eq!((call.calls, call.via.as_deref()), (1000, None));
        assert_eq!(report.function("main").callee("next").calls, 1000);
    });
}
