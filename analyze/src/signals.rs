//! Signals taken one by one: no handler interrupts anything, and a signal says who sent it.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::time::{Duration, Instant};

use libc::c_int;

/// The signals to take, and how all was before.
#[derive(Clone, Copy)]
pub struct Signals {
    taken: libc::sigset_t,
    mask_before: libc::sigset_t,
    children_before: libc::sighandler_t,
}

impl Signals {
    /// From here on, these and `SIGCHLD` do nothing but wait to be taken.
    pub fn block(signals: &[c_int]) -> Self {
        let (mut taken, mut mask_before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: the sets are filled in by the first calls to see them, and all numbers are signals.
        unsafe {
            libc::sigemptyset(taken.as_mut_ptr());
            for signal in signals.iter().copied().chain([libc::SIGCHLD]) {
                libc::sigaddset(taken.as_mut_ptr(), signal);
            }
            libc::sigprocmask(libc::SIG_BLOCK, taken.as_ptr(), mask_before.as_mut_ptr());
            Self {
                taken: taken.assume_init(),
                mask_before: mask_before.assume_init(),
                // Whoever starts us with SIGCHLD ignored would have us never see a child's exit status.
                children_before: libc::signal(libc::SIGCHLD, libc::SIG_DFL),
            }
        }
    }

    /// Everything is as it was; also in a child, between fork and exec.
    pub fn restore(&self) -> io::Result<()> {
        // SAFETY: both calls may be made between fork and exec, with what they once gave.
        unsafe {
            libc::signal(libc::SIGCHLD, self.children_before);
            libc::sigprocmask(libc::SIG_SETMASK, &self.mask_before, ptr::null_mut());
        }
        Ok(())
    }

    /// The next signal.
    pub fn wait(&self) -> libc::siginfo_t {
        loop {
            if let Some(signal) = self.wait_until(None) {
                return signal;
            }
        }
    }

    /// The next signal, if it comes by that time; without a time, in any case.
    pub fn wait_until(&self, time: Option<Instant>) -> Option<libc::siginfo_t> {
        let mut signal = MaybeUninit::uninit();
        loop {
            let left = time.map(|time| timespec(time.saturating_duration_since(Instant::now())));
            let limit = left.as_ref().map_or(ptr::null(), ptr::from_ref);
            // SAFETY: the set and the time are valid or null, and the signal is read only after it was filled in.
            unsafe {
                if libc::sigtimedwait(&self.taken, signal.as_mut_ptr(), limit) > 0 {
                    return Some(signal.assume_init());
                }
            }
            if io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN) {
                return None;
            }
        }
    }
}

fn timespec(duration: Duration) -> libc::timespec {
    libc::timespec { tv_sec: duration.as_secs() as libc::time_t, tv_nsec: duration.subsec_nanos().into() }
}
