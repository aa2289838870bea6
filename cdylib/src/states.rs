//! The states of a process's threads: threads come and go, states stay and are used again.

use crate::arch;
use crate::family::{self, Family};
use crate::sys::SignalsBlocked;
use crate::thread::{Thread, live};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

/// The state of the calling thread, ready to record or to lose; null if nothing is recorded here.
pub fn current() -> *mut Thread {
    let is_ready = |thread: *mut Thread| {
        // SAFETY: a thread's state is valid as long as its word leads to it.
        !thread.is_null() && !matches!(unsafe { (*thread).state() }, live::FORKED | live::STALE)
    };
    let thread = arch::thread();
    if is_ready(thread) {
        return thread;
    }
    if family::is_off() {
        return ptr::null_mut();
    }
    let _blocked = SignalsBlocked::new();
    let thread = arch::thread(); // a signal handler may have been faster
    // SAFETY: as above.
    unsafe {
        if thread.is_null() {
            return attach();
        }
        match (*thread).state() {
            live::FORKED => (*thread).settle(),
            live::STALE => (*thread).look_through(),
            _ => {}
        }
    }
    thread
}

fn attach() -> *mut Thread {
    let Some(family) = crate::life::family() else { return ptr::null_mut() };
    let Some(thread) = take_state(family) else { return ptr::null_mut() };
    // SAFETY: the state is complete but for its arena.
    unsafe {
        (*thread).use_filter();
        (*thread).settle();
    }
    arch::set_thread(thread);
    crate::life::watch_end_of(thread);
    thread
}

/// All states of this process: threads come and go, states stay.
static STATES: AtomicPtr<Thread> = AtomicPtr::new(ptr::null_mut());

/// Calls `each` for every state of this process.
fn each_state(mut each: impl FnMut(&Thread) -> bool) -> *mut Thread {
    let mut state = STATES.load(Ordering::Acquire);
    // SAFETY: states in the list stay; only their own threads change more than their atomic words.
    while !state.is_null() && !each(unsafe { &*state }) {
        // SAFETY: as above.
        state = unsafe { (*state).next };
    }
    state
}

/// A state that an ended thread has left, or a new one.
fn take_state(family: &'static Family) -> Option<*mut Thread> {
    let is_free =
        |state: &Thread| state.in_use.compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed).is_ok();
    let left = each_state(is_free);
    if !left.is_null() {
        return Some(left);
    }
    let Ok(new) = Thread::new(family) else {
        family.warn_of_little_memory();
        return None;
    };
    // SAFETY: nobody has seen the state yet.
    unsafe {
        (*new).in_use.store(true, Ordering::Relaxed);
        let mut first = STATES.load(Ordering::Acquire);
        loop {
            (*new).next = first;
            match STATES.compare_exchange(first, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(new),
                Err(other) => first = other,
            }
        }
    }
}

/// Has every thread look through what it knows of addresses: a library is gone.
pub fn make_stale() {
    each_state(|state| {
        for recording in [live::TSC, live::COUNTED, live::PROBED, live::GETTIME, live::COUNTED_GETTIME] {
            let _ = state.live.compare_exchange(recording, live::STALE, Ordering::AcqRel, Ordering::Relaxed);
        }
        false
    });
}
