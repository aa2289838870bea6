//! What the recorder spends on something rare, such as a new path: no part of any call's time.

use crate::busy::Busy;
use crate::clock;
use crate::thread::Thread;

/// Time that goes by for the recorder's own work.
pub struct Spent {
    began: u64,
    /// What had been taken off the open calls by then.
    forgotten: u64,
    /// What is still to come: signals are let in again when it is over.
    unblocking: u64,
}

impl Spent {
    /// From now on.
    #[inline(always)]
    pub fn begin(thread: &Thread) -> Self {
        Self { began: clock::now(thread.family.clock), forgotten: thread.forgotten.get(), unblocking: 0 }
    }

    /// Begins a change of the state, which may block signals: to let them in again takes about as long as to block them, and at least
    /// as long as that took when nothing came in between.
    pub fn busy<'a>(
        &mut self,
        thread: &'a Thread,
        begin: impl FnOnce(&'a Thread) -> Option<Busy<'a>>,
    ) -> Option<Busy<'a>> {
        let before = clock::now(thread.family.clock);
        let busy = begin(thread)?;
        if busy.has_blocked() {
            let took = clock::now(thread.family.clock).saturating_sub(before);
            if took < thread.blocking.get() {
                thread.blocking.set(took);
            }
            self.unblocking = thread.blocking.get();
        }
        Some(busy)
    }

    /// Takes it off all open calls. What comes behind this, but to let signals in again, is the program's.
    pub fn end(self, thread: &Thread) {
        thread.forget_time_but(self.began, self.forgotten, self.unblocking);
    }
}
