//! Paths that give way to others, where there is no room for all: see [`Recycling`].
//!
//! A hand goes round the arena's nodes, as in page replacement, and takes the paths that are cold: nothing is called below them,
//! no call of them is open, and they have had few calls and little time. What is few is found by
//! looking: an eighth of all that the hand has passed. A path whose children have all given way may follow. Each time only some are freed, so no call takes long.
//!
//! **Hooks that go on.** A signal handler may look for cold paths in the middle of a hook that has found its node and not opened
//! its call yet. That node is a child of the position of an open call, or is open itself; so are those of all calls that the
//! handler will return to. Such nodes are held, and neither they nor their children give way. And whoever looks a node up
//! compares it with what it looks for: one that has given way is no path any more before its sums go elsewhere.
//!
//! **A kill in the middle.** [`Recycling`] says which path is giving way, and what all nodes that this changes had counted before:
//! whoever finds it so (the reader of a killed process, the arena's next owner, the thread itself after a handler jumped out)
//! has that path as it was.
//!
//! While noted calls are being counted ([`crate::replay`]), those that are open have no frames, and are held likewise.

use crate::arch;
use crate::arena;
use crate::children;
use crate::clock;
use crate::family::at;
use crate::frame::NOTED;
use crate::off_cpu;
use crate::path;
use crate::stretch::{Open, Stage};
use crate::thread::{LEVELS, Thread};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, compiler_fence};
use profile::node::{HAS_OTHERS, MANY, OTHERS, ROOT, edge_kind, flag, mark};
use profile::protocol::room;
use profile::recycling::Was;
use profile::ring::{Note, SLOTS};
use profile::{Arena, Block, Function, NodeRecord, OffCpu, Recycling, Ref, RingSlot};

/// Nodes of an arena that is worth it: in a small one nearly all are open.
const LEAST: u32 = 512;

/// Paths that give way at a time.
const SOME: u32 = 64;

/// Of an arena's nodes, one in so many is kept free.
const RESERVE: u32 = 16;

/// How long a copy of the file may take, in nanoseconds.
const LONGEST_COPY_NS: u64 = 1_000_000_000;

/// Nodes looked at in vain before this is given up for a while.
const MOST: u32 = 1 << 18;

/// Nodes looked at before how few calls are few is told anew.
const ENOUGH: u32 = 1 << 14;

/// Of the nodes that the hand passes, the coldest are to give way: one in so many.
const SHARE: u32 = 8;

/// So many nodes ahead what a look at one takes is fetched.
const SOON: u32 = 8;

/// Free nodes that are kept for sums of paths that give way: without them none could.
const KEPT: u32 = 8;

/// A node whose path gave way, for another; one that is `spare` may be the last.
pub fn take(thread: &Thread, function: usize, spare: bool) -> Option<(Ref, *mut NodeRecord)> {
    loop {
        let free = thread.free.get();
        if free == 0 || !(spare || has_free(thread)) {
            return None;
        }
        let place = thread.node(free);
        // SAFETY: free nodes are the arena's, and lead to each other.
        unsafe {
            thread.free.set((*place).site as Ref);
            thread.free_count.set(thread.free_count.get().saturating_sub(1));
            // In a child of a signal handler that came in the middle of this, the node is the parent's.
            if room::claim(AtomicU64::from_ptr(&raw mut (*place).function), function as u64) {
                return Some((free, place));
            }
        }
    }
}

/// Whether there is a node for another path, or some path may give way.
pub fn may_help(thread: &Thread) -> bool {
    has_free(thread) || may_look(thread)
}

fn is_large(thread: &Thread) -> bool {
    thread.path_count.get() >= LEAST
}

fn has_free(thread: &Thread) -> bool {
    thread.free_count.get() > KEPT
}

fn may_look(thread: &Thread) -> bool {
    thread.has_arena()
        && (thread.ring_stage.get() == Stage::Empty || thread.replayed.get() != 0)
        && is_large(thread)
        && !thread.is_before(thread.no_cold_until.get())
}

