//! Stacks made by hand, and handlers that interrupt whatever runs: no call is closed that is not gone.

mod common;

use common::{Program, Recording, assert_same_counts, each_build, parse_counts, warn};
use serde_json::Value;

const CARVED: &str = "
    1 main
    1 main → before
    3_201 before
    3_200 turn
    3_200 turn → level_2
    3_200 level_2
    3_200 level_2 → level_3
    3_200 level_3
    3_200 level_3 → before
    3_200 level_3 → behind
    3_200 behind";

fn assert_all_return(program: &Program, size: &str) {
    let recorded = program.record().arg(size).logged().run();
    let report = recorded.report();
    let mut counts = report.counts();
    counts.retain(|who, _| !who.ends_with("→ turn")); // whoever switched there: a matter of taste
    assert_same_counts(&counts, &parse_counts(CARVED));
    assert_eq!((report.unwound, report.open()), (0, [].into()), "stacks of {size} bytes");
    recorded.assert_functions_agree_with_the_event_log();
}

#[test]
fn side_by_side_in_one_block() {
    each_build("carved.c", |program| {
        for size in ["65536", "24576"] {
            assert_all_return(program, size);
        }
    });
}

#[test]
fn small_ones_side_by_side_in_one_block() {
    each_build("carved.c", |program| {
        for size in ["16384", "8192"] {
            assert_all_return(program, size);
        }
    });
}

/// Each switch asks of all open calls whether they are on that stack, and each answer was a reading of all mappings: this took minutes.
/// The processor time that the shell allows is a hundred times what it takes.
#[test]
fn more_of_them_than_are_remembered() {
    each_build("many-stacks.c", |program| {
        let report = program.wrapped("ulimit -t 20; exec \"$PROGRAM\"").record().run().report();
        let mut counts = report.counts();
        counts.retain(|who, _| !who.ends_with("→ fiber")); // whoever switched there: a matter of taste
        assert_same_counts(
            &counts,
            &parse_counts(
                "1 main
                 2_000 main → resume
                 2_000 resume
                 100 fiber
                 100 fiber → deep
                 1_100 deep
                 1_000 deep → deep
                 2_000 deep → pause_here
                 2_000 pause_here
                 3_900 pause_here → leaf
                 3_900 leaf",
            ),
        );
        assert_eq!(report.unwound, 0);
    });
}

/// Whoever goes on was looked for among all calls that were open, which took hundreds of times what a coroutine does: twenty seconds here. The
/// processor time that the shell allows is twenty times what it takes.
#[test]
fn thousands_of_which_take_turns() {
    each_build("thousands-of-stacks.c", |program| {
        let report = program.wrapped("ulimit -t 8; exec \"$PROGRAM\"").record().run().report();
        report.assert_calls(
            "1 main
             147_000 main → resume
             147_000 resume
             48_000 resume → body
             48_000 body
             102_000 body → turn
             102_000 turn
             201_000 turn → leaf
             201_000 leaf
             102_000 turn → give_way
             102_000 give_way",
        );
        assert_eq!(report.unwound, 0);
    });
}

/// What the thread's own stack calls meanwhile is none of the coroutine's: neither where nothing is open there, nor in a forked child.
#[test]
fn that_are_suspended_while_the_threads_own_goes_on() {
    each_build("suspended.c", |program| {
        let recorded = program.record().arg("100").run();
        let report = recorded.report();
        let mut counts = report.counts();
        counts.retain(|who, _| !who.ends_with("→ coroutine")); // whoever switched there: a matter of taste
        assert_same_counts(
            &counts,
            &parse_counts(
                "1 at_the_end
                 1 server
                 11 server → resume
                 101 server → work
                 201 work
                 201 work → leaf
                 222 leaf
                 21 coroutine → leaf
                 21 resume
                 1 coroutine
                 21 coroutine → give_way
                 21 give_way",
            ),
        );
        assert_eq!(report.unwound, 0);
        // In the tree, too.
        let stacks = String::from_utf8(recorded.diytrace(&["export", "folded"]).stdout).unwrap();
        assert!(!stacks.contains("give_way;") && !stacks.contains(";server"), "{stacks}");
    });
}

