//! Nodes whose paths gave way ([`crate::recycle`]), and that no path has: two lists of them, by the second words of their keys. Those of one
//! have extensions. Where there is no other room, both are room for other records of their size.
//!
//! **Forks.** A signal handler may fork in the middle of a hook, whose rest is then done in both processes. The list is the parent's: a
//! child takes nothing from it. If it has got further than that when it is forked, either may be the first to take a node; the other
//! then knows nothing of the list any more, which is forgotten, and found again when a node is looked for next ([`crate::recycle`]).

use crate::family::at;
use crate::node::extension;
use crate::thread::{FreeNodes, Thread, live};
use core::sync::atomic::{AtomicU64, Ordering};
use profile::protocol::room;
use profile::{NodeRecord, Ref};

/// Free nodes that are kept for sums of paths that give way: without them none could.
pub const KEPT: u32 = 16;

/// A node whose path gave way, for another.
pub fn take(thread: &Thread, key: [u64; 2]) -> Option<(Ref, *mut NodeRecord)> {
    has_some(thread).then(|| take_any(thread, key)).flatten()
}

/// The same, and be it the last: for sums of paths that give way. One that has an extension only where there is no other.
pub fn take_any(thread: &Thread, key: [u64; 2]) -> Option<(Ref, *mut NodeRecord)> {
    let lists = [&thread.free, &thread.free_extended];
    let list = lists.into_iter().find(|list| list.first.get() != 0)?;
    take_first(thread, list, key)
}

fn take_first(thread: &Thread, list: &FreeNodes, key: [u64; 2]) -> Option<(Ref, *mut NodeRecord)> {
    let free = list.first.get();
    if free == 0 || is_forked(thread) {
        return None;
    }
    let place = thread.node(free);
    // SAFETY: free nodes are the arena's, and lead to each other.
    let words = unsafe { [0, 1].map(|word: usize| AtomicU64::from_ptr(&raw mut (*place).key[word])) };
    let Some(next) = room::take_free(words, key) else {
        clear(thread);
        return None;
    };
    list.first.set(next as Ref);
    list.count.set(list.count.get().saturating_sub(1));
    Some((free, place))
}

/// Room for another record of 64 bytes: the extension of a free node, which has none then, or a free node itself, which is none any more; not the
/// last few, unless they are asked for. It has no parent as a node, and its first word is not 0; what else is in there means nothing.
pub fn take_record(thread: &Thread, be_it_the_last: bool) -> Option<Ref> {
    if !be_it_the_last && !has_some(thread) {
        return None;
    }
    // Whoever copies the file may have what leads there, and not what is there.
    count_moves(thread, 0);
    let taken = match take_first(thread, &thread.free_extended, NOBODYS) {
        // SAFETY: the node is the thread's, and no path has it.
        Some((name, node)) => unsafe {
            let extension = core::mem::take(&mut (*node).more);
            add(thread, name);
            (*at::<NodeRecord>(thread.base, extension)).key = NOBODYS;
            Some(extension)
        },
        None => take_first(thread, &thread.free, NOBODYS).map(|(name, _)| {
            thread.path_count.set(thread.path_count.get().saturating_sub(1));
            name
        }),
    };
    count_moves(thread, 1);
    taken
}

/// The key of a node that is taken for no path.
const NOBODYS: [u64; 2] = [1, 0];

/// Counts a change of what lies where: at its beginning (0) or its end (1).
pub fn count_moves(thread: &Thread, end: usize) {
    // SAFETY: the header is mapped, and the word is only changed by atomic operations.
    let count = unsafe { AtomicU64::from_ptr(&raw mut (*thread.family.header()).recycled[end]) };
    count.fetch_add(1, Ordering::AcqRel);
}

/// How many there are.
pub fn count(thread: &Thread) -> u32 {
    thread.free.count.get() + thread.free_extended.count.get()
}

/// Whether there is one for another path.
pub fn has_some(thread: &Thread) -> bool {
    count(thread) > KEPT && !is_forked(thread)
}

fn is_forked(thread: &Thread) -> bool {
    thread.is(live::FORKED)
}

/// Adds one.
///
/// # Safety
/// The node must be one of the thread's that no path has.
pub unsafe fn add(thread: &Thread, node_ref: Ref) {
    let node = thread.node(node_ref);
    // SAFETY: the caller's node, which no path has.
    unsafe {
        let list = match extension(thread.base, node) {
            Some(_) => &thread.free_extended,
            None => &thread.free,
        };
        (*node).key[1] = list.first.get().into();
        AtomicU64::from_ptr(&raw mut (*node).key[0]).store(0, Ordering::Release);
        list.first.set(node_ref);
        list.count.set(list.count.get() + 1);
    }
}

/// Forgets all.
pub fn clear(thread: &Thread) {
    for list in [&thread.free, &thread.free_extended] {
        list.first.set(0);
        list.count.set(0);
    }
}
