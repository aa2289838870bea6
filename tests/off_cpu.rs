//! Time on the processor, waiting, and while others had the processor: held against the kernel's own clocks.
//!
//! What a function has measured of itself by `CLOCK_THREAD_CPUTIME_ID` is what the report must tell of it, beside whatever else
//! the machine does.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use common::{Document, Program, Report, Spent, diytrace, each_build, run_to_end, tool};
use needs::needs;

/// Tells a story until it ends well, but not for ever. What a hypervisor takes is in no clock of the kernel's that tells it
/// from work, and now and then that is more than anything here: a report that is wrong by itself is wrong each time.
fn in_some_run(story: impl Fn()) {
    let ends_well = || catch_unwind(AssertUnwindSafe(&story)).is_ok();
    if !(0..9).any(|_| ends_well()) {
        story();
    }
}

/// What the machine's hypervisor has taken until now, as far as the kernel knows. No clock of a thread's counts it, and it is in
/// the time of the calls that it fell on.
fn steal_ns() -> f64 {
    const TICK_NS: f64 = 1e7;
    let stat = fs::read_to_string("/proc/stat").unwrap();
    stat.split_whitespace().nth(8).unwrap().parse::<f64>().unwrap() * TICK_NS
}

/// What hooks and clocks may make of a function's times, in nanoseconds: of each call, and of scheduling in between.
const SLACK: f64 = 1.5e6;

/// What a function has measured of itself, with all that it has called.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    calls: f64,
    cpu: f64,
    wall: f64,
}

fn measured(stdout: &str) -> BTreeMap<String, Measured> {
    let mut all: BTreeMap<String, Measured> = BTreeMap::new();
    for line in stdout.lines() {
        let [name, numbers @ ..] = &line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let [calls, cpu, wall] = numbers.iter().map(|number| number.parse().unwrap()).collect::<Vec<f64>>()[..] else {
            continue;
        };
        let sum = all.entry((*name).to_owned()).or_default();
        (sum.calls, sum.cpu, sum.wall) = (sum.calls + calls, sum.cpu + cpu, sum.wall + wall);
    }
    all
}

fn is_near(told: f64, truth: f64) -> bool {
    (told - truth).abs() <= SLACK + truth * 0.03
}

/// Times that are known.
fn known(spent: Spent) -> [f64; 6] {
    let Spent { cpu_ns, wait_ns, preempted_ns, self_cpu_ns, self_wait_ns, self_preempted_ns } = spent;
    [cpu_ns, wait_ns, preempted_ns, self_cpu_ns, self_wait_ns, self_preempted_ns]
        .map(|ns| ns.unwrap_or_else(|| panic!("not known: {spent:?}")))
}

fn check(report: &Report, name: &str, measured: &Measured) {
    let function = report.function(name);
    let [cpu, wait, preempted, ..] = known(function.spent);
    let told = format!("{name}: {:?}, and by itself {measured:?}", function.spent);
    assert_eq!(function.calls as f64, measured.calls, "{told}");
    assert!(is_near(cpu, measured.cpu), "on the processor: {told}");
    // It may have been switched out before it began to measure itself, or after.
    assert!(function.total_ns + SLACK >= measured.wall * 0.97, "in all: {told}");
    assert!(cpu + wait + preempted <= function.total_ns + 2.0, "more than there is: {told}");
}

/// What a thread had waited before the first measurement of what calls cost was taken for the hooks'.
#[test]
fn early_waits_are_no_cost_of_hooks() {
    each_build("early-waits.c", |program| {
        let overhead = program.record().set("WINDOWS", "300").run().report().overhead;
        let cost = overhead.inner_ns + overhead.outer_ns;
        assert!(cost < 10_000.0, "{cost} ns a call: 50 ms in six hundred calls are 83,000");
    });
}

