//! What protects a thread's slow path from its own signal handlers.
//!
//! Asynchronous signals are blocked where the kernel may be asked. It may not be after the program has restricted its
//! system calls, and synchronous ones (a stack overflow, a debugger's trap) are never blocked: their handlers are the
//! program's business, and blocking them would end the process. So the thread's state says that it is being changed. The
//! hooks of a handler that comes in the middle use what they find, change nothing, and count a call that would need more
//! by its function alone (`Family::count_by_function`).
//!
//! A handler may also leave what it interrupted for good (`siglongjmp`). Everything done here is done so that it may stop
//! after any instruction: what is new is complete before anything leads to it.

use crate::arch;
use crate::stack;
use crate::sys::SignalsBlocked;
use crate::thread::Thread;

/// The thread's state is being changed, until this is dropped.
pub struct Busy<'a> {
    thread: &'a Thread,
    _signals: SignalsBlocked,
}

impl<'a> Busy<'a> {
    /// Begins a change. `None` if one is under way, which a signal handler has interrupted.
    pub fn begin(thread: &'a Thread) -> Option<Self> {
        if is_busy(thread) {
            return None;
        }
        let signals = SignalsBlocked::new();
        // A handler that came before they were blocked has ended its own change, or left it.
        thread.busy.set(arch::stack_pointer());
        Some(Self { thread, _signals: signals })
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.thread.busy.set(0);
    }
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
    }
    !was_left
}
