//! The hot path: what happens on every call that is recorded, in a thread that has an arena.
//!
//! Entry finds the call's node, reads the clock, counts the call and pushes a frame. Exit reads the clock first, adds
//! the time to the node and to the function's histogram, and pops the frame. What happens rarely is a call into
//! `slow_path`.

use crate::call::{self, close, open};
use crate::frame::bits;
use crate::mode::Mode;
use crate::node;
use crate::shadow_stack::{is_inlined, is_tail_exit};
use crate::slow_path;
use crate::thread::Thread;
use profile::node::ROOT;

/// Entry, recorded in a given way.
///
/// # Safety
/// The thread must have an arena.
#[inline(always)]
pub unsafe fn enter<M: Mode>(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: frames up to `top` are there.
    unsafe {
        let top = &*thread.top.get();
        // The stack grows down: a frame whose pointer is not above this one has been left, unless the function was
        // inlined into the one that has it. One whose pointer is far above it may lie on another stack.
        let below = top.sp.wrapping_sub(sp);
        if below.wrapping_sub(1) >= thread.reach.get() && !(below == 0 && is_inlined(top, site, hook, sp)) {
            return slow_path::enter_apart::<M>(thread, function, site, hook, sp);
        }
        let parent = top.position;
        if parent < ROOT {
            return slow_path::enter_without_caller::<M>(thread, function, site, hook, sp);
        }
        let latest = thread.path_cache.latest(thread.line.get(), parent, site, hook);
        let Some(node) = latest.filter(|node| node::is(thread.node(*node), parent, function, site, hook)) else {
            return slow_path::enter_beside::<M>(thread, function, site, hook, sp);
        };
        open::<M>(thread, node, top.inside, function, site, hook, sp);
    }
}

/// Exit, at a time.
///
/// # Safety
/// The thread must have an arena.
#[inline(always)]
pub unsafe fn exit(thread: &Thread, now: u64, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: frames up to `top` are there.
    unsafe {
        let latest = thread.top.get();
        let top = &*latest;
        if top.function != function || (top.sp != sp && !is_tail_exit(top, thread.reach.get(), site, hook, sp)) {
            return slow_path::exit_of_another(thread, now, function, site, hook, sp);
        }
        if top.bits & !bits::SLOT != 0 {
            return call::close_unusual(thread, now);
        }
        close(thread, latest, now);
    }
}
