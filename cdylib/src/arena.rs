//! Arenas: how a thread comes by one, and how it grows.

use crate::family::{Family, at};
use crate::hooks;
use crate::modules;
use crate::path;
use crate::sys;
use crate::thread::Thread;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use profile::arena::flag;
use profile::block::BLOCK_MAGIC;
use profile::header::timing;
use profile::node::mark;
use profile::timeline::Slice;
use profile::{
    ARENA_NODES, Arena, Bins, Block, CHUNK_NODES, DIRECTORY_SLOTS, Function, GRANULE, NodeRecord, Ref, Sample,
    Timeline, UNIT, kind,
};

const FIRST_SIZE: usize = 2 * GRANULE;
const LARGEST_BLOCK: usize = 64 * GRANULE;

/// How many owners a search asks after before it rather takes new space: a fork must stay cheap.
const SEARCH: u32 = 16;

/// In a directory word: the owner has ended its process, though the task may still be there.
const LEAVING: u32 = 1 << 31;

/// A word of the directory: an arena and the thread that owns it; no thread = free.
fn word(arena: Ref, owner: u32) -> u64 {
    (owner as u64) << 32 | arena as u64
}

fn directory(family: &Family, index: u32) -> &AtomicU64 {
    let words = family.base.wrapping_add(GRANULE).cast::<u64>();
    // SAFETY: the index is below the number of words, which follow the header's page.
    unsafe { AtomicU64::from_ptr(words.add(index as usize)) }
}

/// Gives the thread an arena: one that an ended thread has left, or a new one. False if there is neither.
pub fn claim(thread: &mut Thread) -> bool {
    let family = thread.family;
    let process = family.process_number();
    // SAFETY: the page is mapped for good.
    let nth_thread = unsafe { &(*family.process).threads }.fetch_add(1, Ordering::Relaxed);
    let keep = keep(family);
    thread.nodes.clear();
    thread.functions.clear();
    thread.path_cache.fill(0);
    thread.directory = -1;
    let apart = process <= keep;
    let may_be_adopted = !apart || nth_thread >= keep;
    let found = (may_be_adopted && adopt(thread, process, apart)) || create(thread);
    if found {
        // SAFETY: the arena is this thread's now.
        unsafe { introduce(thread, process) };
        if may_be_adopted && thread.directory < 0 {
            enlist(thread);
        }
    }
    found
}

/// Takes the arena of a thread that is no more.
fn adopt(thread: &mut Thread, process: u32, apart: bool) -> bool {
    let family = thread.family;
    let header = family.header();
    // SAFETY: the header's words are only changed by atomic operations.
    let (len, cursor) =
        unsafe { (AtomicU32::from_ptr(&raw mut (*header).directory), AtomicU32::from_ptr(&raw mut (*header).cursor)) };
    let len = len.load(Ordering::Acquire).min(DIRECTORY_SLOTS as u32);
    let me = sys::gettid();
    for _ in 0..len.min(SEARCH) {
        let index = cursor.fetch_add(1, Ordering::Relaxed) % len;
        let entry = directory(family, index);
        let found = entry.load(Ordering::Acquire);
        let (arena_ref, owner) = (found as u32, (found >> 32) as u32);
        if arena_ref == 0 || !is_free(owner) {
            continue;
        }
        let arena: *mut Arena = at(family.base, arena_ref.wrapping_add(1));
        // SAFETY: the directory names only arenas.
        let theirs = unsafe { (*arena).process };
        let allowed = theirs == process || (!apart && theirs > keep(family));
        let taken = || entry.compare_exchange(found, word(arena_ref, me), Ordering::AcqRel, Ordering::Acquire).is_ok();
        if allowed && taken() {
            thread.directory = index as i32;
            // SAFETY: the arena is this thread's now.
            unsafe { take_over(thread, arena_ref, theirs != process) };
            return true;
        }
    }
    false
}

fn keep(family: &Family) -> u32 {
    // SAFETY: the header is mapped, and the word does not change.
    unsafe { (*family.header()).keep }
}

