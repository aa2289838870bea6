//! Calls that are counted, of which only some are timed: the hot path where not every call is (`DIYTRACE_TIMING`).

use crate::arch;
use crate::clock::{Clock, Tsc};
use crate::frame::{Frame, bits};
use crate::hooks;
use crate::sampling;
use crate::thread::{Thread, slot};
use crate::trial;
use crate::way::CountedByTsc;
use core::mem::offset_of;
use core::ptr;
use profile::node::mark;
use profile::{NodeRecord, Ref, Slot};

/// Entry of a call that is recorded, as a rule.
#[inline(never)]
pub unsafe extern "C" fn enter(function: usize, site: usize, hook: usize, sp: usize, thread: &Thread) {
    // SAFETY: the caller's thread has an arena.
    unsafe { hooks::enter_on::<CountedByTsc>(thread, function, site, hook, sp) };
}

/// Exit from a function while a call is open.
#[inline(always)]
pub unsafe fn exit(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: a call is open.
    unsafe {
        let top = &*thread.top.get();
        let is_its = top.function == function && (top.sp == sp || hooks::is_tail_exit(top, site, hook, sp));
        if is_its && top.bits & !bits::SLOT == bits::COUNTED {
            return close(thread);
        }
        exit_timed(thread, function, site, hook, sp);
    }
}

#[cold]
#[inline(never)]
unsafe fn exit_timed(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    let now = Tsc::now();
    // SAFETY: the caller's thread.
    unsafe { hooks::exit_at(thread, now, function, site, hook, sp) };
}

/// Finishes the frame of a call that is counted, unless it is its turn to be timed.
#[inline(always)]
pub unsafe fn start<C: Clock>(thread: &Thread, frame: *mut Frame, node: *mut NodeRecord, counters: *mut Slot) {
    // SAFETY: the caller's node and its counters.
    unsafe {
        arch::count_at::<{ offset_of!(Thread, counted) }, _>(ptr::from_ref(thread).cast_mut());
        let left = (*node).countdown;
        if left <= 1 {
            let node_ref: Ref = (*frame).node;
            sampling::turn::<C>(thread, frame, node_ref);
        } else {
            (*node).countdown = left - 1;
            (*counters).mark = mark::OPEN;
        }
        if thread.counted.get() >= thread.end_of_stretch.get() {
            trial::step_counted(thread);
        }
    }
}

/// Closes the latest open call, which is counted only.
#[inline(always)]
pub unsafe fn close(thread: &Thread) {
    // SAFETY: the frame's node is in the mapping.
    unsafe {
        let frame = thread.top.get();
        (*slot(thread.node((*frame).node), (*frame).bits)).mark = 0;
        hooks::pop(thread);
    }
}
