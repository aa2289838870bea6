//! What protects a thread's slow path from its own signal handlers.
//!
//! Asynchronous signals are blocked where the kernel may be asked. It may not be after the program has restricted its
//! system calls, and synchronous ones (a stack overflow, a debugger's trap) are never blocked: their handlers are the
//! program's business, and blocking them would end the process. So the thread's state says that it is being changed. The
//! hooks of a handler that comes in the middle use what they find, change nothing, and count a call that would need more
//! by its function alone (`Family::count_by_function`).
//!
//! A program of millions of paths, or one whose coroutines take turns, would have its signals blocked and unblocked for each. Where one has
//! made many such changes, and has no handlers, they are left alone: if it gets one after it was asked, that handler's calls are counted as above.
//!
//! A handler may also leave what it interrupted for good (`siglongjmp`). Everything done here is done so that it may stop
//! after any instruction: what is new is complete before anything leads to it. Signals that were blocked there are let in when the next
//! path is met, if the program has not done so.

use crate::arch;
use crate::clock;
use crate::spent::Spent;
use crate::stack;
use crate::sys::{self, NO_MASK, SignalsBlocked};
use crate::thread::Thread;

/// The thread's state is being changed, until this is dropped.
pub struct Busy<'a> {
    thread: &'a Thread,
    signals: Option<SignalsBlocked>,
}

impl<'a> Busy<'a> {
    /// Begins a change. `None` if one is under way, which a signal handler has interrupted.
    pub fn begin(thread: &'a Thread) -> Option<Self> {
        Self::begin_with(thread, || Some(SignalsBlocked::new()))
    }

    /// The same for what happens often: a new path, a function's first call of its length, a switch to another stack.
    pub fn begin_often(thread: &'a Thread) -> Option<Self> {
        Self::begin_with(thread, || (!does_without_blocking(thread)).then(SignalsBlocked::new))
    }

    /// Ends a change, and takes what was spent on it off all open calls. What comes behind this is the program's, but for what
    /// letting signals in again takes: at least as long as it took when nothing came in between.
    pub fn end(self, spent: Spent) {
        let (thread, has_blocked) = (self.thread, self.signals.is_some());
        let to_come = if has_blocked { thread.unblocking.get() } else { 0 };
        let is_taken_off = spent.end_before(thread, to_come);
        let unblocked = clock::now(thread.family.clock);
        drop(self);
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

    fn begin_with(thread: &'a Thread, block: impl FnOnce() -> Option<SignalsBlocked>) -> Option<Self> {
        if is_busy(thread) {
            return None;
        }
        let signals = block();
        // A handler that came before they were blocked has ended its own change, or left it.
        thread.signals_before.set(signals.as_ref().map_or(NO_MASK, SignalsBlocked::before));
        thread.busy.set(arch::stack_pointer());
        Some(Self { thread, signals })
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.thread.busy.set(0);
    }
}

/// Whether signals need not be blocked for a thread's next change: it has made many, and the program had no handler for what
/// would be blocked when it was last asked after.
fn does_without_blocking(thread: &Thread) -> bool {
    /// Changes for which signals are blocked in any case: a program begins with many new paths, and with installing its handlers.
    const FIRST: u32 = 1 << 13;
    /// Changes until it is asked again, by a system call for each signal; to block them takes two for each.
    const EVERY: u32 = 1 << 10;
    let changes = thread.changes.get().wrapping_add(1);
    thread.changes.set(changes);
    if changes < FIRST {
        return false;
    }
    if changes.is_multiple_of(EVERY) {
        thread.has_no_handlers.set(!sys::has_asynchronous_handler());
    }
    thread.has_no_handlers.get()
}

/// Whether a change is under way further up the stack. One whose stack frame has been left is not.
pub fn is_busy(thread: &Thread) -> bool {
    let (here, changing) = (arch::stack_pointer(), thread.busy.get());
    if changing == 0 {
        return false;
    }
    let was_left = changing < here && stack::is_same(thread, changing, here);
    if was_left {
        thread.busy.set(0);
        // `longjmp` keeps no mask.
        let before = thread.signals_before.get();
        if before != NO_MASK {
            sys::let_signals_in(before);
        }
    }
    !was_left
}
