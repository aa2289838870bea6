//! Counters that begin anew while the program runs: `diytrace ctl reset`.

use crate::busy::Busy;
use crate::calibration_schedule;
use crate::claim;
use crate::fork;
use crate::off_cpu;
use crate::spent::Spent;
use crate::thread::Thread;

/// Clears what the thread has counted. The calls that are open stay so, as those that a forked child inherits do: they
/// were counted before, and their time counts from now. False if a change of the thread's state is under way.
#[cold]
#[inline(never)]
pub fn start_anew(thread: &Thread) -> bool {
    let Some(_busy) = Busy::begin(thread) else { return false };
    let spent = Spent::begin(thread);
    let began = spent.began();
    let epoch = thread.family.epoch();
    if thread.epoch() == epoch {
        return true; // a signal handler has come since the caller looked, and its calls are there already
    }
    // SAFETY: the thread has an arena.
    unsafe { claim::clear(thread, epoch) };
    off_cpu::skip(thread);
    thread.last.set(began);
    fork::begin_anew(thread);
    calibration_schedule::schedule(thread);
    spent.end(thread);
    thread.join(epoch); // last: until then a signal handler's calls come here, and are counted by their functions
    true
}
