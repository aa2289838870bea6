//! Nodes whose paths gave way ([`crate::recycle`]), and that no path has: a list of them, by the second words of their keys.
//!
//! **Forks.** A signal handler may fork in the middle of a hook, whose rest is then done in both processes. The list is the parent's: a
//! child takes nothing from it. If it has got further than that when it is forked, either may be the first to take a node; the other
//! then knows nothing of the list any more, and it is made anew of what no path has ([`list`]).

use crate::arena;
use crate::family::at;
use crate::thread::{Thread, live};
use core::sync::atomic::{AtomicU64, Ordering};
use profile::protocol::room;
use profile::{Block, NodeRecord, Ref};

/// Free nodes that are kept for sums of paths that give way: without them none could.
pub const KEPT: u32 = 8;

/// A node whose path gave way, for another.
pub fn take(thread: &Thread, key: [u64; 2]) -> Option<(Ref, *mut NodeRecord)> {
    has_some(thread).then(|| take_any(thread, key)).flatten()
}

/// The same, and be it the last: for sums of paths that give way.
pub fn take_any(thread: &Thread, key: [u64; 2]) -> Option<(Ref, *mut NodeRecord)> {
    for is_known in [true, false] {
        if !is_known {
            // SAFETY: the arena is the thread's.
            unsafe { list(thread) };
        }
        let free = thread.free.get();
        if free == 0 || is_forked(thread) {
            return None;
        }
        let place = thread.node(free);
        // SAFETY: free nodes are the arena's, and lead to each other.
        let words = unsafe { [0, 1].map(|word: usize| AtomicU64::from_ptr(&raw mut (*place).key[word])) };
        if let Some(next) = room::take_free(words, key) {
            thread.free.set(next as Ref);
            thread.free_count.set(thread.free_count.get().saturating_sub(1));
            return Some((free, place));
        }
    }
    None
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

/// Finds those of the thread's arena, unless that is a forked child's parent's.
///
/// # Safety
/// The arena must be the thread's.
pub unsafe fn list(thread: &Thread) {
    thread.free.set(0);
    thread.free_count.set(0);
    let mut block_ref = thread.arena_ref.get();
    while block_ref != 0 {
        let block: *mut Block = at(thread.base, block_ref);
        // SAFETY: blocks of the arena lead to each other.
        unsafe {
            for node_ref in (0..(*block).nodes).map(|index| arena::nth(block_ref, block, index)) {
                if is_forked(thread) {
                    return;
                }
                let node = thread.node(node_ref);
                // Also one for which room was taken, and nothing else done before the process ended.
                if (*node).parent == 0 && (*node).key[0] == 0 && (*node).slot.calls == 0 {
                    add(thread, node_ref);
                }
            }
            block_ref = (*block).next;
        }
    }
}