fn is_free(owner: u32) -> bool {
    if owner == 0 {
        return true;
    }
    let tid = owner & !LEAVING;
    if !sys::task_exists(tid) {
        return true;
    }
    owner & LEAVING != 0 && is_zombie(tid)
}

/// Whether a task has ended and only its parent does not know yet.
fn is_zombie(tid: u32) -> bool {
    let mut path = *b"/proc/\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let end = 6 + decimal(tid, &mut path[6..]);
    path[end..end + 6].copy_from_slice(b"/stat\0");
    let mut buffer = [0; 128];
    let Ok(path) = core::ffi::CStr::from_bytes_until_nul(&path) else { return false };
    let Ok(stat) = sys::read_file(path, &mut buffer) else { return false };
    // The state follows the name, which is in brackets and may hold any character.
    let Some(name_end) = stat.iter().rposition(|&c| c == b')') else { return false };
    matches!(stat.get(name_end + 2), Some(b'Z' | b'X'))
}

/// Writes a number in decimal; the digits it took.
pub fn decimal(mut number: u32, buffer: &mut [u8]) -> usize {
    let mut digits = [0; 10];
    let mut len = 0;
    loop {
        digits[len] = b'0' + (number % 10) as u8;
        number /= 10;
        len += 1;
        if number == 0 {
            break;
        }
    }
    for (place, digit) in buffer.iter_mut().zip(digits[..len].iter().rev()) {
        *place = *digit;
    }
    len
}

/// Makes an ended owner's arena this thread's: closes what it left open and indexes what is there.
unsafe fn take_over(thread: &mut Thread, arena_ref: Ref, merge: bool) {
    // SAFETY: the caller's arena; its blocks lead to each other.
    unsafe {
        let first: *mut Block = at(thread.base, arena_ref);
        let arena: *mut Arena = first.cast::<u8>().add(UNIT).cast();
        let mut blocks = arena_ref;
        while blocks != 0 {
            thread.block = at(thread.base, blocks);
            // This process may not have touched it yet; now rather than in the middle of a call.
            let _ = sys::populate(thread.block.cast(), (*thread.block).size as usize);
            blocks = (*thread.block).next;
        }
        let mut last = 0;
        each_node(thread.base, arena_ref, |_, node| {
            for slot in [&(*node).slot, &(*node).folded_slot] {
                last = last.max(slot.mark & !mark::BITS);
            }
        });
        each_node(thread.base, arena_ref, |_, node| {
            for slot in [&mut (*node).slot, &mut (*node).folded_slot] {
                if slot.mark & mark::OPEN != 0 {
                    slot.ticks += last.saturating_sub(slot.mark & !mark::BITS);
                    slot.mark = last;
                }
            }
        });
        (thread.arena_ref, thread.arena) = (arena_ref, arena);
        index_what_is_there(thread);
        if (*arena).epoch != thread.epoch() {
            clear(thread);
            (*arena).owners = 0; // the thread is counted with what introduces it
            return;
        }
        hooks::file_pending(thread);
        (*arena).flags &= flag::MERGED | flag::FULL;
        if merge {
            (*arena).flags |= flag::MERGED;
            (*arena).processes += 1;
        }
    }
}

/// Has the thread's arena begin anew: its paths stay, what they have counted does not.
///
/// # Safety
/// The arena must be the thread's.
pub unsafe fn clear(thread: &mut Thread) {
    // SAFETY: the caller's promise; nodes name records of their arena.
    unsafe {
        let base = thread.base;
        let arena = &mut *thread.arena;
        let is_sampled = thread.family.settings.timing == timing::SAMPLED;
        each_node(base, thread.arena_ref, |_, node| {
            let node = &mut *node;
            (node.slot, node.folded_slot, node.unwound) = Default::default();
            if !is_sampled {
                node.sample = 0;
            } else if node.sample != 0 {
                at::<Sample>(base, node.sample).write(Sample::default());
            }
            node.countdown = path::first_countdown(thread.family);
            if node.record != 0 {
                clear_function(base, &mut *at(base, node.record));
            }
        });
        (arena.lost_calls, arena.backward_calls, arena.unwound, arena.stray_exits) = (0, 0, 0, 0);
        arena.pending = 0;
        (arena.owners, arena.processes) = (1, 1);
        arena.flags &= flag::FULL;
        AtomicU32::from_ptr(&raw mut arena.epoch).store(thread.epoch(), Ordering::Release);
    }
}

