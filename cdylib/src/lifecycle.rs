//! Where the recorder comes and goes: the library's load, the end of a thread, the end of a process.

use crate::address_limit;
use crate::arch;
use crate::calibration_steps;
use crate::claim;
use crate::clock;
use crate::creation;
use crate::departure;
use crate::family::{self, Family};
use crate::fork;
use crate::hooks;
use crate::modules;
use crate::off_cpu;
use crate::seccomp;
use crate::sys;
use crate::thread_registry;
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

#[used]
#[unsafe(link_section = ".fini_array")]
static UNLOADED: extern "C" fn() = unloaded;

/// The library was loaded. Where something is instrumented, the family is made now: the program has not changed its
/// environment, its folder or its descriptors yet.
extern "C" fn loaded() {
    prepare();
    if creation::is_secure_execution() {
        family::turn_off();
    } else if family::get().is_none() && modules::any_instrumented() {
        creation::family(&hooks::OWN);
    }
    creation::has_loaded();
}

/// The program ends by `exit`, or the library is unloaded.
extern "C" fn unloaded() {
    say_goodbye();
}

static NEXT_EXIT: AtomicUsize = AtomicUsize::new(0);
static NEXT_DLCLOSE: AtomicUsize = AtomicUsize::new(0);

/// What needs libc: the next `_exit`, and a key whose destructor tells that a thread ends.
fn prepare() {
    clock::find_libcs();
    departure::find_next();
    address_limit::find_next();
    seccomp::find_next();
    sys::next(&NEXT_DLCLOSE, c"dlclose");
    fork::watch();
    // SAFETY: all are called as their manuals say; the key's destructor and the handler have the right types.
    unsafe {
        NEXT_EXIT.store(libc::dlsym(libc::RTLD_NEXT, c"_exit".as_ptr()).addr(), Ordering::Relaxed);
        thread_registry::watch_ends();
        __cxa_at_quick_exit(left_quickly, ptr::null_mut());
    }
}

/// The program ends by `quick_exit`, which runs no destructors, and ends the process without an `_exit` that we see.
extern "C" fn left_quickly(_: *mut c_void) {
    say_goodbye();
}

unsafe extern "C" {
    /// What `at_quick_exit` calls.
    fn __cxa_at_quick_exit(handler: extern "C" fn(*mut c_void), library: *mut c_void) -> i32;
}

/// `dlclose` of the program: what it unloads, other code may replace at the same addresses.
///
/// # Safety
/// As for `dlclose`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dlclose(library: *mut c_void) -> i32 {
    let next = sys::next(&NEXT_DLCLOSE, c"dlclose");
    if next == 0 {
        return -1;
    }
    // SAFETY: libc's function, or that of another preloaded library, of the same type.
    let close: unsafe extern "C" fn(*mut c_void) -> i32 = unsafe { core::mem::transmute(next) };
    if let Some(family) = family::get() {
        look_around(family);
        // SAFETY: a thread's state is valid as long as its word leads to it. What was noted of the library's calls is counted while it is there.
        unsafe { thread_registry::finish_own() };
    }
    // SAFETY: the caller's promise.
    let result = unsafe { close(library) };
    if let Some(family) = family::get() {
        let _blocked = sys::SignalsBlocked::new();
        if modules::forget_what_is_gone(family) {
            thread_registry::make_stale();
        }
    }
    result
}

/// Called on `_exit`, before the next one is, whose address it returns.
pub extern "C" fn leaving() -> usize {
    say_goodbye();
    match NEXT_EXIT.load(Ordering::Relaxed) {
        0 => (exit_now as *const ()).addr(),
        next => next,
    }
}

extern "C" fn exit_now(status: i32) -> ! {
    loop {
        // SAFETY: ends the process.
        unsafe { arch::kernel(libc::SYS_exit_group, [status as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Notes libraries that no call has led to, before they go: the report names those whose hooks are bound elsewhere. Once for
/// a program, by its first process: its children have what it has, as a rule.
fn look_around(family: &Family) {
    // SAFETY: the page is mapped for good.
    if unsafe { &(*family.process).number }.load(Ordering::Relaxed) == 1 {
        let _blocked = sys::SignalsBlocked::new();
        modules::scan(family, (look_around as *const ()).addr(), None);
    }
}

fn say_goodbye() {
    let Some(family) = family::get() else { return };
    // In a `vfork` child the state is the parent's.
    // SAFETY: the thread's state is valid while its word leads to it.
    match unsafe { arch::thread().as_ref() }.filter(|thread| thread.has_arena()) {
        // SAFETY: the arena is in the mapping.
        Some(thread) if sys::is_restricted() || unsafe { (*thread.arena.get()).pid } == sys::getpid() => {
            if thread.is_switched() {
                // SAFETY: the thread's frames are there.
                unsafe { off_cpu::before_exit(thread) };
            }
            calibration_steps::end(thread);
            off_cpu::tell_of_others(thread);
            thread.tell_beginnings();
            family.anchor(); // the open calls' end
            off_cpu::tell_up_to_now(thread);
            look_around(family);
            claim::leave(thread);
        }
        Some(_) => {}
        None => {
            family.anchor();
            thread_registry::mark_exited(family, sys::getpid());
        }
    }
}
