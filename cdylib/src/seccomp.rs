//! Programs that restrict their own system calls (seccomp). A filter may kill a process for a call that is not on its
//! list, and none lists ours. So before one is set, the recorder makes room ahead, and from then on asks nothing of the
//! kernel: what finds no room is folded, then lost, and counted as such.

use crate::arch;
use crate::arena;
use crate::busy::Busy;
use crate::clock;
use crate::family;
use crate::hooks;
use crate::off_cpu;
use crate::path;
use crate::shadow_stack;
use crate::spent::Spent;
use crate::stack;
use crate::sys;
use crate::thread_registry;
use core::sync::atomic::{AtomicUsize, Ordering};

const PR_SET_SECCOMP: i32 = libc::PR_SET_SECCOMP;
/// Has the program's own handler asked before system calls, the recorder's too.
const PR_SET_SYSCALL_USER_DISPATCH: i32 = 59;
const PR_SYS_DISPATCH_ON: usize = 1;
const SECCOMP_MODE_STRICT: usize = libc::SECCOMP_MODE_STRICT as usize;
const SECCOMP_MODE_FILTER: usize = libc::SECCOMP_MODE_FILTER as usize;
const PR_TSC_SIGSEGV: usize = libc::PR_TSC_SIGSEGV as usize;

static NEXT_PRCTL: AtomicUsize = AtomicUsize::new(0);
static NEXT_SETNAME: AtomicUsize = AtomicUsize::new(0);
static NEXT_SYSCALL: AtomicUsize = AtomicUsize::new(0);

/// Finds the next of each: not when one is called, as the loader's lock may be held by who waits for that, a library's constructor.
pub fn find_next() {
    sys::next(&NEXT_PRCTL, c"prctl");
    sys::next(&NEXT_SYSCALL, c"syscall");
    sys::next(&NEXT_SETNAME, c"pthread_setname_np");
}

/// Called on `prctl`, before the next one is, whose address it returns.
pub extern "C" fn on_prctl(option: i32, argument: usize, filter: usize) -> usize {
    match (option, argument) {
        (PR_SET_SECCOMP, SECCOMP_MODE_STRICT) => enter_strict_mode(),
        (PR_SET_SECCOMP, SECCOMP_MODE_FILTER) => set_filter(filter),
        (libc::PR_SET_TSC, PR_TSC_SIGSEGV) => stop_the_clock(),
        (PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON) => prepare(),
        (libc::PR_SET_NAME, name) => on_name(arch::thread_pointer(), name),
        _ => {}
    }
    sys::next(&NEXT_PRCTL, c"prctl")
}

/// Called on `syscall`, before the next one is, whose address it returns.
pub extern "C" fn on_syscall(number: i64, operation: usize, flags: usize, filter: usize) -> usize {
    match (number, operation as u32) {
        // With either, it is refused: so libseccomp asks whether there is the system call.
        (libc::SYS_seccomp, libc::SECCOMP_SET_MODE_STRICT) if flags as u32 == 0 && filter == 0 => enter_strict_mode(),
        (libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER) => set_filter(filter),
        _ => {}
    }
    sys::next(&NEXT_SYSCALL, c"syscall")
}

/// Called on `pthread_setname_np`, before the next one is, whose address it returns.
pub extern "C" fn on_setname(pthread: usize, name: usize) -> usize {
    on_name(pthread, name);
    sys::next(&NEXT_SETNAME, c"pthread_setname_np")
}

/// A thread is about to be named.
fn on_name(pthread: usize, name: usize) {
    let mut bytes = [0; 16];
    let mut len = 0;
    // A name that cannot be read is the kernel's to refuse; one that is too long, libc's or cut off by the kernel.
    while len < bytes.len() - 1 && sys::read_memory(sys::getpid(), name.wrapping_add(len), &mut bytes[len..=len]) {
        if bytes[len] == 0 {
            break;
        }
        len += 1;
    }
    if len > 0 {
        thread_registry::rename(pthread, bytes);
    }
}

fn enter_strict_mode() {
    stop_the_clock();
    prepare();
}

/// A filter is about to be set, whose `sock_fprog` lies there. One that is sure to be refused is not prepared for: libraries set
/// one at address 0 to ask what the kernel knows.
fn set_filter(address: usize) {
    if address != 0 && !sys::is_restricted() && !has_wrong_length(address) && !sys::may_not_restrict() {
        prepare();
    }
}

/// Whether a `sock_fprog` has no instruction, or too many; not where it cannot be read.
fn has_wrong_length(address: usize) -> bool {
    const MOST: u16 = 4096; // BPF_MAXINSNS
    let mut length = [0; 2];
    sys::read_memory(sys::getpid(), address, &mut length) && !(1..=MOST).contains(&u16::from_ne_bytes(length))
}

fn prepare() {
    let Some(family) = family::get() else {
        family::turn_off(); // there will be no family: it could not be made any more
        return sys::restrict();
    };
    if sys::is_restricted() {
        return;
    }
    // SAFETY: the state is valid while its word leads to it.
    let thread = unsafe { thread_registry::current(&hooks::OWN).as_ref() }.filter(|thread| thread.has_arena());
    // Milliseconds, none of which is the program's.
    let spent = thread.map(Spent::begin);
    make_room_ahead();
    off_cpu::give_up_all();
    family.warn(&[profile::text::SEALED.as_bytes()]);
    if let (Some(thread), Some(spent)) = (thread, spent) {
        spent.end(thread);
    }
    // A filter that is refused leaves the recorder sealed; that costs new paths, not the program.
    sys::restrict();
}

/// Ends the calling thread's recording, and that of threads and processes that it makes: the strict mode, and
/// `PR_TSC_SIGSEGV`, forbid the time stamp counter, which the kernel's own clock reads too.
fn stop_the_clock() {
    clock::STOPPED.store(true, Ordering::Relaxed);
    // SAFETY: the state is valid while its word leads to it.
    if let Some(thread) = unsafe { arch::thread().as_ref() } {
        thread.give_up();
        thread.family.warn(&[profile::text::NO_CLOCK.as_bytes()]);
    }
}

/// Room for what the calling thread may still meet: paths, and calls inside each other.
fn make_room_ahead() {
    const FRAMES: usize = 1 << 14;
    let thread = thread_registry::current(&hooks::OWN);
    // SAFETY: the state is valid while its word leads to it.
    if let Some(thread) = unsafe { thread.as_ref() }
        && thread.has_arena()
    {
        while thread.frames() < FRAMES && shadow_stack::grow(thread) {}
        stack::know_this_one(thread);
        if let Some(_busy) = Busy::begin(thread) {
            path::make_room_ahead(thread, arena::make_room_ahead(thread));
        }
    }
}