unsafe fn clear_function(base: *mut u8, function: &mut Function) {
    (function.min, function.max, function.unbinned) = (u64::MAX, 0, 0);
    // SAFETY: a function names bins and a timeline of its arena.
    unsafe {
        for bins in function.octaves.iter().filter(|&&bins| bins != 0) {
            (*at::<Bins>(base, *bins)).counts.fill(0);
        }
        if function.timeline != 0 {
            (*at::<Timeline>(base, function.timeline)).slices.fill(Slice::default());
        }
    }
}

/// Fills the thread's indices with the nodes of its arena whose code is still where it was.
pub fn index_what_is_there(thread: &mut Thread) {
    thread.nodes.clear();
    thread.functions.clear();
    thread.path_cache.fill(0);
    let (state, family) = (&raw mut *thread, thread.family);
    // SAFETY: the arena is the thread's, and the closure does not touch its blocks.
    unsafe {
        each_node(thread.base, thread.arena_ref, |reference, node| {
            if modules::is_there(family, (*node).function as usize, (*node).generation) {
                path::index(&mut *state, reference, node);
            }
        });
    }
}

/// Calls `each` for every node of an arena.
///
/// # Safety
/// `arena_ref` must name an arena that no other thread writes to.
unsafe fn each_node(base: *mut u8, arena_ref: Ref, mut each: impl FnMut(Ref, *mut NodeRecord)) {
    let mut block_ref = arena_ref;
    while block_ref != 0 {
        let block: *mut Block = at(base, block_ref);
        // SAFETY: blocks of an arena lead to each other, and hold as many nodes as they say.
        unsafe {
            let first = if (*block).kind == kind::ARENA { ARENA_NODES } else { CHUNK_NODES };
            for index in 0..(*block).nodes as usize {
                let offset = first + index * size_of::<NodeRecord>();
                each(block_ref + (offset / UNIT) as Ref, block.cast::<u8>().add(offset).cast());
            }
            block_ref = (*block).next;
        }
    }
}

fn create(thread: &mut Thread) -> bool {
    let Some((reference, block)) = thread.family.block(FIRST_SIZE, false) else { return false };
    // SAFETY: the block is new and large enough.
    unsafe {
        (*block).kind = kind::ARENA;
        (*block).size = FIRST_SIZE as u32;
        (*block).arena = reference;
        thread.arena_ref = reference;
        thread.arena = block.cast::<u8>().add(UNIT).cast();
        thread.block = block;
        (*thread.arena).processes = 1;
    }
    true
}

/// Writes into the arena who owns it now, and shows it to readers.
unsafe fn introduce(thread: &mut Thread, process: u32) {
    // SAFETY: the caller's arena; the family's pages.
    unsafe {
        let arena = &mut *thread.arena;
        arena.pid = sys::getpid();
        arena.ppid = sys::getppid();
        arena.tid = sys::gettid();
        arena.name = sys::thread_name();
        arena.process = process;
        arena.process_started = (*thread.family.process).started.load(Ordering::Relaxed);
        arena.started = crate::clock::now(thread.family.clock);
        arena.owners += 1;
        arena.epoch = thread.epoch();
        let block: *mut Block = at(thread.base, thread.arena_ref);
        if (*block).magic != BLOCK_MAGIC {
            thread.family.publish(block);
        }
        let header = thread.family.header();
        (*header).last_anchor = crate::clock::anchor((*header).clock);
    }
}

/// Enters the arena in the directory, so that it can be adopted when its owner is gone.
fn enlist(thread: &mut Thread) {
    let header = thread.family.header();
    // SAFETY: the header's word is only changed by atomic operations.
    let index = unsafe { AtomicU32::from_ptr(&raw mut (*header).directory) }.fetch_add(1, Ordering::AcqRel);
    if (index as usize) < DIRECTORY_SLOTS {
        directory(thread.family, index).store(word(thread.arena_ref, sys::gettid()), Ordering::Release);
        thread.directory = index as i32;
    }
}

