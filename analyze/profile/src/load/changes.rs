//! What is not the same any more in a file that was read before.

use diytrace_format::histogram::SUBS;
use diytrace_format::node::mark;
use diytrace_format::{Ref, Slot};

use super::clock::Clock;
use super::family::{Family, Function, Node};
use crate::timeline::Slices;

/// What is not the same any more in a family.
#[derive(Clone, Debug)]
pub struct Changes {
    /// When it was looked at, by `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// Its clock as it is known now.
    pub clock: Clock,
    /// The moment, in ticks.
    pub read_ticks: u64,
    /// See [`Family::last_anchor_ticks`].
    pub last_anchor_ticks: u64,
    /// See [`Family::lost_calls`].
    pub lost_calls: u64,
    /// Of each arena.
    pub arenas: Vec<ArenaChanges>,
}

/// What is not the same any more in an arena.
#[derive(Clone, Debug)]
pub struct ArenaChanges {
    /// As they are now.
    pub facts: diytrace_format::Arena,
    /// Paths, by their places, ascending.
    pub nodes: Vec<(u32, Node)>,
    /// The bytes of those.
    pub(super) raw: Vec<u8>,
    /// Functions, by their places, ascending.
    pub functions: Vec<(u32, FunctionChanges)>,
    /// New records of time off the processor, and their paths.
    pub(super) new_off: Vec<(Ref, u32)>,
}

/// What has come to a function.
#[derive(Clone, Debug)]
pub struct FunctionChanges {
    /// Its shortest and longest call, of all that it has had.
    pub extremes: Option<(u64, u64)>,
    /// How many have come that are in no bin.
    pub unbinned: u64,
    /// How many have come to each bin, of octaves that have more.
    pub octaves: Vec<(u8, [u64; SUBS])>,
    /// All of its timeline.
    pub timeline: Option<Slices>,
}

impl FunctionChanges {
    fn apply(self, function: &mut Function) {
        let Self { extremes, unbinned, octaves, timeline } = self;
        (function.extremes, function.timeline) = (extremes, timeline);
        function.unbinned = function.unbinned.saturating_add(unbinned);
        for (octave, more) in octaves {
            match function.octaves.binary_search_by_key(&octave, |(known, _)| *known) {
                Ok(at) => {
                    let counts = &mut function.octaves[at].1;
                    counts.iter_mut().zip(more).for_each(|(count, more)| *count = count.saturating_add(more));
                }
                Err(at) => function.octaves.insert(at, (octave, more)),
            }
        }
    }
}

impl ArenaChanges {
    /// None so far.
    pub(super) fn none(facts: diytrace_format::Arena) -> Self {
        let (nodes, raw, functions, new_off) = Default::default();
        Self { facts, nodes, raw, functions, new_off }
    }

    /// The latest moment that changed paths tell of; 0 if none has.
    pub(super) fn last_mark(&self) -> u64 {
        let latest = |node: &Node| node.slots.iter().map(|Slot { mark, .. }| mark & !mark::BITS).max().unwrap_or(0);
        self.nodes.iter().map(|(_, node)| latest(node)).max().unwrap_or(0)
    }
}

impl Changes {
    /// Makes a family what it is now.
    pub fn apply(self, family: &mut Family) {
        let Self { clock, read_ticks, last_anchor_ticks, lost_calls, arenas, .. } = self;
        (family.clock, family.read_ticks) = (clock, read_ticks);
        (family.last_anchor_ticks, family.lost_calls) = (last_anchor_ticks, lost_calls);
        for (arena, changes) in family.arenas.iter_mut().zip(arenas) {
            arena.facts = changes.facts;
            changes.nodes.into_iter().for_each(|(at, node)| arena.nodes[at as usize] = node);
            changes.functions.into_iter().for_each(|(at, function)| function.apply(&mut arena.functions[at as usize]));
        }
    }
}
