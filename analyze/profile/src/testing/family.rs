//! Loaded data, made by hand.

use std::path::PathBuf;

use diytrace_format::header::Anchor;
use diytrace_format::histogram::{SUBS, bin};
use diytrace_format::{Slot, arena};
use zerocopy::FromZeros;

use crate::histogram::Histogram;
use crate::load::clock::{Clock, Source};
use crate::load::costs::Evidence;
use crate::load::timed::{Timed, Timing};
use crate::load::{self, Arena, Family, Module, Node, Off};
use crate::process::State;

/// A family of one program at 0x1000, with a tick of a nanosecond and hooks that cost nothing.
pub fn family(arenas: Vec<Arena>) -> Family {
    Family {
        path: PathBuf::from("test.diyt"),
        clock: Clock { source: Source::Tsc, hz: 1e9, anchor: Anchor::default() },
        evidence: Evidence::default(),
        timing: Timing::All,
        pid: 100,
        ppid: 1,
        processes: 1,
        started_unix_ns: 1_000_000,
        first_ticks: 0,
        read_ticks: 0,
        last_anchor_ticks: 0,
        end_ticks: 0,
        snapshot: None,
        lost_calls: 0,
        resets: 0,
        reset_ticks: 0,
        boot_id: [0; 16],
        exe: "/bin/program".to_owned(),
        cmdline: vec!["program".to_owned()],
        roots: Vec::new(),
        modules: vec![module("/bin/program", 1, 0x1000)],
        arenas,
        missing_bytes: 0,
        warnings: Vec::new(),
    }
}

/// A module of 4 KiB whose addresses begin at 0.
pub fn module(path: &str, build_id: u8, start: u64) -> Module {
    Module {
        path: path.to_owned(),
        build_id: vec![build_id],
        bias: start,
        start,
        end: start + 0x1000,
        number: 1,
        is_instrumented: true,
        is_program: true,
        modified_unix_ns: 0,
        file_size: 0,
    }
}

/// An arena of the first process.
pub fn arena(nodes: Vec<Node>) -> Arena {
    let mut facts = diytrace_format::Arena::new_zeroed();
    (facts.pid, facts.tid, facts.process, facts.owners, facts.processes) = (100, 100, 1, 1, 1);
    facts.flags = arena::flag::EXITED;
    let names = (0..nodes.len() as diytrace_format::Ref).collect();
    Arena {
        facts,
        name: 1,
        state: State::Exited,
        is_before_reset: false,
        recycling: None,
        names,
        by_name: Vec::new(),
        nodes: nodes.into_iter().collect(),
        functions: Vec::new(),
    }
}

/// A path of calls that have all ended.
pub fn node(function: u64, parent: Option<u32>, slot: Slot) -> Node {
    Node {
        function,
        site: 0x1800 + function,
        hook: function + 8,
        target: 0,
        module: 1,
        site_module: 1,
        flags: 0,
        parent,
        folded_into: None,
        is_root: false,
        has_histogram: false,
        is_open_since_reset: false,
        unwound: 0,
        timed: Timed::All,
        slots: [slot, Slot::default()],
        off: Off::default(),
    }
}

/// Counters of calls that have all ended.
pub fn slot(calls: u64, ticks: u64, descendants: u64) -> Slot {
    Slot { calls, ticks, descendants, mark: 0 }
}

/// A histogram of these times in ticks.
pub fn histogram_of(ticks: &[u64], hz: f64) -> Histogram {
    let mut histogram = Histogram::default();
    histogram.add(&function_of(0, ticks), hz);
    histogram
}

/// A function whose calls took these times.
pub fn function_of(address: u64, ticks: &[u64]) -> load::Function {
    let mut octaves: Vec<(u8, [u64; SUBS])> = Vec::new();
    for &value in ticks {
        let (octave, sub) = bin(value);
        let index = octaves.iter().position(|&(known, _)| usize::from(known) == octave).unwrap_or_else(|| {
            octaves.push((octave as u8, [0; SUBS]));
            octaves.len() - 1
        });
        octaves[index].1[sub] += 1;
    }
    octaves.sort_unstable_by_key(|(octave, _)| *octave); // as they are read
    let extremes = ticks.iter().min().copied().zip(ticks.iter().max().copied());
    load::Function { address, module: 1, extremes, unbinned: 0, octaves, timeline: None }
}
