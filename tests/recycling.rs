//! More call paths than there is room for: cold ones give way to others, and nothing else is lost.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use common::{Recorded, Report, each_build, fixture};
use serde_json::Value;

/// Calls by caller and callee, as `layers.c` has counted them: by the layer of the caller, its number and the callee's.
type Edges = BTreeMap<(String, String), u64>;

fn edge(layer: usize, caller: usize, callee: usize) -> (String, String) {
    match layer {
        9 => ("main".to_owned(), "f0_0".to_owned()),
        _ => (format!("f{layer}_{caller}"), format!("f{}_{callee}", layer + 1)),
    }
}

/// What is not the same in both.
fn differences<'a>(one: &'a Edges, other: &'a Edges) -> Vec<(&'a (String, String), u64, u64)> {
    let calls = |edges: &Edges, edge| edges.get(edge).copied().unwrap_or(0);
    let edges: BTreeSet<_> = one.keys().chain(other.keys()).collect();
    let edges = edges.into_iter().map(|edge| (edge, calls(one, edge), calls(other, edge)));
    edges.filter(|(_, one, other)| one != other).collect()
}

fn said(recorded: &Recorded) -> Edges {
    let line = |line: &str| {
        let numbers: Vec<u64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        let [layer, caller, callee, calls] = numbers[..] else { panic!("{line}") };
        (edge(layer as usize, caller as usize, callee as usize), calls)
    };
    recorded.stdout.lines().map(line).collect()
}

/// Without those of libc's headers, which some compilers instrument.
fn reported(report: &Report) -> Edges {
    let mut edges = Edges::new();
    for function in &report.functions {
        for callee in function.callees.iter().filter(|callee| callee.name.starts_with('f')) {
            *edges.entry((function.name.clone(), callee.name.clone())).or_default() += callee.calls;
        }
    }
    edges
}

/// The report of a profile of which paths gave way.
fn report_of_some(recorded: &Recorded) -> Report {
    let document = recorded.document(&[]);
    assert!(document.warns_of(&["gave way to others"]), "{:?}", document.warnings);
    document.into_only_report()
}

#[test]
fn functions_and_the_calls_between_them_are_exact_and_so_are_their_self_times() {
    each_build("layers.c", |program| {
        for windows in ["", "50"] {
            let recorded = program.record().arg("1500").set("MEMORY", "2M");
            let recorded = if windows.is_empty() { recorded } else { recorded.set("WINDOWS", windows) }.run();
            let report = report_of_some(&recorded);
            assert_eq!(differences(&reported(&report), &said(&recorded)), [], "windows {windows}");
            assert_eq!((report.lost_calls, report.folded_calls), (0, 0));
            if !windows.is_empty() {
                continue; // most calls were not timed
            }
            let of_all: f64 = report.functions.iter().map(|function| function.self_raw_ns).sum();
            let main = report.function("main").total_raw_ns;
            assert!((of_all - main).abs() < 0.01 * main, "{of_all} ns of all, and main took {main} ns");
        }
    });
}

#[test]
fn who_called_a_function_is_known_of_all_its_calls() {
    let recorded = fixture("layers.c", common::Build::GCC_O2).record().arg("1500").set("MEMORY", "2M").run();
    let output = recorded.diytrace(&["callers", "f9_0", "--format", "json"]);
    let callers: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut found = Edges::new();
    for node in callers["trees"][0]["nodes"].as_array().unwrap().iter().filter(|node| node["depth"] == 1) {
        let name = node["name"].as_str().unwrap().to_owned();
        *found.entry((name, "f9_0".to_owned())).or_default() += node["calls"].as_u64().unwrap();
    }
    let expected: Edges = said(&recorded).into_iter().filter(|((_, callee), _)| callee == "f9_0").collect();
    assert_eq!(differences(&found, &expected), []);
}

/// What paths inside a folded recursion have beside others took the room that is set aside for functions: 1.1 million of these calls were counted
/// by function alone.
#[test]
fn paths_inside_a_recursion_give_way_as_others_do() {
    each_build("full-recursion.c", |program| {
        let report = report_of_some(&program.record().set("MEMORY", "4M").run());
        assert_eq!((report.folded_calls, report.lost_calls), (0, 0));
        assert_eq!(report.function("again").calls, 11 << 18);
        assert_eq!(report.function("again").callee("again").calls, 10 << 18);
        let last_levels: u64 = (0..4).map(|which| report.function(&format!("nine_{which}")).calls).sum();
        assert_eq!(last_levels, 2 << 18);
        assert_eq!((report.function("late").calls, report.function("inner").calls), (100, 100));
    });
}

/// The path that every hundredth time takes is there, with all its calls but for those that the report says it may lack.
#[test]
fn a_path_with_one_of_ten_thousand_calls_stays() {
    const TIMES: u64 = 20_000;
    each_build("layers.c", |program| {
        let recorded = program.record().arg(TIMES.to_string()).set("MEMORY", "16M").run();
        let output = recorded.diytrace(&["tree", "--format", "json", "--min-percent", "0"]);
        let tree: Value = serde_json::from_slice(&output.stdout).unwrap();
        let nodes = tree["trees"][0]["nodes"].as_array().unwrap();
        let below = |parent: usize, name: &str| {
            let is_it = |node: &&Value| node["parent"].as_u64() == Some(parent as u64) && node["name"] == name;
            nodes.iter().position(|node| is_it(&node)).unwrap_or_else(|| panic!("no {name} there"))
        };
        let mut node = below(nodes.iter().position(|node| node["name"] == "main").unwrap(), "f0_0");
        let mut number = 0;
        for layer in 0..9 {
            number = (number + layer) % 4;
            node = below(node, &format!("f{}_{number}", layer + 1));
        }
        let calls = nodes[node]["calls"].as_u64().unwrap();
        assert!(calls >= TIMES / 100 / 2, "{calls} calls of {}", TIMES / 100);
        // In the tree all time is somewhere: what gave way is at where it was called.
        assert!(nodes.iter().any(|node| node["name"] == "[other calls]"));
    });
}

