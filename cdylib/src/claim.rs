//! Whose an arena is: how a thread comes by one, takes over what an ended thread has left, and leaves it.
//!
//! Arenas that may be taken over are in the directory. Those of the first processes and threads are not, so that they stay apart, and are
//! looked for in the file where it is nearly full: whoever then writes 0 for the token of an owner that is gone has its arena.

use crate::arena::{FIRST_SIZE, each_node, set_flag};
use crate::children;
use crate::distribution;
use crate::family::{Family, at};
use crate::journal;
use crate::node;
use crate::off_records;
use crate::path;
use crate::recycle;
use crate::ring;
use crate::sys;
use crate::thread::Thread;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use profile::arena::flag;
use profile::block::{BLOCK_MAGIC, BLOCKS_START};
use profile::node::mark;
use profile::protocol::directory::{self, Owner, Token, Word};
use profile::timeline::Slice;
use profile::{Arena, Bins, Block, DIRECTORY_SLOTS, Function, GRANULE, Ref, Slot, Timeline, UNIT, kind};

/// How many owners a search asks after before it rather takes new space: a fork must stay cheap.
const SEARCH: u32 = 16;

fn word(family: &Family, index: u32) -> &AtomicU64 {
    let words = family.base.wrapping_add(GRANULE).cast::<u64>();
    // SAFETY: the index is below the number of words, which follow the header's page.
    unsafe { AtomicU64::from_ptr(words.add(index as usize)) }
}

/// The words of an arena that tell whose it is.
///
/// # Safety
/// The reference must be an arena's.
unsafe fn owner_of(family: &Family, arena_ref: Ref) -> Owner<'_> {
    let arena: *mut Arena = at(family.base, arena_ref + 1);
    // SAFETY: the caller's arena, whose words about its owner are only changed by atomic operations.
    unsafe {
        Owner {
            token: AtomicU64::from_ptr(&raw mut (*arena).token),
            pid_namespace: AtomicU64::from_ptr(&raw mut (*arena).pid_namespace),
            tid: AtomicU32::from_ptr(&raw mut (*arena).tid),
        }
    }
}

/// Gives the thread an arena: one that an ended thread has left, or a new one. False if there is neither.
pub fn claim(thread: &Thread) -> bool {
    let family = thread.family;
    let process = family.process_number();
    // SAFETY: the page is mapped for good.
    let nth_thread = unsafe { &(*family.process).threads }.fetch_add(1, Ordering::Relaxed);
    let keep = keep(family);
    thread.nodes.clear();
    thread.leaves_out.set(false);
    thread.functions.clear();
    thread.call_sites.clear();
    thread.children.set(family.children.load(Ordering::Relaxed));
    children::forget(thread);
    thread.directory.set(-1);
    thread.token.set(family.token());
    let apart = process <= keep;
    let may_be_adopted = !apart || nth_thread >= keep;
    let found = (may_be_adopted && adopt(thread, process, apart))
        || (family.is_nearly_full() && adopt_kept(thread, process))
        || create(thread);
    if found {
        // SAFETY: the arena is this thread's now.
        unsafe { introduce(thread, process) };
        if may_be_adopted && thread.directory.get() < 0 {
            enlist(thread);
        }
    }
    found
}

/// Takes the arena of a thread that is no more.
fn adopt(thread: &Thread, process: u32, apart: bool) -> bool {
    let family = thread.family;
    let header = family.header();
    // SAFETY: the header's words are only changed by atomic operations.
    let (len, cursor) =
        unsafe { (AtomicU32::from_ptr(&raw mut (*header).directory), AtomicU32::from_ptr(&raw mut (*header).cursor)) };
    let len = len.load(Ordering::Acquire).min(DIRECTORY_SLOTS as u32);
    for _ in 0..len.min(SEARCH) {
        let index = cursor.fetch_add(1, Ordering::Relaxed) % len;
        let entry = word(family, index);
        let found = Word(entry.load(Ordering::Acquire));
        let arena_ref = found.arena();
        if arena_ref == 0 || !is_free(family, found) {
            continue;
        }
        let arena: *mut Arena = at(family.base, arena_ref + 1);
        // SAFETY: the directory names only arenas.
        let theirs = unsafe { (*arena).process };
        let allowed = theirs == process || (!apart && theirs > keep(family));
        if allowed && directory::adopt(entry, found, thread.token.get()) {
            thread.directory.set(index as i32);
            // SAFETY: the arena is this thread's now.
            unsafe { take_over(thread, arena_ref, theirs != process) };
            return true;
        }
    }
    false
}

