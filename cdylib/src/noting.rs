//! What a hook in a thread that notes its calls goes on with where it does not simply note one: see [`crate::ring`].

use crate::busy::is_busy;
use crate::calibration_steps;
use crate::clock::{Clock, Tsc};
use crate::frame::NOTED;
use crate::hot_path;
use crate::mode::TimedByTsc;
use crate::ring::{give_back, is_at_base, is_at_limit, is_open, leave, may_have_exited, note, set_base};
use crate::shadow_stack::{is_inlined, is_tail_exit};
use crate::slow_path;
use crate::stack_switch;
use crate::stretch::BODIES;
use crate::thread::{Thread, live};
use core::sync::atomic::Ordering;
use profile::RingSlot;
use profile::ring::Event;
use profile::ring::SLOTS;

fn event(function: usize, site: usize, hook: usize, sp: usize) -> Event {
    Event { function: function as u64, site: site as u64, hook: hook as u64, sp: sp as u64 }
}

/// Entry of a call that is not simply noted. True if its hook is to begin anew: the stretch has gone on, or is over.
#[cold]
#[inline(never)]
pub unsafe fn enter_unusual(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) -> bool {
    // SAFETY: the thread has an arena.
    unsafe {
        // Before anything else: two tasks must not count what is noted at the same time.
        if stack_switch::is_given_up(thread, sp) {
            thread.family.count_by_function(function);
            return false;
        }
        if is_at_base(thread) && !thread.is_controlled() && !thread.is_switched() {
            if thread.is_outside(function) {
                return false;
            }
            // The program's time is measured from the outermost call on.
            if thread.is_empty() {
                apart(thread, sp, || hot_path::enter::<TimedByTsc>(thread, function, site, hook, sp));
                return false;
            }
            // A body lies in the base's frame; what is called elsewhere below it, as on a coroutine's stack, does not.
            let base = &*thread.top.get();
            let is_body = base.sp == sp && is_inlined(base, site, hook, sp);
            let bodies = if is_body { make_room_for_body(thread, base.function, function) } else { BODIES };
            if bodies < BODIES && note(thread, RingSlot::enter(event(function, site, hook, sp))) {
                thread.ring_body_functions[bodies].set(function);
                thread.ring_bodies.set(bodies + 1);
                return false;
            }
        }
        begins_anew::<true>(thread, function, site, hook, sp)
    }
}

/// Exit that is not simply noted. True if its hook is to begin anew.
#[cold]
#[inline(never)]
pub unsafe fn exit_unusual(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) -> bool {
    // SAFETY: the thread has an arena.
    unsafe {
        if stack_switch::is_given_up(thread, sp) {
            return false;
        }
        if is_at_base(thread) && !thread.is_switched() {
            if thread.is_empty() {
                return false;
            }
            let base = &*thread.top.get();
            if base.sp == sp
                && let Some(body) = body_of(thread, base.function, function)
            {
                if note(thread, RingSlot::exit(event(function, site, hook, sp))) {
                    thread.ring_bodies.set(body);
                    return false;
                }
                return begins_anew::<false>(thread, function, site, hook, sp);
            }
            let is_its =
                || base.sp == sp || is_tail_exit(base, thread.reach.get(), site, hook, sp) && !may_have_exited(thread);
            if base.function == function && is_its() && !may_have_exited(thread) {
                let now = Tsc::now();
                apart(thread, sp, || hot_path::exit(thread, now, function, site, hook, sp));
                return false;
            }
        }
        begins_anew::<false>(thread, function, site, hook, sp)
    }
}

/// How many bodies are open, where there is room for another one of that function; else as many as there may be.
///
/// A function that is split exits in its other part, so its body is open here for good. Those are forgotten where there is no room: of the same
/// function, or else the older half. The exit of one that was open all the same ends the stretch. But that of a body of the base's own function
/// would be taken for the base's, so these stay.
fn make_room_for_body(thread: &Thread, base: usize, function: usize) -> usize {
    let (count, bodies) = (thread.ring_bodies.get().min(BODIES), &thread.ring_body_functions);
    if count < BODIES {
        return count;
    }
    let has_own = function != base && bodies.iter().any(|body| body.get() == function);
    let mut kept = 0;
    for (age, body) in bodies.iter().enumerate() {
        let body = body.get();
        let is_forgotten = if has_own { body == function } else { age < BODIES / 2 };
        if body == base || !is_forgotten {
            bodies[kept].set(body);
            kept += 1;
        }
    }
    thread.ring_bodies.set(kept);
    kept
}

