//! Which paths are cold: those that have had the fewest calls and the least time, of those that the hand of [`crate::recycle`] has
//! passed.

use crate::clock;
use crate::node;
use crate::thread::{LEVELS, PARTS, Thread};
use profile::node::{MANY, ROOT, flag, mark};
use profile::{NodeRecord, Ref};

/// Nodes looked at before how few calls are few is told anew.
const ENOUGH: u32 = 1 << 14;

/// Of the nodes that the hand passes, the coldest are to give way: one in so many.
const SHARE: u32 = 8;

/// Begins with an arena.
pub fn begin(thread: &Thread) {
    thread.cold.set(1);
    thread.weighed.set(0);
    thread.weights.iter().for_each(|count| count.set(0));
}

/// Notes how many calls a path has had, or none if it cannot give way; after a while, how few are few is known better.
pub fn note(thread: &Thread, weight: Option<u64>) {
    if let Some(weight) = weight {
        let level = &thread.weights[level(weight)];
        level.set(level.get() + 1);
    }
    thread.weighed.set(thread.weighed.get() + 1);
    if thread.weighed.get() < ENOUGH {
        return;
    }
    let wanted = thread.weighed.get() / SHARE;
    let mut so_far = 0;
    // All of the level at which there are enough: many paths may weigh about the same, and if none of those gave way, none would.
    let enough = thread.weights.iter().position(|count| {
        so_far += count.get();
        so_far >= wanted
    });
    thread.cold.set(heaviest(enough.unwrap_or(LEVELS - 1)).max(1));
    // What was seen before counts, and ever less.
    thread.weights.iter().for_each(|count| count.set(count.get() / 2));
    thread.weighed.set(ENOUGH / 2);
}

/// Weights that differ by less than a quarter are of one level.
fn level(weight: u64) -> usize {
    if weight < PARTS as u64 {
        return weight as usize;
    }
    let shift = weight.ilog2() - PARTS.ilog2();
    (shift as usize * PARTS + (weight >> shift) as usize).min(LEVELS - 1)
}

/// The heaviest weight of a level.
fn heaviest(level: usize) -> u64 {
    if level < PARTS {
        return level as u64;
    }
    let (shift, part) = (level / PARTS - 1, level % PARTS);
    (((PARTS + part + 1) as u64) << shift) - 1
}

/// Ticks that have passed for each call that was timed.
pub fn ticks_per_call(thread: &Thread) -> u64 {
    // SAFETY: the arena is the thread's.
    let started = unsafe { (*thread.arena.get()).started };
    let passed = clock::now(thread.family.clock).saturating_sub(started);
    passed.div_ceil(thread.count.get().max(1))
}

/// What a path has had: its calls, or, if that is more, as many as its time would be enough for. `None` if it cannot give way: calls
/// are open, others lie below it, or it stands for more than a path.
pub unsafe fn weight(thread: &Thread, node: Ref, per_call: u64) -> Option<u64> {
    // SAFETY: the caller's node; parents are nodes of the arena.
    unsafe {
        let node = thread.node(node);
        let parent = (*node).parent;
        if parent <= ROOT || !is_at_rest(thread, node) || (*node).flags != 0 || (*node).children & MANY != 0 {
            return None;
        }
        let parent = thread.node(parent);
        if (*parent).flags & flag::HELD as u16 != 0 || !is_at_rest(thread, parent) {
            return None;
        }
        let slots = node::slots(thread.base, node);
        Some((slots[0].calls + slots[1].calls).max((slots[0].ticks + slots[1].ticks) / per_call))
    }
}

/// Whether no call of a node is open.
unsafe fn is_at_rest(thread: &Thread, node: *const NodeRecord) -> bool {
    // SAFETY: the caller's node.
    let [first, second] = unsafe { node::slots(thread.base, node) };
    (first.mark | second.mark) & mark::OPEN == 0
}
