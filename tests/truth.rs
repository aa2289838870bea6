//! Times, held against the truth.
//!
//! Functions that burn known times show what no noise can make untrue: a busy machine may add to any of them, but nothing
//! takes less than it took. How near times are, and that the stated error is no wider than it must be, is asked of simulated
//! runs, whose truth is known to the nanosecond; of real ones, on a quiet machine, by `benches/truth-functions.sh`.

mod common;

use std::collections::BTreeMap;

use common::simulated::{Chance, Hooks, Program, Times, Truth as Simulated};
use common::{Build, Document, Function, Report, diytrace, each_build, fixture, run_to_end};

/// What the hooks' cost may be taken for, beside the truth: it was measured on a busy machine.
const SLACK: f64 = 0.9;

/// What the fixture says of itself.
struct Truth {
    /// What a call takes beside its spin.
    around_ns: f64,
    /// Calls, and the sum of their self times.
    functions: BTreeMap<String, (u64, f64)>,
}

impl Truth {
    fn parse(stdout: &str) -> Self {
        let mut truth = Self { around_ns: 0.0, functions: BTreeMap::new() };
        for line in stdout.lines() {
            match line.split('\t').collect::<Vec<_>>()[..] {
                ["around", ns] => truth.around_ns = ns.parse().unwrap(),
                [name, calls, self_ns, ..] => {
                    truth.functions.insert(name.to_owned(), (calls.parse().unwrap(), self_ns.parse().unwrap()));
                }
                _ => {}
            }
        }
        truth
    }
}

/// How often a call spins, and how long, by the function's name.
fn spins(function: &str) -> (f64, f64) {
    let (kind, ns) = function.split_once('_').unwrap();
    (if kind == "outer" { 2.0 } else { 1.0 }, ns.parse().unwrap())
}

#[test]
fn nothing_takes_less_than_it_took() {
    each_build("spins.c", |program| {
        let recorded = program.record().arg("0.02").with_output_of_its_own().run();
        let (truth, report) = (Truth::parse(&recorded.stdout), recorded.report());
        // No processor reads its clock twice in less, and what a loop shows is known to a fifth.
        let cost = report.overhead.inner_ns + report.overhead.outer_ns;
        assert!(cost > 2.0 && report.overhead.error_ns < 3.0 * cost, "{:?}", report.overhead);
        assert_eq!(truth.functions.len(), 9 + 4 * 4);
        for (name, &(calls, self_ns)) in &truth.functions {
            let function = report.function(name);
            assert_eq!(function.calls, calls, "{name}");
            let (spins, ns) = spins(name);
            let spun = self_ns - calls as f64 * spins * truth.around_ns;
            // The hooks read the clock before the spin does and after it, on the same counter.
            assert_at_least(function.self_raw_ns, spun * 0.999, "what it spun", function);
            let least = calls as f64 * spins * ns;
            assert_at_least(
                function.self_ns + function.total_error_ns,
                least * SLACK,
                "what it was told to spin",
                function,
            );
            let a_call = function.total_error_ns / calls as f64;
            // The error is that of what hooks take on the average: those of one call in two thousand may take less than that tells.
            let times = [function.p50_ns, function.p90_ns, function.p99_ns, function.max_ns].map(|time| (time, a_call));
            for (time, error) in times.into_iter().chain([(function.min_ns, 2.0 * a_call)]) {
                assert_at_least(time.unwrap() + error, spins * ns * SLACK, "what each call was told to spin", function);
            }
        }
        for ns in [50, 200, 1000, 10_000] {
            let of = |kind: &str| report.function(&format!("{kind}_{ns}"));
            let (outer, middle, down) = (of("outer"), of("middle"), of("down"));
            assert_eq!(outer.callee(&middle.name).calls, 2 * outer.calls);
            assert_eq!(middle.callee(&of("inner").name).calls, 3 * middle.calls);
            assert_eq!(down.callee(&down.name).calls * 10, down.calls * 9);
            let spun = |kind: &str| truth.functions[&format!("{kind}_{ns}")].1;
            let below = spun("outer") + spun("middle") + spun("inner");
            let around = truth.around_ns * (outer.calls as f64 * (2.0 + 2.0 + 6.0));
            assert_at_least(outer.total_raw_ns, (below - around) * 0.999, "what it and its callees spun", outer);
        }
    });
}

fn assert_at_least(found: f64, least: f64, what: &str, function: &Function) {
    assert!(found >= least, "{found} ns is less than {what}, {least} ns: {function:#?}");
}

/// What calls of `changes.c` take themselves, in nanoseconds.
fn own(function: &str) -> f64 {
    match function {
        "main" => 50.0,
        "handle" => 20.0,
        "parse" => 2_000.0,
        "lookup" => 300.0,
        "compare" => 35.0, // less than its hooks
        "render" => 700.0,
        other => panic!("changes.c has no {other}"),
    }
}

const HOOKS: Hooks = Hooks { inner: 12.0, outer: 30.0, counted: 9.0 };

/// How far off the recorder's loop says that it may be.
const LOOP_ERROR: f64 = 8.0;

