//! The recorder's clock: what a tick is.

use diytrace_format::Header;
use diytrace_format::header::{Anchor, clock};
use serde::{Deserialize, Serialize};

use super::doubt::Doubt;

/// Anchors nearer to each other than this say less of the rate than the estimate made at load.
const LEAST_INTERVAL_NS: u64 = 1_000_000_000;

/// The estimate made at load, in a millisecond, is nearer than this to the rate of a clock that runs at one rate.
const MOST_DRIFT: f64 = 0.02;

/// A rate outside of this is a damaged file's.
const SANE_HZ: std::ops::RangeInclusive<f64> = 1e6..=1e11;

/// Where ticks come from and how many make a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// The clock.
    pub source: Source,
    /// Ticks per second.
    pub hz: f64,
    /// A moment on it and on `CLOCK_MONOTONIC`: where it was read only.
    #[serde(skip)]
    pub anchor: Anchor,
}

/// Clocks that recorders have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
        let (first, last) = (header.first_anchor, header.last_anchor());
        let anchor = if last.ticks > first.ticks { last } else { first };
        let elapsed_ns = last.monotonic_ns.saturating_sub(first.monotonic_ns);
        let measured = last.ticks.saturating_sub(first.ticks) as f64 / elapsed_ns as f64 * 1e9;
        let estimated = header.ticks_per_second as f64;
        let hz = if elapsed_ns >= LEAST_INTERVAL_NS && SANE_HZ.contains(&measured) { measured } else { estimated };
        SANE_HZ.contains(&hz).then_some(Self { source: Source::Tsc, hz, anchor })
    }

    /// What speaks against a profile's clock: `backward` calls ended before they began.
    pub fn doubts(header: &Header, backward: u64) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        if backward > 0 {
            doubts.push(Doubt::BackwardClock { calls: backward });
        }
        let (first, last) = (header.first_anchor, header.last_anchor());
        let elapsed_ns = last.monotonic_ns.saturating_sub(first.monotonic_ns);
        if header.clock == clock::TSC && elapsed_ns >= LEAST_INTERVAL_NS {
            let measured = last.ticks.saturating_sub(first.ticks) as f64 / elapsed_ns as f64 * 1e9;
            let estimated = header.ticks_per_second as f64;
            if (measured / estimated - 1.0).abs() > MOST_DRIFT {
                doubts.push(Doubt::DriftingClock { first_hz: estimated, whole_hz: measured });
            }
        }
        doubts
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

#[cfg(test)]
mod tests {
    use zerocopy::FromZeros;

    use super::*;

    fn header(seconds: u64, ticks: u64) -> Header {
        let mut header = Header::new_zeroed();
        (header.clock, header.ticks_per_second) = (clock::TSC, 3_000_000_000);
        header.first_anchor = Anchor { ticks: 1_000, monotonic_ns: 5_000 };
        let last = Anchor { ticks: 1_000 + ticks, monotonic_ns: 5_000 + seconds * 1_000_000_000 };
        header.anchors[1] = diytrace_format::header::CheckedAnchor::new(last);
        header
    }

    #[test]
    fn a_clock_that_changes_its_rate_or_steps_back_is_doubted() {
        assert!(Clock::doubts(&header(10, 30_000_000_000), 0).is_empty());
        let [moved] = &Clock::doubts(&header(10, 20_000_000_000), 0)[..] else { panic!("a clock that lost a third") };
        assert_eq!(*moved, Doubt::DriftingClock { first_hz: 3e9, whole_hz: 2e9 });
        assert!(moved.to_string().contains("at 3000 MHz at first and at 2000 MHz"), "{moved}");
        let [back] = &Clock::doubts(&header(10, 30_000_000_000), 7)[..] else { panic!("a clock that stepped back") };
        assert_eq!(*back, Doubt::BackwardClock { calls: 7 });
        assert!(back.to_string().ends_with("; record with DIYTRACE_CLOCK=clock_gettime"), "{back}");
        let mut gettime = header(10, 0);
        gettime.clock = clock::CLOCK_GETTIME;
        assert!(Clock::doubts(&gettime, 0).is_empty());
    }
}
