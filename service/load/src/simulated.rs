//! Tests on a server whose times are made up: what is told of it is compared with arithmetic.

use std::collections::BinaryHeap;
use std::time::Duration;

use crate::Target;
use crate::document::Document;
use crate::failure::NotSent;
use crate::pace::{Plan, Rates};
use crate::phase::{Driver, Phase, Shared};
use crate::run::{self, Observer};
use crate::tally::{Sent, Tally};

/// A server, and the connections to it.
struct Simulated {
    connections: usize,
    /// What a request takes at a rate, in nanoseconds.
    takes: fn(rate: f64, random: &mut fastrand::Rng) -> u64,
    /// Of each second the server stands still for the first so many nanoseconds.
    stall_ns: u64,
    /// From plan to answer and from send to answer, of all requests of the latest phase.
    latencies: Vec<(u64, u64)>,
}

impl Driver for Simulated {
    fn drive(&mut self, phase: &Phase, thread: u64, _shared: &Shared) -> Tally {
        let mut random = fastrand::Rng::with_seed(phase.seed);
        let mut plan = Plan::new(phase.pace, phase.begins_ns, (thread, phase.threads), random.clone());
        let mut tally = Tally::new(phase.begins_ns);
        let mut free: BinaryHeap<_> = (0..self.connections).map(|_| std::cmp::Reverse(0)).collect();
        self.latencies.clear();
        while plan.peek() < phase.ends_ns {
            let planned_ns = plan.peek();
            plan.advance();
            tally.planned += 1;
            let std::cmp::Reverse(free_ns) = free.pop().unwrap();
            let sent_ns = planned_ns.max(free_ns);
            if sent_ns >= phase.ends_ns {
                tally.skip(planned_ns, NotSent::AtEnd);
                free.push(std::cmp::Reverse(free_ns));
                continue;
            }
            let mut end_ns = sent_ns + (self.takes)(phase.pace.rate().unwrap(), &mut random);
            let in_second = (end_ns - phase.begins_ns) % 1_000_000_000;
            if in_second < self.stall_ns {
                end_ns += self.stall_ns - in_second;
            }
            free.push(std::cmp::Reverse(end_ns));
            let sent = Sent { planned_ns, sent_ns };
            tally.send(sent, sent_ns > planned_ns);
            tally.answer(sent, end_ns);
            self.latencies.push((end_ns - planned_ns, end_ns - sent_ns));
        }
        tally
    }
}

struct Nobody;

impl Observer for Nobody {}

impl Simulated {
    fn run(&mut self, rates: &str, is_poisson: bool) -> Document {
        let rates: Rates = rates.parse().unwrap();
        let (duration, warm_up) = (Duration::from_secs(10), Duration::ZERO);
        let plan = run::Plan { rates, is_poisson, duration, warm_up, seed: 3 };
        let steps = run::run(&plan, std::slice::from_mut(self), &Shared::new(), &mut Nobody).unwrap();
        Document::new(Target::default(), &steps)
    }
}

/// The exact percentile, by nearest rank.
fn percentile(sorted: &[u64], share: f64) -> f64 {
    sorted[(sorted.len() as f64 * share).ceil() as usize - 1] as f64
}

#[test]
fn percentiles_are_those_of_the_requests() {
    let takes = |_: f64, random: &mut fastrand::Rng| 200_000 + random.u64(0..600_000);
    for (stall_ns, connections) in [(0, 8), (200_000_000, 8), (200_000_000, 500), (7_000_000, 1)] {
        let mut server = Simulated { connections, takes, stall_ns, latencies: Vec::new() };
        let document = server.run("900", true);
        let step = &document.steps[0];
        for (kind, times) in [(0, &step.latency_ns), (1, &step.from_send_ns)] {
            let of = |pair: &(u64, u64)| if kind == 0 { pair.0 } else { pair.1 };
            let mut exact: Vec<u64> = server.latencies.iter().map(of).collect();
            exact.sort_unstable();
            assert_eq!(times.count, exact.len() as u64);
            for (name, share) in
                [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)]
            {
                let (told, exact) = (times.percentile(name).unwrap(), percentile(&exact, share));
                assert!((told / exact - 1.0).abs() < 0.001, "{name}: {told}, not {exact} ({stall_ns}, {connections})");
            }
            assert_eq!((times.min, times.max), (Some(exact[0] as f64), exact.last().map(|ns| *ns as f64)));
        }
    }
}

#[test]
fn a_stall_is_in_latencies_from_plan_and_nearly_none_from_send() {
    // Of equally spaced requests a fifth falls into stalls, and waits for the rest of them.
    let mut server = Simulated { connections: 1, takes: |_, _| 1_000, stall_ns: 200_000_000, latencies: Vec::new() };
    let document = server.run("1000", false);
    let step = &document.steps[0];
    for (share, expected) in [(0.9, 100e6), (0.95, 150e6), (0.99, 190e6)] {
        let name = format!("p{:.0}", share * 100.0);
        let [plan, send] = [&step.latency_ns, &step.from_send_ns].map(|times| times.percentile(&name).unwrap());
        assert!((plan / expected - 1.0).abs() < 0.015, "{name}: {plan}");
        assert!(send < 2_000.0, "{name}: {send}: one request a second has seen it");
    }
    let slowest = step.timeline.slices.iter().filter(|slice| slice.p99_ns.is_some_and(|ns| ns > 1e6)).count();
    let all = step.timeline.slices.len();
    assert!((0.15..0.35).contains(&(slowest as f64 / all as f64)), "{slowest} of {all} slices");
}

#[test]
fn latency_bends_where_the_server_is_full() {
    let takes = |_: f64, _: &mut fastrand::Rng| 2_000_000;
    let mut server = Simulated { connections: 1, takes, stall_ns: 0, latencies: Vec::new() };
    let document = server.run("50,100,400,600", true);
    assert!(document.summary.starts_with("p99 bends at 400/s ("), "{}", document.summary);
    assert!(document.steps[3].not_sent > 0 && document.warnings.iter().any(|warning| warning.starts_with("600/s: ")));
    // With connections to spare it does not.
    let mut server = Simulated { connections: 100, takes, stall_ns: 0, latencies: Vec::new() };
    let document = server.run("50,100,400,600", true);
    assert!(document.summary.starts_with("latency does not bend up to 600/s ("), "{}", document.summary);
}

#[test]
fn a_ramp_ends_where_the_server_cannot_keep_up() {
    let takes = |_: f64, _: &mut fastrand::Rng| 2_000_000;
    let mut server = Simulated { connections: 1, takes, stall_ns: 0, latencies: Vec::new() };
    let document = server.run("ramp", false);
    let rates: Vec<f64> = document.steps.iter().filter_map(|step| step.offered_per_s).collect();
    assert_eq!(rates, [100.0, 200.0, 400.0, 800.0]);
    assert!(document.steps[3].not_sent > 0);
}
