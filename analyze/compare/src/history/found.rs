//! A change that stayed.

use serde::Serialize;

use super::steps::Step;

/// A change of a measure that stayed.
#[derive(Clone, Debug, Serialize)]
pub struct Found<M> {
    /// What changed.
    pub measure: M,
    /// The place in `points` of the first after it.
    pub point: usize,
    /// The median of up to 11 recordings, profiles or slices, before.
    pub before: f64,
    /// And after.
    pub after: f64,
    /// From before to after, as a part of before; null in JSON if that was nothing.
    pub change: f64,
    /// How far apart two are that follow each other, but for 5% of them: as a part of the larger.
    pub usual: f64,
    /// How likely chance alone does this, with all places and functions that were looked at.
    pub p: f64,
    /// The change in those that were made side by side, as a part of the larger; null where there are too few.
    pub side_by_side: Option<f64>,
}

impl<M> Found<M> {
    /// A step, at a point.
    pub fn of(measure: M, step: &Step, point: usize) -> Self {
        Self {
            measure,
            point,
            before: step.before,
            after: step.after,
            change: step.change(),
            usual: step.usual,
            p: step.p,
            side_by_side: step.side_by_side,
        }
    }

    /// In a few words; `what` is what changed.
    pub fn told(&self, what: &str) -> String {
        let (arrow, sign) = if self.after > self.before { ("▲", "+") } else { ("▼", "−") };
        let change =
            if self.change.is_finite() { format!("{:.0}%", 100.0 * self.change.abs()) } else { "new".to_owned() };
        format!("{arrow} {what} {sign}{change} (p {:.1e})", self.p)
    }
}
