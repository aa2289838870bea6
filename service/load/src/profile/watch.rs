//! Reads the server's recording while load goes on: at both ends of a step, and a few times in between.

use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::recording::{Between, Reading, Recording};
use super::seen::{MOMENT, MOMENTS, Moment, Part, REST, SLICES, Seen};
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
    /// Ends of this step's moments.
    moments: Vec<Cut>,
    /// How long a moment is.
    moment: Duration,
    /// Of the steps that are over.
    pub seen: Vec<Seen>,
}

/// The end of a moment, and what there was then.
struct Cut {
    /// Which part of the step was over.
    part: f64,
    done: u64,
    at: Instant,
    reading: Arc<Reading>,
}

impl<'a> Watch<'a> {
    /// Of a recording.
    pub fn new(recording: Recording, inner: &'a mut dyn Observer) -> Self {
        Self {
            recording,
            inner,
            first: None,
            latest: None,
            slices: Vec::new(),
            moments: Vec::new(),
            moment: MOMENT,
            seen: Vec::new(),
        }
    }

    /// Ends a moment.
    fn cut(&mut self, part: f64, done: u64, reading: Arc<Reading>) {
        self.moments.push(Cut { part, done, at: Instant::now(), reading });
        if self.moments.len() > MOMENTS {
            self.moment *= 2;
            let mut number = 0;
            self.moments.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
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
        (self.moments, self.moment) = (Vec::new(), MOMENT);
        Ok(())
    }

    fn look(&mut self, going: Going<'_>) -> Result<(), Error> {
        self.inner.look(going)?;
        let Going { done, part, .. } = going;
        match self.latest.take() {
            // The first slice begins where requests are counted from.
            None => {
                self.latest = self.first.clone().map(|first| (first, done));
                if let Some(first) = self.first.clone() {
                    self.cut(part, done, first);
                }
            }
            Some((from, before)) => {
                let is_slice = part >= (self.slices.len() + 1) as f64 / SLICES as f64 && done > before;
                let is_moment = self.moments.last().is_some_and(|last| last.at.elapsed() >= self.moment);
                let read = (is_slice || is_moment).then(|| self.read()).transpose()?;
                if let Some(reading) = read.clone().filter(|_| is_moment) {
                    self.cut(part, done, reading);
                }
                if let Some(to) = read.filter(|_| is_slice) {
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
        let ns = |part: f64| (part * step.elapsed.as_nanos() as f64) as u64;
        let moment = |(from, to): (&Cut, &Cut)| Moment {
            from_ns: ns(from.part),
            to_ns: ns(to.part),
            part: Part {
                requests: to.done - from.done,
                counted: Box::new(Between([from.reading.clone(), to.reading.clone()])),
            },
        };
        let moments = self.moments.iter().zip(self.moments.iter().skip(1)).map(moment).collect();
        self.moments = Vec::new();
        let counted = Box::new(Between([first, last]));
        self.seen.push(Seen { whole: Part { requests: step.tally.reached(), counted }, slices, moments });
        self.inner.end(step)
    }
}
