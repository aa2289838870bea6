//! Functions that burn known times: what no noise can make untrue. `benches/truth-functions.sh` holds times against the
//! truth; here a busy machine may add to any of them, but nothing takes less than it took.

mod common;

use std::collections::BTreeMap;

use common::{Function, each_build};

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
            for time in [function.min_ns, function.p50_ns, function.p90_ns, function.p99_ns, function.max_ns] {
                assert_at_least(
                    time.unwrap() + a_call,
                    spins * ns * SLACK,
                    "what each call was told to spin",
                    function,
                );
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
