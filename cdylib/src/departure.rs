//! A process that becomes another program, or ends where nobody can see it: what was counted stays, and the profile says when it
//! left. Whoever reads believes it if nothing was noted later: a call that fails comes back.

use crate::address_limit;
use crate::arch;
use crate::clock;
use crate::family;
use crate::off_cpu;
use crate::ring;
use crate::states;
use crate::sys;
use core::ffi::CStr;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use profile::Arena;

static NEXT_FORK: AtomicUsize = AtomicUsize::new(0);

/// Functions of libc's that, as a rule, do not come back.
const NAMES: [&CStr; 9] =
    [c"execve", c"execv", c"execvp", c"execvpe", c"execl", c"execlp", c"execle", c"fexecve", c"daemon"];

static NEXT: [AtomicUsize; NAMES.len()] = [const { AtomicUsize::new(0) }; NAMES.len()];

/// Finds the next of each: not when one is called, as the loader's lock may be held for good in a child of `fork`, or
/// by a library's constructor that waits for the thread that calls it.
pub fn find_next() {
    for (place, name) in NEXT.iter().zip(NAMES) {
        sys::next(place, name);
    }
    next_fork();
}

/// The address of the next `fork`.
pub fn next_fork() -> usize {
    sys::next(&NEXT_FORK, c"fork")
}

/// Called on one of [`NAMES`], before the next of that name is, whose address it returns.
pub extern "C" fn before<const NAME: usize>() -> usize {
    if arch::is_relocated() {
        say_when();
        if NAMES[NAME] != c"daemon" {
            address_limit::before_exec();
        }
    }
    sys::next(&NEXT[NAME], NAMES[NAME])
}

fn say_when() {
    let Some(family) = family::get() else { return };
    if sys::is_restricted() {
        return; // whether this is a child of `vfork` may not be asked
    }
    family.pass_on_namespace(); // `daemon` forks
    let pid = sys::getpid();
    let leave = |arena: *mut Arena| {
        let now = clock::now(family.clock); // after all that is noted
        // SAFETY: an arena stays in the mapping.
        unsafe { AtomicU64::from_ptr(&raw mut (*arena).left_at) }.store(now, Ordering::Relaxed);
    };
    // SAFETY: an arena stays in the mapping.
    let is_ours = |arena: *mut Arena| !arena.is_null() && unsafe { (*arena).pid } == pid;
    // SAFETY: a thread's state is valid as long as its word leads to it.
    if let Some(thread) = unsafe { arch::thread().as_ref() }.filter(|thread| thread.has_arena()) {
        let arena = thread.arena.get();
        // In a child of `vfork` the state is the parent's.
        if is_ours(arena) {
            // SAFETY: the thread has an arena, and its frames are there.
            unsafe { ring::leave(thread) };
            thread.tell_beginnings();
            leave(arena);
            off_cpu::tell_up_to_now(thread); // behind it: until then, at least
        }
        return;
    }
    // By a thread that has recorded nothing: in any of the process's.
    states::each(|state| {
        let arena = state.arena.get();
        if is_ours(arena) {
            leave(arena);
        }
        is_ours(arena)
    });
}
