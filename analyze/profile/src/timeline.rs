//! When roots ran: the timelines of arenas, added up.
//!
//! Those of one family have a common beginning and widths that are powers of two, so they add up exactly. Those of several
//! families are laid over each other in the end, each slice divided among those that it lies in.

use std::collections::BTreeMap;

pub use diytrace_format::timeline::SLICES;
use diytrace_format::timeline::{Slice, parts, width_for};
use serde::{Deserialize, Serialize};

use crate::time::Time;
use crate::units::nanoseconds;

/// Wider slices than this are a damaged file's.
const WIDEST: u32 = 57;

/// Slices of one width, from the beginning of their family on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slices {
    /// A slice is two to this power of ticks wide.
    width: u32,
    /// At most [`SLICES`].
    #[serde(with = "pairs")]
    slices: Vec<Slice>,
}

impl Slices {
    /// Those of an arena. `None` if they cannot be.
    pub fn of(raw: &diytrace_format::Timeline) -> Option<Self> {
        (raw.width <= WIDEST).then(|| Self { width: raw.width, slices: raw.slices.to_vec() })
    }

    /// Adds others of the same family.
    pub fn add(&mut self, other: &Self) {
        self.widen(other.width);
        self.slices.resize(self.slices.len().max(SLICES), Slice::default());
        for (index, slice) in other.slices.iter().enumerate() {
            let sum = &mut self.slices[index >> (self.width - other.width)];
            sum.calls = sum.calls.saturating_add(slice.calls);
            sum.ticks = sum.ticks.saturating_add(slice.ticks);
        }
    }

    /// Adds a call that is still open, in ticks since the beginning.
    pub fn add_open(&mut self, start: u64, end: u64) {
        self.widen(width_for(self.width, end));
        self.slices.resize(self.slices.len().max(SLICES), Slice::default());
        for (index, ticks) in parts(self.width, start.min(end), end) {
            let slice = &mut self.slices[index];
            slice.ticks = slice.ticks.saturating_add(ticks);
        }
    }

    /// What has come since an earlier reading.
    pub fn since(&mut self, mut earlier: Self) {
        earlier.widen(self.width);
        for (slice, before) in self.slices.iter_mut().zip(&earlier.slices) {
            slice.calls = slice.calls.saturating_sub(before.calls);
            slice.ticks = slice.ticks.saturating_sub(before.ticks);
        }
    }

    fn widen(&mut self, width: u32) {
        if self.slices.is_empty() {
            self.width = self.width.max(width);
        } else if width > self.width {
            let narrow = std::mem::take(self);
            self.width = width;
            self.add(&narrow);
        }
    }
}

/// How slices are written: calls and ticks of each, up to the last that is not empty.
mod pairs {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Slice;

    pub fn serialize<S: Serializer>(slices: &[Slice], to: S) -> Result<S::Ok, S::Error> {
        let pairs: Vec<(u64, u64)> = slices.iter().map(|slice| (slice.calls, slice.ticks)).collect();
        (slices.len(), pairs.iter().rposition(|pair| *pair != (0, 0)).map_or(&pairs[..0], |last| &pairs[..=last]))
            .serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Slice>, D::Error> {
        let (len, pairs) = <(usize, Vec<(u64, u64)>)>::deserialize(from)?;
        if len.max(pairs.len()) > super::SLICES {
            return Err(serde::de::Error::custom("more slices than a timeline has"));
        }
        let mut slices: Vec<Slice> = pairs.into_iter().map(|(calls, ticks)| Slice { calls, ticks }).collect();
        slices.resize(len.max(slices.len()), Slice::default());
        Ok(slices)
    }
}

/// Where and how fast the ticks of a family's timelines go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Origin {
    /// Their beginning, in nanoseconds since 1970.
    started_unix_ns: u64,
    /// The bits of ticks per second.
    hz: u64,
}

impl Origin {
    /// A beginning with a clock's rate.
    pub fn new(started_unix_ns: u64, hz: f64) -> Self {
        Self { started_unix_ns, hz: hz.to_bits() }
    }
}

/// Timelines of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timelines(BTreeMap<Origin, Slices>);

impl Timelines {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds slices of a family.
    pub fn add(&mut self, origin: Origin, slices: &Slices) {
        self.0.entry(origin).or_default().add(slices);
    }

    /// Adds what others have.
    pub fn merge(&mut self, others: &Self) {
        others.0.iter().for_each(|(origin, slices)| self.add(*origin, slices));
    }

    /// One timeline of all. `None` if there was nothing to show.
    pub fn finish(&self) -> Option<Timeline> {
        let spans: Vec<Span> = self.0.iter().filter_map(|(origin, slices)| Span::of(origin, slices)).collect();
        let start = spans.iter().map(|span| span.start).min()?;
        let from_start = |span: &Span| (span.start - start) as f64;
        let length =
            spans.iter().map(|span| from_start(span) + span.width * span.slices.len() as f64).reduce(f64::max)?;
        let mut width = spans.iter().map(|span| span.width).reduce(f64::max)?;
        while length > width * SLICES as f64 {
            width *= 2.0;
        }
        let mut slices = vec![TimelineSlice::default(); (length / width).ceil().clamp(1.0, SLICES as f64) as usize];
        for span in &spans {
            for (index, slice) in span.slices.iter().enumerate() {
                let begin = from_start(span) + span.width * index as f64;
                let slice =
                    TimelineSlice { calls: slice.calls as f64, total_ns: slice.ticks as f64 * span.ns_per_tick };
                spread(&mut slices, width, begin, span.width, slice);
            }
        }
        Some(Timeline { start_unix_ns: start, slice_ns: width, slices })
    }