/// Which of the open bodies an exit in the base's frame is of: those inside it were left, or exited elsewhere. One of the base's own function
/// may be open for good, so none but the latest is believed.
fn body_of(thread: &Thread, base: usize, function: usize) -> Option<usize> {
    let bodies = &thread.ring_body_functions[..thread.ring_bodies.get().min(BODIES)];
    let body = bodies.iter().rposition(|body| body.get() == function)?;
    (function != base || body + 1 == bodies.len()).then_some(body)
}

/// Whether a hook begins anew, as the stretch has gone on from its limit, or has ended. Where it cannot now, the hook is dealt
/// with.
unsafe fn begins_anew<const IS_ENTRY: bool>(
    thread: &Thread,
    function: usize,
    site: usize,
    hook: usize,
    sp: usize,
) -> bool {
    // SAFETY: the thread has an arena.
    unsafe {
        // An exit's own call is open still.
        thread.ring_end_sp.set(if IS_ENTRY { sp } else { sp - 1 });
        let begins_anew = goes_on(thread) || leave(thread);
        thread.ring_end_sp.set(0);
        match begins_anew {
            true => {}
            false if IS_ENTRY => slow_path::enter_while_busy(thread, function, site, hook, sp),
            false => slow_path::exit_while_busy(thread, function, sp),
        }
        begins_anew
    }
}

/// Whether the stretch goes on from its limit, or has come to its end there.
unsafe fn goes_on(thread: &Thread) -> bool {
    // SAFETY: the thread has an arena.
    is_at_limit(thread) && !thread.is_switched() && unsafe { calibration_steps::step_noted(thread) }
}

/// The rest of a hook that has got a slot behind the limit, or one of a stretch that is over. True if it is to begin anew.
pub unsafe fn full<const IS_ENTRY: bool>(
    function: usize,
    site: usize,
    hook: usize,
    sp: usize,
    thread: &Thread,
    slot: *mut RingSlot,
) -> bool {
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
        begins_anew::<IS_ENTRY>(thread, function, site, hook, sp)
    }
}

/// Goes the usual way while the stretch waits; then there is another base. No call that was noted is open, or all were left.
///
/// Hooks of a signal handler that comes meanwhile go the usual way, too. Whoever leaves this for good leaves the stretch to
/// [`calibration_steps::step_timed`].
unsafe fn apart(thread: &Thread, sp: usize, usual: impl FnOnce()) {
    thread.next_window.set(thread.count.get() + SLOTS as u64);
    let state = thread.state();
    let _ = thread.live.compare_exchange(state, live::TSC, Ordering::Relaxed, Ordering::Relaxed);
    thread.ring_is_over.set(true);
    usual();
    thread.ring_end_sp.set(sp);
    // SAFETY: the thread has an arena.
    unsafe { go_on_from_new_base(thread, state) };
    thread.ring_end_sp.set(0);
}

/// The rest of [`apart`].
unsafe fn go_on_from_new_base(thread: &Thread, state: u64) {
    // SAFETY: the thread has an arena; the top frame is there.
    unsafe {
        let is_same = thread.is(live::TSC) && is_open(thread) && !is_busy(thread);
        if !is_same || [0, NOTED].contains(&(*thread.top.get()).position) {
            leave(thread);
            return;
        }
        if is_at_limit(thread) {
            calibration_steps::step_noted(thread);
        }
        if is_open(thread) && set_base(thread) {
            thread.next_window.set(u64::MAX);
            let _ = thread.live.compare_exchange(live::TSC, state, Ordering::Relaxed, Ordering::Relaxed);
        } else {
            leave(thread);
        }
    }
}
