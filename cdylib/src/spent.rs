//! What the recorder spends on something rare, such as a new path: no part of any call's time.

use crate::busy::Busy;
use crate::clock;
use crate::thread::Thread;

/// Time that goes by for the recorder's own work.
pub struct Spent {
    began: u64,
    /// What had been taken off the open calls by then.
    forgotten: u64,
}

impl Spent {
    /// From now on.
    #[inline(always)]
    pub fn begin(thread: &Thread) -> Self {
        Self { began: clock::now(thread.family.clock), forgotten: thread.forgotten.get() }
    }

    /// Takes it off all open calls, and ends the change of the state that it was spent on. What comes behind this is the program's, but
    /// for what letting signals in again takes: at least as long as it took when nothing came in between.
    pub fn end(self, thread: &Thread, busy: Busy) {
        let has_blocked = busy.has_blocked();
        let to_come = if has_blocked { thread.unblocking.get() } else { 0 };
        let is_taken_off = thread.forget_time_but(self.began, self.forgotten, to_come);
        let unblocked = clock::now(thread.family.clock);
        drop(busy);
        if has_blocked && is_taken_off {
            let took = clock::now(thread.family.clock).saturating_sub(unblocked);
            if to_come == 0 {
                thread.unblocking.set(took);
            } else if took < to_come {
                thread.unblocking.set(took);
                thread.give_back(to_come - took);
            }
        }
    }
}