/// Leaves the arena: its counts stay, and another thread may add to them.
pub fn release(thread: &mut Thread) {
    // SAFETY: the thread owns its arena until its word in the directory says otherwise.
    unsafe {
        hooks::file_pending(thread);
        (*thread.arena).flags |= flag::ENDED;
    }
    if thread.directory >= 0 {
        directory(thread.family, thread.directory as u32).store(word(thread.arena_ref, 0), Ordering::Release);
    }
}

/// Says that the thread is about to end its process by itself.
pub fn leave(thread: &mut Thread) {
    // SAFETY: the thread owns its arena.
    unsafe { (*thread.arena).flags |= flag::EXITED };
    if thread.directory >= 0 {
        let leaving = word(thread.arena_ref, sys::gettid() | LEAVING);
        directory(thread.family, thread.directory as u32).store(leaving, Ordering::Release);
    }
}

/// Room for a node, from the front of the arena's latest block.
pub fn node(thread: &mut Thread, spare: bool) -> Option<(Ref, *mut NodeRecord)> {
    make_room(thread, size_of::<NodeRecord>(), spare)?;
    // SAFETY: the block belongs to the thread and has the room.
    unsafe {
        let block = thread.block;
        let first = if (*block).kind == kind::ARENA { ARENA_NODES } else { CHUNK_NODES };
        let place = block.cast::<u8>().add(first + (*block).nodes as usize * size_of::<NodeRecord>());
        Some((reference_of(thread, place), place.cast()))
    }
}

/// Counts the node that `node` has made room for, now that it is complete.
pub fn publish_node(thread: &mut Thread) {
    // SAFETY: the block belongs to the thread.
    unsafe {
        let nodes = AtomicU32::from_ptr(&raw mut (*thread.block).nodes);
        nodes.store(nodes.load(Ordering::Relaxed) + 1, Ordering::Release);
    }
}

/// Room for a zeroed record other than a node, from the back of the arena's latest block.
pub fn record<T>(thread: &mut Thread, spare: bool) -> Option<(Ref, *mut T)> {
    make_room(thread, size_of::<T>(), spare)?;
    // SAFETY: the block belongs to the thread and has the room.
    unsafe {
        let block = thread.block;
        (*block).back += size_of::<T>() as u32;
        let place = block.cast::<u8>().add((*block).size as usize - (*block).back as usize);
        Some((reference_of(thread, place), place.cast()))
    }
}

/// Takes a large block, as none can be had later.
pub fn make_room_ahead(thread: &mut Thread) {
    add_block(thread, LARGEST_BLOCK, false);
}

fn reference_of(thread: &Thread, place: *mut u8) -> Ref {
    ((place.addr() - thread.base.addr()) / UNIT) as Ref
}

fn make_room(thread: &mut Thread, size: usize, spare: bool) -> Option<()> {
    // SAFETY: the thread owns its arena and its blocks.
    let (used, block_size, full) = unsafe {
        let block = &*thread.block;
        let first = if block.kind == kind::ARENA { ARENA_NODES } else { CHUNK_NODES };
        let used = first + block.nodes as usize * size_of::<NodeRecord>() + block.back as usize;
        (used, block.size as usize, (*thread.arena).flags & flag::FULL != 0)
    };
    if used + size <= block_size {
        return Some(());
    }
    if full && !spare {
        return None;
    }
    // The last of the file's space is for small blocks, and only for functions with no other place.
    let wanted = if full { FIRST_SIZE } else { (block_size * 2).min(LARGEST_BLOCK) };
    if add_block(thread, wanted, spare) {
        return Some(());
    }
    // SAFETY: as above.
    unsafe { (*thread.arena).flags |= flag::FULL };
    None
}

fn add_block(thread: &mut Thread, size: usize, spare: bool) -> bool {
    let Some((reference, new)) = thread.family.block(size, spare) else { return false };
    // SAFETY: the block is new, and the thread owns its arena.
    unsafe {
        (*new).kind = kind::CHUNK;
        (*new).size = size as u32;
        (*new).arena = thread.arena_ref;
        thread.family.publish(new);
        (*thread.block).next = reference;
        thread.block = new;
    }
    true
}
