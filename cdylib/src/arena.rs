//! Arenas: how a thread comes by one, and how it grows.

use crate::children;
use crate::family::at;
use crate::free_nodes;
use crate::thread::Thread;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use profile::arena::flag;
use profile::protocol::room;
use profile::{ARENA_NODES, Arena, Block, CHUNK_NODES, GRANULE, NodeRecord, Ref, UNIT, kind};

pub const FIRST_SIZE: usize = 2 * GRANULE;
const LARGEST_BLOCK: usize = 64 * GRANULE;

/// Calls `each` for every complete node of an arena.
///
/// # Safety
/// `arena_ref` must name an arena that no other thread writes to.
pub unsafe fn each_node(base: *mut u8, arena_ref: Ref, mut each: impl FnMut(Ref, *mut NodeRecord)) {
    let mut block_ref = arena_ref;
    while block_ref != 0 {
        let block: *mut Block = at(base, block_ref);
        // SAFETY: blocks of an arena lead to each other, and hold as many nodes as they say.
        unsafe {
            let first = if (*block).kind == kind::ARENA { ARENA_NODES } else { CHUNK_NODES };
            for index in 0..(*block).nodes as usize {
                let offset = first + index * size_of::<NodeRecord>();
                let node: *mut NodeRecord = block.cast::<u8>().add(offset).cast();
                if (*node).parent != 0 {
                    each(block_ref + (offset / UNIT) as Ref, node);
                }
            }
            block_ref = (*block).next;
        }
    }
}

/// The name of a node of a block of an arena.
pub unsafe fn nth(block_ref: Ref, block: *const Block, index: u32) -> Ref {
    // SAFETY: the caller's block.
    let first = if unsafe { (*block).kind } == kind::ARENA { ARENA_NODES } else { CHUNK_NODES };
    block_ref + ((first + index as usize * size_of::<NodeRecord>()) / UNIT) as Ref
}

/// Sets a bit of an arena's flags, which other threads of its process may do at the same time.
///
/// # Safety
/// The arena must be in the mapping.
pub unsafe fn set_flag(arena: *mut Arena, bit: u32) {
    // SAFETY: the caller's promise.
    unsafe { AtomicU32::from_ptr(&raw mut (*arena).flags) }.fetch_or(bit, Ordering::Relaxed);
}

/// Where a block's nodes begin, and how many bytes it has for them and other records.
unsafe fn room_of(block: *mut Block) -> (usize, usize) {
    // SAFETY: the caller's block.
    let (kind, size) = unsafe { ((*block).kind, (*block).size as usize) };
    let first = if kind == kind::ARENA { ARENA_NODES } else { CHUNK_NODES };
    (first, size - first)
}

/// Whether a block has so many bytes left.
unsafe fn has_room(block: *mut Block, size: usize) -> bool {
    // SAFETY: the caller's block.
    unsafe { room::has(counts(block), room_of(block).1, size_of::<NodeRecord>(), size) }
}

unsafe fn counts<'a>(block: *mut Block) -> &'a AtomicU64 {
    // SAFETY: the caller's block; both counts are changed as one word.
    unsafe { AtomicU64::from_ptr((&raw mut (*block).nodes).cast()) }
}

/// Room for a node: of one whose path gave way, or from the front of the arena's latest block. It has counted nothing, and has
/// nothing else that means anything but its key: it is complete, and the thread's, once it has a parent.
pub fn node(thread: &Thread, key: [u64; 2], spare: bool) -> Option<(Ref, *mut NodeRecord)> {
    const SIZE: usize = size_of::<NodeRecord>();
    if let Some(free) = free_nodes::take(thread, key) {
        return Some(free);
    }
    loop {
        make_room(thread, SIZE, spare)?;
        let block = thread.block.get();
        // SAFETY: the block belongs to the thread.
        unsafe {
            let (first, room) = room_of(block);
            let Some(index) = room::take_node(counts(block), room, SIZE) else { continue };
            let place: *mut NodeRecord = block.cast::<u8>().add(first + index as usize * SIZE).cast();
            // In a child of a signal handler that came in the middle of this, the node is the parent's.
            if room::claim(AtomicU64::from_ptr(&raw mut (*place).key[0]), key[0]) {
                (*place).key[1] = key[1];
                thread.path_count.set(thread.path_count.get() + 1);
                return Some((reference_of(thread, place.cast()), place));
            }
        }
    }
}

/// Makes a node complete.
///
/// # Safety
/// It must be, but for its parent.
pub unsafe fn publish_node(node: *mut NodeRecord, parent: Ref) {
    // SAFETY: the caller's node.
    unsafe { AtomicU32::from_ptr(&raw mut (*node).parent) }.store(parent, Ordering::Release);
}

/// Room for a zeroed record other than a node, from the back of the arena's latest block.
pub fn record<T>(thread: &Thread, spare: bool) -> Option<(Ref, *mut T)> {
    loop {
        make_room(thread, size_of::<T>(), spare)?;
        let block = thread.block.get();
        // SAFETY: the block belongs to the thread.
        unsafe {
            let (_, room) = room_of(block);
            let taken = room::take_back(counts(block), room, size_of::<NodeRecord>(), size_of::<T>());
            let Some(back) = taken else { continue };
            let place = block.cast::<u8>().add((*block).size as usize - back as usize);
            return Some((reference_of(thread, place), place.cast()));
        }
    }
}

