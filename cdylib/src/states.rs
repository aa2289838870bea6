//! All states of this process's threads: threads come and go, states stay and are used again.

use crate::thread::Thread;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

/// All states of this process: threads come and go, states stay.
static STATES: AtomicPtr<Thread> = AtomicPtr::new(ptr::null_mut());

/// Calls `each` for every state of this process.
pub fn each(mut each: impl FnMut(&Thread) -> bool) -> *mut Thread {
    let mut state = STATES.load(Ordering::Acquire);
    // SAFETY: states in the list stay; only their own threads change more than their atomic words.
    while !state.is_null() && !each(unsafe { &*state }) {
        // SAFETY: states in the list stay.
        state = unsafe { (*state).next.get() };
    }
    state
}

/// Calls `each` for the state of every thread of this process that has one.
pub fn each_in_use(mut each: impl FnMut(&Thread)) {
    self::each(|state| {
        if state.in_use.load(Ordering::Acquire) {
            each(state);
        }
        false
    });
}

/// Adds a new one.
///
/// # Safety
/// The state must stay for good.
pub unsafe fn add(new: *mut Thread) {
    let mut first = STATES.load(Ordering::Acquire);
    loop {
        // SAFETY: the caller's state.
        unsafe { (*new).next.set(first) };
        match STATES.compare_exchange(first, new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return,
            Err(other) => first = other,
        }
    }
}