#[test]
fn a_kill_in_the_middle_loses_no_call() {
    each_build("layers.c", |program| {
        for wait in ["0.1", "0.2", "0.35"] {
            // Once it has begun: until then there may be no profile.
            let script = format!(
                "\"$PROGRAM\" 100000000 counts >/dev/null & until [ -s counts ]; do sleep 0.01; done; sleep {wait}; \
                 kill -9 $!; wait $! 2>/dev/null; cat counts >copy"
            );
            let killed = program.wrapped(&script);
            let recorded = killed.record().set("MEMORY", "2M").with_output_of_its_own().run();
            let counts = fs::read(recorded.folder().join("copy")).unwrap();
            let counted: Edges = (counts.chunks_exact(8).enumerate())
                .map(|(at, calls)| (edge(at / 16, at / 4 % 4, at % 4), u64::from_le_bytes(calls.try_into().unwrap())))
                .filter(|(_, calls)| *calls > 0)
                .collect();
            let report = reported(&recorded.document(&[]).into_only_report());
            // One may have been killed between its count and its call.
            let differences = differences(&counted, &report);
            let is_one = |(_, counted, reported): &(_, u64, u64)| *counted == reported + 1;
            assert!(differences.len() <= 1 && differences.iter().all(is_one), "{differences:?}");
        }
    });
}

/// Each takes over what the one before has left, with the paths that gave way, and goes on.
#[test]
fn processes_that_have_one_place_after_the_other_are_added_up() {
    each_build("layers.c", |program| {
        let recorded = program.record().args(&["400", "counts", "6"]).set("MEMORY", "2M").set("KEEP", "0");
        let recorded = recorded.with_output_of_its_own().run();
        let report = report_of_some(&recorded);
        assert_eq!(differences(&reported(&report), &said(&recorded)), []);
        assert_eq!((report.lost_calls, report.folded_calls), (0, 0));
    });
}

/// So they do where each would be kept apart, and there is no room for that: all but the first were counted by function only.
#[test]
fn processes_that_are_kept_apart_give_their_place_to_others_where_there_is_no_other() {
    each_build("layers.c", |program| {
        let recorded = program.record().args(&["400", "counts", "6"]).set("MEMORY", "2M");
        let recorded = recorded.with_output_of_its_own().run();
        let document = recorded.document(&[]);
        let mut all = Edges::new();
        for (edge, calls) in document.reports.iter().flat_map(reported) {
            *all.entry(edge).or_default() += calls;
        }
        assert_eq!(differences(&all, &said(&recorded)), []);
        let sum = |calls: fn(&Report) -> u64| document.reports.iter().map(calls).sum::<u64>();
        assert_eq!((sum(|report| report.lost_calls), sum(|report| report.folded_calls)), (0, 0));
    });
}

#[test]
fn threads_that_are_kept_apart_give_their_place_to_others_where_there_is_no_other() {
    each_build("threads-in-turn.c", |program| {
        let report = program.record().arg("20").set("MEMORY", "4M").run().report();
        assert_eq!(report.function("level_12").calls, 20 * 4096);
        assert_eq!((report.lost_calls, report.folded_calls), (0, 0));
    });
}

/// What is kept of functions had no room once percentiles' counters had taken it, and calls of functions that were met late were
/// counted by function only.
#[test]
fn functions_that_are_first_met_late_have_their_callers() {
    each_build("late-functions.c", |program| {
        let report = program.record().set("MEMORY", "8M").run().report();
        let late: Vec<_> = report.functions.iter().filter(|function| function.name.starts_with("late_")).collect();
        assert_eq!((late.len(), report.folded_calls, report.lost_calls), (1536, 0, 0));
        for function in late {
            assert_eq!((function.calls, function.callee("leaf").calls), (20, 20), "{}", function.name);
        }
    });
}

/// All that they called was counted nowhere, and nothing said so.
#[test]
fn children_that_have_no_room_for_the_calls_that_they_were_forked_in() {
    each_build("full-children.c", |program| {
        let recorded = program.record().set("MEMORY", "1500K").args(&["20", "10", "3", "3"]).run();
        let calls = full_children(&recorded);
        let report = recorded.report();
        assert_eq!(report.calls + report.lost_calls, calls, "{} are lost", report.lost_calls);
    });
}

/// What roots called that had no room themselves, or no arena, was counted nowhere, and nothing said so.
#[test]
fn roots_that_have_no_room_have_all_that_they_call_counted() {
    const CHILDREN: u64 = 20;
    each_build("full-children.c", |program| {
        // Outside of them are `main`, and `all` and `spawn` of each process.
        for (roots, outside) in [("spawn,all", 1), ("session,whole*", 2 + 2 * CHILDREN)] {
            for memory in ["1M", "1500K"] {
                let recording = program.record().roots(roots).set("MEMORY", memory);
                let recorded = recording.args(&[&CHILDREN.to_string(), "10", "3", "3"]).run();
                let calls = full_children(&recorded) - outside;
                let report = recorded.report();
                assert_eq!(report.calls + report.lost_calls, calls, "{roots} {memory}: {} are lost", report.lost_calls);
            }
        }
    });
}

/// How many calls full-children.c has made.
fn full_children(recorded: &Recorded) -> u64 {
    recorded.stdout.trim().strip_suffix(" calls").unwrap().parse().unwrap()
}
