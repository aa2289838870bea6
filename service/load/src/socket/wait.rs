//! Waiting for sockets or a moment, to the microsecond.

use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::time::Duration;

use mio::{Events, Poll};

/// What comes sooner is waited for awake: the kernel would wake us later than that.
const AWAKE: Duration = Duration::from_micros(20);

/// A thread that asks for no more than this at a time, in nanoseconds, need not wait for others to use up theirs.
const SLICE_NS: u64 = 100_000;

/// Has the kernel wake this thread when it is told to, not up to 50 µs later; and, where it can (since 6.12), let it run then, also
/// if others keep the processors busy.
pub fn be_punctual() {
    // SAFETY: it takes a number, and touches nothing of ours.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_000 as libc::c_ulong) };
    // SAFETY: the same.
    if unsafe { libc::sched_getscheduler(0) } != libc::SCHED_OTHER {
        return; // somebody has chosen how this is to run
    }
    // SAFETY: the same.
    let nice = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
    // `struct sched_attr` in its first version: size and policy, flags, nice value and priority, slice, deadline, period.
    let attributes: [u64; 6] = [48, 0, u64::from(nice.cast_unsigned()), SLICE_NS, 0, 0];
    // SAFETY: of this thread (0), from words that are as many as the first says. Where it fails, all is as it was.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, attributes.as_ptr(), 0) };
}

/// Waits for events, at most so long; not `exactly` is up to a millisecond longer, and saves a system call.
pub fn wait(poll: &mut Poll, events: &mut Events, most: Duration, exactly: bool) -> io::Result<()> {
    let most = if exactly && most < AWAKE { Duration::ZERO } else { most };
    // Mio's own wait is told milliseconds.
    if exactly && !most.is_zero() {
        let mut set = libc::pollfd { fd: poll.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let time = libc::timespec {
            tv_sec: most.as_secs() as libc::time_t,
            tv_nsec: libc::c_long::from(most.subsec_nanos() as i32),
        };
        // SAFETY: one descriptor, which is open as long as `poll`, and a time, both valid for the call.
        if unsafe { libc::ppoll(&mut set, 1, &time, ptr::null()) } == 0 {
            events.clear(); // it is time, and nothing has happened
            return Ok(());
        }
        return poll.poll(events, Some(Duration::ZERO)).or_else(interrupted);
    }
    poll.poll(events, Some(most)).or_else(interrupted)
}

fn interrupted(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) }
}