/// Takes the arena of a thread that is no more, though it is kept apart, as there is hardly room for another: one of this process, or
/// else of any. Those that are in the directory are not looked at: [`adopt`] is for them.
fn adopt_kept(thread: &Thread, process: u32) -> bool {
    /// Blocks looked at.
    const MOST: u32 = 1 << 13;
    let family = thread.family;
    let mut asked = 0;
    let mut of_another = None;
    let mut offset = BLOCKS_START;
    let end = family.end_of_blocks();
    for _ in 0..MOST {
        if offset + GRANULE > end {
            break;
        }
        let arena_ref = (offset / UNIT) as Ref;
        let block: *mut Block = at(family.base, arena_ref);
        // SAFETY: below the end all is mapped, and there; a block that is not complete yet does not have the magic number.
        let (magic, kind, size) = unsafe {
            let magic = AtomicU32::from_ptr(&raw mut (*block).magic).load(Ordering::Acquire);
            (magic, (*block).kind, (*block).size as usize)
        };
        let is_block = magic == BLOCK_MAGIC && size != 0 && size.is_multiple_of(GRANULE);
        offset += if is_block { size } else { GRANULE };
        if !is_block || kind != kind::ARENA {
            continue;
        }
        // SAFETY: the block is an arena's first.
        let (theirs, token) =
            unsafe { ((*at::<Arena>(family.base, arena_ref + 1)).process, owner_of(family, arena_ref).token) };
        let token = token.load(Ordering::Acquire);
        if token == 0 || !is_left(family, arena_ref, token, &mut asked) || is_listed(family, arena_ref) {
            continue;
        }
        if theirs != process {
            of_another = of_another.or(Some((arena_ref, token)));
        } else if take(thread, arena_ref, token, false) {
            return true;
        }
    }
    of_another.is_some_and(|(arena_ref, token)| take(thread, arena_ref, token, true))
}

/// Whether the owner of an arena with this token has left it, or is known to be gone.
fn is_left(family: &Family, arena_ref: Ref, token: Token, asked: &mut u32) -> bool {
    let arena: *mut Arena = at(family.base, arena_ref + 1);
    // SAFETY: the caller's arena, whose flags other threads set by atomic operations.
    let flags = unsafe { AtomicU32::from_ptr(&raw mut (*arena).flags) }.load(Ordering::Acquire);
    if flags & flag::ENDED != 0 {
        return true;
    }
    if *asked == SEARCH {
        return false;
    }
    *asked += 1;
    task_of(family, arena_ref, token).is_some_and(sys::is_no_task)
}

/// Whether an arena is in the directory.
fn is_listed(family: &Family, arena_ref: Ref) -> bool {
    // SAFETY: the header's word is only changed by atomic operations.
    let len = unsafe { AtomicU32::from_ptr(&raw mut (*family.header()).directory) }.load(Ordering::Acquire);
    (0..len.min(DIRECTORY_SLOTS as u32))
        .any(|index| Word(word(family, index).load(Ordering::Acquire)).arena() == arena_ref)
}