/// A program of a thousand requests in which a pair of hooks takes so much more than its windows tell (than its loop, if there
/// are none), in nanoseconds, and so much more of that lies inside the interval than its loop tells.
fn simulated(
    program: &Program,
    windows: usize,
    [more, inside]: [f64; 2],
    chance: &mut Chance,
) -> (Report, BTreeMap<String, Simulated>) {
    let here = tempfile::tempdir().unwrap();
    // What a noted pair takes is in no window.
    let timing = HOOKS.inner + HOOKS.outer - HOOKS.counted;
    // A loop has its calls in the caches: what it finds is too little, and in the right proportion. Windows know better.
    let of_loop = if windows > 0 { 0.9 } else { 1.0 };
    let times = Times {
        own: &own,
        variation: 0.2,
        hooks: Hooks { inner: HOOKS.inner + inside, outer: HOOKS.outer + more - inside, ..HOOKS },
        hooks_variation: 0.2,
        found: Hooks { inner: HOOKS.inner * of_loop, outer: HOOKS.outer * of_loop, counted: HOOKS.counted },
        found_error: LOOP_ERROR,
        windows: (0..windows).map(|_| timing + chance.normal()).collect(),
        wait: None,
        knows_preempted: false,
    };
    let truth = program.run(&times, chance, here.path());
    let output = run_to_end(diytrace(here.path()).args(["report", "--format", "json", "."]));
    let document = Document::parse(&output.stdout);
    assert_eq!(document.warnings, [""; 0]);
    (document.into_only_report(), truth)
}

fn program_of_a_thousand_requests() -> Program {
    Program::of(&fixture("changes.c", Build::GCC_O2).record().arg("1000").run())
}

/// Where the cost is what windows or the loop say, what is left of the hooks in any time is a fiftieth of it.
#[test]
fn the_hooks_are_taken_off() {
    /// Half of a histogram's bin.
    const BIN: f64 = 1.0 / 32.0;
    let program = program_of_a_thousand_requests();
    let mut chance = Chance::new(1);
    for windows in [60, 60, 60, 0, 0] {
        let (report, truth) = simulated(&program, windows, [0.0, 0.0], &mut chance);
        assert_eq!((report.overhead.inner_ns / HOOKS.inner - 1.0).abs().max(0.02), 0.02, "{:?}", report.overhead);
        assert_eq!((report.overhead.outer_ns / HOOKS.outer - 1.0).abs().max(0.02), 0.02, "{:?}", report.overhead);
        for (name, truth) in &truth {
            let function = report.function(name);
            let cost = truth.pairs as f64 * (HOOKS.inner + HOOKS.outer);
            let near = |found: f64, expected: f64, within: f64, what: &str| {
                let is_near = (found - expected).abs() <= within;
                assert!(is_near, "{what} is {found} ns, not {expected} within {within}: {function:#?}");
            };
            assert_eq!(function.calls, truth.calls, "{name}");
            near(function.total_ns, truth.total_ns, cost / 50.0 + 1.0, "the total");
            near(function.self_ns, truth.own_ns, cost / 50.0 + 1.0, "the self time");
            if windows == 0 {
                // Of all pairs in it, and below a part of each; more where something was cut to fit.
                let stated = truth.pairs as f64 * LOOP_ERROR;
                near(function.total_error_ns, stated, stated / 50.0 + cost / 50.0, "the error");
            }
            let of_a_call = cost / truth.calls as f64;
            for (share, found) in [(0.5, function.p50_ns), (0.9, function.p90_ns), (0.99, function.p99_ns)] {
                let rank = (share * truth.calls as f64).ceil() as usize;
                let expected = truth.each_ns[rank - 1];
                near(found.unwrap(), expected, expected * BIN + of_a_call * 0.2, "a percentile");
            }
            near(function.mean_ns.unwrap(), truth.total_ns / truth.calls as f64, of_a_call / 50.0 + 1.0, "the mean");
        }
    }
}

/// Windows may be off by what nobody knows of the pair that notes a call, and the loop by as much in which part of the cost lies
/// inside a call. So far off may times be then, and an error that says more tells less than is known.
#[test]
fn the_error_is_as_wide_as_it_must_be() {
    const PROGRAMS: usize = 30;
    /// How far off the cost of a pair is, as a part of it.
    const OFF: f64 = 0.08;
    let program = program_of_a_thousand_requests();
    let mut chance = Chance::new(2);
    let mut found: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for _ in 0..PROGRAMS {
        let off = [(); 2].map(|()| OFF * (HOOKS.inner + HOOKS.outer) * chance.normal());
        let (report, truth) = simulated(&program, 60, off, &mut chance);
        for (name, truth) in truth {
            let function = report.function(&name);
            found.entry(name).or_default().push((function.total_ns - truth.total_ns, function.total_error_ns));
        }
    }
    for (name, found) in found {
        let spread = (found.iter().map(|(off, _)| off * off).sum::<f64>() / PROGRAMS as f64).sqrt();
        let mut stated: Vec<f64> = found.iter().map(|(_, error)| *error).collect();
        stated.sort_by(f64::total_cmp);
        let (usual, most) = (stated[PROGRAMS / 2], stated[PROGRAMS - 1]);
        assert!((spread * 0.7..spread * 2.0).contains(&usual), "{name}: {usual} ns is stated, {spread} ns is so");
        // What is cut to fit into the time of its caller is less certain.
        assert!(most < spread * 4.0, "{name}: {most} ns is stated, {spread} ns is so");
        assert!(found.iter().all(|(off, error)| off.abs() < 3.0 * error), "{name}: {found:?}");
        let within = found.iter().filter(|(off, error)| off.abs() <= *error).count();
        assert!(within >= PROGRAMS / 2, "{name}: {within} of {PROGRAMS} are within what is stated");
    }
}
