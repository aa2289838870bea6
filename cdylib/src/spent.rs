//! What the recorder spends on something rare, such as a new path: no part of any call's time.
//!
//! Where signals are not blocked meanwhile, a handler may come, and make calls, which are made by those that are open: then nothing is
//! taken off, as nobody knows how much of it was the recorder's.

use crate::clock;
use crate::thread::Thread;
use core::sync::atomic::{Ordering, compiler_fence};

/// Time that goes by for the recorder's own work.
pub struct Spent {
    began: u64,
    /// What had been taken off the open calls by then: what is within that time is not to be taken off again.
    forgotten: u64,
    /// How many calls had been timed by then.
    calls: u64,
}

impl Spent {
    /// From now on.
    #[inline(always)]
    pub fn begin(thread: &Thread) -> Self {
        let calls = thread.count.get();
        compiler_fence(Ordering::SeqCst); // a handler that comes before the clock is read has made calls since
        Self { calls, ..Self::since(thread, clock::now(thread.family.clock)) }
    }

    /// From a moment on that was just now, while no handler can come: nothing has been taken off since.
    #[inline(always)]
    pub fn since(thread: &Thread, now: u64) -> Self {
        Self { began: now, forgotten: thread.forgotten.get(), calls: thread.count.get() }
    }

    /// When it began, in ticks.
    pub fn began(&self) -> u64 {
        self.began
    }

    /// Whether no signal handler has made calls meanwhile.
    pub fn is_recorders(&self, thread: &Thread) -> bool {
        thread.count.get() == self.calls
    }

    /// Takes it off all open calls.
    pub fn end(self, thread: &Thread) {
        self.end_before(thread, 0);
    }

    /// The same where so many ticks more are about to be spent. Says whether it was taken off.
    pub fn end_before(self, thread: &Thread, to_come: u64) -> bool {
        self.is_recorders(thread) && thread.forget_time_but(self.began, self.forgotten, to_come)
    }
}
