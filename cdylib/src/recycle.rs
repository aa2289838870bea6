//! Paths that give way to others, where there is no room for all: see [`profile::Recycling`].
//!
//! A hand goes round the arena's nodes, as in page replacement, and takes the paths that are cold: nothing is called below them,
//! no call of them is open, and they have had few calls and little time. What is few is found
//! by looking ([`crate::coldness`]). A path whose children have all given way may follow. Each time only some are freed, so no call
//! takes long.
//!
//! **Hooks that go on.** A signal handler may look for cold paths in the middle of a hook that has found its node and not opened
//! its call yet. That node is a child of the position of an open call, or is open itself; so are those of all calls that the
//! handler will return to. Such nodes are held ([`crate::held_nodes`]), and neither they nor their children give way. And whoever looks a node up
//! compares it with what it looks for: one that has given way is no path any more before its sums go elsewhere.
//!
//! Where there is no other room, what is kept of call sites, and of what few paths have, lies where such nodes were ([`crate::free_nodes`]).
//!
//! What a path has counted goes to nodes that stand for it ([`crate::stand_in`]), by moves that may be left or killed in the middle
//! ([`crate::journal`]).

use crate::arch;
use crate::arena;
use crate::call_site;
use crate::children;
use crate::coldness;
use crate::extension;
use crate::family::at;
use crate::free_nodes::{self, KEPT};
use crate::function;
use crate::held_nodes::hold;
use crate::journal;
use crate::node;
use crate::path;
use crate::stand_in;
use crate::stretch::Stage;
use crate::thread::{Thread, live};
use profile::node::{HAS_OTHERS, MANY, flag, key};
use profile::{Block, Ref};

/// Paths that give way at a time.
const SOME: u32 = 64;

/// Of an arena's nodes, one in so many is kept free.
const RESERVE: u32 = 16;

/// Nodes looked at in vain before this is given up for a while.
const MOST: u32 = 1 << 18;

/// So many nodes ahead what a look at one takes is fetched.
const SOON: u32 = 8;

/// The node for a call from `parent`, made if there is none; where there is no room, paths give way for it. `None` if there is no
/// room for any.
///
/// The state must be [`crate::busy`], and the parent be that of an open call.
pub fn child(thread: &Thread, parent: Ref, function: usize, site: usize, hook: usize) -> Option<Ref> {
    if thread.is_short_of_room() {
        keep_room(thread);
    }
    let again = || {
        keep_room(thread);
        free_nodes::has_some(thread).then(|| path::find_or_make(thread, parent, function, site, hook)).flatten()
    };
    let made = path::find_or_make(thread, parent, function, site, hook).or_else(again);
    made.or_else(|| path::folded(thread, function))
}

/// Whether there is a node for another path, or some path may give way; and room for what is kept of its function and call site.
pub fn may_help(thread: &Thread, function: usize, site: usize, hook: usize) -> bool {
    let is_kept = || call_site::find(thread, key(function as u64, site as u64, hook as u64)).is_some();
    let may_be_kept = || !thread.is_short_of_spare_room() || function::find(thread, function).is_some();
    let has_room = (arena::is_large(thread) && may_be_kept()) || is_kept();
    has_room && (free_nodes::has_some(thread) || may_look(thread))
}

fn may_look(thread: &Thread) -> bool {
    thread.has_arena()
        && (thread.ring_stage.get() == Stage::Empty || thread.replayed.get() != 0)
        && arena::is_large(thread)
        && !thread.is_before(thread.no_cold_until.get())
}

/// Has some paths give way if few nodes are free, as somebody may copy the file soon, and wants none to give way meanwhile.
///
/// The state must be [`crate::busy`].
fn keep_room(thread: &Thread) {
    let free = free_nodes::count(thread);
    let is_last = free <= KEPT;
    if is_last || (free < thread.path_count.get() / RESERVE && !thread.family.is_copied()) {
        make_room_for(thread, free + SOME + KEPT);
    }
}

/// Has paths give way until as many nodes are free.
fn make_room_for(thread: &Thread, wanted: u32) {
    if !may_look(thread) {
        return;
    }
    let had = free_nodes::count(thread);
    journal::undo(thread);
    if journal::record(thread).is_none() {
        return;
    }
    if had == 0 {
        find_free(thread); // there are some where the list was forgotten
    }
    free_nodes::count_moves(thread, 0);
    if hold(thread, true) {
        look(thread, wanted);
    }
    hold(thread, false);
    free_nodes::count_moves(thread, 1);
    let found = free_nodes::count(thread) > had;
    thread.no_cold_until.set(if found { 0 } else { thread.family.later() });
}

fn look(thread: &Thread, wanted: u32) {
    let per_call = coldness::ticks_per_call(thread);
    for _ in 0..MOST {
        // SAFETY: the hand is at a node of the arena; parents are nodes of the arena.
        unsafe {
            let mut next = advance(thread);
            while let Some(node) = next {
                let weight = coldness::weight(thread, node, per_call);
                coldness::note(thread, weight);
                next = match weight {
                    Some(weight) if weight <= thread.cold.get() => give_way(thread, node),
                    _ => None,
                };
            }
        }
        if free_nodes::count(thread) >= wanted {
            return;
        }
    }
}