/// Has some paths give way if few nodes are free, as somebody may copy the file soon, and wants none to give way meanwhile.
///
/// The state must be [`crate::busy`].
pub fn keep_room(thread: &Thread) {
    let free = thread.free_count.get();
    let is_last = free <= KEPT;
    if is_last || (free < thread.path_count.get() / RESERVE && !is_copied(thread)) {
        make_room_for(thread, free + SOME + KEPT);
    }
}

/// Whether somebody copies the file.
fn is_copied(thread: &Thread) -> bool {
    // SAFETY: the header is mapped.
    let until = unsafe { (&raw const (*thread.family.header()).copied_until).read_volatile() };
    let now = clock::now(thread.family.clock);
    // No longer than that, whoever says what.
    until > now && until - now < thread.family.ticks(LONGEST_COPY_NS)
}

/// Has paths give way until as many nodes are free.
fn make_room_for(thread: &Thread, wanted: u32) {
    if !may_look(thread) {
        return;
    }
    let had = thread.free_count.get();
    undo(thread);
    if journal(thread).is_none() {
        return;
    }
    let header = thread.family.header();
    // SAFETY: the header is mapped, and the words are only changed by atomic operations.
    let counts = unsafe { [0, 1].map(|end: usize| AtomicU64::from_ptr(&raw mut (*header).recycled[end])) };
    counts[0].fetch_add(1, Ordering::AcqRel);
    if hold(thread, true) {
        look(thread, wanted);
    }
    hold(thread, false);
    counts[1].fetch_add(1, Ordering::AcqRel);
    let found = thread.free_count.get() > had;
    thread.no_cold_until.set(if found { 0 } else { thread.family.later() });
}

fn look(thread: &Thread, wanted: u32) {
    let per_call = ticks_per_call(thread);
    for _ in 0..MOST {
        // SAFETY: the hand is at a node of the arena; parents are nodes of the arena.
        unsafe {
            let mut next = advance(thread);
            while let Some(node) = next {
                let weight = weight(thread, node, per_call);
                note(thread, weight);
                next = match weight {
                    Some(weight) if weight <= thread.cold.get() => give_way(thread, node),
                    _ => None,
                };
            }
        }
        if thread.free_count.get() >= wanted {
            return;
        }
    }
}

/// Notes how many calls a path has had, or none if it cannot give way; after a while, how few are few is known better.
fn note(thread: &Thread, weight: Option<u64>) {
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
    let mut cold = 0;
    for (level, count) in thread.weights.iter().enumerate() {
        let (from, to) = if level == 0 { (0, 0) } else { (1 << (level - 1), (1 << (level - 1)) * 2 - 1) };
        let count = count.get();
        if so_far + count >= wanted {
            // As if those of one level lay evenly in it.
            let missing = u64::from(wanted - so_far);
            cold = from + ((u128::from(to - from) * u128::from(missing)) / u128::from(count.max(1))) as u64;
            break;
        }
        so_far += count;
        cold = if count == 0 { cold } else { to };
    }
    thread.cold.set(cold.max(1));
    // What was seen before counts, and ever less.
    thread.weights.iter().for_each(|count| count.set(count.get() / 2));
    thread.weighed.set(ENOUGH / 2);
}

/// Weights of as many bits are of one level.
fn level(weight: u64) -> usize {
    ((u64::BITS - weight.leading_zeros()) as usize).min(LEVELS - 1)
}

/// Ticks that have passed for each call that was timed.
fn ticks_per_call(thread: &Thread) -> u64 {
    // SAFETY: the arena is the thread's.
    let started = unsafe { (*thread.arena.get()).started };
    let passed = clock::now(thread.family.clock).saturating_sub(started);
    passed.div_ceil(thread.count.get().max(1))
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
    if let Some(record) = journal(thread) {
        // SAFETY: the record is the arena's.
        unsafe {
            arch::add(&raw mut (*record).most_calls, calls);
            arch::add(&raw mut (*record).most_ticks, ticks);
        }
    }
}

