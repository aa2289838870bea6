//! Where frames come from: a profile's file that is read again and again, or whoever else has counts of a while.

use diytrace_profile::load::reader::{Reader, Reading};
use diytrace_profile::merge::By;

use super::build::Builder;
use super::frame::Frame;
use crate::ctl::Error;

/// Where frames come from.
pub trait Feed {
    /// Looks what there is now. Whether it is another than before.
    fn read(&mut self) -> Result<bool, Error>;

    /// What is there now; `None`: that cannot be told before it was looked again.
    fn frame(&mut self, by: By) -> Option<Frame>;

    /// From now on rates are since now.
    fn rebase(&mut self) -> Result<(), Error>;

    /// From now on rates are of intervals.
    fn intervals(&mut self);

    /// Whether there is no more to come.
    fn has_ended(&self) -> bool;
}

/// A profile of a program that is running.
pub struct Watching {
    reader: Reader,
    builder: Builder,
    /// Where rates begin, if somebody has chosen that.
    baseline: Option<Reading>,
    /// The last but one, and the last.
    readings: [Option<Reading>; 2],
}

impl Watching {
    /// What this reader reads.
    pub fn new(reader: Reader) -> Self {
        Self { reader, builder: Builder::default(), baseline: None, readings: [None, None] }
    }
}

impl Feed for Watching {
    fn read(&mut self) -> Result<bool, Error> {
        let later = self.reader.read()?;
        self.readings[0] = self.readings[1].replace(later);
        Ok(true)
    }

    fn frame(&mut self, by: By) -> Option<Frame> {
        let [before, latest] = &self.readings;
        let latest = latest.as_ref()?;
        let baseline = self.baseline.as_ref().filter(|baseline| baseline.at_ns < latest.at_ns);
        Some(self.builder.frame(baseline.or(before.as_ref())?, latest, by))
    }

    fn rebase(&mut self) -> Result<(), Error> {
        self.baseline = Some(self.reader.read()?);
        Ok(())
    }

    fn intervals(&mut self) {
        self.baseline = None;
    }

    fn has_ended(&self) -> bool {
        let [_, latest] = &self.readings;
        !latest.as_ref().is_some_and(|latest| is_running(&latest.family)) && !self.reader.is_mapped()
    }
}

fn is_running(family: &diytrace_profile::load::Family) -> bool {
    family.arenas.iter().any(|arena| arena.state == diytrace_profile::process::State::Running)
}
