//! What is not the same any more in a file that was read before.

use std::mem::swap;
use std::ops::Range;

use diytrace_format::histogram::SUBS;
use diytrace_format::node::mark;
use diytrace_format::{NodeRecord, Ref, Slot};

use super::clock::Clock;
use super::family::{Family, Function};
use super::node::Node;
use crate::timeline::Slices;

/// What is not the same any more in a family.
#[derive(Clone, Debug)]
pub struct Changes {
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
    /// Whether they were made: what is here is what was there before.
    pub are_made: bool,
}

/// What is not the same any more in an arena.
#[derive(Clone, Debug)]
pub struct ArenaChanges {
    /// As they are now.
    pub facts: diytrace_format::Arena,
    /// Paths, by their places, ascending.
    pub nodes: Vec<(u32, Node)>,
    /// Those in the file.
    pub(super) raw: Vec<NodeRecord>,
    /// Functions, by their places, ascending.
    pub functions: Vec<(u32, FunctionChanges)>,
    /// How many calls have come to each bin, of octaves that have more.
    pub(super) octaves: Vec<Octave>,
    /// New records of time off the processor, and their paths.
    pub(super) new_off: Vec<(Ref, u32)>,
}

/// An octave of a histogram.
pub type Octave = (u8, [u64; SUBS]);

/// What has come to a function.
#[derive(Clone, Debug)]
pub struct FunctionChanges {
    /// Its shortest and longest call, of all that it has had.
    pub extremes: Option<(u64, u64)>,
    /// How many have come that are in no bin.
    pub unbinned: u64,
    /// All of its timeline.
    pub timeline: Option<Slices>,
    /// Which octaves are its own.
    pub(super) octaves: Range<usize>,
}

impl FunctionChanges {
    fn swap(&mut self, all: &[Octave], are_made: bool, function: &mut Function) {
        swap(&mut self.extremes, &mut function.extremes);
        swap(&mut self.timeline, &mut function.timeline);
        let change =
            |count: u64, more: u64| if are_made { count.saturating_sub(more) } else { count.saturating_add(more) };
        function.unbinned = change(function.unbinned, self.unbinned);
        // Both ascend.
        let mut at = 0;
        for (octave, more) in &all[self.octaves.clone()] {
            while function.octaves.get(at).is_some_and(|(known, _)| known < octave) {
                at += 1;
            }
            match function.octaves.get_mut(at) {
                Some((known, counts)) if known == octave => {
                    counts.iter_mut().zip(more).for_each(|(count, more)| *count = change(*count, *more));
                }
                _ => {
                    function.octaves.reserve_exact(1); // there are seldom new ones, and each takes two cache lines
                    function.octaves.insert(at, (*octave, *more));
                }
            }
        }
        if are_made {
            function.octaves.retain(|(_, counts)| counts.iter().any(|count| *count > 0));
        }
    }
}

impl ArenaChanges {
    /// None so far.
    pub(super) fn none(facts: diytrace_format::Arena) -> Self {
        let (nodes, raw, functions, octaves, new_off) = Default::default();
        Self { facts, nodes, raw, functions, octaves, new_off }
    }

    /// How many calls have come to a function's bins.
    pub fn octaves(&self, function: &FunctionChanges) -> &[Octave] {
        &self.octaves[function.octaves.clone()]
    }

    /// The latest moment that changed paths tell of; 0 if none has.
    pub(super) fn last_mark(&self) -> u64 {
        let latest = |node: &Node| node.slots.iter().map(|Slot { mark, .. }| mark & !mark::BITS).max().unwrap_or(0);
        self.nodes.iter().map(|(_, node)| latest(node)).max().unwrap_or(0)
    }
}

impl Changes {
    /// Makes a family what it is now; or what it was, if that was done.
    pub(super) fn swap(&mut self, family: &mut Family) {
        swap(&mut self.clock, &mut family.clock);
        swap(&mut self.read_ticks, &mut family.read_ticks);
        swap(&mut self.last_anchor_ticks, &mut family.last_anchor_ticks);
        swap(&mut self.lost_calls, &mut family.lost_calls);
        for (arena, changes) in family.arenas.iter_mut().zip(&mut self.arenas) {
            swap(&mut arena.facts, &mut changes.facts);
            for (at, node) in &mut changes.nodes {
                arena.nodes.change(*at as usize, |was| swap(node, was));
            }
            for (at, function) in &mut changes.functions {
                function.swap(&changes.octaves, self.are_made, &mut arena.functions[*at as usize]);
            }
        }
        self.are_made = !self.are_made;
    }
}
