//! The states of a process's threads: threads come and go, states stay and are used again.

use crate::arch;
use crate::arena;
use crate::busy::Busy;
use crate::family::{self, Family};
use crate::ring;
use crate::sys::{self, SignalsBlocked};
use crate::thread::{Thread, live};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use profile::arena::flag;

/// The state of the calling thread, ready to record or to lose; null if nothing is recorded here.
pub fn current() -> *mut Thread {
    let is_ready = |thread: *mut Thread| {
        // SAFETY: a thread's state is valid as long as its word leads to it.
        match unsafe { thread.as_ref() } {
            None => false,
            Some(state) => !matches!(state.state(), live::FORKED | live::STALE) && !state.may_settle(),
        }
    };
    let thread = arch::thread();
    if is_ready(thread) {
        return thread;
    }
    if family::is_off() {
        return ptr::null_mut();
    }
    // SAFETY: a thread's state is valid as long as its word leads to it.
    let Some(state) = (unsafe { thread.as_ref() }) else { return attach() };
    if let Some(_busy) = Busy::begin(state) {
        match state.state() {
            live::FORKED => state.settle(),
            live::STALE => state.forget_unloaded_code(),
            live::LOST if state.may_settle() => state.settle(),
            _ => {}
        }
    }
    thread
}

fn attach() -> *mut Thread {
    let _blocked = SignalsBlocked::new();
    let Some(family) = crate::lifecycle::family() else { return ptr::null_mut() };
    let Some(thread) = take_state(family) else { return ptr::null_mut() };
    // SAFETY: the state is complete but for its arena, and nobody else's.
    let state = unsafe { &*thread };
    state.pthread.set(arch::thread_pointer());
    state.use_filter();
    state.settle();
    if !arch::set_thread_if_none(thread) {
        state.abandon(); // a signal handler was faster
        return arch::thread();
    }
    crate::lifecycle::watch_end_of(thread);
    thread
}

/// All states of this process: threads come and go, states stay.
static STATES: AtomicPtr<Thread> = AtomicPtr::new(ptr::null_mut());

/// Calls `each` for every state of this process.
fn each_state(mut each: impl FnMut(&Thread) -> bool) -> *mut Thread {
    let mut state = STATES.load(Ordering::Acquire);
    // SAFETY: states in the list stay; only their own threads change more than their atomic words.
    while !state.is_null() && !each(unsafe { &*state }) {
        // SAFETY: states in the list stay.
        state = unsafe { (*state).next.get() };
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
            (*new).next.set(first);
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
        for recording in [live::TSC, live::RING, live::RING_TWICE, live::COUNTED, live::GETTIME, live::COUNTED_GETTIME]
        {
            let _ = state.live.compare_exchange(recording, live::STALE, Ordering::AcqRel, Ordering::Relaxed);
        }
        false
    });
}

/// Counts what the calling thread has noted.
///
/// # Safety
/// The thread's state must be its own.
pub unsafe fn finish_own() {
    // SAFETY: a thread's state is valid as long as its word leads to it.
    if let Some(thread) = unsafe { arch::thread().as_ref() }
        && thread.has_arena()
    {
        // SAFETY: the thread has an arena.
        unsafe { ring::leave(thread) };
    }
}

/// Says in the profile that this process ends by itself, by a thread that has no arena: in any of the process's.
pub fn mark_exited(pid: u32) {
    each_state(|state| {
        let arena = state.arena.get();
        // SAFETY: an arena stays in the mapping.
        let is_ours = !arena.is_null() && (sys::is_restricted() || unsafe { (*arena).pid } == pid);
        if is_ours {
            // SAFETY: an arena stays in the mapping.
            unsafe { arena::set_flag(arena, flag::EXITED) };
        }
        is_ours
    });
}

/// Calls `each` for the state of every thread of this process that has one.
pub fn each_in_use(mut each: impl FnMut(&Thread)) {
    each_state(|state| {
        if state.in_use.load(Ordering::Acquire) {
            each(state);
        }
        false
    });
}

/// A thread has been given a name.
pub fn rename(pthread: usize, name: [u8; 16]) {
    each_state(|state| {
        let is_its = state.in_use.load(Ordering::Acquire) && state.pthread.get() == pthread && state.has_arena();
        if is_its {
            // SAFETY: an arena stays in the mapping.
            unsafe { (*state.arena.get()).name = name };
        }
        is_its
    });
}
