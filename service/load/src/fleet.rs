//! Who makes the load of a run: threads of this process, or workers on other machines.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::pace::Pace;
use crate::phase::Shared;
use crate::tally::Tally;

/// Load at one pace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stretch {
    /// How it is paced.
    pub pace: Pace,
    /// How long it takes.
    pub duration: Duration,
    /// Random numbers come of this.
    pub seed: u64,
}

/// What a stretch has come to.
#[derive(Clone, Debug)]
pub struct Driven {
    /// What was sent, and what became of it.
    pub tally: Tally,
    /// How long it took, without what was waited for at its end.
    pub elapsed: Duration,
    /// What each worker had of it, if there were any.
    pub shares: Vec<Share>,
}

impl Driven {
    /// Of no load at all.
    pub fn nothing() -> Self {
        Self { tally: Tally::new(0), elapsed: Duration::ZERO, shares: Vec::new() }
    }
}

/// What a worker had of a stretch. What it sent, but its answers, is told by `counts` alone; latencies are in the sum of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Share {
    /// Which worker: host and process.
    pub worker: String,
    /// Its threads.
    pub threads: u64,
    /// Its connections.
    pub connections: u64,
    /// What became of its requests.
    pub counts: Counts,
    /// How far its clock may be from the service's, in nanoseconds.
    pub clock_error_ns: u64,
    /// Whether it was lost before it had told all, and what is not known of it then.
    pub lost: Option<Lost>,
}

/// Numbers of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Requests whose time had come.
    pub planned: u64,
    /// Those that were sent.
    pub sent: u64,
    /// Those that were answered well.
    pub answered: u64,
    /// Those that failed.
    pub errors: u64,
    /// Those that were sent, and whose end nobody knows.
    pub cut_off: u64,
    /// Those that were not sent.
    pub not_sent: u64,
}

impl From<&Tally> for Counts {
    fn from(tally: &Tally) -> Self {
        Self {
            planned: tally.planned,
            sent: tally.sent,
            answered: tally.answered,
            errors: tally.errors(),
            cut_off: tally.cut_off,
            not_sent: tally.all_not_sent(),
        }
    }
}

/// A worker that was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Up to when it has told what it sent, in nanoseconds since the stretch began.
    pub told_ns: u64,
    /// When it was known to be gone.
    pub known_ns: u64,
    /// Requests that count as not sent, and that it may have sent in between: at most so many. Not known where nothing is planned.
    pub most_unknown: Option<u64>,
}

/// How a stretch goes, at a moment of it.
#[derive(Clone, Copy, Debug)]
pub struct Going<'a> {
    /// How many requests were done in the run.
    pub done: u64,
    /// Which part of the stretch is over.
    pub part: f64,
    /// What it has come to so far: now and then, where somebody wants to know.
    pub so_far: Option<&'a Driven>,
}

/// Who makes load.
pub trait Fleet {
    /// Makes load at one pace; `look` is told again and again how it goes.
    fn drive(
        &mut self,
        stretch: &Stretch,
        shared: &Shared,
        look: &mut dyn FnMut(Going<'_>) -> Result<(), Error>,
    ) -> Result<Driven, Error>;
}
