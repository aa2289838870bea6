//! What an arena's counters say of each path, in units that can be added: the linear part of the correction.
//!
//! A hook pair adds `inner` to the time it measures and `inner + outer` to that of every call it is made in. Both are
//! the family's own constants, so they are taken off here, before families are added. What cannot be less than nothing
//! is cut off only after that (see [`crate::correct`]): cutting each arena's noise off would bias the sum.
//!
//! Where not all calls of a path were timed, the times of those that were are scaled up to all of them.

use std::ops::Range;

use diytrace::node::mark;
use diytrace::{Sample, Slot};
use rayon::prelude::*;

use super::latest::Latest;
use super::tree::Counts;
use crate::load::costs::Costs;
use crate::load::timed::{Timed, Timing};
use crate::load::{Arena, Family, Node};
use crate::time::{Time, Variance};

/// Paths that are worth being shared by the cores.
const WORTH_ANOTHER_CORE: usize = 4096;

/// The paths of an arena whose open calls last until `latest`.
pub struct Measures<'a> {
    family: &'a Family,
    arena: &'a Arena,
    latest: Latest,
    below: Below,
}

impl<'a> Measures<'a> {
    pub fn of(family: &'a Family, arena: &'a Arena, latest: Latest) -> Self {
        Self { family, arena, latest, below: Below::of(arena, latest.ticks, &family.costs) }
    }

    /// Sums of some paths. Of all, those of a large arena would take more memory than the file.
    pub fn counts(&self, paths: Range<usize>) -> Vec<Counts> {
        match paths.len() < WORTH_ANOTHER_CORE {
            true => paths.map(|index| self.of_path(index)).collect(),
            false => paths.into_par_iter().map(|index| self.of_path(index)).collect(),
        }
    }

    fn of_path(&self, index: usize) -> Counts {
        let Self { family, arena, latest, below } = self;
        let (costs, node) = (family.costs, &arena.nodes[index]);
        if arena.is_by_function() {
            let calls = node.calls();
            return Counts { calls, unbinned: calls, without_times: calls, ..Counts::default() };
        }
        let ns_per_tick = family.clock.ns_per_tick();
        let time = |ticks: f64| Time::from_ns(ticks * ns_per_tick);
        let slots = Measured::both(node, &arena.samples, latest.ticks);
        let own = &below.own[index];
        let self_ticks = own.ticks - own.child_ticks;
        let self_costs = own.untimed as f64 * costs.untimed
            + match family.timing {
                // Exact, whatever is still open: every call here costs its caller the same.
                Timing::All => own.pairs as f64 * costs.inner + own.child_pairs as f64 * costs.outer,
                Timing::Sampled | Timing::Off => own.cost - own.child_cost,
            };

        let mut costs_inside = slots.map(|slot| slot.cost(&costs));
        // Of a call that is still open the descendants are not counted yet, but the tree has them.
        if slots.iter().any(|slot| slot.is_open) {
            let known = slots.iter().fold(0u64, |sum, slot| sum.saturating_add(slot.descendants + slot.counted));
            let unknown = below.pairs[index].saturating_sub(known);
            costs_inside[0] += unknown as f64 * costs.of_most(family.timing);
        }
        let all_ticks = (slots[0].ticks + slots[1].ticks).max(1) as f64;
        let untimed_costs = below.untimed[index] as f64 * costs.untimed;
        let inclusive = [0, 1].map(|slot: usize| {
            let share = slots[slot].ticks as f64 / all_ticks;
            time(slots[slot].ticks as f64 - costs_inside[slot] - share * untimed_costs)
        });
        let closed = slots.map(|slot| slot.closed_ticks as f64 - slot.cost(&costs));
        let closed_calls = slots[0].closed.saturating_add(slots[1].closed);
        let variance = variance(node, &arena.samples, &slots, closed[0] + closed[1]);
        Counts {
            calls: node.calls(),
            open: node.calls().saturating_sub(closed_calls),
            open_since_reset: node.is_open_since_reset.into(),
            closed: closed_calls,
            so_far: slots.iter().map(|slot| time((slot.ticks - slot.closed_ticks) as f64)).sum(),
            bound: slots.iter().any(|slot| slot.is_open).then_some(latest.bound),
            unwound: node.unwound,
            unbinned: unbinned(node, closed_calls),
            without_times: 0,
            is_between: false,
            self_raw: time(self_ticks as f64),
            self_corrected: time(self_ticks as f64 - self_costs),
            inclusive_raw: slots.map(|slot| time(slot.ticks as f64)),
            inclusive_corrected: inclusive,
            closed_raw: slots.iter().map(|slot| time(slot.closed_ticks as f64)).sum(),
            closed_corrected: time(closed[0] + closed[1] - untimed_costs),
            error: time(own.pairs as f64 * costs.error_of_most(family.timing)),
            variance: Variance::from_ns2(variance * ns_per_tick * ns_per_tick),
        }
    }
}

/// Calls that returned but are not counted one by one in a histogram.
fn unbinned(node: &Node, closed_calls: u64) -> u64 {
    match node.timed {
        Timed::All if node.has_histogram => 0,
        Timed::AllBut(calls) if node.has_histogram => calls,
        _ => closed_calls.saturating_sub(node.unwound),
    }
}

/// How far off the scaled time of a path's calls may be as not all of them were timed: the variance, in ticks².
fn variance(node: &Node, samples: &[Sample], slots: &[Measured; 2], closed: f64) -> f64 {
    let Timed::Some(sample) = node.timed else { return 0.0 };
    let sample = &samples[sample as usize];
    let calls = slots[0].closed.saturating_add(slots[1].closed).max(1) as f64;
    let represented = sample.calls[0].saturating_add(sample.calls[1]).max(1) as f64;
    let mean = closed / calls;
    let of_one = (sample.squares / represented - mean * mean).max(0.0);
    let scale = calls / represented;
    // A call that stands for `w` tells nothing of the `w - 1` others.
    of_one * sample.spread * scale * scale
}

