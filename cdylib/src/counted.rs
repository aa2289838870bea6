//! Calls that are counted and not timed: the hot path of `DIYTRACE_TIMING=off`.

use crate::clock::{Clock, Tsc};
use crate::frame::bits;
use crate::hooks;
use crate::mode::CountedByTsc;
use crate::thread::{Thread, slot};
use profile::Slot;
use profile::node::mark;

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

/// Finishes the frame of a call that is counted.
#[inline(always)]
pub unsafe fn start(counters: *mut Slot) {
    // SAFETY: the caller's counters.
    unsafe { (*counters).mark = mark::OPEN };
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
