//! Which way a hook goes in a thread that does not record by the time stamp counter: one that has no state yet, a forked child's,
//! one whose counters were reset, one for which there is no arena.

use crate::arch;
use crate::clock;
use crate::cost::Hooks;
use crate::family::{self, EARLY_CALLS};
use crate::hot_path;
use crate::mode::{CountedByGettime, CountedByTsc, TimedByGettime, TimedByTsc};
use crate::off_cpu;
use crate::reset;
use crate::ring;
use crate::roots;
use crate::slow_path::{enter_while_busy, enter_without_arena, exit_while_busy};
use crate::thread::live;
use crate::thread_registry;
use core::sync::atomic::Ordering;

/// Entry in a thread that is not recording by the time stamp counter.
#[cold]
#[inline(never)]
pub unsafe fn enter(function: usize, site: usize, hook: usize, sp: usize, hooks: &Hooks) {
    if !arch::is_relocated() {
        EARLY_CALLS.fetch_add(1, Ordering::Relaxed);
        return;
    }
    // SAFETY: a thread's state is valid as long as its word leads to it.
    unsafe {
        let Some(thread) = thread_registry::current(hooks).as_ref() else { return count_without_state(function) };
        if thread.is_noting() && !ring::leave(thread) {
            return enter_while_busy(thread, function, site, hook, sp);
        }
        if thread.is_paused() {
            return thread.miss(sp);
        }
        if thread.is_outside(function) {
            return;
        }
        if thread.is_reset() && thread.has_arena() && !reset::start_anew(thread) {
            return enter_while_busy(thread, function, site, hook, sp);
        }
        match thread.state() {
            live::TSC => hot_path::enter::<TimedByTsc>(thread, function, site, hook, sp),
            live::COUNTED => hot_path::enter::<CountedByTsc>(thread, function, site, hook, sp),
            live::GETTIME => hot_path::enter::<TimedByGettime>(thread, function, site, hook, sp),
            live::COUNTED_GETTIME => hot_path::enter::<CountedByGettime>(thread, function, site, hook, sp),
            // No arena: for a moment, or for good.
            live::LOST => enter_without_arena(thread, function, site, hook, sp),
            _ => enter_while_busy(thread, function, site, hook, sp),
        }
    }
}

/// Counts a call of a thread for which there was no memory.
fn count_without_state(function: usize) {
    match family::get() {
        Some(family) if family.settings.root.is_empty() || roots::is_root(family, function) => {
            family.count_by_function(function);
        }
        // The stack has no room for making it.
        None if !family::is_off() => _ = EARLY_CALLS.fetch_add(1, Ordering::Relaxed),
        _ => {}
    }
}

/// Exit in a thread that is not recording by the time stamp counter.
#[cold]
#[inline(never)]
pub unsafe fn exit(function: usize, site: usize, hook: usize, sp: usize, hooks: &Hooks) {
    // SAFETY: the caller has found a state, unless the library is not ready yet.
    if !arch::is_relocated() || unsafe { (*arch::thread()).is_empty() } {
        return;
    }
    // SAFETY: a thread's state is valid as long as its word leads to it.
    unsafe {
        let Some(thread) = thread_registry::current(hooks).as_ref() else { return };
        match thread.state() {
            live::LOST | live::FORKED | live::STALE => exit_while_busy(thread, function, sp),
            _ => {
                if thread.is_switched() {
                    off_cpu::before_exit(thread);
                }
                let now = clock::now(thread.family.clock);
                hot_path::exit(thread, now, function, site, hook, sp);
            }
        }
    }
}
