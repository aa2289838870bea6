//! Safe at every instruction: whatever a signal handler does, and wherever in a hook it comes, every call is counted and
//! every process lives on.
//!
//! A test takes samples, others each time; `tests/stepped.sh` takes every instruction of every way through the hooks.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::sync::Mutex;
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use common::stepped::{Case, Outcome, cases, together};
use common::{Build, builds, fixture, warn};

/// Trials of a run, so that a profile stays small.
const BATCH: u64 = 250;

#[test]
fn samples() {
    let seed =
        number("STEPPED_SEED").unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs());
    let all: Vec<_> = builds().iter().map(|&build| cases(&fixture("stepped.c", build))).collect();
    // Of the builds each takes its share, another one with another seed.
    let turns = seed as usize..;
    let share: Vec<_> =
        turns.zip(0..all[0].len()).map(|(turn, index)| all[turn / 12 % all.len()][index].clone()).collect();
    let failures = each(together(&share), |case| {
        let mut outcome = Outcome::default();
        match &*case.scenario.kind {
            "reset" => {
                (0..3).for_each(|i| outcome.add(case.record(&["signal", "samples", &(seed + 7 * i).to_string(), "1"])))
            }
            "lossy" => outcome.add(case.record(&["signal", "samples", &seed.to_string(), "2"])),
            _ => outcome.add(case.record(&["signal", "samples", &seed.to_string(), "4"])),
        }
        outcome
    });
    assert!(failures.is_empty(), "with STEPPED_SEED={seed}:\n{}", failures.join("\n"));
}

