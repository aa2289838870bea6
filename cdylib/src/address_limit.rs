//! A program that limits its own address space (`RLIMIT_AS`), as vsftpd does. The recorder has mapped more than such limits
//! allow, and the program's next `mmap` would fail. So what the recorder has is added to the limit that the kernel gets, and
//! the program sees the one that it asked for. What it executes begins with that one.

use crate::arch;
use crate::sys;
use core::ffi::{c_int, c_uint, c_void};
use core::mem;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// `RLIM_INFINITY`.
const NONE: u64 = u64::MAX;

/// The soft limit and the hard one, as the kernel has them.
type Limits = [u64; 2];

/// What the program asked for last, and what the kernel got instead.
static ASKED: [AtomicU64; 2] = [const { AtomicU64::new(NONE) }; 2];
static GIVEN: [AtomicU64; 2] = [const { AtomicU64::new(NONE) }; 2];

static NEXT_SETRLIMIT: AtomicUsize = AtomicUsize::new(0);
static NEXT_GETRLIMIT: AtomicUsize = AtomicUsize::new(0);
static NEXT_PRLIMIT: AtomicUsize = AtomicUsize::new(0);

/// Finds the next of each: not when one is called, as the loader's lock may be held for good in a child of `fork`.
pub fn find_next() {
    sys::next(&NEXT_SETRLIMIT, c"setrlimit");
    sys::next(&NEXT_GETRLIMIT, c"getrlimit");
    sys::next(&NEXT_PRLIMIT, c"prlimit");
}

fn load(words: &[AtomicU64; 2]) -> Limits {
    [words[0].load(Ordering::Relaxed), words[1].load(Ordering::Relaxed)]
}

/// What the program is to see where the kernel has these.
fn shown(limits: Limits) -> Limits {
    let (asked, given) = (load(&ASKED), load(&GIVEN));
    [0, 1].map(|which| if limits[which] == given[which] { asked[which] } else { limits[which] })
}

/// Sets a limit of the program's own. False if that is left to libc, which says why it cannot be.
fn set(limits: *const Limits) -> bool {
    let mut bytes = [0; size_of::<Limits>()];
    let of_recorder = sys::mapped_bytes() as u64;
    if !arch::is_relocated() || of_recorder == 0 || !sys::read_memory(sys::getpid(), limits.addr(), &mut bytes) {
        return false;
    }
    let half = |at: usize| bytes[at..].first_chunk().map_or(0, |half| u64::from_ne_bytes(*half));
    let asked = [half(0), half(8)];
    let Ok(present) = sys::address_limits(None) else { return false };
    let raised = asked.map(|limit| if limit == NONE { NONE } else { limit.saturating_add(of_recorder).min(NONE - 1) });
    let set = |limits| sys::address_limits(Some(&limits)).is_ok().then_some(limits);
    // Who has no privilege may not go beyond the hard limit that there is, and gets what is left below it.
    let is_allowed = asked[0] <= asked[1] && asked[1] <= shown(present)[1];
    let given = set(raised).or_else(|| is_allowed.then(|| set(raised.map(|limit| limit.min(present[1])))).flatten());
    let Some(given) = given else { return false };
    for which in [0, 1] {
        ASKED[which].store(asked[which], Ordering::Relaxed);
        GIVEN[which].store(given[which], Ordering::Relaxed);
    }
    true
}

/// Before another program is executed, which has no recorder's memory in it yet. If it cannot be, this one goes on with what it
/// asked for.
pub fn before_exec() {
    let (asked, given) = (load(&ASKED), load(&GIVEN));
    if asked != given && sys::address_limits(None) == Ok(given) {
        let _ = sys::address_limits(Some(&asked));
    }
}

/// Has the program see its own limits.
///
/// # Safety
/// `limits` must be writable.
unsafe fn show(limits: *mut Limits) {
    // SAFETY: the caller's promise.
    unsafe { limits.write(shown(limits.read())) };
}

macro_rules! interpose {
    ($set:ident, $get:ident, $both:ident) => {
        /// Of the program.
        ///
        /// # Safety
        /// As its manual says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set(resource: c_uint, limits: *const c_void) -> c_int {
            if resource == libc::RLIMIT_AS && set(limits.cast()) {
                return 0;
            }
            // SAFETY: the next of that name, with the program's arguments.
            unsafe {
                let next = sys::next(&NEXT_SETRLIMIT, c"setrlimit");
                let next: unsafe extern "C" fn(c_uint, *const c_void) -> c_int = mem::transmute(next);
                next(resource, limits)
            }
        }

        /// Of the program.
        ///
        /// # Safety
        /// As its manual says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(resource: c_uint, limits: *mut c_void) -> c_int {
            // SAFETY: the next of that name, with the program's arguments; it has written there.
            unsafe {
                let next = sys::next(&NEXT_GETRLIMIT, c"getrlimit");
                let next: unsafe extern "C" fn(c_uint, *mut c_void) -> c_int = mem::transmute(next);
                let result = next(resource, limits);
                if resource == libc::RLIMIT_AS && result == 0 {
                    show(limits.cast());
                }
                result
            }
        }

        /// Of the program.
        ///
        /// # Safety
        /// As its manual says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $both(pid: c_int, resource: c_uint, new: *const c_void, old: *mut c_void) -> c_int {
            // SAFETY: the next of that name, with the program's arguments; it has written there.
            unsafe {
                let next = sys::next(&NEXT_PRLIMIT, c"prlimit");
                let next: unsafe extern "C" fn(c_int, c_uint, *const c_void, *mut c_void) -> c_int =
                    mem::transmute(next);
                if resource != libc::RLIMIT_AS || (pid != 0 && pid != sys::getpid() as c_int) {
                    return next(pid, resource, new, old);
                }
                if !old.is_null() {
                    let result = next(pid, resource, core::ptr::null(), old);
                    if result != 0 {
                        return result;
                    }
                    show(old.cast());
                }
                if new.is_null() || set(new.cast()) { 0 } else { next(pid, resource, new, core::ptr::null_mut()) }
            }
        }
    };
}

interpose!(setrlimit, getrlimit, prlimit);
interpose!(setrlimit64, getrlimit64, prlimit64);
