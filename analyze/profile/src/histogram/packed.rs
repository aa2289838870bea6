//! A histogram in few bytes, for the many small ones that slices of time have.
//!
//! | bytes | what |
//! |---|---|
//! | varint | what there is of it, see [`has`] |
//! | varint | calls in no bin |
//! | varint | the first bin that has calls: octave × 16 + part |
//! | for each from there on: varint | its calls; after a 0, how many more bins have none, and at the end, after a 0, a 0 |
//! | 2 × varint with sign | the shortest call in ticks beyond the first bin's beginning, and the longest short of the last one's end |
//!
//! The clock's rate is told once for many of them. One that is otherwise (of several clocks, or refined) is written as postcard does.

use diytrace_format::histogram::{OCTAVES, SUBS, range};

use super::{Bins, Histogram, Refinement, clock_of};
use crate::ascending::Ascending;
use crate::time::Time;
use crate::varint::{get, get_signed, put, put_signed};

/// What there is of a histogram.
mod has {
    pub const BINS: u8 = 1;
    pub const UNBINNED: u8 = 2;
    /// The shortest and longest call, in ticks.
    pub const TICKS: u8 = 4;
    /// The same as times.
    pub const TIMES: u8 = 8;
    /// All of it, as postcard writes it, after its length.
    pub const OTHER: u8 = 16;
}

impl Histogram {
    /// Appends it. `hz`: the rate of the clock that its bins are probably of.
    pub fn pack(&self, hz: f64, bytes: &mut Vec<u8>) {
        let bins = match self.clocks.iter().as_slice() {
            _ if self.refinement != Refinement::default() => return self.pack_otherwise(bytes),
            [] => None,
            [(clock, bins)] if *clock == clock_of(hz) && bins.is_of(hz) => Some(bins),
            _ => return self.pack_otherwise(bytes),
        };
        let ends = bins.map(Bins::ends);
        let ticks = ends.and_then(|ends| self.extremes_beyond(ends, hz));
        let flag = |is_there: bool, flag: u8| if is_there { flag } else { 0 };
        bytes.push(
            flag(bins.is_some(), has::BINS)
                | flag(self.unbinned > 0, has::UNBINNED)
                | flag(ticks.is_some(), has::TICKS)
                | flag(self.extremes.is_some() && ticks.is_none(), has::TIMES),
        );
        if self.unbinned > 0 {
            put(bytes, self.unbinned.into());
        }
        if let Some(bins) = bins {
            bins.pack(bytes);
        }
        match (ticks, self.extremes) {
            (Some(beyond), _) => beyond.into_iter().for_each(|ticks| put_signed(bytes, ticks)),
            (None, Some((min, max))) => [min, max].into_iter().for_each(|time| put_signed(bytes, time.units())),
            (None, None) => {}
        }
    }

    fn pack_otherwise(&self, bytes: &mut Vec<u8>) {
        let all = postcard::to_stdvec(self).unwrap_or_default(); // into memory: it cannot fail
        bytes.push(has::OTHER);
        put(bytes, all.len() as u128);
        bytes.extend(all);
    }

    /// By how many ticks the shortest and the longest call are inside the bins, if that gives the times exactly.
    fn extremes_beyond(&self, (low, high): (u64, u64), hz: f64) -> Option<[i128; 2]> {
        let (min, max) = self.extremes?;
        let ticks = |time: Time| {
            let ticks = (time.ns() * (hz / 1e9)).round();
            (time_of(ticks as u64, hz) == time).then_some(ticks as u64)
        };
        let [min, max, low, high] = [ticks(min)?, ticks(max)?, low, high].map(i128::from);
        Some([min - low, high - max])
    }

    /// Takes one off the front of bytes that anybody may have written. `None` if there is none.
    pub fn unpack(hz: f64, rest: &mut &[u8]) -> Option<Self> {
        let mut octaves: Vec<(u8, [u64; SUBS])> = Vec::new();
        let mut take = |octave: u8, sub: usize, count: u64| {
            if octaves.last().is_none_or(|(last, _)| *last != octave) {
                octaves.push((octave, [0; SUBS]));
            }
            if let Some((_, counts)) = octaves.last_mut() {
                counts[sub] = count;
            }
        };
        let Walked { unbinned, calls, extremes } = match Self::walk(hz, rest, &mut take)? {
            Walk::Otherwise(histogram) => return Some(histogram),
            Walk::Usual(walked) => walked,
        };
        let mut histogram = Self { unbinned, extremes, ..Self::default() };
        if calls > 0 {
            let bins = Bins { rates: rates_of(calls, hz), calls, octaves: Ascending::of(octaves)? };
            *histogram.clocks.at(clock_of(hz)) = bins;
        }
        Some(histogram)
    }