/// All memory that the kernel tells of as one with a thread's stack was taken for that stack, and calls that were made there after others on
/// lower addresses for ones that had left those.
#[test]
fn that_lie_beside_the_threads_own() {
    each_build("coroutines-beside.c", |program| {
        let report = program.record().run().report();
        report.assert_calls(
            "1 main
             1 run
             300 run → resume
             300 run → after
             300 after
             300 after → leaf
             300 resume
             4 resume → body
             4 body
             213 body → step
             209 body → leaf
             301 step
             88 step → step
             597 step → leaf
             300 step → give_way
             300 give_way
             1_106 leaf",
        );
        assert_eq!(report.unwound, 0);
    });
}

/// In a calibration window their calls were taken for bodies inlined into the call that had resumed them, and that one for left: for good.
#[test]
fn that_give_way_in_code_without_hooks() {
    each_build("resumed-without-hooks.c", |program| {
        for windows in ["0", "3", "30"] {
            let report = program.record().args(&["200", "300"]).set("WINDOWS", windows).run().report();
            report.assert_calls(
                "1 main
                 60_000 main → leaf
                 200 main → resume
                 200 resume
                 2 resume → body
                 2 body
                 398 body → leaf
                 200 body → step
                 200 step
                 1_598 step → leaf
                 61_996 leaf",
            );
            assert_eq!(report.unwound, 0, "{windows}");
        }
    });
}

/// In a calibration window the frame of a call that was left stays below that of the call in its place. Nothing that lay further out was found
/// any more when that one's stack was switched: the coroutine's calls, and then those of `main`, were other calls' for good.
/// Their time was cut to that of the call that had resumed the first of them, and was said to be its caller's.
#[test]
fn that_are_resumed_by_others_than_at_first_keep_their_time() {
    each_build("resumed-elsewhere.c", |program| {
        let recorded = program.record().run();
        let report = recorded.report();
        let work = report.function("work");
        // It looks at the processor's clock, and other programs may make it longer.
        assert_eq!(work.calls, 100);
        assert!(work.total_ns > 9e7 && work.self_ns > 9e7, "{} ns, own {} ns", work.total_ns, work.self_ns);
        assert!(report.function("body").total_ns > 9e7);
    });
}

#[test]
fn that_are_switched_to_where_a_call_was_left() {
    each_build("jump-to-coroutine.c", |program| {
        for windows in ["3", "5", "8", "131072"] {
            let recorded = program.record().set("WINDOWS", windows).arg("700").run();
            let mut counts = recorded.report().counts();
            counts.retain(|who, _| !who.ends_with("→ coroutine")); // whoever switched there: a matter of taste
            assert_same_counts(
                &counts,
                &parse_counts(
                    "1 main
                     700 main → shallow
                     700 main → resume
                     700 main → work
                     700 shallow
                     2_800 shallow → leaf
                     700 resume
                     700 work
                     700 work → leaf
                     1 coroutine
                     700 coroutine → leaf
                     700 coroutine → give_way
                     700 give_way
                     4_200 leaf",
                ),
            );
        }
    });
}

/// Whoever goes on may be anywhere among the suspended, and its calls too: further apart than one sees at once.
#[test]
fn that_resume_each_other_at_random() {
    each_build("random-stacks.c", |program| {
        for seed in 1..=5 {
            let recorded = program.record().arg(seed.to_string()).run();
            let report = recorded.report();
            let mut counts = report.counts();
            counts.retain(|who, _| !who.ends_with("→ fiber")); // whoever switched there: a matter of taste
            assert_same_counts(&counts, &parse_counts(&recorded.stdout));
            assert_eq!(report.unwound, 0, "seed {seed}");
        }
    });
}

/// What the compiler had made of the recorder relied on that: the program ended by SIGSEGV.
#[test]
fn that_are_not_aligned_as_is_agreed_on() {
    each_build("misaligned.c", |program| {
        let recorded = program.record().run();
        assert_eq!(recorded.status.code(), Some(0));
        recorded.report().assert_calls(
            "1 main
             100 main → callback
             100 callback
             200 callback → leaf
             200 leaf",
        );
    });
}

/// Libraries and mappings then lie elsewhere, and the first stack has no end below.
#[test]
fn with_a_first_stack_without_limit() {
    each_build("carved.c", |program| {
        let script = "ulimit -s unlimited 2>/dev/null; exec \"$PROGRAM\" \"$@\"";
        assert_all_return(&program.wrapped(script), "16384");
    });
}

