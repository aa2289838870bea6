//! The recorder's clock: what a tick is.

use diytrace::Header;
use diytrace::header::{Anchor, clock};

/// Anchors nearer to each other than this say less of the rate than the estimate made at load.
const LEAST_INTERVAL_NS: u64 = 1_000_000_000;

/// A rate outside of this is a damaged file's.
const SANE_HZ: std::ops::RangeInclusive<f64> = 1e6..=1e11;

/// Where ticks come from and how many make a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// The clock.
    pub source: Source,
    /// Ticks per second.
    pub hz: f64,
    /// A moment on it and on `CLOCK_MONOTONIC`.
    pub anchor: Anchor,
}

/// Clocks that recorders have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The processor's invariant time stamp counter.
    Tsc,
    /// `clock_gettime`.
    ClockGettime,
}

impl Clock {
    /// The clock of a profile, or `None` if its rate cannot be.
    pub fn of(header: &Header) -> Option<Self> {
        if header.clock == clock::CLOCK_GETTIME {
            return Some(Self { source: Source::ClockGettime, hz: 1e9, anchor: Anchor::default() });
        }
        let (first, last) = (header.first_anchor, header.last_anchor);
        let anchor = if last.ticks > first.ticks { last } else { first };
        let elapsed_ns = last.monotonic_ns.saturating_sub(first.monotonic_ns);
        let measured = last.ticks.saturating_sub(first.ticks) as f64 / elapsed_ns as f64 * 1e9;
        let estimated = header.ticks_per_second as f64;
        let hz = if elapsed_ns >= LEAST_INTERVAL_NS && SANE_HZ.contains(&measured) { measured } else { estimated };
        SANE_HZ.contains(&hz).then_some(Self { source: Source::Tsc, hz, anchor })
    }

    /// A moment of `CLOCK_MONOTONIC` after the anchor, in ticks.
    pub fn ticks_at(&self, monotonic_ns: u64) -> u64 {
        let since = monotonic_ns.saturating_sub(self.anchor.monotonic_ns) as f64 / self.ns_per_tick();
        self.anchor.ticks.saturating_add(since as u64)
    }

    /// Nanoseconds in a tick.
    pub fn ns_per_tick(&self) -> f64 {
        1e9 / self.hz
    }
}
