//! Merged histograms: the distribution of a function's call times over threads, processes and machines.
//!
//! The recorder files a call by its time less what the hooks cost as a loop has shown at the start: what windows tell comes later.
//! What they find beyond that is taken off here (see [`Refinement`]), so that percentiles and means are of the same calls: where their
//! mean is known, it is that of the histogram.

use diytrace_format::histogram::{SUBS, bin, middle, range};
use serde::{Deserialize, Serialize};

use crate::ascending::Ascending;
use crate::load;
use crate::time::Time;

mod packed;

/// Clocks whose rates differ by less than this share are taken for one: bins are then added, not converted.
const SAME_RATE: f64 = 1e-3;

/// Calls by their time. Histograms merge in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Bins by kind of clock.
    clocks: Ascending<i32, Bins>,
    unbinned: u64,
    extremes: Option<(Time, Time)>,
    refinement: Refinement,
}

/// What is known of the calls' cost beyond what the recorder has taken off them: a part of each for its own hooks, and of the
/// rest as much of each as it is of all, as if calls inside a call came as densely in all of them. Where the recorder has taken
/// off too much, many calls were filed as next to nothing: then each gets back the same. Of sums, so that it is added in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Refinement {
    /// Calls.
    pub calls: u64,
    /// What is still to be taken off for their own hooks.
    pub own: Time,
    /// What the recorder has filed, less that.
    pub filed: Time,
    /// What it should have been.
    pub corrected: Time,
}

impl Refinement {
    /// Adds that of other calls.
    pub fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.own += other.own;
        self.filed += other.filed;
        self.corrected += other.corrected;
    }

    /// What is still to be taken off each call for its own hooks.
    pub fn own_of_each(&self) -> Time {
        Time::from_ns(self.own.ns() / self.calls.max(1) as f64)
    }

    /// A call's time.
    fn of(&self, filed: Time) -> Time {
        if self.own == Time::ZERO && self.filed == self.corrected {
            return filed;
        }
        let of_each = |sum: Time| sum.ns() / self.calls.max(1) as f64;
        let ns = filed.ns() - of_each(self.own);
        Time::from_ns(match () {
            () if self.corrected > self.filed => ns.max(0.0) + of_each(self.corrected - self.filed),
            () if self.filed > Time::ZERO => ns.max(0.0) * (self.corrected.ns().max(0.0) / self.filed.ns()),
            () => ns,
        })
        .at_least_zero()
    }
}

/// The kind of clock that goes at a rate.
fn clock_of(hz: f64) -> i32 {
    (hz.ln() / SAME_RATE).round() as i32
}

/// Bins in ticks of clocks of nearly one rate.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Bins {
    /// Rates in ticks per second, each as often as there are calls, for their mean.
    rates: u128,
    calls: u64,
    octaves: Ascending<u8, [u64; SUBS]>,
}

impl Histogram {
    /// Adds what one arena has counted.
    pub fn add(&mut self, function: &load::Function, hz: f64) {
        self.add_calls(function.unbinned, function.extremes, &function.octaves, hz);
    }

    /// Adds calls in no bin, the shortest and longest, and those in bins, in ticks of a clock of this rate.
    pub fn add_calls(&mut self, unbinned: u64, extremes: Option<(u64, u64)>, octaves: &[(u8, [u64; SUBS])], hz: f64) {
        let ns = |ticks: u64| Time::from_ns(ticks as f64 * (1e9 / hz));
        self.unbinned = self.unbinned.saturating_add(unbinned);
        if let Some((min, max)) = extremes {
            self.extend(ns(min), ns(max));
        }
        if octaves.is_empty() {
            return;
        }
        let bins = self.clocks.at(clock_of(hz));
        let calls = octaves.iter().flat_map(|(_, counts)| counts).fold(0, |sum: u64, count| sum.saturating_add(*count));
        bins.add_rates(calls, u128::from(calls).saturating_mul(hz.round() as u128));
        if bins.octaves.iter().next().is_none() {
            bins.octaves.reserve(octaves.len());
        }
        for (octave, counts) in octaves {
            bins.add_octave(*octave, counts);
        }
    }