/// What a path has had: its calls, or, if that is more, as many as its time would be enough for. `None` if it cannot give way: calls
/// are open, others lie below it, or it stands for more than a path.
unsafe fn weight(thread: &Thread, node: Ref, per_call: u64) -> Option<u64> {
    // SAFETY: the caller's node; parents are nodes of the arena.
    unsafe {
        let node = thread.node(node);
        let parent = (*node).parent;
        if parent <= ROOT || !is_at_rest(node) || (*node).flags != 0 || (*node).children & MANY != 0 {
            return None;
        }
        let parent = thread.node(parent);
        if (*parent).flags & flag::HELD as u16 != 0 || !is_at_rest(parent) {
            return None;
        }
        let slots = [(*node).slot, (*node).folded_slot];
        Some((slots[0].calls + slots[1].calls).max((slots[0].ticks + slots[1].ticks) / per_call))
    }
}

/// Has a path give way that may. Its parent then, as that may be next.
unsafe fn give_way(thread: &Thread, node_ref: Ref) -> Option<Ref> {
    // SAFETY: the caller's node; parents are nodes of the arena.
    unsafe {
        let node = thread.node(node_ref);
        let parent_ref = (*node).parent;
        let parent = thread.node(parent_ref);
        let slots = [(*node).slot, (*node).folded_slot];
        let (calls, ticks) = (slots[0].calls + slots[1].calls, slots[0].ticks + slots[1].ticks);
        let edge = edge(thread, &*node, &*parent)?;
        if (*node).children & HAS_OTHERS != 0 {
            move_sums(thread, others(thread, node_ref)?, [others(thread, edge)?, 0])?;
            (*node).children &= !HAS_OTHERS;
        }
        move_sums(thread, node_ref, [edge, others(thread, parent_ref)?])?;
        if (*parent).children & MANY != MANY {
            (*parent).children -= 1;
        }
        let journal = journal(thread)?;
        arch::add(&raw mut (*journal).paths, 1);
        let (most_calls, most_ticks) = thread.most_recycled.get();
        thread.most_recycled.set((most_calls.max(calls), most_ticks.max(ticks)));
        Some(parent_ref)
    }
}

/// Counts another path below one.
///
/// # Safety
/// The parent must be a node of the thread's, or none.
pub unsafe fn count_child(thread: &Thread, parent: Ref) {
    if parent > ROOT {
        // SAFETY: the caller's promise.
        let children = unsafe { &mut (*thread.node(parent)).children };
        *children += u16::from(*children & MANY != MANY);
    }
}

/// Whether no call of a node is open.
unsafe fn is_at_rest(node: *const NodeRecord) -> bool {
    // SAFETY: the caller's node.
    unsafe { ((*node).slot.mark | (*node).folded_slot.mark) & mark::OPEN == 0 }
}

/// The node for calls of a path's function by its parent's.
unsafe fn edge(thread: &Thread, node: &NodeRecord, parent: &NodeRecord) -> Option<Ref> {
    let nested = if is_inside(thread, node) { flag::NESTED } else { 0 };
    let by_nested = if is_inside(thread, parent) { flag::BY_NESTED } else { 0 };
    let kind = nested | by_nested;
    let (function, site) = (node.function as usize, parent.function as usize);
    let whole_hook = (u64::from(node.hook_high) << 32 | u64::from(node.hook)) as usize;
    let hook = whole_hook + edge_kind(kind) as usize;
    if let Some(found) = path::find(thread, ROOT, function, site, hook) {
        // SAFETY: the index holds nodes of the arena.
        let edge = unsafe { &*thread.node(found) };
        // At one address there may have been two libraries.
        return ((edge.module, edge.site_module) == (node.module, parent.module)).then_some(found);
    }
    let modules = (node.module, parent.module);
    make(thread, ROOT, (function, site, hook), flag::FOLDED | flag::EDGE | kind, node.record, modules)
}

/// Whether a path lies below another of its function.
fn is_inside(thread: &Thread, node: &NodeRecord) -> bool {
    // SAFETY: a node's record is the arena's.
    if node.record != 0 && unsafe { (*at::<Function>(thread.base, node.record)).recursive_nodes } == 0 {
        return false; // none of its function's do
    }
    let mut above = node.parent;
    while above > ROOT {
        // SAFETY: what lies above a node are nodes of the arena, and ends at the root.
        let ancestor = unsafe { &*thread.node(above) };
        if ancestor.function == node.function {
            return true;
        }
        above = ancestor.parent;
    }
    false
}