/// A slot with its open call.
#[derive(Clone, Copy)]
struct Measured {
    /// Time of all its calls, whether they were timed or not.
    ticks: i128,
    /// The same of those that have ended.
    closed_ticks: i128,
    /// Calls that have ended.
    closed: u64,
    /// Those that the timed ones stand for.
    represented: u64,
    /// Calls made inside that were timed; scaled as the time is.
    descendants: u64,
    /// Calls made inside that were counted only.
    counted: u64,
    is_open: bool,
}

impl Measured {
    fn both(node: &Node, samples: &[Sample], latest: u64) -> [Self; 2] {
        let closed = [0, 1].map(|slot: usize| closed(&node.slots[slot]));
        let all = closed[0].saturating_add(closed[1]);
        [0, 1].map(|slot: usize| {
            let (represented, counted) = match node.timed {
                Timed::All => (closed[slot], 0),
                Timed::AllBut(calls) => {
                    let share = closed[slot] as f64 / all.max(1) as f64;
                    (closed[slot].saturating_sub((calls as f64 * share) as u64), 0)
                }
                Timed::Some(sample) => {
                    let sample = &samples[sample as usize];
                    (sample.calls[slot], sample.counted[slot])
                }
                Timed::None => (0, 0),
            };
            Self::of(&node.slots[slot], latest, closed[slot], represented, counted)
        })
    }

    fn of(slot: &Slot, latest: u64, closed: u64, represented: u64, counted: u64) -> Self {
        let is_open = slot.mark & mark::OPEN != 0;
        // A call that is not timed has no time in its mark.
        let began = slot.mark & !mark::BITS;
        let so_far = if is_open && began != 0 { latest.saturating_sub(began) } else { 0 };
        let scale = if represented == 0 || closed == represented { 1.0 } else { closed as f64 / represented as f64 };
        let scaled = |count: u64| if scale == 1.0 { count } else { (count as f64 * scale).round() as u64 };
        let ticks = if scale == 1.0 { i128::from(slot.ticks) } else { (slot.ticks as f64 * scale).round() as i128 };
        Self {
            ticks: ticks + i128::from(so_far),
            closed_ticks: ticks,
            closed,
            represented,
            descendants: scaled(slot.descendants),
            counted: scaled(counted),
            is_open,
        }
    }

    /// What the hooks have added to the time of its calls that have ended, in ticks.
    fn cost(&self, costs: &Costs) -> f64 {
        let timed = if self.represented == 0 { 0 } else { self.closed };
        timed as f64 * costs.inner
            + self.descendants as f64 * (costs.inner + costs.outer)
            + self.counted as f64 * costs.counted
    }
}

/// Calls that have ended.
fn closed(slot: &Slot) -> u64 {
    let is_own_open = slot.mark & mark::OPEN != 0 && slot.mark & mark::INHERITED == 0;
    slot.calls.saturating_sub(u64::from(is_own_open))
}

/// Sums at positions: of the calls that are there, and of the calls they make.
#[derive(Clone, Copy, Default)]
struct Own {
    ticks: i128,
    child_ticks: i128,
    pairs: u64,
    child_pairs: u64,
    untimed: u64,
    /// What the hooks have added to `ticks`.
    cost: f64,
    /// What they have added to `child_ticks`.
    child_cost: f64,
}

/// Sums over the tree.
struct Below {
    own: Vec<Own>,
    /// Hook pairs of recorded calls below each path, at any depth.
    pairs: Vec<u64>,
    /// Calls that are not recorded, at the path and below it.
    untimed: Vec<u64>,
}

impl Below {
    fn of(arena: &Arena, latest: u64, costs: &Costs) -> Self {
        let nodes = &arena.nodes;
        let mut own = vec![Own::default(); nodes.len()];
        for (index, node) in nodes.iter().enumerate() {
            let parent = node.parent.map(|parent| parent as usize);
            if node.is_untimed() {
                if let Some(parent) = parent {
                    own[parent].untimed = own[parent].untimed.saturating_add(node.calls());
                }
                continue;
            }
            let slots = Measured::both(node, &arena.samples, latest);
            let ticks = slots[0].ticks + slots[1].ticks;
            let cost = slots[0].cost(costs) + slots[1].cost(costs);
            let pairs = slots[0].closed.saturating_add(slots[1].closed);
            let position = &mut own[node.folded_into.map_or(index, |position| position as usize)];
            position.ticks += ticks;
            position.cost += cost;
            position.pairs = position.pairs.saturating_add(pairs);
            if let Some(parent) = parent {
                own[parent].child_ticks += ticks;
                own[parent].child_cost += cost;
                own[parent].child_pairs = own[parent].child_pairs.saturating_add(pairs);
            }
        }
        let mut pairs = vec![0u64; nodes.len()];
        let mut untimed: Vec<u64> = own.iter().map(|own| own.untimed).collect();
        for (index, node) in nodes.iter().enumerate().rev() {
            // A parent comes before its children, so by now all of this one's are in.
            pairs[index] = pairs[index].saturating_add(own[index].child_pairs);
            if let Some(parent) = node.parent.map(|parent| parent as usize) {
                pairs[parent] = pairs[parent].saturating_add(pairs[index]);
                untimed[parent] = untimed[parent].saturating_add(untimed[index]);
            }
        }
        Self { own, pairs, untimed }
    }
}