#[needs(perf_events)]
#[test]
fn every_function_has_the_time_that_it_measured() {
    each_build("off-cpu.c", |program| {
        in_some_run(|| {
            let recorded = program.record().arg("all").with_output_of_its_own().run();
            let (report, measured) = (recorded.report(), measured(&recorded.stdout));
            assert_eq!(measured.len(), 10);
            measured.iter().for_each(|(name, measured)| check(&report, name, measured));
            // Of each function it is cut to what its corrected time leaves.
            let of_functions: f64 = report.functions.iter().map(|function| known(function.spent)[5]).sum();
            let of_all = report.all_self_preempted_ns.unwrap();
            assert!(
                (-2.0..SLACK).contains(&(of_all - of_functions)),
                "preempted: {of_all}, {of_functions} by functions"
            );
            // Waiting is nobody else's.
            let least = |name: &str| known(report.function(name).spent)[4];
            for (name, ms) in [("sleeps", 25.0), ("writes", 30.0), ("does_both", 15.0)] {
                assert!(least(name) >= ms * 1e6 - SLACK, "{name}: {:?}", report.function(name).spent);
            }
            for name in ["locks", "reads"] {
                let off = measured[name].wall - measured[name].cpu;
                assert!(least(name) >= off * 0.7 - SLACK, "{name}: {:?}", report.function(name).spent);
            }
            assert!(least("works") < SLACK, "{:?}", report.function("works").spent);
            let sorted = recorded.diytrace(&["report", "--sort", "wait", "--limit", "1"]);
            let sorted = String::from_utf8(sorted.stdout).unwrap();
            assert!(
                sorted.contains("  wait  ") && sorted.contains("  main"),
                "what it is sorted by is shown: {sorted}"
            );
            let waits = String::from_utf8(recorded.diytrace(&["tree", "--time", "wait"]).stdout).unwrap();
            assert!(waits.contains("sleeps") && !waits.contains("  < "), "waits are as the kernel tells them: {waits}");
            let callers = recorded.diytrace(&["callers", "sleeps", "--time", "wait", "--format", "json"]).stdout;
            let callers: serde_json::Value = serde_json::from_slice(&callers).unwrap();
            let [top, caller] = [0, 1].map(|node| &callers["trees"][0]["nodes"][node]);
            let total = |node: &serde_json::Value| node["total_ns"].as_f64().unwrap();
            assert_eq!((&callers["time"], &caller["name"]), (&"wait".into(), &"everything".into()));
            assert!((total(top) - least("sleeps")).abs() < 2.0 && total(caller) <= total(top) + 2.0, "{callers}");
            let callers = String::from_utf8(recorded.diytrace(&["callers", "sleeps", "--time", "cpu"]).stdout).unwrap();
            assert!(callers.contains("total and self are times on the processor; mean is of all"), "{callers}");
            // A caller has what it called, too.
            let callee = report.function("everything").callee("sleeps").spent;
            assert!(known(callee)[1] >= 20e6 - SLACK, "{callee:?}");
        })
    });
}

#[needs(perf_events)]
#[test]
fn a_thread_that_ends_inside_a_call_has_waited_there() {
    each_build("thread-ends.c", |program| {
        in_some_run(|| {
            let report = program.record().args(&["asleep", "3"]).run().report();
            let function = report.function("sleep_and_end");
            let [_, wait, ..] = known(function.spent);
            assert!((60e6 - SLACK..=function.total_ns).contains(&wait), "{wait} ns waited: {function:#?}");
        })
    });
}

#[needs(perf_events)]
#[test]
fn what_a_child_waits_for_before_its_first_call_is_waited_in_the_call_that_was_open() {
    each_build("late-child.c", |program| {
        in_some_run(|| {
            let recorded = program.record().with_output_of_its_own().run();
            let (all, cpu) = recorded.stdout.trim().split_once(' ').expect("two times");
            let [all, cpu] = [all, cpu].map(|time| time.parse::<f64>().unwrap());
            let reports = recorded.reports_by_process();
            let child = reports.iter().find(|report| report.function("serve").calls == 0).expect("the child");
            let [_, wait, preempted, ..] = known(child.function("serve").spent);
            assert!((30e6 - SLACK..30e6 + all - cpu).contains(&wait), "{wait} ns of {all}, {cpu} on the processor");
            assert!((wait + preempted - (all - cpu)).abs() < SLACK, "{wait} + {preempted}: {all}, {cpu}");
        })
    });
}