/// The node for what else is called from a path.
unsafe fn others(thread: &Thread, parent: Ref) -> Option<Ref> {
    // SAFETY: the caller's path.
    let children = unsafe { &raw mut (*thread.node(parent)).children };
    // SAFETY: the same.
    let found = match unsafe { *children } & HAS_OTHERS {
        0 => None,
        _ => path::find(thread, parent, OTHERS as usize, 0, 0),
    };
    let found = found.or_else(|| make(thread, parent, (OTHERS as usize, 0, 0), flag::OTHERS, 0, (0, 0)))?;
    // SAFETY: the same.
    unsafe { *children |= HAS_OTHERS };
    Some(found)
}

fn make(
    thread: &Thread,
    parent: Ref,
    (function, site, hook): (usize, usize, usize),
    flags: u32,
    record: Ref,
    (module, site_module): (u32, u32),
) -> Option<Ref> {
    path::make_room(thread, true)?;
    let (reference, node) = arena::node(thread, function, true)?;
    // SAFETY: the node is the thread's; nothing leads to it yet.
    unsafe {
        (*node).site = site as u64;
        ((*node).hook, (*node).hook_high) = (hook as u32, (hook as u64 >> 32) as u32);
        ((*node).record, (*node).flags, (*node).position) = (record, flags as u16, reference);
        ((*node).module, (*node).site_module, (*node).target) = (module, site_module, 0);
        arena::publish_node(node, parent);
    }
    if !children::insert(thread, parent, reference, function, site, hook) {
        path::index(thread, reference, node);
    }
    Some(reference)
}

/// Adds what a path has counted to others, and frees its node.
unsafe fn move_sums(thread: &Thread, from: Ref, to: [Ref; 2]) -> Option<()> {
    // SAFETY: the nodes are the arena's, and so are the records.
    unsafe {
        let node = thread.node(from);
        let off = off_cpu::find(thread, from).filter(|off| off_of(thread, *off) != [0, 0]);
        let to_off = match off {
            None => [0, 0],
            Some(_) => {
                let of = |to: Ref| if to == 0 { Some(0) } else { off_cpu::find_or_make(thread, to) };
                [of(to[0])?, of(to[1])?]
            }
        };
        let journal = journal(thread)?;
        let nodes = [from, to[0], to[1]];
        let offs = [off.unwrap_or(0), to_off[0], to_off[1]];
        ((*journal).to, (*journal).off_cpu, (*journal).parent) = (to, offs, (*node).parent);
        let was = &raw mut (*journal).was;
        for (at, (node, off)) in nodes.into_iter().zip(offs).enumerate() {
            (*was)[at] = if node == 0 { Was::default() } else { Was::of(&*thread.node(node), off_of(thread, off)) };
        }
        say(journal, from);
        arena::publish_node(node, 0); // from now on it is no path that anyone finds
        compiler_fence(Ordering::SeqCst);
        let sums = Was::of(&*node, off_of(thread, offs[0]));
        for (to, off) in to.into_iter().zip(to_off).filter(|(to, _)| *to != 0) {
            add(thread.node(to), &sums);
            if off != 0 {
                let off: *mut OffCpu = at(thread.base, off);
                arch::add(&raw mut (*off).wait_ns, sums.off_ns[0]);
                arch::add(&raw mut (*off).preempted_ns, sums.off_ns[1]);
            }
        }
        if offs[0] != 0 {
            off_cpu::free(thread, offs[0]);
        }
        ((*node).slot, (*node).folded_slot, (*node).unwound, (*node).noted) = Default::default();
        forget(thread, from, (*journal).parent);
        compiler_fence(Ordering::SeqCst);
        say(journal, 0);
        free(thread, from);
    }
    Some(())
}

unsafe fn off_of(thread: &Thread, record: Ref) -> [u64; 2] {
    if record == 0 {
        return [0, 0];
    }
    // SAFETY: the caller's record.
    let record = unsafe { &*at::<OffCpu>(thread.base, record) };
    [record.wait_ns, record.preempted_ns]
}

