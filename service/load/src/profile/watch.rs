//! Reads the server's recording while load goes on: at both ends of a step, and a few times in between.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use super::recording::{Reading, Recording};
use crate::Error;
use crate::pace::Pace;
use crate::run::{Observer, Step};

/// A step is cut into so many slices, for tests.
pub const SLICES: usize = 12;

/// After the last answer, a server is still on its way out of the functions that made it.
const REST: Duration = Duration::from_millis(20);

/// What a server recorded in a step.
pub struct Seen {
    /// Requests that it has had.
    pub requests: u64,
    /// At both ends, when nothing was on its way.
    pub ends: [Arc<Reading>; 2],
    /// What lies between each reading and the next: both, and how many requests were done meanwhile.
    pub slices: Vec<Slice>,
}

/// What lies between two readings.
pub struct Slice {
    /// Requests that were done.
    pub requests: u64,
    /// The readings.
    pub ends: [Arc<Reading>; 2],
}

/// Reads, and hands everything on to whoever looks on, too.
pub struct Watch<'a> {
    recording: Recording,
    inner: &'a mut dyn Observer,
    /// The first reading of this step, and the latest, with the requests that were done.
    first: Option<Arc<Reading>>,
    latest: Option<(Arc<Reading>, u64)>,
    slices: Vec<Slice>,
    /// Of the steps that are over.
    pub seen: Vec<Seen>,
}

impl<'a> Watch<'a> {
    /// Of a recording.
    pub fn new(recording: Recording, inner: &'a mut dyn Observer) -> Self {
        Self { recording, inner, first: None, latest: None, slices: Vec::new(), seen: Vec::new() }
    }

    fn read(&mut self) -> Result<Arc<Reading>, Error> {
        Ok(Arc::new(self.recording.read()?))
    }
}

impl Observer for Watch<'_> {
    fn begin(&mut self, number: usize, pace: Pace) -> Result<(), Error> {
        self.inner.begin(number, pace)?;
        sleep(REST);
        self.first = Some(self.read()?);
        self.latest = None;
        self.slices = Vec::new();
        Ok(())
    }

    fn look(&mut self, done: u64, part: f64) -> Result<(), Error> {
        self.inner.look(done, part)?;
        match self.latest.take() {
            // The first slice begins where requests are counted from.
            None => self.latest = self.first.clone().map(|first| (first, done)),
            Some((from, before)) => {
                let is_due = part >= (self.slices.len() + 1) as f64 / SLICES as f64;
                if is_due && done > before {
                    let to = self.read()?;
                    self.slices.push(Slice { requests: done - before, ends: [from, to.clone()] });
                    self.latest = Some((to, done));
                } else {
                    self.latest = Some((from, before));
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, step: &Step) -> Result<(), Error> {
        sleep(REST);
        let last = self.read()?;
        let tally = &step.tally;
        let unseen = tally.failures.iter().filter(|(failure, _)| failure.is_unseen());
        let requests = tally.sent.saturating_sub(unseen.map(|(_, count)| count).sum());
        let first = self.first.take().unwrap_or_else(|| last.clone());
        let slices = std::mem::take(&mut self.slices);
        self.seen.push(Seen { requests, ends: [first, last], slices });
        self.inner.end(step)
    }
}