    /// Adds another.
    pub fn merge(&mut self, other: &Self) {
        self.unbinned = self.unbinned.saturating_add(other.unbinned);
        self.refinement.add(&other.refinement);
        if let Some((min, max)) = other.extremes {
            self.extend(min, max);
        }
        for (clock, from) in other.clocks.iter() {
            let bins = self.clocks.at(*clock);
            bins.add_rates(from.calls, from.rates);
            for (octave, counts) in from.octaves.iter() {
                bins.add_octave(*octave, counts);
            }
        }
    }

    /// The same calls, with what is known of their cost beyond what the recorder has taken off.
    ///
    /// Where more was taken off calls than they took, they are in the bins as nothing: what they were filed as is more than the sum tells
    /// then, and at least what the bins have.
    pub fn refined_by(&self, refinement: Refinement) -> Self {
        let filed = self.filed_at_least(&refinement).map_or(refinement.filed, |least| refinement.filed.max(least));
        let refinement = Refinement { filed, ..refinement };
        let extremes = self.extremes.map(|(min, max)| (refinement.of(min), refinement.of(max)));
        Self { extremes, refinement, ..self.clone() }
    }

    /// What calls were filed as at least, less what is to be taken off them for their own hooks; if that is nothing for some, or was when they were
    /// filed. Of those for which there were no bins nothing is known.
    fn filed_at_least(&self, refinement: &Refinement) -> Option<Time> {
        let own = refinement.own_of_each();
        let (mut calls, mut least, mut are_some_cut) = (0.0, 0.0, false);
        for bins in self.clocks.iter().map(|(_, bins)| bins) {
            for (octave, sub, count) in bins.filled() {
                let ticks = if (octave, sub) == bin(0) { 0 } else { range(octave, sub).0 };
                let low = Time::from_ns(ticks as f64 * bins.ns_per_tick());
                let left = self.within_extremes(low) - own;
                are_some_cut |= ticks == 0 || left <= Time::ZERO;
                least += left.at_least_zero().ns() * count as f64;
                calls += count as f64;
            }
        }
        let share = (refinement.calls as f64 / calls).min(1.0);
        are_some_cut.then(|| Time::from_ns(least * share))
    }