/// Makes an arena that its owner, with this token, has left this thread's. False if another was faster.
fn take(thread: &Thread, arena_ref: Ref, token: Token, merge: bool) -> bool {
    // SAFETY: the caller's arena; whoever writes 0 for the token has it, until it introduces itself.
    unsafe {
        let owner = owner_of(thread.family, arena_ref);
        let is_taken = owner.token.compare_exchange(token, 0, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if is_taken {
            take_over(thread, arena_ref, merge);
        }
        is_taken
    }
}

fn keep(family: &Family) -> u32 {
    // SAFETY: the header is mapped, and the word does not change.
    unsafe { (*family.header()).keep }
}

/// Whether an arena's owner has left it, or is known to be gone. Of one in another PID namespace, or whose namespace or
/// task is not known, nothing is: its arena stays its own.
fn is_free(family: &Family, found: Word) -> bool {
    if found.owner() == 0 {
        return true;
    }
    let task = task_of(family, found.arena(), found.owner());
    task.is_some_and(|tid| sys::is_no_task(tid) || (found.is_leaving() && is_zombie(tid)))
}

/// The task of the owner of an arena that has this token, if it is known in this PID namespace.
fn task_of(family: &Family, arena_ref: Ref, token: Token) -> Option<u32> {
    // SAFETY: the callers' arenas are.
    let owner = unsafe { owner_of(family, arena_ref) };
    owner.of(token).filter(|(namespace, _)| *namespace == family.pid_namespace()).map(|(_, tid)| tid)
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
unsafe fn take_over(thread: &Thread, arena_ref: Ref, merge: bool) {
    let base = thread.base;
    // SAFETY: the caller's arena; its blocks lead to each other.
    unsafe {
        let first: *mut Block = at(base, arena_ref);
        let arena: *mut Arena = first.cast::<u8>().add(UNIT).cast();
        let mut blocks = arena_ref;
        while blocks != 0 {
            let block: *mut Block = at(base, blocks);
            thread.block.set(block);
            // This process may not have touched it yet; now rather than in the middle of a call.
            let _ = sys::populate(block.cast(), (*block).size as usize);
            if !children::make_room(thread, blocks, (*block).size as usize) {
                children::give_up(thread);
            }
            blocks = (*block).next;
        }
        let mut last = (*arena).told_at.max((*arena).left_at) & !mark::BITS;
        each_node(base, arena_ref, |_, node| {
            for slot in node::slots(base, node) {
                last = last.max(slot.mark & !mark::BITS);
            }
        });
        each_node(base, arena_ref, |_, node| {
            let end = |slot: &mut Slot| {
                if slot.mark & mark::OPEN != 0 {
                    slot.ticks += last.saturating_sub(slot.mark & !mark::BITS);
                    slot.mark = last;
                }
            };
            end(&mut (*node).slot);
            if let Some(extension) = node::extension(base, node) {
                end(&mut (*extension).slot);
            }
        });
        thread.arena_ref.set(arena_ref);
        thread.arena.set(arena);
        recycle::begin(thread);
        path::index_what_is_there(thread);
        if (*arena).epoch != thread.epoch() {
            clear(thread, thread.epoch());
            (*arena).owners = 0; // the thread is counted with what introduces it
            return;
        }
        distribution::file_inherited(thread);
        ring::inherit(thread);
        (*arena).flags &= flag::MERGED | flag::FULL | flag::UNSEEN;
        if merge {
            (*arena).flags |= flag::MERGED;
            (*arena).processes += 1;
        }
    }
}

/// Has the thread's arena begin anew: its paths stay, what they have counted does not. They count in this epoch from now on.
///
/// # Safety
/// The arena must be the thread's.
pub unsafe fn clear(thread: &Thread, epoch: u32) {
    // SAFETY: the caller's promise; nodes name records of their arena.
    unsafe {
        let base = thread.base;
        let arena = &mut *thread.arena.get();
        each_node(base, thread.arena_ref.get(), |_, node| {
            node::clear(base, node);
            let record = node::record(base, node);
            if record != 0 {
                clear_function(base, &mut *at(base, record));
            }
        });
        (arena.lost_calls, arena.backward_calls, arena.unwound, arena.stray_exits) = (0, 0, 0, 0);
        (arena.pending, arena.spent) = (0, 0);
        journal::clear(thread);
        off_records::clear(base, arena);
        ring::know(thread);
        if !thread.ring.get().is_null() {
            ring::empty(thread);
        }
        (arena.owners, arena.processes) = (1, 1);
        arena.flags &= flag::FULL | flag::UNSEEN;
        AtomicU32::from_ptr(&raw mut arena.epoch).store(epoch, Ordering::Release);
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

/// Writes into the arena who owns it now, and shows it to readers.
unsafe fn introduce(thread: &Thread, process: u32) {
    // SAFETY: the caller's arena; the family's pages.
    unsafe {
        let arena = &mut *thread.arena.get();
        arena.pid = sys::getpid();
        arena.ppid = sys::getppid();
        arena.name = sys::thread_name();
        arena.process = process;
        arena.process_started = (*thread.family.process).started.load(Ordering::Relaxed);
        arena.started = crate::clock::now(thread.family.clock);
        (arena.left_at, arena.told_at) = (0, 0);
        arena.owners += 1;
        arena.epoch = thread.epoch();
        let owner = owner_of(thread.family, thread.arena_ref.get());
        owner.introduce(thread.token.get(), thread.family.pid_namespace(), sys::gettid());
        let block: *mut Block = at(thread.base, thread.arena_ref.get());
        if (*block).magic != BLOCK_MAGIC {
            thread.family.publish(block);
        }
        thread.family.anchor();
    }
}

/// Enters the arena in the directory, so that it can be adopted when its owner is gone.
fn enlist(thread: &Thread) {
    let header = thread.family.header();
    // SAFETY: the header's word is only changed by atomic operations.
    let len = unsafe { AtomicU32::from_ptr(&raw mut (*header).directory) };
    let entry = Word::new(thread.arena_ref.get(), thread.token.get());
    let index = directory::enlist(len, DIRECTORY_SLOTS as u32, |index| word(thread.family, index), entry);
    thread.directory.set(index.map_or(-1, |index| index as i32));
}

/// Leaves the arena: its counts stay, and another thread may add to them.
pub fn release(thread: &Thread) {
    // SAFETY: the thread owns its arena until its word in the directory says otherwise.
    unsafe {
        distribution::file_pending(thread);
        let name = sys::thread_name();
        if name[0] != 0 {
            (*thread.arena.get()).name = name; // it may not be asked for any more
        }
        set_flag(thread.arena.get(), flag::ENDED);
    }
    if let Some(entry) = entry(thread) {
        directory::release(entry, thread.arena_ref.get(), thread.token.get());
    }
}

/// Says that the thread is about to end its process by itself.
pub fn leave(thread: &Thread) {
    // SAFETY: the thread owns its arena.
    unsafe { set_flag(thread.arena.get(), flag::EXITED) };
    if let Some(entry) = entry(thread) {
        directory::leave(entry, thread.arena_ref.get(), thread.token.get());
    }
}

/// The arena's word in the directory, if it has one.
fn entry(thread: &Thread) -> Option<&AtomicU64> {
    u32::try_from(thread.directory.get()).ok().map(|index| word(thread.family, index))
}

fn create(thread: &Thread) -> bool {
    let Some((reference, block)) = thread.family.block(FIRST_SIZE, false) else { return false };
    if !children::make_room(thread, reference, FIRST_SIZE) {
        children::give_up(thread);
    }
    // SAFETY: the block is new and large enough.
    unsafe {
        (*block).kind = kind::ARENA;
        (*block).size = FIRST_SIZE as u32;
        (*block).arena = reference;
        let arena: *mut Arena = block.cast::<u8>().add(UNIT).cast();
        (*arena).processes = 1;
        thread.arena_ref.set(reference);
        thread.arena.set(arena);
        thread.block.set(block);
        recycle::begin(thread);
    }
    true
}
