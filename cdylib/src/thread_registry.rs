//! The states of a process's threads: threads come and go, states stay and are used again.

use crate::arch;
use crate::arena;
use crate::attach;
use crate::busy::Busy;
use crate::cost::Hooks;
use crate::creation;
use crate::family::{self, Family};
use crate::ring;
use crate::states;
use crate::sys::{self, SignalsBlocked};
use crate::thread::{Thread, live};
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};
use profile::arena::flag;

/// The state of the calling thread, ready to record or to lose; null if nothing is recorded here.
pub fn current(hooks: &Hooks) -> *mut Thread {
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
    let Some(state) = (unsafe { thread.as_ref() }) else { return attach(hooks) };
    if let Some(_busy) = Busy::begin(state) {
        match state.state() {
            live::FORKED => attach::settle(state),
            live::STALE => attach::forget_unloaded_code(state),
            live::LOST if state.may_settle() => attach::settle(state),
            _ => {}
        }
    }
    thread
}

fn attach(hooks: &Hooks) -> *mut Thread {
    let _blocked = SignalsBlocked::new();
    let Some(family) = creation::family(hooks) else { return ptr::null_mut() };
    let Some(thread) = take_state(family) else { return ptr::null_mut() };
    // SAFETY: the state is complete but for its arena, and nobody else's.
    let state = unsafe { &*thread };
    state.pthread.set(arch::thread_pointer());
    state.use_filter();
    attach::settle(state);
    if !arch::set_thread_if_none(thread) {
        attach::abandon(state); // a signal handler was faster
        return arch::thread();
    }
    watch_end_of(thread);
    thread
}

/// A state that an ended thread has left, or a new one.
fn take_state(family: &'static Family) -> Option<*mut Thread> {
    let is_free =
        |state: &Thread| state.in_use.compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed).is_ok();
    let left = states::each(is_free);
    if !left.is_null() {
        return Some(left);
    }
    let Ok(new) = attach::new(family) else {
        family.warn_of_little_memory();
        return None;
    };
    // SAFETY: nobody has seen the state yet.
    unsafe {
        (*new).in_use.store(true, Ordering::Relaxed);
        states::add(new);
    }
    Some(new)
}

/// Has every thread look through what it knows of addresses: a library is gone.
pub fn make_stale() {
    states::each(|state| {
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
pub fn mark_exited(family: &Family, pid: u32) {
    // A process that may not ask for its number knows whether it has recorded: what a child inherits says that it has not.
    // SAFETY: the page is mapped for good.
    let has_recorded = || unsafe { &(*family.process).number }.load(Ordering::Relaxed) != 0;
    states::each(|state| {
        let arena = state.arena.get();
        let is_ours = !arena.is_null()
            && match sys::is_restricted() {
                true => has_recorded(),
                // SAFETY: an arena stays in the mapping.
                false => unsafe { (*arena).pid == pid },
            };
        if is_ours {
            // SAFETY: an arena stays in the mapping.
            unsafe { arena::set_flag(arena, flag::EXITED) };
        }
        is_ours
    });
}

/// A thread has been given a name.
pub fn rename(pthread: usize, name: [u8; 16]) {
    states::each(|state| {
        let is_its = state.in_use.load(Ordering::Acquire) && state.pthread.get() == pthread && state.has_arena();
        if is_its {
            // SAFETY: an arena stays in the mapping.
            unsafe { (*state.arena.get()).name = name };
        }
        is_its
    });
}

static KEY: AtomicU32 = AtomicU32::new(u32::MAX);

/// Has the thread's end told to `thread_ended`.
pub fn watch_end_of(thread: *mut Thread) {
    let key = KEY.load(Ordering::Relaxed);
    if key != u32::MAX {
        // SAFETY: the key was made above. With many keys in use libc allocates here: the hooks of an instrumented
        // `malloc` find the thread's state complete.
        unsafe { libc::pthread_setspecific(key, thread.cast()) };
    }
}

unsafe extern "C" fn thread_ended(thread: *mut c_void) {
    // A thread that was given a new state meanwhile, or a forked child's copy of another's, is not meant.
    if arch::thread() == thread.cast() {
        // SAFETY: states stay.
        attach::end(unsafe { &*thread.cast::<Thread>() });
    }
}

/// Has a thread's end told: by a key of libc's, whose destructor is called then.
pub fn watch_ends() {
    let mut key = 0;
    // SAFETY: called as its manual says; the destructor has the right type.
    if KEY.load(Ordering::Relaxed) == u32::MAX && unsafe { libc::pthread_key_create(&mut key, Some(thread_ended)) } == 0
    {
        KEY.store(key, Ordering::Relaxed);
    }
}
