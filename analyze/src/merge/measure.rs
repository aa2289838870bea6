//! What an arena's counters say of each path, in units that can be added: the linear part of the correction.
//!
//! A hook pair adds `inner` to the time it measures and `inner + outer` to that of every call it is made in. Both are
//! the family's own constants, so they are taken off here, before families are added. What cannot be less than nothing
//! is cut off only after that (see [`crate::correct`]): cutting each arena's noise off would bias the sum.

use diytrace::Slot;
use diytrace::node::mark;

use super::tree::Counts;
use crate::load::{Arena, Family, Node};
use crate::time::Time;

/// The latest moment, in ticks, that an arena or its whole process is known to have lived.
pub fn latest<'a>(arenas: impl IntoIterator<Item = &'a Arena>) -> u64 {
    let slots = arenas.into_iter().flat_map(|arena| &arena.nodes).flat_map(|node| &node.slots);
    slots.map(|slot| slot.mark & !mark::BITS).max().unwrap_or(0)
}

/// Measures each path of an arena whose open calls last until `latest`.
pub fn measure(family: &Family, arena: &Arena, latest: u64) -> Vec<Counts> {
    let costs = family.costs;
    let ns_per_tick = family.clock.ns_per_tick();
    let pair = costs.inner + costs.outer;
    let time = |ticks: f64| Time::from_ns(ticks * ns_per_tick);

    let below = Below::of(&arena.nodes, latest);
    let measure_node = |(index, node): (usize, &Node)| {
        let slots = node.slots.map(|slot| Measured::of(&slot, latest));
        let own = &below.own[index];
        let self_ticks = own.ticks - own.child_ticks;
        let self_costs =
            own.pairs as f64 * costs.inner + own.child_pairs as f64 * costs.outer + own.untimed as f64 * costs.untimed;

        // Of a call that is still open the descendants are not counted yet, but the tree has them.
        let mut descendants = slots.map(|slot| slot.descendants);
        if slots.iter().any(|slot| slot.is_open) {
            let known = descendants[0].saturating_add(descendants[1]);
            descendants[0] = descendants[0].saturating_add(below.pairs[index].saturating_sub(known));
        }
        let all_ticks = (slots[0].ticks + slots[1].ticks).max(1) as f64;
        let untimed_costs = below.untimed[index] as f64 * costs.untimed;
        let inclusive = [0, 1].map(|slot: usize| {
            let share = slots[slot].ticks as f64 / all_ticks;
            let cost = slots[slot].closed as f64 * costs.inner + descendants[slot] as f64 * pair;
            time(slots[slot].ticks as f64 - cost - share * untimed_costs)
        });
        let closed: f64 = (node.slots.iter().zip(&slots))
            .map(|(raw, slot)| raw.ticks as f64 - slot.closed as f64 * costs.inner - slot.descendants as f64 * pair)
            .sum();
        let closed_calls = slots[0].closed.saturating_add(slots[1].closed);
        Counts {
            calls: node.calls(),
            open: node.calls().saturating_sub(closed_calls),
            unwound: node.unwound,
            unbinned: if node.has_histogram { 0 } else { closed_calls.saturating_sub(node.unwound) },
            self_raw: time(self_ticks as f64),
            self_corrected: time(self_ticks as f64 - self_costs),
            inclusive_raw: slots.map(|slot| time(slot.ticks as f64)),
            inclusive_corrected: inclusive,
            closed_raw: node.slots.iter().map(|slot| time(slot.ticks as f64)).sum(),
            closed_corrected: time(closed - untimed_costs),
            error: time(own.pairs as f64 * costs.error),
        }
    };
    arena.nodes.iter().enumerate().map(measure_node).collect()
}

/// A slot with its open call.
#[derive(Clone, Copy)]
struct Measured {
    ticks: i128,
    closed: u64,
    descendants: u64,
    is_open: bool,
}

impl Measured {
    fn of(slot: &Slot, latest: u64) -> Self {
        let is_open = slot.mark & mark::OPEN != 0;
        let is_own = slot.mark & mark::INHERITED == 0;
        let so_far = if is_open { latest.saturating_sub(slot.mark & !mark::BITS) } else { 0 };
        Self {
            ticks: i128::from(slot.ticks) + i128::from(so_far),
            closed: slot.calls.saturating_sub(u64::from(is_open && is_own)),
            descendants: slot.descendants,
            is_open,
        }
    }
}

/// Sums at positions: of the calls that are there, and of the calls they make.
#[derive(Clone, Copy, Default)]
struct Own {
    ticks: i128,
    child_ticks: i128,
    pairs: u64,
    child_pairs: u64,
    untimed: u64,
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
    fn of(nodes: &[Node], latest: u64) -> Self {
        let mut own = vec![Own::default(); nodes.len()];
        for (index, node) in nodes.iter().enumerate() {
            let parent = node.parent.map(|parent| parent as usize);
            if node.is_untimed() {
                if let Some(parent) = parent {
                    own[parent].untimed = own[parent].untimed.saturating_add(node.calls());
                }
                continue;
            }
            let slots = node.slots.map(|slot| Measured::of(&slot, latest));
            let ticks = slots[0].ticks + slots[1].ticks;
            let pairs = slots[0].closed.saturating_add(slots[1].closed);
            let position = &mut own[node.folded_into.map_or(index, |position| position as usize)];
            position.ticks += ticks;
            position.pairs = position.pairs.saturating_add(pairs);
            if let Some(parent) = parent {
                own[parent].child_ticks += ticks;
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
