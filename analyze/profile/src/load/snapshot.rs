//! Snapshots: a family as it was at one moment.

use diytrace_format::node::mark;

use super::family::Family;
pub use super::moment::{Moment, is_at};
use super::state;
use crate::process::State;

impl Moment {
    /// The moment a family was read at, by `CLOCK_MONOTONIC`; on the profile's clock, which is gone if the machine was started
    /// anew.
    pub fn read(family: &Family, read_monotonic_ns: u64) -> Self {
        let slots = || family.arenas.iter().flat_map(|arena| &arena.nodes).flat_map(|node| node.slots);
        let ticks = match state::is_of_this_boot(family) {
            true => family.clock.ticks_at(read_monotonic_ns),
            false => slots().map(|slot| slot.mark & !mark::BITS).max().unwrap_or(family.first_ticks),
        };
        Self::of(family, ticks)
    }

    /// The moment a family was read at: the last there is if nothing of it is running.
    pub fn of(family: &Family, ticks: u64) -> Self {
        let running = family.arenas.iter().filter(|arena| arena.state == State::Running);
        let mut running: Vec<u32> = running.map(|arena| arena.facts.process).collect();
        running.sort_unstable();
        running.dedup();
        Self { ticks, unix_ns: family.unix_ns(ticks), running }
    }

    /// Makes a profile one of this moment.
    pub(super) fn apply(&self, family: &mut Family) {
        state::fill_in(family, |facts| self.running.binary_search(&facts.process).is_ok());
        family.read_ticks = if self.running.is_empty() { 0 } else { self.ticks };
        family.snapshot = Some(self.clone());
    }
}
