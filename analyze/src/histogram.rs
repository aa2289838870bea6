//! Merged histograms: the distribution of a function's call times over threads, processes and machines.

use std::collections::BTreeMap;

use diytrace::histogram::{SUBS, middle, range};

use crate::load;
use crate::time::Time;

/// Clocks whose rates differ by less than this share are taken for one: bins are then added, not converted.
const SAME_RATE: f64 = 1e-3;

/// Calls by their time. Histograms merge in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Bins by kind of clock.
    clocks: BTreeMap<i32, Bins>,
    unbinned: u64,
    extremes: Option<(Time, Time)>,
}

/// Bins in ticks of clocks of nearly one rate.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Bins {
    /// Rates in ticks per second, each as often as there are calls, for their mean.
    rates: u128,
    calls: u64,
    octaves: BTreeMap<u8, [u64; SUBS]>,
}

impl Histogram {
    /// Adds what one arena has counted.
    pub fn add(&mut self, function: &load::Function, hz: f64) {
        let ns = |ticks: u64| Time::from_ns(ticks as f64 * (1e9 / hz));
        self.unbinned = self.unbinned.saturating_add(function.unbinned);
        if let Some((min, max)) = function.extremes {
            self.extend(ns(min), ns(max));
        }
        if function.octaves.is_empty() {
            return;
        }
        let bins = self.clocks.entry((hz.ln() / SAME_RATE).round() as i32).or_default();
        let calls = function.returned().saturating_sub(function.unbinned);
        bins.add_rates(calls, u128::from(calls).saturating_mul(hz.round() as u128));
        for (octave, counts) in &function.octaves {
            bins.add_octave(*octave, counts);
        }
    }

    /// Adds another.
    pub fn merge(&mut self, other: &Self) {
        self.unbinned = self.unbinned.saturating_add(other.unbinned);
        if let Some((min, max)) = other.extremes {
            self.extend(min, max);
        }
        for (clock, from) in &other.clocks {
            let bins = self.clocks.entry(*clock).or_default();
            bins.add_rates(from.calls, from.rates);
            for (octave, counts) in &from.octaves {
                bins.add_octave(*octave, counts);
            }
        }
    }

    /// What orders histograms, if not by anything that means much.
    pub fn order(&self) -> impl Ord + '_ {
        (self.extremes, self.unbinned, &self.clocks)
    }

    fn extend(&mut self, min: Time, max: Time) {
        let (low, high) = self.extremes.unwrap_or((min, max));
        self.extremes = Some((low.min(min), high.max(max)));
    }

    /// Calls that returned.
    pub fn returned(&self) -> u64 {
        self.clocks.values().fold(self.unbinned, |sum, bins| sum.saturating_add(bins.calls))
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
        for bins in self.clocks.values() {
            for (octave, sub, count) in bins.filled() {
                sum += middle(octave, sub) * bins.ns_per_tick() * count as f64;
                calls += count as f64;
            }
        }
        (calls > 0.0).then(|| self.clamp(sum / calls))
    }

    /// Calls by their time: between which two, and how many; the shortest first.
    pub fn bars(&self) -> impl Iterator<Item = (Time, Time, u64)> {
        let mut bars = Vec::new();
        for clock in self.clocks.values() {
            let scale = clock.ns_per_tick();
            bars.extend(clock.filled().map(|(octave, sub, count)| {
                let (low, width) = range(octave, sub);
                (Time::from_ns(low as f64 * scale), Time::from_ns((low + width - 1) as f64 * scale), count)
            }));
        }
        bars.sort_unstable();
        bars.into_iter()
    }

    /// Times at these shares of the calls (ascending), by nearest rank: the middle of the call's bin, which is off by at
    /// most [`diytrace::histogram::RELATIVE_ERROR`].
    pub fn percentiles<const N: usize>(&self, shares: [f64; N]) -> Option<[Time; N]> {
        let mut bins: Vec<(f64, u64)> = Vec::new(); // middle, calls
        for clock in self.clocks.values() {
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
            bins.iter().find(reaches).map_or(self.max().unwrap_or_default(), |&(middle, _)| self.clamp(middle))
        }))
    }

    fn clamp(&self, ns: f64) -> Time {
        let time = Time::from_ns(ns);
        self.extremes.map_or(time, |(min, max)| time.max(min).min(max))
    }
}

impl Bins {
    fn add_rates(&mut self, calls: u64, rates: u128) {
        self.calls = self.calls.saturating_add(calls);
        self.rates = self.rates.saturating_add(rates);
    }

    fn add_octave(&mut self, octave: u8, counts: &[u64; SUBS]) {
        let sums = self.octaves.entry(octave).or_default();
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum = sum.saturating_add(*count);
        }
    }

    fn ns_per_tick(&self) -> f64 {
        1e9 / (self.rates as f64 / self.calls as f64)
    }

    fn filled(&self) -> impl Iterator<Item = (usize, usize, u64)> {
        self.octaves.iter().flat_map(|(&octave, counts)| {
            let filled = counts.iter().enumerate().filter(|&(_, &count)| count > 0);
            filled.map(move |(sub, &count)| (octave as usize, sub, count))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::histogram_of;
    use diytrace::histogram::RELATIVE_ERROR;
    use proptest::prelude::*;

    #[test]
    fn nearest_ranks() {
        let histogram = histogram_of(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 1e9);
        let found = histogram.percentiles([0.0, 0.5, 0.9, 0.99, 1.0]).unwrap().map(Time::ns);
        assert_eq!(found, [1.0, 5.0, 9.0, 10.0, 10.0]);
        assert_eq!(histogram.mean().unwrap().ns(), 5.5);
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
