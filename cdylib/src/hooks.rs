//! The hooks: which way a call of instrumented code goes, by its thread's state.
//!
//! The usual one is [`hot_path`]; a thread that notes its calls goes by [`noting`], any other by [`dispatch`].
//!
//! A signal handler may interrupt a hook anywhere and call hooks of its own, and may not come back: see
//! [`crate::shadow_stack`]. Counters are added to in single instructions.

use crate::arch;
use crate::clock::{Clock, Tsc};
use crate::cost::Hooks;
use crate::counted;
use crate::dispatch;
use crate::frame::bits;
use crate::hot_path;
use crate::mode::{CountedByTsc, TimedByTsc};
use crate::noting;
use crate::off_cpu;
use crate::ring;
use crate::shadow_stack::is_tail_exit;
use crate::thread::{Thread, live};
use core::ptr;
use profile::RingSlot;
use profile::ring::tag;

arch::entry_hook!(
    __cyg_profile_func_enter,
    ".text.diytrace_enter",
    enter,
    "Called by instrumented code on entry to `function`, which was called from before `site`."
);
arch::entry_hook!(
    __cyg_profile_func_exit,
    ".text.diytrace_exit",
    exit,
    "Called by instrumented code on exit from `function`; a tail call has its caller's stack pointer."
);
arch::own_hook!(own_enter, enter, "The enter hook under a name that no other preloaded library can take.");
arch::own_hook!(own_exit, exit, "The exit hook in the same way.");

/// The hooks, for whoever measures what they cost.
pub const OWN: Hooks = Hooks { enter: own_enter, exit: own_exit };

arch::noting_hook!(
    enter_noting,
    tag::ENTER,
    enter_otherwise,
    full::<true>,
    late::<true>,
    "Entry in a thread whose calls are not timed one by one."
);
arch::noting_hook!(exit_noting, tag::EXIT, exit_otherwise, full::<false>, late::<false>, "Exit in such a thread.");

/// Entry into `function`, called from before `site`; `hook` is the hook's own return address.
pub unsafe extern "C" fn enter(function: usize, site: usize, hook: usize, sp: usize) {
    let thread = arch::thread();
    // SAFETY: the thread's state is valid while its word leads to it.
    unsafe {
        if thread.is_null() || !(*thread).is(live::TSC) {
            return enter_noting(function, site, hook, sp, thread);
        }
        let thread = &*thread;
        if !filter(thread, function, site, hook, sp) {
            enter_inside(function, site, hook, sp, thread);
        }
    }
}

/// Entry in a thread whose calls are not timed one by one, and are not simply noted either.
#[inline(never)]
pub unsafe extern "C" fn enter_otherwise(function: usize, site: usize, hook: usize, sp: usize, thread: *mut Thread) {
    // SAFETY: a thread that is not null is the caller's own, and valid.
    unsafe {
        if thread.is_null() {
            return dispatch::enter(function, site, hook, sp, &OWN);
        }
        let thread = &*thread;
        if thread.is(live::COUNTED) {
            if !filter(thread, function, site, hook, sp) {
                enter_counted(function, site, hook, sp, thread);
            }
        } else if thread.is_noting() {
            if noting::enter_unusual(thread, function, site, hook, sp) {
                enter(function, site, hook, sp);
            }
        } else {
            dispatch::enter(function, site, hook, sp, &OWN);
        }
    }
}

/// Entry of a call that is recorded, as a rule. Apart from `enter`, so that calls outside every root, and while recording
/// is paused, save no registers; with the thread last, so that the others stay where they are.
#[inline(never)]
unsafe extern "C" fn enter_inside(function: usize, site: usize, hook: usize, sp: usize, thread: &Thread) {
    // SAFETY: the caller has found the thread, which has an arena.
    unsafe { hot_path::enter::<TimedByTsc>(thread, function, site, hook, sp) };
}

/// Exit from `function`.
pub unsafe extern "C" fn exit(function: usize, site: usize, hook: usize, sp: usize) {
    let thread = arch::thread();
    // SAFETY: the thread's state is valid while its word leads to it.
    unsafe {
        if thread.is_null() {
            return;
        }
        let thread = &*thread;
        if !thread.is(live::TSC) {
            return exit_noting(function, site, hook, sp, ptr::from_ref(thread).cast_mut());
        }
        if thread.is_empty() {
            return; // outside every root
        }
        exit_inside(function, site, hook, sp, thread);
    }
}

