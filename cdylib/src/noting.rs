//! What a hook in a thread that notes its calls goes on with where it does not simply note one: see [`crate::ring`].

use crate::clock::{Clock, Tsc};
use crate::hooks;
use crate::mode::TimedByTsc;
use crate::ring::{BODIES, apart, give_back, is_at_base, is_at_limit, is_open, leave, note, take_back};
use crate::slow_path;
use crate::stale_frames;
use crate::thread::Thread;
use crate::trial;
use profile::RingSlot;
use profile::ring::Event;

fn event(function: usize, site: usize, hook: usize, sp: usize) -> Event {
    Event { function: function as u64, site: site as u64, hook: hook as u64, sp: sp as u64 }
}

/// Entry of a call that is not simply noted.
#[cold]
#[inline(never)]
pub unsafe fn enter_unusual(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the thread has an arena.
    unsafe {
        // Before anything else: two tasks must not count what is noted at the same time.
        if stale_frames::is_given_up(thread, sp) {
            return thread.family.count_by_function(function);
        }
        if is_at_base(thread) && !hooks::is_controlled(thread) && !thread.is_switched() {
            if hooks::is_outside(thread, function) {
                return;
            }
            // The program's time is measured from the outermost call on.
            if thread.is_empty() {
                return apart(thread, || hooks::enter_on::<TimedByTsc>(thread, function, site, hook, sp));
            }
            let bodies = thread.ring_bodies.get();
            let is_body = hooks::is_inlined(&*thread.top.get(), site, hook, sp) && bodies < BODIES;
            if is_body && note(thread, RingSlot::enter(event(function, site, hook, sp))) {
                thread.ring_body_functions[bodies].set(function);
                return thread.ring_bodies.set(bodies + 1);
            }
        }
        anew::<true>(thread, function, site, hook, sp);
    }
}

/// Exit that is not simply noted.
#[cold]
#[inline(never)]
pub unsafe fn exit_unusual(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the thread has an arena.
    unsafe {
        if stale_frames::is_given_up(thread, sp) {
            return;
        }
        if is_at_base(thread) && !thread.is_switched() {
            if thread.is_empty() {
                return;
            }
            let base = &*thread.top.get();
            let body = thread.ring_bodies.get().wrapping_sub(1);
            let is_of_body = base.sp == sp && body < BODIES && thread.ring_body_functions[body].get() == function;
            if is_of_body {
                if note(thread, RingSlot::exit(event(function, site, hook, sp))) {
                    return thread.ring_bodies.set(body);
                }
                return anew::<false>(thread, function, site, hook, sp);
            }
            if base.function == function && (base.sp == sp || hooks::is_tail_exit(base, site, hook, sp)) {
                let now = Tsc::now();
                return apart(thread, || hooks::exit_at(thread, now, function, site, hook, sp));
            }
        }
        anew::<false>(thread, function, site, hook, sp);
    }
}

/// A hook once the stretch has gone on from its limit, or has ended.
unsafe fn anew<const IS_ENTRY: bool>(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the thread has an arena.
    unsafe {
        match goes_on(thread) || leave(thread) {
            true if IS_ENTRY => hooks::enter(function, site, hook, sp),
            true => hooks::exit(function, site, hook, sp),
            false if IS_ENTRY => slow_path::enter_while_busy(thread, function, site, hook, sp),
            false => slow_path::exit_while_busy(thread, function, sp),
        }
    }
}

/// Whether the stretch goes on from its limit, or has come to its end there.
unsafe fn goes_on(thread: &Thread) -> bool {
    // SAFETY: the thread has an arena.
    is_at_limit(thread) && !thread.is_switched() && unsafe { trial::step_noted(thread) }
}

/// The rest of a hook that has got a slot behind the limit, or one of a stretch that is over.
#[cold]
#[inline(never)]
pub unsafe extern "C" fn full<const IS_ENTRY: bool>(
    function: usize,
    site: usize,
    hook: usize,
    sp: usize,
    thread: &Thread,
    slot: *mut RingSlot,
) {
    // SAFETY: the thread has an arena, and the slot is the hook's.
    unsafe {
        give_back(thread, slot);
        // It is counted once more.
        if is_open(thread) && sp == (*thread.ring_base.get()).sp {
            let bodies = thread.ring_bodies.get();
            if IS_ENTRY {
                thread.ring_bodies.set(bodies.saturating_sub(1));
            } else if hook != site {
                thread.ring_bodies.set((bodies + 1).min(BODIES));
            }
        }
        anew::<IS_ENTRY>(thread, function, site, hook, sp);
    }
}

/// The rest of a hook that has written its note, and finds that the stretch is over: a signal handler has interrupted it.
#[cold]
#[inline(never)]
pub unsafe extern "C" fn late<const IS_ENTRY: bool>(
    function: usize,
    site: usize,
    hook: usize,
    sp: usize,
    thread: &Thread,
    slot: *mut RingSlot,
) {
    // SAFETY: the slot is the hook's.
    unsafe {
        match take_back(thread, slot) {
            true if IS_ENTRY => hooks::enter(function, site, hook, sp),
            true => hooks::exit(function, site, hook, sp),
            false => {}
        }
    }
}