unsafe fn add(to: *mut NodeRecord, sums: &Was) {
    // SAFETY: the caller's node.
    unsafe {
        for (slot, more) in [&raw mut (*to).slot, &raw mut (*to).folded_slot].into_iter().zip(&sums.slots) {
            arch::add(&raw mut (*slot).calls, more.calls);
            arch::add(&raw mut (*slot).ticks, more.ticks);
            arch::add(&raw mut (*slot).descendants, more.descendants);
            (*slot).mark = (*slot).mark.max(more.mark & !mark::BITS);
        }
        arch::add(&raw mut (*to).unwound, sums.unwound);
        (*to).noted = (*to).noted.saturating_add(sums.noted as u32);
    }
}

/// Says which path is giving way.
unsafe fn say(journal: *mut Recycling, node: Ref) {
    compiler_fence(Ordering::SeqCst);
    // SAFETY: the arena's record.
    unsafe { AtomicU32::from_ptr(&raw mut (*journal).node) }.store(node, Ordering::Release);
    compiler_fence(Ordering::SeqCst);
}

/// Takes a node out of what paths are looked up in.
unsafe fn forget(thread: &Thread, node_ref: Ref, parent: Ref) {
    // SAFETY: the caller's node.
    let node = unsafe { &*thread.node(node_ref) };
    let (function, site, hook) = (node.function as usize, node.site as usize, node.hook as usize);
    if !children::remove(thread, parent, node_ref, function, site, hook) {
        thread.nodes.remove(path::key(parent, function, site, hook), node_ref);
    }
}

unsafe fn free(thread: &Thread, node_ref: Ref) {
    let node = thread.node(node_ref);
    // SAFETY: the caller's node, which no path has.
    unsafe {
        (*node).site = thread.free.get().into();
        AtomicU64::from_ptr(&raw mut (*node).function).store(0, Ordering::Release);
    }
    thread.free.set(node_ref);
    thread.free_count.set(thread.free_count.get() + 1);
}

/// Room for a zeroed record other than a node. Where paths give way to others, what is kept of functions does not: the last of the
/// file's space is for that.
pub fn record<T>(thread: &Thread) -> Option<(Ref, *mut T)> {
    arena::record(thread, false).or_else(|| is_large(thread).then(|| arena::record(thread, true)).flatten())
}

/// The arena's record of paths that gave way.
fn journal(thread: &Thread) -> Option<*mut Recycling> {
    let arena: *mut Arena = thread.arena.get();
    // SAFETY: the arena is the thread's, and names a record of its own.
    unsafe {
        if (*arena).recycling == 0 {
            let (reference, _) = arena::record::<Recycling>(thread, true)?;
            AtomicU32::from_ptr(&raw mut (*arena).recycling).store(reference, Ordering::Release);
        }
        Some(at(thread.base, (*arena).recycling))
    }
}

/// Begins with an arena: finds the nodes of it that are free.
///
/// The state must not yet be seen by its hooks.
pub fn begin(thread: &Thread) {
    thread.free.set(0);
    thread.free_count.set(0);
    thread.hand.set((0, 0));
    thread.cold.set(1);
    thread.weighed.set(0);
    thread.weights.iter().for_each(|count| count.set(0));
    thread.most_recycled.set((0, 0));
    thread.no_cold_until.set(0);
    thread.is_block_spare.set(false);
    let mut paths = 0;
    // SAFETY: the arena is the thread's; blocks lead to each other.
    unsafe {
        if (*thread.arena.get()).recycling != 0 {
            undo(thread);
        }
        let mut block_ref = thread.arena_ref.get();
        while block_ref != 0 {
            let block: *mut Block = at(thread.base, block_ref);
            for node_ref in (0..(*block).nodes).map(|index| arena::nth(block_ref, block, index)) {
                let node = thread.node(node_ref);
                (*node).flags &= !(flag::HELD as u16);
                // Also one for which room was taken, and nothing else done before the process ended.
                if (*node).parent == 0 && (*node).function == 0 && (*node).slot.calls == 0 {
                    free(thread, node_ref);
                }
                paths += 1;
            }
            block_ref = (*block).next;
        }
    }
    thread.path_count.set(paths);
}