/// Exit while a call is open. Apart from `exit`, as `enter_inside` is from `enter`.
#[inline(never)]
unsafe extern "C" fn exit_inside(function: usize, site: usize, hook: usize, sp: usize, thread: &Thread) {
    let now = Tsc::now();
    // After the clock, which would wait for what this reads. What the thread was off is this call's time: the clock is read again.
    if thread.is_switched() {
        // SAFETY: the caller's thread.
        return unsafe { exit_switched(function, site, hook, sp, thread) };
    }
    // SAFETY: the caller's thread.
    unsafe { hot_path::exit(thread, now, function, site, hook, sp) };
}

/// The same after the thread was switched out.
#[cold]
#[inline(never)]
unsafe fn exit_switched(function: usize, site: usize, hook: usize, sp: usize, thread: &Thread) {
    // SAFETY: the caller's thread.
    unsafe {
        off_cpu::before_exit(thread);
        hot_path::exit(thread, Tsc::now(), function, site, hook, sp);
    }
}

/// Exit in a thread whose calls are not timed one by one, and are not simply noted either.
#[inline(never)]
pub unsafe extern "C" fn exit_otherwise(function: usize, site: usize, hook: usize, sp: usize, thread: *mut Thread) {
    // SAFETY: the thread is the caller's own, and valid.
    unsafe {
        let thread = &*thread;
        if thread.is(live::COUNTED) {
            if !thread.is_empty() {
                exit_counted(thread, function, site, hook, sp);
            }
        } else if thread.is_noting() {
            if noting::exit_unusual(thread, function, site, hook, sp) {
                exit(function, site, hook, sp);
            }
        } else {
            dispatch::exit(function, site, hook, sp, &OWN);
        }
    }
}

/// Deals with a call that is not to be recorded in the usual way: one outside every root, or after a change of the control
/// words. False if there is nothing of the kind.
#[inline(always)]
unsafe fn filter(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) -> bool {
    if thread.is_outside(function) {
        return true;
    }
    let is_controlled = thread.is_controlled();
    if is_controlled {
        match thread.is_paused() {
            true => thread.miss(sp),
            // SAFETY: the thread's state is valid.
            false => unsafe { dispatch::enter(function, site, hook, sp, &OWN) },
        }
    }
    is_controlled
}

/// Entry of a call that is recorded, as a rule, and not timed.
#[inline(never)]
unsafe extern "C" fn enter_counted(function: usize, site: usize, hook: usize, sp: usize, thread: &Thread) {
    // SAFETY: the caller's thread has an arena.
    unsafe { hot_path::enter::<CountedByTsc>(thread, function, site, hook, sp) };
}

/// Exit from a function while a call is open, in a thread whose calls are counted.
#[inline(always)]
unsafe fn exit_counted(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: a call is open.
    unsafe {
        let top = &*thread.top.get();
        let is_its =
            top.function == function && (top.sp == sp || is_tail_exit(top, thread.reach.get(), site, hook, sp));
        if is_its && top.bits & !bits::SLOT == bits::COUNTED {
            return counted::close(thread);
        }
        exit_timed(thread, function, site, hook, sp);
    }
}

#[cold]
#[inline(never)]
unsafe fn exit_timed(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    let now = Tsc::now();
    // SAFETY: the caller's thread.
    unsafe { hot_path::exit(thread, now, function, site, hook, sp) };
}

/// The rest of a hook that has got a slot behind the limit, or one of a stretch that is over.
#[cold]
#[inline(never)]
unsafe extern "C" fn full<const IS_ENTRY: bool>(
    function: usize,
    site: usize,
    hook: usize,
    sp: usize,
    thread: &Thread,
    slot: *mut RingSlot,
) {
    // SAFETY: the thread has an arena, and the slot is the hook's.
    unsafe {
        if noting::full::<IS_ENTRY>(function, site, hook, sp, thread, slot) {
            start_over::<IS_ENTRY>(function, site, hook, sp);
        }
    }
}

/// The rest of a hook that has written its note, and finds that the stretch is over: a signal handler has interrupted it.
#[cold]
#[inline(never)]
unsafe extern "C" fn late<const IS_ENTRY: bool>(
    function: usize,
    site: usize,
    hook: usize,
    sp: usize,
    thread: &Thread,
    slot: *mut RingSlot,
) {
    // SAFETY: the slot is the hook's.
    unsafe {
        if ring::take_back(thread, slot) {
            start_over::<IS_ENTRY>(function, site, hook, sp);
        }
    }
}

unsafe fn start_over<const IS_ENTRY: bool>(function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the caller is a hook of the program's.
    unsafe {
        match IS_ENTRY {
            true => enter(function, site, hook, sp),
            false => exit(function, site, hook, sp),
        }
    }
}