    /// The same with times that are shown, given what calls took as they were measured and what is shown of that.
    pub fn finish_as(&self, measured: Time, shown: Time) -> Option<Timeline> {
        let part = if measured.ns() > 0.0 { shown.ns() / measured.ns() } else { 1.0 };
        self.finish().map(|timeline| timeline.scaled(part))
    }
}

/// A family's slices on the clock of the world, up to the last that is not empty.
struct Span<'a> {
    start: u64,
    width: f64,
    ns_per_tick: f64,
    slices: &'a [Slice],
}

impl<'a> Span<'a> {
    fn of(origin: &Origin, Slices { width, slices }: &'a Slices) -> Option<Self> {
        let last = slices.iter().rposition(|slice| *slice != Slice::default())?;
        let ns_per_tick = 1e9 / f64::from_bits(origin.hz);
        let width = (1u64 << width) as f64 * ns_per_tick;
        Some(Self { start: origin.started_unix_ns, width, ns_per_tick, slices: &slices[..=last] })
    }
}

/// When a root ran.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Timeline {
    /// When the first slice begins, in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// How long a slice is.
    #[serde(serialize_with = "nanoseconds")]
    pub slice_ns: f64,
    /// One after the other; at most 128.
    pub slices: Vec<TimelineSlice>,
}

/// A slice of a timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct TimelineSlice {
    /// Outermost calls that ended in it. Whole calls, but where slices of several profiles had to be divided.
    #[serde(serialize_with = "nanoseconds")]
    pub calls: f64,
    /// How much of the time of outermost calls lies in it; corrected like their sum.
    #[serde(serialize_with = "nanoseconds")]
    pub total_ns: f64,
}

impl Timeline {
    /// With other times, given how much of the measured time they are in all.
    fn scaled(mut self, part: f64) -> Self {
        self.slices.iter_mut().for_each(|slice| slice.total_ns *= part);
        self
    }
}

/// Slices that timelines are laid into to be shown beside each other, or in fewer columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// When the first begins, in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// How long each is.
    pub slice_ns: f64,
    /// How many.
    pub slices: usize,
}

impl Axis {
    /// One with all of them, and at most so many slices (never more than 128), each as long as a whole number of the widest. `None` if there are
    /// no timelines.
    pub fn of<'a>(timelines: impl Iterator<Item = &'a Timeline> + Clone, most: usize) -> Option<Self> {
        Self::starting_at(timelines.clone().map(|timeline| timeline.start_unix_ns).min()?, timelines, most)
    }

    /// The same that begins at a moment which is no later than any of them.
    pub fn starting_at<'a>(
        start_unix_ns: u64,
        timelines: impl Iterator<Item = &'a Timeline> + Clone,
        most: usize,
    ) -> Option<Self> {
        let widest = timelines.clone().map(|timeline| timeline.slice_ns).reduce(f64::max)?;
        let end = |timeline: &Timeline| {
            (timeline.start_unix_ns - start_unix_ns) as f64 + timeline.slice_ns * timeline.slices.len() as f64
        };
        // What a sum of widths is off by makes no slice more.
        let count = (timelines.map(end).reduce(f64::max)? / widest - 1e-6).ceil().max(1.0);
        let joined = (count / most.clamp(1, SLICES) as f64).ceil();
        Some(Self { start_unix_ns, slice_ns: widest * joined, slices: (count / joined).ceil() as usize })
    }

    /// A timeline in these slices. It is one of those that they are made for: none of its own is wider.
    pub fn lay(&self, timeline: &Timeline) -> Vec<TimelineSlice> {
        let mut laid = vec![TimelineSlice::default(); self.slices];
        let from_start = timeline.start_unix_ns.saturating_sub(self.start_unix_ns) as f64;
        for (index, slice) in timeline.slices.iter().enumerate() {
            let begin = from_start + timeline.slice_ns * index as f64;
            spread(&mut laid, self.slice_ns, begin, timeline.slice_ns, *slice);
        }
        laid
    }
}

/// Adds a slice to others, no narrower than it, that begin at 0: it lies in two of them at most.
fn spread(into: &mut [TimelineSlice], width: f64, begin: f64, slice_ns: f64, slice: TimelineSlice) {
    let last = into.len() - 1;
    let end = begin + slice_ns;
    let first = ((begin / width) as usize).min(last);
    let behind = (width * (first + 1) as f64).min(end).max(begin);
    for (at, share) in [(first, behind - begin), ((first + 1).min(last), end - behind)] {
        into[at].calls += slice.calls * share / slice_ns;
        into[at].total_ns += slice.total_ns * share / slice_ns;
    }
}