#[needs(perf_events)]
#[test]
fn threads_have_their_processor_time() {
    each_build("off-cpu.c", |program| {
        in_some_run(|| {
            let steal = steal_ns();
            let recorded = program.record().arg("all").with_output_of_its_own().run();
            let steal = steal_ns() - steal;
            let measured = measured(&recorded.stdout);
            for outermost in ["locker", "reader", "everything"] {
                let threads = recorded.reports_by_thread();
                let is_its = |report: &&Report| report.functions.iter().any(|function| function.name == outermost);
                let report = threads.iter().find(is_its).unwrap();
                let is_inside = |name: &str| !["main", "in_child"].contains(&name);
                let functions = report.functions.iter().filter(|function| is_inside(&function.name));
                let cpu: f64 = functions.map(|function| known(function.spent)[3]).sum();
                let truth = measured[outermost].cpu;
                // What the recorder takes for itself as it begins is in what the thread has measured.
                assert!(
                    cpu <= truth * 1.01 + 0.5e6 + steal && cpu >= truth * 0.99 - 3e6,
                    "{outermost}: {cpu} for {truth}"
                );
            }
        })
    });
}

/// Most calls are only noted, in windows that a switch ends.
#[needs(perf_events)]
#[test]
fn waits_in_calibration_windows_are_found() {
    each_build("off-cpu.c", |program| {
        in_some_run(|| {
            for windows in ["0", "50", "1000"] {
                let recording = program.record().args(&["bursts", "60"]).set("WINDOWS", windows);
                let recorded = recording.with_output_of_its_own().run();
                let (report, measured) = (recorded.report(), measured(&recorded.stdout));
                assert_eq!(report.function("leaf").calls, 60_000);
                // What recording takes is in what it measured, and not in what is told.
                let [cpu, wait, preempted, ..] = known(report.function("bursts").spent);
                let truth = measured["bursts"];
                assert!(wait + preempted >= 60e6 - SLACK, "{windows}: {wait} {preempted} {truth:?}");
                assert!(cpu <= truth.cpu + SLACK, "{windows}: {cpu} {truth:?}");
                // A call that was only noted has no time, and what it waited is that of the call around it, as its time is.
                let nap = known(report.function("nap").spent);
                assert!(nap[4] <= measured["nap"].wall + SLACK, "{nap:?}");
                let all = nap[4] + known(report.function("bursts").spent)[4];
                assert!(all >= 60e6 - SLACK, "{windows}: {all}");
            }
        })
    });
}

#[needs(perf_events)]
#[test]
fn a_parent_waits_for_its_vfork_child() {
    each_build("off-cpu.c", |program| {
        in_some_run(|| {
            let recorded = program.record().arg("vfork").with_output_of_its_own().run();
            let (report, measured) = (recorded.report(), measured(&recorded.stdout));
            let [cpu, wait, preempted, ..] = known(report.function("vforks").spent);
            let truth = measured["vforks"];
            assert!(
                is_near(cpu, truth.cpu) && is_near(wait + preempted, truth.wall - truth.cpu),
                "{cpu} {wait} {truth:?}"
            );
        })
    });
}

#[needs(perf_events)]
#[test]
fn who_waits_at_the_end_of_the_process_has_waited() {
    each_build("off-cpu.c", |program| {
        in_some_run(|| {
            let recorded = program.record().arg("exit").with_output_of_its_own().run();
            let report = recorded.report();
            let stuck = report.function("stuck");
            let [cpu, wait, ..] = known(stuck.spent);
            assert!(stuck.open == 1 && wait >= stuck.total_ns * 0.9 && cpu < SLACK, "{stuck:#?}");
            assert!(known(report.function("main").spent)[1] >= 5e6 - SLACK);
        })
    });
}

