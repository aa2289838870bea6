//! Room in a block: nodes from its front, other records from its back. Both counts are one word.
//!
//! A block has one thread that takes room in it, but the thread may be interrupted by itself (a signal handler), and be
//! there twice (a handler that forks: parent and child both finish what was interrupted).

use super::sync::{AtomicU64, Ordering};

/// Takes room for one more node of `size` bytes; the block has `room` bytes for nodes and records. Gives the node's index.
pub fn take_node(counts: &AtomicU64, room: usize, size: usize) -> Option<u32> {
    let take = |nodes: u32, back: u32| ((nodes as usize + 1) * size + back as usize <= room).then(|| (nodes + 1, back));
    exchange(counts, take).map(|(nodes, _)| nodes)
}

/// Takes room for another record, behind those that begin `nodes * node_size` bytes in. Gives how far from the block's end
/// it begins.
pub fn take_back(counts: &AtomicU64, room: usize, node_size: usize, size: usize) -> Option<u32> {
    let take = |nodes: u32, back: u32| {
        (nodes as usize * node_size + back as usize + size <= room).then(|| (nodes, back + size as u32))
    };
    exchange(counts, take).map(|(_, back)| back + size as u32)
}

/// Whether there is room for so many bytes.
pub fn has(counts: &AtomicU64, room: usize, node_size: usize, size: usize) -> bool {
    let (nodes, back) = split(counts.load(Ordering::Acquire));
    nodes as usize * node_size + back as usize + size <= room
}

fn split(counts: u64) -> (u32, u32) {
    (counts as u32, (counts >> 32) as u32)
}

/// What the counts were before.
fn exchange(counts: &AtomicU64, take: impl Fn(u32, u32) -> Option<(u32, u32)>) -> Option<(u32, u32)> {
    let mut before = counts.load(Ordering::Acquire);
    loop {
        let (nodes, back) = split(before);
        let (more_nodes, more_back) = take(nodes, back)?;
        let after = u64::from(more_back) << 32 | u64::from(more_nodes);
        match counts.compare_exchange(before, after, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return Some((nodes, back)),
            Err(found) => before = found,
        }
    }
}

/// Makes a node, whose room was taken, this call's: the first word of its key, which is never 0, is its own. False if whoever took the same room
/// (the other process of a fork in the middle) has done so.
pub fn claim(word: &AtomicU64, key: u64) -> bool {
    word.compare_exchange(0, key, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

/// Makes the first node of a list of free ones this call's, by its key's words, of which the second leads to the next: that is the
/// answer. `None` if the other process of a fork has taken it: its second word means something else by now, and nobody here knows
/// what comes next.
pub fn take_free(words: [&AtomicU64; 2], key: [u64; 2]) -> Option<u64> {
    claim(words[0], key[0]).then(|| {
        let next = words[1].load(Ordering::Relaxed);
        words[1].store(key[1], Ordering::Relaxed);
        next
    })
}