#[test]
fn handlers_that_interrupt_hooks_and_set_errno() {
    each_build("ticks.c", |program| {
        for stack in ["own", "alternate"] {
            assert_ticks(program, stack, "1000");
        }
    });
}

/// A handler that came as a window began ended it and began one of its own, and that was wiped: all that its caller called was lost.
#[test]
fn handlers_that_interrupt_the_beginning_of_windows() {
    each_build("ticks.c", |program| {
        for windows in ["30", "300"] {
            assert_all_ticks(program.record().set("WINDOWS", windows), "own", "2000");
        }
    });
}

#[test]
#[ignore = "takes eight minutes: cargo test --release --test stacks -- --ignored"]
fn handlers_that_interrupt_hooks_for_a_minute() {
    each_build("ticks.c", |program| {
        for stack in ["own", "alternate"] {
            let (ticks, rounds) = assert_ticks(program, stack, "30s");
            warn(&format!(
                "{}, {stack} stack: {ticks} handlers among {} calls",
                program.build,
                10 * rounds + 3 * ticks
            ));
        }
    });
}

/// Every handler and every call was counted, and each call is its caller's.
fn assert_ticks(program: &Program, stack: &str, length: &str) -> (u64, u64) {
    assert_all_ticks(program.record(), stack, length)
}

fn assert_all_ticks(recording: Recording<'_>, stack: &str, length: &str) -> (u64, u64) {
    let recorded = recording.args(&[stack, length]).with_output_of_its_own().run();
    let (ticks, rounds) = recorded.stdout.trim().split_once(' ').unwrap();
    let (ticks, rounds): (u64, u64) = (ticks.parse().unwrap(), rounds.parse().unwrap());
    let report = recorded.report();
    for (name, calls) in [
        ("main", 1),
        ("round_trip", rounds),
        ("climb_7", rounds),
        ("climb_0", rounds),
        ("on_tick", ticks),
        ("in_handler", ticks),
        ("leaf", rounds + ticks),
    ] {
        assert_eq!(report.function(name).calls, calls, "{stack}: {name}");
    }
    assert_eq!(report.function("on_tick").callee("in_handler").calls, ticks, "{stack}");
    assert_eq!(report.function("in_handler").callee("leaf").calls, ticks, "{stack}");
    assert_eq!(report.function("round_trip").callee("climb_7").calls, rounds, "{stack}");
    // A handler's call hangs below something: none is left over.
    let below: u64 = report.functions.iter().flat_map(|f| &f.callees).map(|callee| callee.calls).sum();
    assert_eq!(below + 1, report.calls, "{stack}: only main has no caller");
    assert_eq!((report.unwound, report.lost_calls, report.open()), (0, 0, [].into()), "{stack}");
    (ticks, rounds)
}

/// In a forked child those that were suspended seemed to have been called by each other, outside of what had resumed them.
#[test]
fn coroutines_that_are_suspended_in_a_fork_stay_below_what_resumed_them() {
    each_build("forked-coroutines.c", |program| {
        for windows in ["131072", "1", "3"] {
            let recorded = program.record().set("WINDOWS", windows).run();
            let output = recorded.diytrace(&["tree", "--format", "json", "--min-percent", "0", "--by", "process"]);
            let document: Value = serde_json::from_slice(&output.stdout).unwrap();
            let trees = document["trees"].as_array().unwrap();
            assert_eq!(trees.len(), 2);
            let open = |tree: &Value| {
                let nodes = tree["nodes"].as_array().unwrap();
                nodes
                    .iter()
                    .filter(|node| node["name"] == "entry")
                    .map(|node| node["open"].as_u64().unwrap())
                    .sum::<u64>()
            };
            assert_eq!(trees.iter().map(open).max(), Some(3), "one path has all three");
            for tree in trees {
                let nodes = tree["nodes"].as_array().unwrap();
                let parent =
                    |node: &Value| node["parent"].as_u64().map(|parent| nodes[parent as usize]["name"].clone());
                let callers =
                    |name: &str| nodes.iter().filter(|node| node["name"] == name).map(parent).collect::<Vec<_>>();
                for (callee, caller) in [("entry", "resume"), ("yield", "entry"), ("resume", "main")] {
                    let found = callers(callee);
                    assert!(
                        !found.is_empty() && found.iter().all(|found| *found == Some(caller.into())),
                        "{callee}: {found:?} {windows}"
                    );
                }
            }
        }
    });
}
