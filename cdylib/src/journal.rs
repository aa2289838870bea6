//! The move of what a path has counted to the nodes that stand for it once it gave way ([`crate::recycle`]), and the journal of that
//! in the file ([`Recycling`]): whoever finds a move half done (the reader of a killed process, the arena's next owner, the thread
//! itself after a handler jumped out) has the path as it was.

use crate::arch;
use crate::arena;
use crate::children;
use crate::extension;
use crate::family::at;
use crate::free_nodes;
use crate::node;
use crate::off_records;
use crate::path;
use crate::thread::Thread;
use core::sync::atomic::{AtomicU32, Ordering, compiler_fence};
use profile::node::mark;
use profile::recycling::Was;
use profile::{Arena, NodeRecord, OffCpu, Recycling, Ref, Slot};

/// The arena's record of paths that gave way.
pub fn record(thread: &Thread) -> Option<*mut Recycling> {
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

/// Adds what a path has counted to others, and frees its node.
pub unsafe fn move_sums(thread: &Thread, from: Ref, to: [Ref; 2]) -> Option<()> {
    // SAFETY: the nodes are the arena's, and so are the records.
    unsafe {
        let node = thread.node(from);
        let off = off_records::find(thread, from).filter(|off| off_of(thread, *off) != [0, 0]);
        let (to_off, heir) = off.map_or(([0, 0], 0), |_| off_records(thread, to));
        let (_, inner, unwound) = what_it_has(thread, node);
        let has_extended = inner != Slot::default() || unwound != 0;
        if has_extended && !to.into_iter().all(|to| to == 0 || extension::ensure_of_sums(thread, to)) {
            return None;
        }
        let journal = record(thread)?;
        let nodes = [from, to[0], to[1]];
        let offs = [off.unwrap_or(0), to_off[0], to_off[1]];
        ((*journal).to, (*journal).off_cpu, (*journal).parent) = (to, offs, (*node).parent);
        let was = &raw mut (*journal).was;
        for (at, (node, off)) in nodes.into_iter().zip(offs).enumerate() {
            (*was)[at] = if node == 0 { Was::default() } else { was_of(thread, node, off) };
        }
        say(journal, from);
        arena::publish_node(node, 0); // from now on it is no path that anyone finds
        compiler_fence(Ordering::SeqCst);
        let sums = was_of(thread, from, offs[0]);
        for (to, off) in to.into_iter().zip(to_off).filter(|(to, _)| *to != 0) {
            add(thread, to, &sums);
            if off != 0 {
                let off: *mut OffCpu = at(thread.base, off);
                arch::add(&raw mut (*off).wait_ns, sums.off_ns[0]);
                arch::add(&raw mut (*off).preempted_ns, sums.off_ns[1]);
            }
        }
        if offs[0] != 0 && heir != 0 {
            off_records::hand_over(thread, offs[0], heir);
        } else if offs[0] != 0 {
            off_records::free(thread, offs[0]);
        }
        node::clear(thread.base, node);
        forget(thread, from, (*journal).parent);
        compiler_fence(Ordering::SeqCst);
        say(journal, 0);
        free_nodes::add(thread, from);
    }
    Some(())
}

/// The records of time off the processor of the nodes that take a path's sums, the first of which stands for calls between two functions;
/// 0 for those that need none. Where there is no room for one, its node is named, too: it gets the path's own. Without room
/// for two, nothing is known from now on.
fn off_records(thread: &Thread, to: [Ref; 2]) -> ([Ref; 2], Ref) {
    if off_records::is_unseen(thread) {
        return ([0, 0], 0);
    }
    let find = [off_records::find_or_make_lasting, off_records::find_or_make];
    let records = [0, 1].map(|at: usize| if to[at] == 0 { Some(0) } else { find[at](thread, to[at]) });
    match records {
        [Some(edge), Some(others)] => ([edge, others], 0),
        [Some(edge), None] => ([edge, 0], to[1]),
        [None, Some(others)] => ([0, others], to[0]),
        [None, None] => {
            off_records::give_up(thread);
            ([0, 0], 0)
        }
    }
}

unsafe fn off_of(thread: &Thread, record: Ref) -> [u64; 2] {
    if record == 0 {
        return [0, 0];
    }
    // SAFETY: the caller's record.
    let record = unsafe { &*at::<OffCpu>(thread.base, record) };
    [record.wait_ns, record.preempted_ns]
}

/// What a node has counted, and its record of time off the processor.
unsafe fn was_of(thread: &Thread, node: Ref, off: Ref) -> Was {
    let node = thread.node(node);
    // SAFETY: the caller's node and record.
    unsafe {
        let (slot, inner, unwound) = what_it_has(thread, node);
        Was { slots: [slot, inner], unwound, noted: (*node).noted.into(), off_ns: off_of(thread, off) }
    }
}

/// What a node has counted on its path, and in its extension.
unsafe fn what_it_has(thread: &Thread, node: *const NodeRecord) -> (Slot, Slot, u64) {
    // SAFETY: the caller's node.
    unsafe {
        let [slot, inner] = node::slots(thread.base, node);
        (slot, inner, node::extension(thread.base, node).map_or(0, |extension| (*extension).unwound))
    }
}

/// A node to which something is added has an extension if that has anything for it.
unsafe fn add(thread: &Thread, to: Ref, sums: &Was) {
    let to = thread.node(to);
    let add_slot = |slot: *mut Slot, more: &Slot| {
        // SAFETY: the caller's node.
        unsafe {
            arch::add(&raw mut (*slot).calls, more.calls);
            arch::add(&raw mut (*slot).ticks, more.ticks);
            arch::add(&raw mut (*slot).descendants, more.descendants);
            (*slot).mark = (*slot).mark.max(more.mark & !mark::BITS);
        }
    };
    // SAFETY: the caller's node.
    unsafe {
        add_slot(&raw mut (*to).slot, &sums.slots[0]);
        (*to).noted = (*to).noted.saturating_add(sums.noted as u32);
        if let Some(extension) = node::extension(thread.base, to) {
            add_slot(&raw mut (*extension).slot, &sums.slots[1]);
            arch::add(&raw mut (*extension).unwound, sums.unwound);
        }
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
    let (function, site, hook) = unsafe { node::who(thread.node(node_ref)) };
    if !children::remove(thread, parent, node_ref, function, site, hook) {
        thread.nodes.remove(path::word(parent, function, site, hook), node_ref);
    }
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
pub fn undo(thread: &Thread) {
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
                ((*node).slot, (*node).noted) = (was.slots[0], was.noted as u32);
                if let Some(extension) = node::extension(thread.base, node) {
                    ((*extension).slot, (*extension).unwound) = (was.slots[1], was.unwound);
                }
            }
            if off != 0 {
                let record: *mut OffCpu = at(thread.base, off);
                ((*record).wait_ns, (*record).preempted_ns) = (was.off_ns[0], was.off_ns[1]);
                if off == records[0] && (*record).node != from {
                    off_records::hand_over(thread, off, from);
                }
            }
        }
        let node = thread.node(from);
        arena::publish_node(node, parent);
        say(journal, 0);
        let (function, site, hook) = node::who(node);
        if path::find(thread, parent, function, site, hook).is_none()
            && !children::insert(thread, parent, from, function, site, hook)
        {
            path::index(thread, from, node);
        }
    }
}
