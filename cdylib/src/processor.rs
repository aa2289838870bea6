//! How long threads had a processor, as the kernel's clocks of them tell.

use crate::{clock, sys};

/// How long the calling thread has had a processor, in nanoseconds. 0 if that cannot be asked.
pub fn own_ns() -> u64 {
    sys::read_clock(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
}

/// What the kernel has counted of a thread until now.
#[derive(Clone, Copy, Default)]
pub struct OnProcessor {
    /// `CLOCK_MONOTONIC_RAW`, which runs as fast as the clock of processor time.
    ns: u64,
    /// What it has had a processor for.
    cpu_ns: u64,
    /// Which task that is.
    pub tid: u32,
}

impl OnProcessor {
    /// Of the calling thread.
    pub fn now() -> sys::Result<Self> {
        let tid = sys::gettid();
        let cpu_ns = sys::read_clock(libc::CLOCK_THREAD_CPUTIME_ID)?;
        Ok(Self { ns: clock::read(libc::CLOCK_MONOTONIC_RAW), cpu_ns, tid })
    }

    /// How long it was off the processor, from a beginning that is always the same.
    pub fn away_ns(&self) -> u64 {
        self.ns.saturating_sub(self.cpu_ns)
    }
}

/// The same of another thread of the process.
pub fn away_ns_of(tid: u32) -> sys::Result<u64> {
    const PER_THREAD_SCHEDULED: i32 = 6; // as <linux/posix-timers.h> has it: CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED
    let cpu_ns = sys::read_clock(!(tid as i32) << 3 | PER_THREAD_SCHEDULED)?;
    Ok(clock::read(libc::CLOCK_MONOTONIC_RAW).saturating_sub(cpu_ns))
}

/// How long the calling thread was ready to run and others had the processor, since it began, in nanoseconds. `None` if that is not known.
pub fn own_delay_ns() -> Option<u64> {
    let mut text = [0; 96];
    // Time on the processor, that, and how many times it got one.
    let text = sys::read_file(c"/proc/thread-self/schedstat", &mut text).ok()?;
    str::from_utf8(text).ok()?.split(' ').nth(1)?.parse().ok()
}

/// When a forked child began: the calls that were open at the fork go on from then.
#[derive(Clone, Copy)]
pub struct Beginning {
    /// Which task it is; 0 = none.
    pub tid: u32,
    /// When, in ticks.
    pub ticks: u64,
    /// How often the counters had been reset by then.
    pub epoch: u32,
    /// What the kernel had counted of it; of no task if that is not known.
    pub on_processor: OnProcessor,
}

/// Time off the processor, in nanoseconds.
#[derive(Clone, Copy, Default)]
pub struct Off {
    pub wait: u64,
    pub preempted: u64,
}

impl Off {
    /// In all.
    pub fn sum(self) -> u64 {
        self.wait + self.preempted
    }

    /// Both, and as much again.
    pub fn plus(self, other: Self) -> Self {
        Self { wait: self.wait.wrapping_add(other.wait), preempted: self.preempted.wrapping_add(other.preempted) }
    }

    /// What has come since an earlier sum; nothing where a clock went back.
    pub fn since(self, before: Self) -> Self {
        let since = |now: u64, before: u64| (now.wrapping_sub(before) as i64).max(0) as u64;
        Self { wait: since(self.wait, before.wait), preempted: since(self.preempted, before.preempted) }
    }
}
