//! Functions of libc's that the program calls by way of us.

use crate::arch;
use crate::arch::{exit_by, pass_on};
use crate::departure::{before, next_fork};
use crate::family;
use crate::lifecycle::leaving;
use crate::ring;
use crate::seccomp::{on_prctl, on_setname, on_syscall};

exit_by!(_exit, leaving, "`_exit` of the program: says in the profile that the process ended by itself, then goes on.");
exit_by!(_Exit, leaving, "The same under its C99 name.");

pass_on!(prctl, on_prctl, "`prctl` of the program, which may restrict its system calls.");
pass_on!(pthread_setname_np, on_setname, "`pthread_setname_np` of the program: the report tells threads by name.");
pass_on!(fork, on_fork, "`fork` of the program: what was noted is counted before.");
pass_on!(execve, before::<0>, "`execve` of the program: says in the profile that this process left it.");
pass_on!(execv, before::<1>, "The same.");
pass_on!(execvp, before::<2>, "The same.");
pass_on!(execvpe, before::<3>, "The same.");
pass_on!(execl, before::<4>, "The same.");
pass_on!(execlp, before::<5>, "The same.");
pass_on!(execle, before::<6>, "The same.");
pass_on!(fexecve, before::<7>, "The same.");
pass_on!(daemon, before::<8>, "`daemon` of the program, whose parent ends in there.");
pass_on!(syscall, on_syscall, "`syscall` of the program, which may restrict its system calls.");

/// Called on `fork`, before the next one is, whose address it returns: the child finds frames of all calls that are open.
pub extern "C" fn on_fork() -> usize {
    if arch::is_relocated()
        && let Some(family) = family::get()
    {
        family.pass_on_namespace();
    }
    // SAFETY: a thread's state is valid as long as its word leads to it.
    if let Some(thread) = unsafe { arch::thread().as_ref() }
        && arch::is_relocated()
        && thread.has_arena()
    {
        // SAFETY: the thread has an arena.
        unsafe { ring::leave(thread) };
        // The hook of an unfinished slot goes on in both.
        thread.ring_is_retired.set(thread.ring_is_retired.get() || thread.unfinished.get() != 0);
    }
    next_fork()
}
