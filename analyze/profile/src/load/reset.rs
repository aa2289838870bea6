//! Counters that were reset (`diytrace ctl reset`) while calls were open.
//!
//! An arena of an older epoch counts for nothing, and its owner clears it at its next call. Until then the calls that were
//! open are still in there; that may be hours, if the thread is in one long call. So they are read as the owner will
//! inherit them: entered before, with a time that begins with the reset.

use std::collections::BTreeSet;
use std::hash::BuildHasher;

use diytrace_format::node::mark;
use diytrace_format::{Header, Slot, arena};
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::clock::Clock;
use super::family::{Arena, Family};
use super::node::{Node, Off};
use super::nodes::Nodes;
use super::timed::Timed;
use crate::process::State;

/// When the counters were last reset, in ticks. The header has that moment on the clock on the wall.
pub fn moment(header: &Header, clock: &Clock) -> u64 {
    if header.epoch == 0 {
        return 0;
    }
    let since = header.reset_unix_ns.saturating_sub(header.started_unix_ns) as f64 / clock.ns_per_tick();
    header.first_anchor.ticks.saturating_add(since as u64).max(1)
}

/// Leaves of an arena what its owner will inherit: the calls that were open at the reset, and the paths to them.
pub fn inherit(arena: &mut Arena, reset_ticks: u64) {
    let facts = &mut arena.facts;
    (facts.lost_calls, facts.backward_calls, facts.unwound, facts.stray_exits) = (0, 0, 0, 0);
    facts.pending = 0;
    let mut is_kept: Vec<bool> = arena.nodes.iter().map(|node| node.slots.iter().any(is_open)).collect();
    for (index, node) in arena.nodes.iter().enumerate().rev() {
        for above in [node.parent, node.folded_into].into_iter().flatten() {
            is_kept[above as usize] |= is_kept[index]; // both come before it
        }
    }
    let mut places = vec![0; is_kept.len()];
    let (mut names, mut nodes) = (Vec::new(), Nodes::default());
    for (index, mut node) in arena.nodes.iter().enumerate().filter(|(index, _)| is_kept[*index]) {
        places[index] = nodes.len() as u32;
        let place = |above: u32| places[above as usize];
        (node.parent, node.folded_into) = (node.parent.map(place), node.folded_into.map(place));
        (node.has_histogram, node.unwound, node.timed, node.off) = (false, 0, Timed::All, Off::default());
        node.slots = node.slots.map(|slot| inherited(&slot, reset_ticks));
        names.push(arena.names[index]);
        nodes.push(node);
    }
    (arena.names, arena.nodes) = (names, nodes);
    arena.sort_names();
    arena.recycling = None;
    arena.functions = Default::default();
}

fn is_open(slot: &Slot) -> bool {
    slot.mark & mark::OPEN != 0
}

fn inherited(slot: &Slot, reset_ticks: u64) -> Slot {
    let began = slot.mark & !mark::BITS;
    // A call that is not timed has no time in its mark.
    let since = if began == 0 { 0 } else { began.max(reset_ticks & !mark::BITS) };
    let mark = if is_open(slot) { since | mark::OPEN | mark::INHERITED } else { 0 };
    Slot { mark, ..Slot::default() }
}

/// Now that the states of its processes are known: what ended threads have left open, nobody will inherit.
pub fn settle(family: &mut Family) {
    const ENDED: u32 = arena::flag::ENDED | arena::flag::EXITED;
    let goes_on = |arena: &Arena| arena.state == State::Running && arena.facts.flags & ENDED == 0;
    if family.resets == 0 {
        return;
    }
    family.arenas.retain(|arena| !arena.is_before_reset || goes_on(arena));
    for facts in family.arenas.iter_mut().filter(|arena| arena.is_before_reset).map(|arena| &mut arena.facts) {
        // What others have counted in there before is gone.
        (facts.owners, facts.processes) = (1, 1);
        facts.flags &= arena::flag::FULL | arena::flag::UNSEEN;
    }
    family.processes = processes(&family.arenas);
    tell_apart(family);
}

/// Processes that have counted in these.
pub fn processes(arenas: &[Arena]) -> u32 {
    let (merged, apart): (Vec<&Arena>, Vec<&Arena>) = arenas.iter().partition(|arena| arena.is_merged());
    let apart: BTreeSet<u32> = apart.iter().map(|arena| arena.facts.process).collect();
    merged.iter().fold(apart.len() as u32, |sum, arena| sum.saturating_add(arena.facts.processes))
}

