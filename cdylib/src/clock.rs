//! The clock: the time stamp counter where it runs at one rate, else `clock_gettime`.

use crate::{arch, sys};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use profile::header::{Anchor, clock};

/// Set when the process may not read any clock: nothing more is recorded.
pub static STOPPED: AtomicBool = AtomicBool::new(false);

/// How the hooks tell the time. A type, so that each clock has hooks of its own and none asks which it is.
pub trait Clock {
    /// Now, in ticks.
    fn now() -> u64;
}

/// The time stamp counter.
pub struct Tsc;

impl Clock for Tsc {
    #[inline(always)]
    fn now() -> u64 {
        arch::ticks()
    }
}

/// `CLOCK_MONOTONIC`, in nanoseconds.
pub struct Gettime;

impl Clock for Gettime {
    fn now() -> u64 {
        read(libc::CLOCK_MONOTONIC)
    }
}

/// libc's `clock_gettime`; 0 until the library is loaded.
static LIBCS: AtomicUsize = AtomicUsize::new(0);

/// Finds libc's function. The program may have one of that name, which may be instrumented, or tell another time.
pub fn find_libcs() {
    // SAFETY: as the manual says.
    LIBCS.store(
        unsafe { libc::dlsym(libc::RTLD_NEXT, c"clock_gettime".as_ptr()) }.expose_provenance(),
        Ordering::Relaxed,
    );
}

/// A clock of the kernel's, in nanoseconds. libc asks the vDSO; neither sets `errno` for these clocks.
pub fn read(clock: libc::clockid_t) -> u64 {
    type Read = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> i32;
    let libcs = LIBCS.load(Ordering::Relaxed);
    if libcs == 0 {
        return sys::read_clock(clock).unwrap_or(0);
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: libc's function of that type; the structure is ours.
    unsafe { core::mem::transmute::<usize, Read>(libcs)(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Which clock this machine allows. The kernel does not use a time stamp counter that it has found to be wrong.
pub fn choose() -> u32 {
    if !arch::has_invariant_ticks() {
        return clock::CLOCK_GETTIME;
    }
    let mut buffer = [0; 64];
    let source = c"/sys/devices/system/clocksource/clocksource0/current_clocksource";
    match sys::read_file(source, &mut buffer) {
        Ok(name) if name.starts_with(b"hpet") || name.starts_with(b"acpi_pm") || name.starts_with(b"jiffies") => {
            clock::CLOCK_GETTIME
        }
        _ => clock::TSC,
    }
}

/// Now, by the clock of this number.
pub fn now(which: u32) -> u64 {
    if which == clock::TSC { Tsc::now() } else { Gettime::now() }
}

/// One moment on both clocks: of several tries the one with the least time between the readings.
pub fn anchor(which: u32) -> Anchor {
    let mut best = Anchor::default();
    let mut narrowest = u64::MAX;
    for _ in 0..8 {
        let before = now(which);
        let monotonic_ns = read(libc::CLOCK_MONOTONIC);
        let width = now(which).wrapping_sub(before);
        if width < narrowest {
            narrowest = width;
            best = Anchor { ticks: before + width / 2, monotonic_ns };
        }
    }
    best
}

/// Ticks per second, from two anchors.
pub fn rate(first: Anchor, last: Anchor) -> u64 {
    let ns = last.monotonic_ns.saturating_sub(first.monotonic_ns).max(1);
    let ticks = last.ticks.saturating_sub(first.ticks);
    (ticks as u128 * 1_000_000_000 / ns as u128) as u64
}