    /// The same, but only how many calls it has that returned: nothing is made of them.
    pub fn skip(hz: f64, rest: &mut &[u8]) -> Option<u64> {
        Some(match Self::walk(hz, rest, &mut |_, _, _| ())? {
            Walk::Otherwise(histogram) => histogram.returned(),
            Walk::Usual(Walked { unbinned, calls, .. }) => unbinned.saturating_add(calls),
        })
    }

    /// Reads one, and hands its bins over.
    fn walk(hz: f64, rest: &mut &[u8], take: &mut impl FnMut(u8, usize, u64)) -> Option<Walk> {
        let (&has, after) = rest.split_first()?;
        *rest = after;
        if has == has::OTHER {
            let len = usize::try_from(get(rest)?).ok()?;
            let all = rest.split_off(..len)?;
            return postcard::from_bytes(all).ok().filter(Self::is_sound).map(Walk::Otherwise);
        }
        let is_known = has & !(has::BINS | has::UNBINNED | has::TICKS | has::TIMES) == 0;
        let mut walked = Walked::default();
        if has & has::UNBINNED != 0 {
            walked.unbinned = u64::try_from(get(rest)?).ok()?;
        }
        let mut ends = None;
        if has & has::BINS != 0 {
            let (calls, [first, last]) = Bins::walk(rest, take)?;
            walked.calls = calls;
            let [first, last] = [first, last].map(|at| range(at / SUBS, at % SUBS));
            ends = Some((first.0, last.0 + (last.1 - 1)));
        }
        if has & has::TICKS != 0 {
            let (low, high) = ends?;
            let min = i128::from(low).checked_add(get_signed(rest)?)?;
            let max = i128::from(high).checked_sub(get_signed(rest)?)?;
            let time = |ticks: i128| u64::try_from(ticks).ok().map(|ticks| time_of(ticks, hz));
            walked.extremes = Some((time(min)?, time(max)?));
        }
        if has & has::TIMES != 0 {
            let mut time = || get_signed(rest).map(Time::from_units);
            walked.extremes = Some((time()?, time()?));
        }
        is_known.then_some(Walk::Usual(walked))
    }

    /// Whether its bins are some.
    fn is_sound(&self) -> bool {
        let octaves = self.clocks.iter().flat_map(|(_, bins)| bins.octaves.iter());
        octaves.into_iter().all(|(octave, _)| usize::from(*octave) < OCTAVES)
    }
}

/// A histogram, as its bytes are read.
enum Walk {
    /// One that was written as postcard does.
    Otherwise(Histogram),
    Usual(Walked),
}

/// What it has beside bins.
#[derive(Default)]
struct Walked {
    unbinned: u64,
    calls: u64,
    extremes: Option<(Time, Time)>,
}

/// As [`Histogram::add`] makes times of ticks.
fn time_of(ticks: u64, hz: f64) -> Time {
    Time::from_ns(ticks as f64 * (1e9 / hz))
}

impl Bins {
    /// Whether they are what calls in their octaves come to by a clock of this rate.
    fn is_of(&self, hz: f64) -> bool {
        let mut sum = 0u64;
        let is_filled = self.octaves.iter().all(|(octave, counts)| {
            // Where a sum does not fit it is not the one that is known.
            let calls = counts.iter().fold(0, |sum: u64, count| sum.wrapping_add(*count));
            let largest = counts.iter().fold(0, |sum: u64, count| sum | *count);
            sum = sum.saturating_add(calls);
            (1..=u64::MAX / SUBS as u64).contains(&largest) && usize::from(*octave) < OCTAVES
        });
        is_filled && sum > 0 && sum == self.calls && sum < u64::MAX && self.rates == rates_of(sum, hz)
    }

    /// The least and the largest number of ticks that they can stand for.
    fn ends(&self) -> (u64, u64) {
        let at = |(octave, sub, _)| range(octave, sub);
        let first = self.filled().next().map_or(0, |bin| at(bin).0);
        let last = self.octaves.iter().next_back().and_then(|(octave, counts)| {
            let sub = counts.iter().rposition(|count| *count > 0)?;
            Some(range((*octave).into(), sub))
        });
        (first, last.map_or(0, |(low, width)| low + (width - 1)))
    }

