//! A stretch of load at one pace, and who drives it.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use crate::pace::Pace;
use crate::tally::Tally;

/// A stretch of load at one pace.
#[derive(Clone, Copy, Debug)]
pub struct Phase {
    /// How it is paced.
    pub pace: Pace,
    /// When it begins, in nanoseconds of the run's clock.
    pub begins_ns: u64,
    /// When it ends: what is planned later is not of it.
    pub ends_ns: u64,
    /// How many threads share it, on all machines.
    pub threads: u64,
    /// Random numbers come of this.
    pub seed: u64,
}

/// What all threads of a run share.
#[derive(Debug)]
pub struct Shared {
    /// When the run's clock began.
    pub began: Instant,
    /// Somebody wants it to end.
    pub is_over: AtomicBool,
    /// Requests that were answered, well or not, so far.
    pub done: AtomicU64,
    /// Who is told what a phase has come to while it goes on, if anybody is.
    pub parts: Option<Sender<Part>>,
}

/// What a thread has counted since it told the last.
#[derive(Debug)]
pub struct Part {
    /// Which thread.
    pub thread: u64,
    /// Up to when, in nanoseconds of the run's clock: what was planned later is in none.
    pub until_ns: u64,
    /// What.
    pub tally: Tally,
}

/// Threads tell what they have counted so often.
pub const EVERY: Duration = Duration::from_millis(250);

impl Shared {
    /// Of a run that begins now.
    pub fn new() -> Self {
        Self { began: Instant::now(), is_over: AtomicBool::new(false), done: AtomicU64::new(0), parts: None }
    }

    /// The same, whose threads tell what they count while they do.
    pub fn telling(parts: Sender<Part>) -> Self {
        Self { parts: Some(parts), ..Self::new() }
    }

    /// Nanoseconds since the beginning.
    pub fn now_ns(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self::new()
    }
}

/// How patient a run is.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// An answer that takes longer, from send, is none.
    pub timeout: Duration,
    /// A request that waits longer for a connection is not sent.
    pub for_connection: Duration,
}

/// After somebody wants a run to end, what is on its way has so long.
pub const GRACE: Duration = Duration::from_millis(500);

/// What drives load.
pub trait Driver: Send {
    /// Drives thread `thread`'s part of a phase, and waits for what it has sent.
    fn drive(&mut self, phase: &Phase, thread: u64, shared: &Shared) -> Tally;
}

impl<D: Driver + ?Sized> Driver for Box<D> {
    fn drive(&mut self, phase: &Phase, thread: u64, shared: &Shared) -> Tally {
        (**self).drive(phase, thread, shared)
    }
}
