//! Records of how long paths were off the processor ([`crate::off_cpu`]): of each path that was, one, whose room the next may have once
//! the path gave way ([`crate::recycle`]).

use crate::arena;
use crate::family::at;
use crate::switches;
use crate::thread::Thread;
use core::sync::atomic::{AtomicU32, Ordering};
use profile::arena::flag;
use profile::{Arena, OffCpu, Ref};

/// Begins with the records of an arena that the thread has got.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn begin(thread: &Thread) {
    thread.off_cpu.clear();
    thread.free_off_cpu.set(0);
    each_record(thread.base, thread.arena.get(), |reference, record| {
        if record.node == 0 {
            free(thread, reference);
        } else if has_room(thread) {
            thread.off_cpu.insert(record.node.into(), reference);
        }
    });
}

/// The record of a path, made if there is none. `None` if there is no room.
pub fn find_or_make(thread: &Thread, node: Ref) -> Option<Ref> {
    find(thread, node).or_else(|| make(thread, node, arena::record_for_times))
}

/// The same of a node that stands for calls between two functions: of those there are few, and they stay.
pub fn find_or_make_lasting(thread: &Thread, node: Ref) -> Option<Ref> {
    find(thread, node).or_else(|| make(thread, node, arena::lasting_record))
}

/// The record of a path, if it has one.
pub fn find(thread: &Thread, node: Ref) -> Option<Ref> {
    let base = thread.base;
    // SAFETY: the index holds records of the thread's arena only.
    thread.off_cpu.find(node.into(), |record| unsafe { (*at::<OffCpu>(base, record)).node == node })
}

fn make(thread: &Thread, node: Ref, new: fn(&Thread) -> Option<(Ref, *mut OffCpu)>) -> Option<Ref> {
    if !has_room(thread) {
        return None;
    }
    let free = thread.free_off_cpu.get();
    if free != 0 {
        // SAFETY: the record is the arena's.
        thread.free_off_cpu.set(unsafe { (*at::<OffCpu>(thread.base, free)).reserved[0] } as Ref);
        give(thread, free, node);
        return Some(free);
    }
    let (reference, record) = new(thread)?;
    let arena = thread.arena.get();
    // SAFETY: the record is new, zeroed and the thread's, and the arena is, too.
    unsafe {
        ((*record).node, (*record).next) = (node, (*arena).off_cpu);
        AtomicU32::from_ptr(&raw mut (*arena).off_cpu).store(reference, Ordering::Release);
    }
    thread.off_cpu.insert(node.into(), reference);
    Some(reference)
}

/// Takes a record from its path, for another.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn free(thread: &Thread, reference: Ref) {
    // SAFETY: the caller's record.
    unsafe {
        let record: *mut OffCpu = at(thread.base, reference);
        thread.off_cpu.remove((*record).node.into(), reference);
        ((*record).node, (*record).wait_ns, (*record).preempted_ns) = (0, 0, 0);
        (*record).reserved[0] = thread.free_off_cpu.get().into();
    }
    thread.free_off_cpu.set(reference);
}

/// Gives a record that is no path's to one.
pub fn give(thread: &Thread, reference: Ref, node: Ref) {
    // SAFETY: the caller's record.
    unsafe { (*at::<OffCpu>(thread.base, reference)).node = node };
    if has_room(thread) {
        thread.off_cpu.insert(node.into(), reference);
    }
}

/// Gives a record to another path than it has now, with what it says.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn hand_over(thread: &Thread, reference: Ref, node: Ref) {
    // SAFETY: the caller's record.
    let before = unsafe { (*at::<OffCpu>(thread.base, reference)).node };
    if before != 0 {
        thread.off_cpu.remove(before.into(), reference);
    }
    give(thread, reference, node);
}

/// Whether nothing is told of the thread's time on a processor.
pub fn is_unseen(thread: &Thread) -> bool {
    // SAFETY: the arena is the thread's.
    unsafe { (*thread.arena.get()).flags & flag::UNSEEN != 0 }
}

fn has_room(thread: &Thread) -> bool {
    let base = thread.base;
    // SAFETY: the index holds records of the thread's arena only.
    thread.off_cpu.make_room(false, |record| unsafe { (*at::<OffCpu>(base, record)).node.into() })
}

/// From now on nothing is known of the thread's time on a processor.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn give_up(thread: &Thread) {
    let word = thread.switches.get();
    let has_page = switches::has_page(thread);
    switches::look_at_none(thread);
    // SAFETY: the arena is the thread's.
    unsafe { arena::set_flag(thread.arena.get(), flag::UNSEEN) };
    if has_page {
        switches::keep(thread, word);
    }
}

/// Has the records of an arena begin anew.
///
/// # Safety
/// The arena must be the calling thread's.
pub unsafe fn clear(base: *mut u8, arena: *mut Arena) {
    each_record(base, arena, |_, record| (record.wait_ns, record.preempted_ns) = (0, 0));
}

fn each_record(base: *mut u8, arena: *mut Arena, mut each: impl FnMut(Ref, &mut OffCpu)) {
    // SAFETY: the arena is the thread's, and its records lead to each other.
    unsafe {
        let mut reference = (*arena).off_cpu;
        while reference != 0 {
            let record: *mut OffCpu = at(base, reference);
            each(reference, &mut *record);
            reference = (*record).next;
        }
    }
}