/// A line of blocks as high as the values; empty where they are nothing.
pub fn sparkline(values: impl Iterator<Item = f64> + Clone) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let highest = values.clone().fold(0.0, f64::max);
    let block = |value: f64| match value / highest {
        part if part > 0.0 => BLOCKS[((part * 8.0).ceil() as usize).clamp(1, 8) - 1],
        _ => ' ',
    };
    values.map(block).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn raw(width: u32, filled: &[(usize, u64, u64)]) -> Slices {
        let mut slices = vec![Slice::default(); SLICES];
        for &(index, calls, ticks) in filled {
            slices[index] = Slice { calls, ticks };
        }
        Slices { width, slices }
    }

    fn sums(timeline: &Timeline) -> (f64, f64) {
        timeline.slices.iter().fold((0.0, 0.0), |(calls, ns), slice| (calls + slice.calls, ns + slice.total_ns))
    }

    #[test]
    fn those_of_a_family_add_up_exactly_whatever_their_widths() {
        let mut sum = raw(4, &[(0, 1, 5), (3, 2, 16), (127, 1, 1)]);
        sum.add(&raw(6, &[(0, 1, 60), (2, 7, 64)]));
        assert_eq!(sum, raw(6, &[(0, 4, 81), (2, 7, 64), (31, 1, 1)]));
        sum.since(raw(4, &[(3, 2, 16)]));
        assert_eq!(sum, raw(6, &[(0, 2, 65), (2, 7, 64), (31, 1, 1)]));
    }

    #[test]
    fn an_open_call_is_there_as_long_as_it_has_lasted() {
        let mut slices = Slices::default();
        slices.add_open(10, 1000);
        let ticks: u64 = slices.slices.iter().map(|slice| slice.ticks).sum();
        assert_eq!((ticks, slices.width, slices.slices.iter().all(|slice| slice.calls == 0)), (990, 3, true));
    }

    #[test]
    fn those_of_two_families_are_laid_over_each_other() {
        let mut both = Timelines::default();
        both.add(Origin::new(1000, 1e9), &raw(4, &[(0, 1, 16), (1, 1, 16)]));
        both.add(Origin::new(1008, 1e9), &raw(4, &[(0, 2, 8)]));
        let timeline = both.finish().unwrap();
        assert_eq!((timeline.start_unix_ns, timeline.slice_ns), (1000, 16.0));
        let slices: Vec<_> = timeline.slices.iter().map(|slice| (slice.calls, slice.total_ns)).collect();
        assert_eq!(slices, [(2.0, 20.0), (2.0, 20.0)]);
        assert_eq!(Timelines::default().finish(), None);
    }

    #[test]
    fn shown_beside_each_other_they_have_common_slices() {
        let mut one = Timelines::default();
        one.add(Origin::new(1000, 1e9), &raw(4, &[(0, 1, 16), (1, 2, 8), (9, 1, 4)]));
        let mut other = Timelines::default();
        other.add(Origin::new(1000, 1e9), &raw(5, &[(0, 3, 30)]));
        let (one, other) = (one.finish().unwrap(), other.finish().unwrap());
        let axis = |most| Axis::of([&one, &other].into_iter(), most).unwrap();
        assert_eq!(axis(128), Axis { start_unix_ns: 1000, slice_ns: 32.0, slices: 5 });
        assert_eq!(axis(4), Axis { start_unix_ns: 1000, slice_ns: 64.0, slices: 3 });
        let calls = |timeline| axis(4).lay(timeline).iter().map(|slice| slice.calls).collect::<Vec<_>>();
        assert_eq!((calls(&one), calls(&other)), (vec![3.0, 0.0, 1.0], vec![3.0, 0.0, 0.0]));
        assert_eq!(Axis::of(std::iter::empty(), 4), None);
    }

    #[test]
    fn a_line_of_blocks() {
        assert_eq!(sparkline([0.0, 1.0, 4.0, 8.0].into_iter()), " ▁▄█");
        assert_eq!(sparkline([0.0].into_iter()), " ");
    }

    proptest! {
        #[test]
        fn nothing_gets_lost(families in proptest::collection::vec(
            (0u64..1 << 50, 4u32..40, proptest::collection::vec((0usize..SLICES, 1u64..9, 0u64..1000), 1..9)), 1..5)) {
            let mut timelines = Timelines::default();
            let (mut calls, mut ticks) = (0, 0);
            for (start, width, filled) in &families {
                let slices = raw(*width, filled);
                calls += slices.slices.iter().map(|slice| slice.calls).sum::<u64>();
                ticks += slices.slices.iter().map(|slice| slice.ticks).sum::<u64>();
                timelines.add(Origin::new(*start, 1e9), &slices);
            }
            let timeline = timelines.finish().unwrap();
            prop_assert!(timeline.slices.len() <= SLICES);
            let (shown, ns) = sums(&timeline);
            prop_assert!((shown - calls as f64).abs() < 1e-6 * calls as f64);
            prop_assert!((ns - ticks as f64).abs() <= 1e-6 * ticks as f64);
        }
    }
}