    /// What orders histograms, if not by anything that means much.
    pub fn order(&self) -> impl Ord + '_ {
        (self.extremes, self.unbinned, &self.clocks, self.refinement)
    }

    fn extend(&mut self, min: Time, max: Time) {
        let (low, high) = self.extremes.unwrap_or((min, max));
        self.extremes = Some((low.min(min), high.max(max)));
    }

    /// Calls that returned.
    pub fn returned(&self) -> u64 {
        self.clocks.iter().map(|(_, bins)| bins).fold(self.unbinned, |sum, bins| sum.saturating_add(bins.calls))
    }

    /// The shortest call.
    pub fn min(&self) -> Option<Time> {
        self.extremes.map(|(min, _)| min)
    }

    /// The longest call.
    pub fn max(&self) -> Option<Time> {
        self.extremes.map(|(_, max)| max)
    }

    /// The mean, from the bins' middles.
    pub fn mean(&self) -> Option<Time> {
        let (mut sum, mut calls) = (0.0, 0.0);
        for bins in self.clocks.iter().map(|(_, bins)| bins) {
            for (octave, sub, count) in bins.filled() {
                sum += self.refined(middle(octave, sub) * bins.ns_per_tick()).ns() * count as f64;
                calls += count as f64;
            }
        }
        (calls > 0.0).then(|| self.within_extremes(Time::from_ns(sum / calls)))
    }

    /// Calls by their time: between which two, and how many; the shortest first.
    pub fn bars(&self) -> impl Iterator<Item = (Time, Time, u64)> {
        let mut bars = Vec::new();
        for clock in self.clocks.iter().map(|(_, bins)| bins) {
            let scale = clock.ns_per_tick();
            bars.extend(clock.filled().map(|(octave, sub, count)| {
                let (low, width) = range(octave, sub);
                let ends = [low as f64, (low + width - 1) as f64];
                let [low, high] = ends.map(|ticks| self.refinement.of(Time::from_ns(ticks * scale)));
                (low, high, count)
            }));
        }
        bars.sort_unstable();
        bars.into_iter()
    }

    /// Times at these shares of the calls (ascending), by nearest rank: the middle of the call's bin, which is off by at
    /// most [`diytrace_format::histogram::RELATIVE_ERROR`].
    pub fn percentiles<const N: usize>(&self, shares: [f64; N]) -> Option<[Time; N]> {
        let mut bins: Vec<(f64, u64)> = Vec::new(); // middle, calls
        for clock in self.clocks.iter().map(|(_, bins)| bins) {
            let scale = clock.ns_per_tick();
            bins.extend(clock.filled().map(|(octave, sub, count)| (middle(octave, sub) * scale, count)));
        }
        bins.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let calls = bins.iter().fold(0u64, |sum, bin| sum.saturating_add(bin.1));
        if calls == 0 {
            return None;
        }
        Some(shares.map(|share| {
            let rank = ((share * calls as f64).ceil() as u64).clamp(1, calls);
            let mut below = 0u64;
            let reaches = |&&(_, count): &&(f64, u64)| {
                below = below.saturating_add(count);
                below >= rank
            };
            bins.iter().find(reaches).map_or(self.max().unwrap_or_default(), |&(middle, _)| self.refined(middle))
        }))
    }

    fn refined(&self, filed_ns: f64) -> Time {
        self.within_extremes(self.refinement.of(Time::from_ns(filed_ns)))
    }

    /// The middle of a bin may lie beyond all calls that are in it.
    fn within_extremes(&self, time: Time) -> Time {
        self.extremes.map_or(time, |(min, max)| time.max(min).min(max))
    }
}

impl Bins {
    fn add_rates(&mut self, calls: u64, rates: u128) {
        self.calls = self.calls.saturating_add(calls);
        self.rates = self.rates.saturating_add(rates);
    }