/// Tells calls that were open at a reset from those that a forked child has inherited: both are entered before their counters
/// began. The latter are its parent's calls, on paths that its parent has, too.
fn tell_apart(family: &mut Family) {
    let resets = family.reset_ticks;
    let was_there = |arena: &Arena| arena.facts.process <= 1 || arena.facts.process_started < resets;
    for index in 0..family.arenas.len() {
        let arena = &family.arenas[index];
        if !was_there(arena) || !arena.nodes.iter().any(|node| is_inherited(&node)) {
            continue;
        }
        let facts = arena.facts;
        // Only the thread that has forked goes on in the child.
        let can_be_forks = facts.process > 1 && facts.tid == facts.pid;
        let parents = family.arenas.iter().filter(|arena| can_be_forks && arena.facts.pid == facts.ppid);
        let of_parent: FxHashSet<u64> = parents.flat_map(paths).collect();
        let own: Vec<bool> = paths(arena).iter().map(|path| !of_parent.contains(path)).collect();
        let nodes = &mut family.arenas[index].nodes;
        nodes.change_each(|at, node| node.is_open_since_reset = own[at] && is_inherited(node));
    }
}

fn is_inherited(node: &Node) -> bool {
    const BITS: u64 = mark::OPEN | mark::INHERITED;
    node.slots.iter().any(|slot| slot.mark & BITS == BITS)
}

/// A number for each path of an arena, that is the same in all arenas of a family.
fn paths(arena: &Arena) -> Vec<u64> {
    let mut paths: Vec<u64> = Vec::with_capacity(arena.nodes.len());
    for node in &arena.nodes {
        let above = node.parent.map(|parent| paths[parent as usize]);
        paths.push(FxBuildHasher.hash_one((above, node.function, node.site, node.hook)));
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Node, state};
    use crate::testing::{arena, family, node, slot};

    fn open(function: u64, parent: Option<u32>, began: u64) -> Node {
        let mut node = node(function, parent, slot(7, 50, 3));
        node.slots[0].mark = began | mark::OPEN;
        node
    }

    /// An arena that was reset at 400.
    fn before_the_reset(flags: u32, process: u32) -> Arena {
        let ended = node(0x1100, Some(0), slot(9, 90, 0));
        let mut arena =
            arena(vec![open(0x1000, None, 100), ended, open(0x1200, Some(0), 800), open(0x1300, Some(2), 0)]);
        (arena.facts.flags, arena.facts.process, arena.facts.unwound) = (flags, process, 4);
        arena.is_before_reset = true;
        inherit(&mut arena, 400);
        arena
    }

    #[test]
    fn of_what_came_before_the_open_calls_are_left() {
        let arena = before_the_reset(0, 1);
        let nodes: Vec<_> = arena.nodes.iter().map(|node| (node.function, node.parent, node.slots[0])).collect();
        let slot = |since: u64| Slot { mark: since | mark::OPEN | mark::INHERITED, ..Slot::default() };
        // The last one is not timed.
        let expected = [(0x1000, None, slot(400)), (0x1200, Some(0), slot(800)), (0x1300, Some(1), slot(0))];
        assert_eq!(nodes, expected);
        assert_eq!((arena.names, arena.facts.unwound), (vec![0, 2, 3], 0));
    }

    #[test]
    fn who_ended_before_the_reset_inherits_nothing() {
        let flags = arena::flag::MERGED | arena::flag::FULL;
        let arenas = vec![
            before_the_reset(flags, 1),
            before_the_reset(arena::flag::ENDED, 1),
            before_the_reset(arena::flag::EXITED, 2),
            before_the_reset(0, 3),
        ];
        let mut family = Family { resets: 1, reset_ticks: 400, ..family(arenas) };
        state::fill_in(&mut family, |facts| facts.process == 1);
        let [arena] = &family.arenas[..] else { panic!("one goes on") };
        assert!(arena.nodes.iter().all(|node| node.is_open_since_reset));
        assert_eq!((arena.state, arena.facts.flags, arena.facts.owners), (State::Running, arena::flag::FULL, 1));
        assert_eq!(family.processes, 1);
    }

    #[test]
    fn a_forked_childs_own_open_calls_are_told_from_its_parents() {
        let mut child = before_the_reset(0, 2);
        child.nodes.change(2, |node| node.site += 7); // the one that it was in itself
        (child.facts.pid, child.facts.tid, child.facts.ppid) = (200, 200, 100);
        let family = || Family { resets: 1, reset_ticks: 400, ..family(vec![before_the_reset(0, 1), child.clone()]) };
        let mut known = family();
        state::fill_in(&mut known, |_| true);
        let of = |family: &Family, arena: usize| -> Vec<bool> {
            family.arenas[arena].nodes.iter().map(|node| node.is_open_since_reset).collect()
        };
        assert_eq!((of(&known, 0), of(&known, 1)), (vec![true; 3], vec![false, false, true]));
        // One that was forked later has inherited nothing else.
        let mut later = family();
        later.arenas[1].facts.process_started = 500;
        state::fill_in(&mut later, |_| true);
        assert_eq!(of(&later, 1), [false; 3]);
    }
}
