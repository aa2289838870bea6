//! Nodes whose paths gave way ([`crate::recycle`]), and that no path has: a list of them, by the second words of their keys.
//!
//! **Forks.** A signal handler may fork in the middle of a hook, whose rest is then done in both processes. The list is the parent's: a
//! child takes nothing from it. If it has got further than that when it is forked, either may be the first to take a node; the other
//! then knows nothing of the list any more, which is forgotten, and found again when a node is looked for next ([`crate::recycle`]).

use crate::thread::{Thread, live};
use core::sync::atomic::{AtomicU64, Ordering};
use profile::protocol::room;
use profile::{NodeRecord, Ref};

/// Free nodes that are kept for sums of paths that give way: without them none could.
pub const KEPT: u32 = 8;

/// A node whose path gave way, for another.
pub fn take(thread: &Thread, key: [u64; 2]) -> Option<(Ref, *mut NodeRecord)> {
    has_some(thread).then(|| take_any(thread, key)).flatten()
}

/// The same, and be it the last: for sums of paths that give way.
pub fn take_any(thread: &Thread, key: [u64; 2]) -> Option<(Ref, *mut NodeRecord)> {
    let free = thread.free.get();
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
    thread.free.set(next as Ref);
    thread.free_count.set(thread.free_count.get().saturating_sub(1));
    Some((free, place))
}

/// Whether there is one for another path.
pub fn has_some(thread: &Thread) -> bool {
    thread.free_count.get() > KEPT && !is_forked(thread)
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
        (*node).key[1] = thread.free.get().into();
        AtomicU64::from_ptr(&raw mut (*node).key[0]).store(0, Ordering::Release);
    }
    thread.free.set(node_ref);
    thread.free_count.set(thread.free_count.get() + 1);
}

/// Forgets all.
pub fn clear(thread: &Thread) {
    thread.free.set(0);
    thread.free_count.set(0);
}
