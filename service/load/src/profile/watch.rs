//! Reads the server's recording while load goes on: at both ends of a step, and a few times in between.

use std::sync::Arc;
use std::thread::sleep;

use super::recording::{Between, Reading, Recording};
use super::seen::{Part, REST, SLICES, Seen};
use crate::Error;
use crate::fleet::Going;
use crate::pace::Pace;
use crate::run::{Observer, Step};

/// Reads, and hands everything on to whoever looks on, too.
pub struct Watch<'a> {
    recording: Recording,
    inner: &'a mut dyn Observer,
    /// The first reading of this step, and the latest, with the requests that were done.
    first: Option<Arc<Reading>>,
    latest: Option<(Arc<Reading>, u64)>,
    slices: Vec<Part>,
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

    fn look(&mut self, going: Going<'_>) -> Result<(), Error> {
        self.inner.look(going)?;
        let Going { done, part, .. } = going;
        match self.latest.take() {
            // The first slice begins where requests are counted from.
            None => self.latest = self.first.clone().map(|first| (first, done)),
            Some((from, before)) => {
                let is_due = part >= (self.slices.len() + 1) as f64 / SLICES as f64;
                if is_due && done > before {
                    let to = self.read()?;
                    let counted = Box::new(Between([from, to.clone()]));
                    self.slices.push(Part { requests: done - before, counted });
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
        let first = self.first.take().unwrap_or_else(|| last.clone());
        let slices = std::mem::take(&mut self.slices);
        let counted = Box::new(Between([first, last]));
        self.seen.push(Seen { whole: Part { requests: step.tally.reached(), counted }, slices });
        self.inner.end(step)
    }
}