    fn add_octave(&mut self, octave: u8, counts: &[u64; SUBS]) {
        let sums = self.octaves.at(octave);
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum = sum.saturating_add(*count);
        }
    }

    fn ns_per_tick(&self) -> f64 {
        1e9 / (self.rates as f64 / self.calls as f64)
    }

    fn filled(&self) -> impl Iterator<Item = (usize, usize, u64)> {
        self.octaves.iter().flat_map(|(octave, counts)| {
            let filled = counts.iter().enumerate().filter(|&(_, &count)| count > 0);
            filled.map(move |(sub, &count)| (*octave as usize, sub, count))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::histogram_of;
    use diytrace_format::histogram::RELATIVE_ERROR;
    use proptest::prelude::*;

    #[test]
    fn nearest_ranks() {
        let histogram = histogram_of(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 1e9);
        let found = histogram.percentiles([0.0, 0.5, 0.9, 0.99, 1.0]).unwrap().map(Time::ns);
        assert_eq!(found, [1.0, 5.0, 9.0, 10.0, 10.0]);
        assert_eq!(histogram.mean().unwrap().ns(), 5.5);
    }

    fn refined(refinement: Refinement) -> Histogram {
        histogram_of(&[10, 20, 30], 1e9).refined_by(refinement)
    }

    #[test]
    fn what_windows_find_is_taken_off_each_call_for_itself_and_in_proportion() {
        let ns = Time::from_ns;
        let shares = [0.1, 0.5, 1.0];
        // A leaf's calls have cost 2 ns more each than was taken off.
        let leaf = refined(Refinement { calls: 3, own: ns(6.0), filed: ns(54.0), corrected: ns(54.0) });
        assert_eq!(leaf.percentiles(shares).unwrap().map(Time::ns), [8.0, 18.0, 28.0]);
        assert_eq!((leaf.min().unwrap().ns(), leaf.max().unwrap().ns(), leaf.mean().unwrap().ns()), (8.0, 28.0, 18.0));
        // Callees have cost as much again as what is left.
        let caller = refined(Refinement { calls: 3, own: ns(6.0), filed: ns(54.0), corrected: ns(27.0) });
        assert_eq!(caller.percentiles(shares).unwrap().map(Time::ns), [4.0, 9.0, 14.0]);
        let mut both = leaf;
        both.merge(&caller);
        assert_eq!((both.min().unwrap().ns(), both.max().unwrap().ns()), (4.0, 28.0), "each as it was");
        assert_eq!(both.mean().unwrap().ns(), 13.5, "three quarters of 18");
        // The loop was disturbed: the recorder took off more than they took, and filed some as nothing.
        let too_short = refined(Refinement { calls: 3, own: ns(-3.0), filed: ns(63.0), corrected: ns(363.0) });
        assert_eq!(too_short.percentiles(shares).unwrap().map(Time::ns), [111.0, 121.0, 131.0]);
        let lost = refined(Refinement { calls: 3, own: ns(6.0), filed: ns(-9.0), corrected: ns(-12.0) });
        assert_eq!(lost.max().unwrap().ns(), 28.0, "where nothing is left, nothing is known of the proportion");
    }

    /// Calls that were filed as these, whose sum would be `filed` had none been cut at nothing, and which took `mean` each.
    fn known(values: &[u64], own: f64, filed: f64, mean: f64) -> Histogram {
        let [own, corrected] = [own, mean].map(|of_each| Time::from_ns(of_each * values.len() as f64));
        let filed = Time::from_ns(filed) - own;
        histogram_of(values, 1e9).refined_by(Refinement { calls: values.len() as u64, own, filed, corrected })
    }

    #[test]
    fn a_mean_that_is_known_is_that_of_the_calls() {
        let all = |values: &[u64], own: f64, filed: f64, mean: f64| {
            let histogram = known(values, own, filed, mean);
            let [p50] = histogram.percentiles([0.5]).unwrap();
            [histogram.min().unwrap(), p50, histogram.mean().unwrap(), histogram.max().unwrap()].map(Time::ns)
        };
        assert_eq!(all(&[10, 20, 30], 2.0, 60.0, 9.0), [4.0, 9.0, 9.0, 14.0]);
        // The recorder took off more than there was.
        assert_eq!(all(&[0], 0.0, -170e6, 29e6), [29e6; 4]);
        let found = all(&[0, 0, 0, 1_000], 0.0, -200.0, 300.0);
        let is_near = |(found, expected): (&f64, f64)| (found - expected).abs() < 5.0; // a bin's width
        assert!(found.iter().zip([50.0, 50.0, 300.0, 1_050.0]).all(is_near), "{found:?}");
        // Less than nothing is left of most: what is left of the others is all there is.
        assert_eq!(all(&[1, 1, 1, 10], 4.0, 13.0, 1.0), [0.0, 0.0, 1.0, 4.0]);
        assert_eq!(all(&[10, 20, 30], 2.0, 60.0, 0.0), [0.0; 4]);
    }

    /// Where calls were left, sums tell of others, too, and may be less than nothing.
    #[test]
    fn times_are_in_their_order_whatever_sums_tell() {
        let found = known(&[1, 5, 40], 3.0, 46.0, -7.0);
        let [p50] = found.percentiles([0.5]).unwrap();
        assert_eq!([found.min().unwrap(), p50, found.max().unwrap()].map(Time::ns), [0.0; 3]);
    }

    /// They were taken to have been filed as those in bins: a call of 4 ms was cut to a quarter.
    #[test]
    fn of_calls_without_bins_nothing_is_known_but_their_sum() {
        let mut histogram = histogram_of(&[0, 0, 0, 4_000_000], 1e9);
        histogram.add_calls(36, None, &[], 1e9);
        let of = |corrected| Refinement { calls: 40, own: Time::ZERO, filed: Time::from_ns(4_040_000.0), corrected };
        let longest = |corrected| histogram.refined_by(of(Time::from_ns(corrected))).max().unwrap().ns();
        assert_eq!([4_040_000.0, 3_030_000.0].map(longest), [4_000_000.0, 3_000_000.0]);
    }

    /// What its bin says of the long one is off by more than all others take together.
    #[test]
    fn one_long_call_shifts_no_other() {
        for long in (0..40).map(|n| 1_400_000_000 + n * 7_000_003) {
            let values: Vec<u64> = (0..2000).map(|call| 20_000 + call * 18).chain([long]).collect();
            let (sum, calls) = (values.iter().sum::<u64>() as f64, values.len() as f64);
            let found = known(&values, 2.0, sum, sum / calls - 2.0);
            assert_eq!([found.min(), found.max()].map(|time| time.unwrap().ns()), [19_998.0, long as f64 - 2.0]);
            let [p50] = found.percentiles([0.5]).unwrap().map(Time::ns);
            assert!((p50 / 38_000.0 - 1.0).abs() < RELATIVE_ERROR, "{p50}");
        }
    }

    #[test]
    fn nothing_has_no_percentiles() {
        assert_eq!(Histogram::default().percentiles([0.5]), None);
        assert_eq!(Histogram::default().mean(), None);
    }

    #[test]
    fn clocks_of_two_rates() {
        let mut slow = histogram_of(&[10; 3], 1e9);
        slow.merge(&histogram_of(&[10; 1], 2e9));
        assert_eq!(slow.percentiles([0.25, 0.5]).unwrap().map(Time::ns), [5.0, 10.0]);
    }

    proptest! {
        #[test]
        fn merging_has_no_order(
            a in prop::collection::vec(0u64..1 << 40, 0..50),
            b in prop::collection::vec(0u64..1 << 40, 0..50),
            c in prop::collection::vec(0u64..1 << 40, 0..50),
        ) {
            let [a, b, c] = [(a, 1e9), (b, 2.4e9), (c, 2.4001e9)].map(|(values, hz)| histogram_of(&values, hz));
            let mut left = a.clone();
            left.merge(&b);
            left.merge(&c);
            let mut right = c;
            right.merge(&a);
            right.merge(&b);
            prop_assert_eq!(left, right);
        }

        #[test]
        fn the_mean_is_the_one_that_is_known(
            values in prop::collection::vec(0u64..1 << 40, 1..50),
            own in -20.0..20.0f64,
            too_much in 0.0..1e12f64,
            mean in 0.0..1e12f64,
        ) {
            let are_cut = values.contains(&0);
            let sum = values.iter().sum::<u64>() as f64 - if are_cut { too_much } else { 0.0 };
            let histogram = known(&values, own, sum, mean);
            let [min, found, max] = [histogram.min(), histogram.mean(), histogram.max()].map(|time| time.unwrap().ns());
            // As far as bins can tell: of what was filed as well as of what it is.
            let of_bins = values.iter().max().map_or(0.0, |longest| *longest as f64) + mean;
            prop_assert!((found - mean).abs() <= of_bins * 2.0 * RELATIVE_ERROR + 1e-2, "{} for {}", found, mean);
            prop_assert!(min <= found && found <= max);
        }

        #[test]
        fn percentiles_lie_near_the_exact_ones(
            mut values in prop::collection::vec(1u64..1 << 40, 1..200),
            share in 0.0..1.0f64,
        ) {
            let histogram = histogram_of(&values, 1e9);
            values.sort_unstable();
            let rank = ((share * values.len() as f64).ceil() as usize).max(1);
            let exact = values[rank - 1] as f64;
            let [found] = histogram.percentiles([share]).unwrap().map(Time::ns);
            let off = (found - exact).abs();
            prop_assert!(off <= exact * RELATIVE_ERROR + 1e-3, "{} for {}", found, exact);
            prop_assert!(values[0] as f64 <= found && found <= values[values.len() - 1] as f64);
        }
    }
}
