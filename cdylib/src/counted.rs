//! Calls that are counted and not timed (`DIYTRACE_TIMING=off`).

use crate::node::slot;
use crate::shadow_stack;
use crate::thread::Thread;
use profile::Slot;
use profile::node::mark;

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
        (*slot(thread.base, thread.node((*frame).node), (*frame).bits)).mark = 0;
        shadow_stack::pop(thread);
    }
}
