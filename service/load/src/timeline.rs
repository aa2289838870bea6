//! When requests were slow: slices of time on an axis that adapts.
//!
//! A slice is a power of two nanoseconds wide, and when there would be more than a hundred, each two become one. So a run of a
//! second and one of a day take the same room, and those of several threads add up exactly.

use serde::{Deserialize, Serialize};

use crate::histogram::{Histogram, MOST_REQUESTS};

/// Most slices.
pub const MOST: usize = 100;

/// The first width, as a power of two nanoseconds: a millisecond.
const FIRST: u32 = 20;

/// Requests by when they were planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Arrived")]
pub struct Timeline {
    /// A slice is two to the power of this nanoseconds wide.
    width: u32,
    slices: Vec<Slice>,
}

/// What was planned in a slice of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// Requests that failed.
    pub errors: u64,
    /// Requests that were not sent.
    pub not_sent: u64,
    /// How long the others took, from plan.
    pub latency: Histogram,
}

impl Default for Slice {
    fn default() -> Self {
        Self { errors: 0, not_sent: 0, latency: Histogram::coarse() }
    }
}

impl Slice {
    fn merge(&mut self, other: &Self) {
        self.errors += other.errors;
        self.not_sent += other.not_sent;
        self.latency.merge(&other.latency);
    }
}

impl Default for Timeline {
    fn default() -> Self {
        Self { width: FIRST, slices: Vec::new() }
    }
}

impl Timeline {
    /// The slice of a moment, in nanoseconds since the beginning.
    pub fn at(&mut self, ns: u64) -> &mut Slice {
        while ns >> self.width >= MOST as u64 {
            self.halve();
        }
        let slice = (ns >> self.width) as usize;
        if slice >= self.slices.len() {
            self.slices.resize_with(slice + 1, Slice::default);
        }
        &mut self.slices[slice]
    }

    /// Adds what another has, of the same beginning.
    pub fn merge(&mut self, mut other: Self) {
        while self.width < other.width {
            self.halve();
        }
        while other.width < self.width {
            other.halve();
        }
        if other.slices.len() > self.slices.len() {
            self.slices.resize_with(other.slices.len(), Slice::default);
        }
        self.slices.iter_mut().zip(&other.slices).for_each(|(slice, other)| slice.merge(other));
    }

    /// How wide a slice is, in nanoseconds.
    pub fn slice_ns(&self) -> u64 {
        1 << self.width
    }

    /// From the beginning on.
    pub fn slices(&self) -> &[Slice] {
        &self.slices
    }

    fn halve(&mut self) {
        self.width += 1;
        let pair = |pair: &[Slice]| {
            let mut sum = pair[0].clone();
            pair[1..].iter().for_each(|other| sum.merge(other));
            sum
        };
        self.slices = self.slices.chunks(2).map(pair).collect();
    }
}

/// One that comes from another machine.
#[derive(Deserialize)]
struct Arrived {
    width: u32,
    slices: Vec<Slice>,
}

impl TryFrom<Arrived> for Timeline {
    type Error = &'static str;

    /// Anybody may have written it.
    fn try_from(Arrived { width, slices }: Arrived) -> Result<Self, Self::Error> {
        let is_kind = |slice: &Slice| slice.latency.is_coarse() && slice.errors.max(slice.not_sent) < MOST_REQUESTS;
        match (FIRST..64).contains(&width) && slices.len() <= MOST && slices.iter().all(is_kind) {
            true => Ok(Self { width, slices }),
            false => Err("a timeline is none of ours"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(moments: impl Iterator<Item = u64>) -> Timeline {
        let mut timeline = Timeline::default();
        moments.for_each(|ns| timeline.at(ns).latency.add(ns % 977));
        timeline
    }

    #[test]
    fn a_run_of_any_length_has_at_most_a_hundred_slices() {
        for (seconds, expected) in [(0.05, 1 << 20), (1.0, 1 << 24), (3600.0, 1 << 36)] {
            let end = (seconds * 1e9) as u64;
            let timeline = of((0..10_000).map(|step| end / 10_000 * step));
            assert_eq!(timeline.slice_ns(), expected);
            assert!((MOST / 2 - 10..=MOST).contains(&timeline.slices().len()), "{}", timeline.slices().len());
            assert_eq!(timeline.slices().iter().map(|slice| slice.latency.count()).sum::<u64>(), 10_000);
        }
    }

    #[test]
    fn what_comes_from_another_machine_is_looked_at() {
        let timeline = of((0..3000).map(|step| step * step * 1009));
        let text = serde_json::to_string(&timeline).unwrap();
        assert_eq!(serde_json::from_str::<Timeline>(&text).unwrap(), timeline);
        let fine = serde_json::to_string(&Histogram::fine()).unwrap();
        let slice = format!(r#"{{"errors": 0, "not_sent": 0, "latency": {fine}}}"#);
        for wrong in [r#"{"width": 64, "slices": []}"#.to_owned(), format!(r#"{{"width": 20, "slices": [{slice}]}}"#)] {
            assert!(serde_json::from_str::<Timeline>(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn in_whatever_order_and_parts_it_is_the_same() {
        let moments: Vec<u64> = (0..3000).map(|step| step * step * 1009).collect();
        let all = of(moments.iter().copied());
        assert_eq!(of(moments.iter().rev().copied()), all);
        let mut sum = of(moments[..1000].iter().copied());
        sum.merge(of(moments[1000..].iter().copied()));
        assert_eq!(sum, all);
    }
}
