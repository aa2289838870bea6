//! When functions ran, added up.

use super::Function;
use crate::time::Time;
use crate::timeline::{Timeline, Timelines};

/// When a function ran, with what its outermost calls took.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    timelines: Timelines,
    measured: Time,
    corrected: Time,
}

impl Ran {
    /// Adds a function.
    pub fn add(&mut self, function: &Function) {
        let Function { timelines, raw, corrected, .. } = function;
        self.merge(&Self { timelines: timelines.clone(), measured: raw.total, corrected: corrected.total });
    }

    /// Adds what another one has.
    pub fn merge(&mut self, other: &Self) {
        self.timelines.merge(&other.timelines);
        self.measured += other.measured;
        self.corrected += other.corrected;
    }

    /// One timeline of all, with times as measured or corrected like their sum. `None` if there was nothing to show.
    pub fn finish(&self, is_raw: bool) -> Option<Timeline> {
        self.timelines.finish_as(self.measured, if is_raw { self.measured } else { self.corrected })
    }
}