/// The call that a process or a thread ended in was told to have been on the processor for no time where it was not switched out there.
#[needs(perf_events)]
#[test]
fn who_works_to_the_end_has_worked() {
    const CALLS: f64 = 20.0;
    each_build("ends-at-work.c", |program| {
        for how in ["_exit", "exit", "exec", "thread"] {
            in_some_run(|| {
                let report = program.record().arg(how).run().report();
                let work = report.function("work");
                let [.., cpu, wait, preempted] = known(work.spent);
                let told = cpu + wait + preempted;
                assert!(
                    work.total_ns >= 2e6 * CALLS && told >= work.self_ns - 50e3 * CALLS,
                    "{how}: {told} ns of {work:#?}"
                );
            });
        }
    });
}

/// Of a process that is killed in a wait nobody knows how long that has lasted; of one that runs, the kernel does.
#[needs(perf_events)]
#[test]
fn a_wait_that_goes_on() {
    each_build("off-cpu.c", |program| {
        in_some_run(|| {
            let here = tempfile::tempdir().unwrap();
            let mut process = Command::new(&program.path);
            process
                .arg("stuck")
                .current_dir(&here)
                .env("DIYTRACE_OUT", "out")
                .env("LD_PRELOAD", tool("libdiytrace.so"));
            let mut process = process.stdout(Stdio::piped()).spawn().unwrap();
            process.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
            sleep(Duration::from_millis(100));
            let report = || {
                let output = run_to_end(diytrace(here.path()).args(["report", "--format", "json", "out"]));
                Document::parse(&output.stdout).into_only_report()
            };
            let running = report();
            let stuck = running.function("stuck");
            let [cpu, wait, ..] = known(stuck.spent);
            assert!(wait >= 90e6 && cpu < SLACK && stuck.total_ns >= wait, "{stuck:#?}");
            process.kill().unwrap();
            process.wait().unwrap();
            let killed = report();
            let (works, stuck) = (killed.function("works"), killed.function("stuck"));
            assert!(known(works.spent)[3] >= 10e6 * 0.97 && stuck.open == 1, "{works:#?} {stuck:#?}");
            assert!(known(stuck.spent)[0] < SLACK, "what is not known is no time on the processor: {stuck:#?}");
        })
    });
}

/// All times are null, and a warning says why.
fn assert_unknown(document: &Document, report: &Report) {
    assert!(document.warns_of(&["wall time", "perf_event_open"]), "{:?}", document.warnings);
    for name in ["main", "works", "sleeps"] {
        let Spent { cpu_ns, wait_ns, preempted_ns, .. } = report.function(name).spent;
        assert_eq!([cpu_ns, wait_ns, preempted_ns], [None; 3], "{name}");
    }
    assert_eq!((report.function("works").spent.self_cpu_ns, report.all_self_preempted_ns), (None, None));
}

fn unknown(program: &Program, arguments: &[&str]) {
    let recorded = program.record().args(arguments).with_output_of_its_own().run();
    let mut document = recorded.document(&[]);
    let report = document.reports.remove(0);
    assert_unknown(&document, &report);
}

#[test]
fn where_the_kernel_refuses_it_nothing_is_told() {
    each_build("off-cpu.c", |program| unknown(program, &["refused", "all"]));
}

#[test]
fn after_a_filter_of_system_calls_nothing_is_told() {
    each_build("off-cpu.c", |program| unknown(program, &["sealed"]));
}

#[test]
fn where_it_is_not_to_be_looked_at_nothing_is_told() {
    each_build("off-cpu.c", |program| {
        let recorded = program.record().arg("all").set("WAITS", "0").with_output_of_its_own().run();
        let mut document = recorded.document(&[]);
        let report = document.reports.remove(0);
        assert_unknown(&document, &report);
    });
}

/// What others had the processor for while the recorder made a path, or waited for a disk that it be made room for, was told as the
/// calls'. Here it makes them a good part of the time.
#[needs(perf_events)]
#[test]
fn what_the_recorder_is_off_while_it_makes_paths_is_no_calls() {
    each_build("preempted.c", |program| {
        let recorded = program.record().args(&["100000", "paths"]).with_output_of_its_own().run();
        let waited: f64 = recorded.stdout.trim().parse().unwrap();
        let told: f64 =
            recorded.report().functions.iter().map(|function| function.spent.self_preempted_ns.unwrap()).sum();
        assert!(told < 0.9 * waited, "{told} of {waited}");
    });
}