    fn pack(&self, bytes: &mut Vec<u8>) {
        let mut next: Option<usize> = None;
        for (octave, sub, count) in self.filled() {
            let at = octave * SUBS + sub;
            match next.map(|next| at - next) {
                None => put(bytes, at as u128),
                Some(0) => {}
                // The 0, of which the first stands for one bin.
                Some(gap) => [0, gap as u128].into_iter().for_each(|number| put(bytes, number)),
            }
            put(bytes, count.into());
            next = Some(at + 1);
        }
        bytes.extend([0, 0]);
    }

    /// Hands over octave, part and calls of each bin that has any; how many calls there are, and the first and last bin.
    fn walk(rest: &mut &[u8], take: &mut impl FnMut(u8, usize, u64)) -> Option<(u64, [usize; 2])> {
        let mut at = usize::try_from(get(rest)?).ok()?;
        let (mut calls, mut ends) = (0u64, None);
        loop {
            match u64::try_from(get(rest)?).ok()? {
                0 => match usize::try_from(get(rest)?).ok()? {
                    0 => break,
                    gap => at = at.checked_add(gap)?,
                },
                count => {
                    let octave = u8::try_from(at / SUBS).ok().filter(|octave| usize::from(*octave) < OCTAVES)?;
                    take(octave, at % SUBS, count);
                    calls = calls.checked_add(count)?;
                    ends = Some([ends.map_or(at, |[first, _]: [usize; 2]| first), at]);
                    at += 1;
                }
            }
        }
        Some((calls, ends?))
    }
}

/// As [`Histogram::add`] adds them up.
fn rates_of(calls: u64, hz: f64) -> u128 {
    u128::from(calls).saturating_mul(hz.round() as u128)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::histogram_of;

    fn packed(histogram: &Histogram, hz: f64) -> Vec<u8> {
        let mut bytes = Vec::new();
        histogram.pack(hz, &mut bytes);
        bytes
    }

    #[test]
    fn calls_that_take_about_as_long_take_a_few_bytes() {
        let histogram = histogram_of(&[1000, 1010, 1003, 1100, 1020, 1200, 4000], 2.4e9);
        let bytes = packed(&histogram, 2.4e9);
        // What there is; the first bin; four that have calls and two gaps; the end; by how much the ends are off.
        assert_eq!(bytes.len(), 1 + 2 + 4 + 2 * 2 + 2 + 3, "{bytes:?}");
    }

    proptest! {
        #[test]
        fn any_is_read_as_it_was_written(
            values in prop::collection::vec(0u64..1 << 40, 0..50),
            others in prop::collection::vec(0u64..1 << 60, 0..3),
            unbinned in 0u64..3,
            rates in [1e9..4e9f64, 1e9..4e9f64],
            is_refined in any::<bool>(),
        ) {
            let [hz, other] = rates;
            let mut histogram = histogram_of(&values, hz);
            histogram.merge(&histogram_of(&others, other));
            histogram.unbinned = unbinned;
            if is_refined {
                histogram = histogram.refined_by(Refinement { calls: 1, own: Time::from_ns(2.0), ..Refinement::default() });
            }
            for hz in rates {
                let bytes = packed(&histogram, hz);
                let mut rest = &bytes[..];
                let read = Histogram::unpack(hz, &mut rest);
                prop_assert_eq!(read.as_ref(), Some(&histogram));
                prop_assert!(rest.is_empty());
                let mut rest = &bytes[..];
                prop_assert_eq!(Histogram::skip(hz, &mut rest), Some(histogram.returned()));
                prop_assert!(rest.is_empty());
            }
        }

        #[test]
        fn damage_does_no_harm(
            values in prop::collection::vec(0u64..1 << 40, 1..20),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let mut bytes = packed(&histogram_of(&values, 1e9), 1e9);
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let (mut rest, mut skipped) = (&bytes[..], &bytes[..]);
            let read = Histogram::unpack(1e9, &mut rest);
            prop_assert_eq!(Histogram::skip(1e9, &mut skipped), read.as_ref().map(Histogram::returned));
            if let Some(histogram) = read {
                prop_assert_eq!(rest, skipped);
                let _ = histogram.percentiles([0.5]);
            }
            prop_assert!(Histogram::unpack(1e9, &mut &bytes[..at.min(bytes.len() - 1)]).is_none());
        }
    }
}