/// The handler acts at every instruction of one trial.
#[test]
fn at_every_instruction_at_once() {
    let build = *builds().last().unwrap();
    let mut returning = cases(&fixture("stepped.c", build));
    returning.retain(|case| case.action.kind == "returns" && ["call", "deep"].contains(&&*case.action.name));
    let failures = each(returning, |case| case.record(&["every", "0", "1", "1", "own"]));
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// What clang's exceptions leave open, on top of the calls of the hook that goes on, is not taken for the caller: it once was, and
/// the hook went round for ever.
#[test]
fn a_hook_goes_on_from_its_own_caller_when_a_handler_has_thrown() {
    assert_safe(*builds().last().unwrap(), "other-stack/throw", 0, 13);
}

/// A handler's call takes the reset up before the hook that it interrupted does: what it has counted stays.
#[test]
fn a_reset_that_a_handler_has_taken_up_is_not_taken_up_again() {
    assert_safe(builds()[0], "reset/call", 0, 6);
}

/// Where paths give way, a child that a handler forks in the middle of a hook does the rest of it as well, with a list of free nodes
/// that is its parent's: whatever it takes, the parent goes on.
#[test]
fn a_child_forked_in_the_middle_takes_no_free_node_from_its_parent() {
    assert_safe(*builds().last().unwrap(), "recycled-in-a-ring/fork-on", 2, 11);
}

/// What the recorder takes off open calls for its own work in a handler is not taken off once more for the work that the handler has
/// interrupted: calls once ended before they began.
#[test]
fn what_is_taken_off_in_a_handler_is_taken_off_once() {
    assert_safe(*builds().last().unwrap(), "new-path/paths", 0, 1);
}

/// A parent steps and sends a signal: the kernel alone decides when it comes.
#[test]
fn signals_that_a_parent_sends() {
    let build = *builds().last().unwrap();
    let mut few = cases(&fixture("stepped.c", build));
    few.retain(|case| {
        ["known", "new-path", "frames-256", "paths-512"].contains(&&*case.scenario.name)
            && ["call", "deep", "paths", "jump"].contains(&&*case.action.name)
    });
    let failures = each(few, |case| case.record(&["ptrace", "samples", "1", "4"]));
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// What fails is the recorder then, and not these tests.
#[test]
fn hooks_that_only_count_pass() {
    let build = *builds().last().unwrap();
    let mut sound = cases(&fixture("stepped.c", build));
    sound.retain(|case| !["recorder", "reset"].contains(&&*case.scenario.kind));
    let mut failures = each(together(&sound), |case| {
        let trials = if case.scenario.kind == "lossy" { "1" } else { "3" };
        case.count("", &["signal", "samples", "1", trials])
    });
    failures.extend(each(sound, |case| {
        let mut outcome = Outcome::default();
        if case.action.name == "call" {
            outcome.add(case.run_plain(&["signal", "samples", "0", "1"]));
        }
        if case.action.kind == "returns" && case.scenario.name == "known" {
            outcome.add(case.count("", &["every", "0", "1", "2"]));
            outcome.add(case.count("", &["ptrace", "0", "9", "40"]));
        }
        outcome
    }));
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// … and what is wrong with a recorder is seen.
#[test]
fn hooks_with_a_fault_do_not() {
    let all = cases(&fixture("stepped.c", builds()[0]));
    let case = all.iter().find(|case| case.scenario.name == "known" && case.action.name == "call").unwrap();
    for (fault, wanted) in [
        ("torn", "wrong inner"),
        ("twice", "wrong on_signal"),
        ("blocked", "killed by SIGTRAP"),
        ("wild", "killed by SIGILL"),
    ] {
        let outcome = case.count(fault, &["signal", "0", "1", "1000"]);
        let all = outcome.failed.iter().chain(&outcome.wrong);
        assert!(all.into_iter().any(|how| how.contains(wanted)), "{fault}: {}", outcome.summary());
    }
    let outcome = case.count("stuck", &["signal", "samples", "0", "40", "own"]);
    assert!(outcome.killed_and_hung().1 > 0, "stuck: {}", outcome.summary());
}

/// For `tests/stepped.sh`, which says what the variables are.
#[test]
#[ignore = "takes hours: tests/stepped.sh"]
fn everything() {
    let stride = number("STEPPED_STRIDE").unwrap_or(1);
    let offset = number("STEPPED_SEED").unwrap_or(0) % stride;
    let only = std::env::var("STEPPED_ONLY").unwrap_or_default();
    let stepper = std::env::var("STEPPED_STEPPER").unwrap_or_else(|_| "signal".to_owned());
    let mut all = Vec::new();
    for &build in builds() {
        all.extend(cases(&fixture("stepped.c", build)));
    }
    all.retain(|case| only.is_empty() || only.split(',').any(|word| is_called(case, word)));
    all.retain(|case| stepper != "every" || case.action.kind == "returns");
    let began = Instant::now();
    let table = Mutex::new(BTreeMap::new());
    let failures = each(all.into_iter().enumerate().collect(), |(index, case)| {
        let start = Instant::now();
        let outcome = take_all(case, &stepper, offset, stride);
        let row = row(case, &outcome, start.elapsed().as_secs_f64());
        warn(&row);
        let mut table = table.lock().unwrap();
        table.insert(*index, row);
        write_table(&table, &format!("Every {stride}th instruction from {offset} on, by {stepper}"), began);
        outcome
    });
    assert!(failures.is_empty(), "{} of the ways and actions failed", failures.len());
}

/// Written anew after each row: what there is can be read, whatever ends it.
fn write_table(table: &BTreeMap<usize, String>, what: &str, began: Instant) {
    let Ok(out) = std::env::var("STEPPED_OUT") else { return };
    let mut text = format!("# {what}: {:.0} s\n\n{HEADING}\n", began.elapsed().as_secs_f64());
    for row in table.values() {
        writeln!(text, "{row}").unwrap();
    }
    fs::write(out, text).unwrap();
}

const HEADING: &str = "| build | scenario | action | steps | trials | killed | hung | wrong counts | s | for example |\n\
                       |---|---|---|--:|--:|--:|--:|--:|--:|---|";

fn row(case: &Case, outcome: &Outcome, seconds: f64) -> String {
    let (killed, hung) = outcome.killed_and_hung();
    let example =
        outcome.failed.iter().take(1).chain(outcome.wrong.iter().take(2)).cloned().collect::<Vec<_>>().join("; ");
    let (build, scenario, action) = (case.program.build, &case.scenario.name, &case.action.name);
    let (steps, trials, wrong) = (outcome.steps, outcome.trials, outcome.wrong.len());
    format!(
        "| {build} | {scenario} | {action} | {steps} | {trials} | {killed} | {hung} | {wrong} | {seconds:.1} | {example} |"
    )
}

fn is_called(case: &Case, word: &str) -> bool {
    let (scenario, action) = word.split_once('/').unwrap_or((word, ""));
    let is = |name: &str, wanted: &str| wanted.is_empty() || wanted == "*" || name == wanted;
    is(&case.scenario.name, scenario) && is(&case.action.name, action)
}

/// Takes a way and an action (`SCENARIO/ACTION`) at every so many of its instructions.
fn assert_safe(build: Build, called: &str, first: u64, stride: u64) {
    let all = cases(&fixture("stepped.c", build));
    let case = all.iter().find(|case| is_called(case, called)).unwrap_or_else(|| panic!("there is no {called}"));
    let outcome = take_all(case, "signal", first, stride);
    assert!(outcome.is_good(), "{}: {}", case.name(), outcome.summary());
}

/// All instructions of a way, or every so many, a batch at a time.
fn take_all(case: &Case, stepper: &str, mut first: u64, stride: u64) -> Outcome {
    // After a reset only the last trial's calls are left: a run for each.
    let batch = match (&*case.scenario.kind, &*case.action.kind) {
        ("reset", _) => 1,
        (_, "returns") => BATCH,
        _ => BATCH / 8, // on foot
    };
    let mut outcome = Outcome::default();
    while !outcome.is_end && outcome.killed_and_hung().1 < 6 {
        let trials = [first.to_string(), stride.to_string(), batch.to_string()];
        let stack = ["own", "alternate"][(first / stride % 2) as usize];
        let mut arguments = vec![stepper, &trials[0], &trials[1], &trials[2]];
        if batch == 1 {
            arguments.push(stack);
        }
        outcome.add(case.record(&arguments));
        first += stride * batch;
    }
    outcome
}

/// Puts cases through something, as many at a time as there are processors; says what failed.
fn each<C: Sync + Named>(cases: Vec<C>, story: impl Fn(&C) -> Outcome + Sync) -> Vec<String> {
    let (next, failures) = (Mutex::new(cases.iter()), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let Some(case) = next.lock().unwrap().next() else { break };
            let outcome = story(case);
            if !outcome.is_good() {
                failures.lock().unwrap().push(format!("  {}: {}", case.name(), outcome.summary()));
            }
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    failures
}

trait Named {
    fn name(&self) -> String;
}

impl Named for Case {
    fn name(&self) -> String {
        format!("{} {} by {}", self.scenario.name, self.action.name, self.program.build)
    }
}

impl Named for (usize, Case) {
    fn name(&self) -> String {
        self.1.name()
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{variable} is no number")))
}
