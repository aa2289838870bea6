//! Counters that begin anew while the program runs: `diytrace ctl reset`.

use crate::arena;
use crate::clock;
use crate::fork;
use crate::sys::SignalsBlocked;
use crate::thread::Thread;

/// Clears what the thread has counted. The calls that are open stay so, as those that a forked child inherits do: they
/// were counted before, and their time counts from now.
#[cold]
#[inline(never)]
pub fn start_anew(thread: &mut Thread) {
    let _blocked = SignalsBlocked::new();
    let began = clock::now(thread.family.clock);
    thread.join_epoch();
    // SAFETY: the thread has an arena.
    unsafe { arena::clear(thread) };
    thread.last = began;
    fork::inherit(thread);
    thread.forget_time_since(began);
}