/// Has the arena's record begin anew.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn clear(thread: &Thread) {
    undo(thread);
    // SAFETY: the arena is the thread's, and names a record of its own.
    unsafe {
        let reference = (*thread.arena.get()).recycling;
        if reference != 0 {
            let record: *mut Recycling = at(thread.base, reference);
            ((*record).paths, (*record).most_calls, (*record).most_ticks) = (0, 0, 0);
        }
    }
}

/// Has a path stay that was giving way when that was left for good.
fn undo(thread: &Thread) {
    // SAFETY: the arena is the thread's, and what its record names, too.
    unsafe {
        let reference = (*thread.arena.get()).recycling;
        let journal: *mut Recycling = at(thread.base, reference);
        if reference == 0 || (*journal).node == 0 {
            return;
        }
        let Recycling { node: from, parent, to, off_cpu: records, was, .. } = *journal;
        for ((node, off), was) in [from, to[0], to[1]].into_iter().zip(records).zip(was) {
            if node != 0 {
                let node = thread.node(node);
                ((*node).slot, (*node).folded_slot) = (was.slots[0], was.slots[1]);
                ((*node).unwound, (*node).noted) = (was.unwound, was.noted as u32);
            }
            if off != 0 {
                let record: *mut OffCpu = at(thread.base, off);
                ((*record).wait_ns, (*record).preempted_ns) = (was.off_ns[0], was.off_ns[1]);
                if off == records[0] && (*record).node == 0 {
                    off_cpu::give(thread, off, from);
                }
            }
        }
        let node = thread.node(from);
        arena::publish_node(node, parent);
        say(journal, 0);
        let (function, site, hook) = ((*node).function as usize, (*node).site as usize, (*node).hook as usize);
        if path::find(thread, parent, function, site, hook).is_none()
            && !children::insert(thread, parent, from, function, site, hook)
        {
            path::index(thread, from, node);
        }
    }
}

/// Holds the nodes of open calls, or no longer. False if some are not the thread's own: those of a parent process.
fn hold(thread: &Thread, hold: bool) -> bool {
    let mut are_own = true;
    let mut each = |node: Ref| {
        if node <= ROOT {
            return;
        }
        if node == NOTED || !path::is_own(thread, node) {
            are_own = false;
            return;
        }
        // SAFETY: the node is the arena's.
        let flags = unsafe { &mut (*thread.node(node)).flags };
        match hold {
            true => *flags |= flag::HELD as u16,
            false => *flags &= !(flag::HELD as u16),
        }
    };
    let mut frame = thread.top.get();
    while frame > thread.bottom.get() {
        // SAFETY: frames between bottom and top are there, and their nodes are in the mapping.
        unsafe {
            // One that is not filled has no node yet, or that of an earlier call.
            if (*frame).position != 0 {
                each((*frame).node);
                each((*frame).position);
            }
            frame = frame.sub(1);
        }
    }
    if thread.ring_stage.get() != Stage::Empty {
        // SAFETY: the scratch is the thread's while its ring is in use.
        let open = unsafe { &raw const (*thread.scratch.get()).open }.cast::<Open>();
        for index in 0..thread.replayed.get().saturating_sub(1) {
            // SAFETY: so many are open.
            let Open { node, position, .. } = unsafe { *open.add(index) };
            each(node);
            each(position);
        }
        // Calls that others in the ring were made from, and that have returned since. SAFETY: as above.
        let slots = unsafe { &raw const (*thread.scratch.get()).slots }.cast::<RingSlot>();
        for at in 0..thread.ring_used.get().min(SLOTS) {
            // SAFETY: there are as many slots.
            if let Note::Base(place, _) = unsafe { slots.add(at).read() }.note() {
                each(place.node);
                each(place.position);
            }
        }
        // SAFETY: the ring is the thread's.
        let counting = unsafe { &*thread.ring.get() };
        if counting.counting != 0 {
            each(counting.node);
        }
    }
    are_own
}