/// Gives a node that is found for a call an extension. False if there is no room.
pub fn extend(thread: &Thread, node: Ref) -> bool {
    (extension::may_be_made(thread) || may_look(thread)) && path::extend(thread, node, || extend_in_time(thread, node))
}

/// The same. Where there is no room, paths give way for it.
///
/// The state must be [`crate::busy`], and the node the thread's, and one that is held.
pub fn extend_in_time(thread: &Thread, node: Ref) -> bool {
    if thread.is_short_of_room() {
        keep_room(thread);
    }
    // SAFETY: the caller's node.
    unsafe { extension::ensure(thread, node) }
}

/// Moves the hand on by a node; that node, if it is a path.
unsafe fn advance(thread: &Thread) -> Option<Ref> {
    let (mut block_ref, mut index) = thread.hand.get();
    if block_ref == 0 {
        (block_ref, index) = (thread.arena_ref.get(), 0);
    }
    let block: *mut Block = at(thread.base, block_ref);
    // SAFETY: blocks of the arena lead to each other.
    unsafe {
        if index >= (*block).nodes {
            let next = (*block).next;
            if next == 0 {
                come_round(thread);
            }
            thread.hand.set((if next == 0 { thread.arena_ref.get() } else { next }, 0));
            return None;
        }
        thread.hand.set((block_ref, index + 1));
        let soon = index + SOON;
        if soon < (*block).nodes {
            let parent = (*thread.node(arena::nth(block_ref, block, soon))).parent;
            arch::prefetch(thread.node(parent).cast());
            children::prefetch(thread, parent);
        }
        let node = arena::nth(block_ref, block, index);
        ((*thread.node(node)).parent != 0).then_some(node)
    }
}

/// The hand has been everywhere: what gave way meanwhile may be met again, and give way again.
fn come_round(thread: &Thread) {
    let (calls, ticks) = thread.most_recycled.get();
    thread.most_recycled.set((0, 0));
    if let Some(record) = journal::record(thread) {
        // SAFETY: the record is the arena's.
        unsafe {
            arch::add(&raw mut (*record).most_calls, calls);
            arch::add(&raw mut (*record).most_ticks, ticks);
        }
    }
}

/// Has a path give way that may. Its parent then, as that may be next.
unsafe fn give_way(thread: &Thread, node_ref: Ref) -> Option<Ref> {
    // SAFETY: the caller's node; parents are nodes of the arena.
    unsafe {
        let node = thread.node(node_ref);
        let parent_ref = (*node).parent;
        let parent = thread.node(parent_ref);
        let slots = node::slots(thread.base, node);
        let (calls, ticks) = (slots[0].calls + slots[1].calls, slots[0].ticks + slots[1].ticks);
        let edge = stand_in::edge(thread, node, parent)?;
        let others = stand_in::others(thread, parent_ref)?;
        if (*node).children & HAS_OTHERS != 0 {
            let of_edge = stand_in::others(thread, edge)?;
            journal::move_sums(thread, stand_in::others(thread, node_ref)?, [of_edge, 0])?;
            (*node).children &= !HAS_OTHERS;
        }
        journal::move_sums(thread, node_ref, [edge, others])?;
        if (*parent).children & MANY != MANY {
            (*parent).children -= 1;
        }
        let record = journal::record(thread)?;
        arch::add(&raw mut (*record).paths, 1);
        let (most_calls, most_ticks) = thread.most_recycled.get();
        thread.most_recycled.set((most_calls.max(calls), most_ticks.max(ticks)));
        Some(parent_ref)
    }
}

/// Begins with an arena: finds the nodes of it that are free.
///
/// The state must not yet be seen by its hooks.
pub fn begin(thread: &Thread) {
    coldness::begin(thread);
    thread.hand.set((0, 0));
    thread.most_recycled.set((0, 0));
    thread.no_cold_until.set(0);
    thread.is_block_spare.set(false);
    let mut paths = 0;
    // SAFETY: the arena is the thread's; blocks lead to each other.
    unsafe {
        if (*thread.arena.get()).recycling != 0 {
            journal::undo(thread);
        }
        let mut block_ref = thread.arena_ref.get();
        while block_ref != 0 {
            let block: *mut Block = at(thread.base, block_ref);
            for node in (0..(*block).nodes).map(|index| thread.node(arena::nth(block_ref, block, index))) {
                if (*node).parent != 0 {
                    (*node).flags &= !(flag::HELD as u16);
                }
                paths += 1;
            }
            block_ref = (*block).next;
        }
    }
    find_free(thread);
    thread.path_count.set(paths);
}

/// Lists the nodes of the arena that are free, unless it is a forked child's parent's.
fn find_free(thread: &Thread) {
    free_nodes::clear(thread);
    let mut block_ref = thread.arena_ref.get();
    while block_ref != 0 {
        let block: *mut Block = at(thread.base, block_ref);
        // SAFETY: the arena is the thread's; blocks lead to each other.
        unsafe {
            for node_ref in (0..(*block).nodes).map(|index| arena::nth(block_ref, block, index)) {
                if thread.is(live::FORKED) {
                    return;
                }
                let node = thread.node(node_ref);
                // Also one for which room was taken, and nothing else done before the process ended.
                if (*node).parent == 0 && (*node).key[0] == 0 && (*node).slot.calls == 0 {
                    free_nodes::add(thread, node_ref);
                }
            }
            block_ref = (*block).next;
        }
    }
}