/// The same. Where paths give way to others, what is kept of functions does not: the last of the file's space is for that.
pub fn lasting_record<T>(thread: &Thread) -> Option<(Ref, *mut T)> {
    record(thread, false).or_else(|| is_large(thread).then(|| record(thread, true)).flatten())
}

/// Room for a record as large as a node. Where paths give way to others, it may lie where a node was; not the last few of those, unless they are asked
/// for, as is the last of the file's space. What is in there means nothing, but that as a node it has no parent; and nothing leads to it.
pub fn small_record<T>(thread: &Thread, be_it_the_last: bool) -> Option<(Ref, *mut T)> {
    const { assert!(size_of::<T>() == size_of::<NodeRecord>()) };
    let of_nodes = || {
        let taken = is_large(thread).then(|| free_nodes::take_record(thread, be_it_the_last)).flatten()?;
        Some((taken, at(thread.base, taken)))
    };
    let last = || match be_it_the_last || !is_large(thread) {
        true => record(thread, true),
        false => record_for_times(thread),
    };
    record(thread, false).or_else(|| match thread.family.is_copied() {
        true => last().or_else(of_nodes), // nothing moves meanwhile that need not
        false => of_nodes().or_else(last),
    })
}

/// The same for what only makes times truer: most of that space stays for functions.
pub fn record_for_times<T>(thread: &Thread) -> Option<(Ref, *mut T)> {
    record(thread, false).or_else(|| has_spare_for_times(thread).then(|| record(thread, true)).flatten())
}

/// Whether what only makes times truer may have some of that space.
pub fn has_spare_for_times(thread: &Thread) -> bool {
    is_large(thread) && thread.family.has_room_for_times()
}

/// Whether paths of an arena may give way to others: in a small one nearly all are open.
pub fn is_large(thread: &Thread) -> bool {
    const LEAST: u32 = 512;
    thread.path_count.get() >= LEAST
}

/// Takes a large block, as none can be had later; of what is left a small part, as hundreds of processes may do so. Not where an earlier
/// owner of the arena has left as much: a server's child for each session takes over what the one before it took. How many bytes there may be.
pub fn make_room_ahead(thread: &Thread) -> usize {
    /// Enough for the key exchange of sshd, for which a quarter was not. Who asks for more memory than usual has more.
    const LEAST: usize = 256 * GRANULE;
    let most = (thread.family.mapped / 256).max(LEAST);
    let share = (thread.family.room() / 64).clamp(LARGEST_BLOCK, most) / GRANULE * GRANULE;
    // SAFETY: the block belongs to the thread.
    if thread.is_block_spare.get() || unsafe { !has_room(thread.block.get(), share / 2) } {
        let _ = add_block(thread, share, false) || add_block(thread, LARGEST_BLOCK, false);
    }
    share
}

fn reference_of(thread: &Thread, place: *mut u8) -> Ref {
    ((place.addr() - thread.base.addr()) / UNIT) as Ref
}

/// Makes sure that the latest block has room. Where none could be had, it is asked for again after a while: a disk may be
/// full, or a descriptor missing, for a moment.
fn make_room(thread: &Thread, size: usize, spare: bool) -> Option<()> {
    let block = thread.block.get();
    // SAFETY: the thread owns its arena and its blocks.
    let (has_room, block_size) = unsafe { (has_room(block, size), (*block).size as usize) };
    // What was set aside is not for all.
    if has_room && (spare || !thread.is_block_spare.get()) {
        return Some(());
    }
    if !thread.is_short_of_room() {
        if add_block(thread, (block_size * 2).min(LARGEST_BLOCK), false) {
            thread.is_block_spare.set(false);
            thread.no_room_until.set(0);
            return Some(());
        }
        thread.no_room_until.set(thread.family.later());
        // SAFETY: the arena is the thread's.
        unsafe { set_flag(thread.arena.get(), flag::FULL) };
    }
    if !spare || thread.is_short_of_spare_room() {
        return None;
    }
    // The last of the file's space is for small blocks, and only for functions with no other place.
    if add_block(thread, FIRST_SIZE, true) {
        thread.is_block_spare.set(true);
        return Some(());
    }
    thread.no_spare_until.set(thread.family.later());
    None
}

fn add_block(thread: &Thread, size: usize, spare: bool) -> bool {
    let Some((reference, new)) = thread.family.block(size, spare) else { return false };
    if !children::make_room(thread, reference, size) {
        return false;
    }
    // SAFETY: the block is new, and the thread owns its arena.
    unsafe {
        (*new).kind = kind::CHUNK;
        (*new).size = size as u32;
        (*new).arena = thread.arena_ref.get();
        thread.family.publish(new);
        (*thread.block.get()).next = reference;
        thread.block.set(new);
    }
    true
}
