//! How long requests took, in constant memory: bins that are equal parts of an octave.
//!
//! With `fine` parts a time is off its bin's middle by less than 1/2048 of itself (half a microsecond at a millisecond), with
//! `coarse` by less than 1/64. Histograms merge by addition, in any order; how many, the shortest and the longest are exact.

use serde::{Deserialize, Serialize};

/// Counts of times in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Bins", try_from = "Bins")]
pub struct Histogram {
    /// An octave has two to the power of this many parts.
    bits: u32,
    counts: Vec<u64>,
    count: u64,
    sum: u128,
    shortest: u64,
    longest: u64,
}

/// What is longer (18 minutes) counts as this, but for the longest.
const LONGEST: u64 = (1 << 40) - 1;

impl Histogram {
    /// 1,024 parts an octave: for a step. At most 260 kB.
    pub fn fine() -> Self {
        Self::with(10)
    }

    /// 32 parts an octave: for a slice of time. At most 9 kB.
    pub fn coarse() -> Self {
        Self::with(5)
    }

    fn with(bits: u32) -> Self {
        Self { bits, counts: Vec::new(), count: 0, sum: 0, shortest: u64::MAX, longest: 0 }
    }

    /// Counts a time of that many nanoseconds.
    pub fn add(&mut self, ns: u64) {
        let bin = self.bin(ns.min(LONGEST));
        if bin >= self.counts.len() {
            self.counts.resize(bin + 1, 0);
        }
        self.counts[bin] += 1;
        self.count += 1;
        self.sum += u128::from(ns);
        self.shortest = self.shortest.min(ns);
        self.longest = self.longest.max(ns);
    }

    /// Adds what another of the same kind has counted.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.bits, other.bits, "histograms of one kind");
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, other)| *count += other);
        self.count += other.count;
        self.sum += other.sum;
        self.shortest = self.shortest.min(other.shortest);
        self.longest = self.longest.max(other.longest);
    }

    /// Whether it is one for a slice of time.
    pub fn is_coarse(&self) -> bool {
        self.bits == Self::coarse().bits
    }

    /// How many times it has.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean, in nanoseconds.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The shortest, in nanoseconds.
    pub fn shortest(&self) -> Option<u64> {
        (self.count > 0).then_some(self.shortest)
    }

    /// The longest, in nanoseconds.
    pub fn longest(&self) -> Option<u64> {
        (self.count > 0).then_some(self.longest)
    }

    /// The shortest time, in nanoseconds, that this share of all does not exceed.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let rank = ((self.count as f64 * share).ceil() as u64).clamp(1, self.count.max(1));
        let mut passed = 0;
        for (bin, &count) in self.counts.iter().enumerate() {
            passed += count;
            if passed >= rank {
                return Some(self.middle(bin).clamp(self.shortest as f64, self.longest as f64));
            }
        }
        None
    }

    fn bin(&self, ns: u64) -> usize {
        let parts = 1u64 << self.bits;
        // Below that, a bin is a nanosecond.
        let shift = (63 - (ns | 1).leading_zeros()).saturating_sub(self.bits);
        ((u64::from(shift) << self.bits) + (ns >> shift).min(2 * parts - 1)) as usize
    }

    fn middle(&self, bin: usize) -> f64 {
        let parts = 1u64 << self.bits;
        let bin = bin as u64;
        let shift = (bin >> self.bits).saturating_sub(1);
        let low = (bin - (shift << self.bits)) << shift;
        debug_assert!(shift == 0 || (bin - (shift << self.bits)) >= parts);
        low as f64 + ((1u64 << shift) - 1) as f64 / 2.0
    }
}

/// A histogram on its way to another machine: the bins that have something.
#[derive(Debug, Serialize, Deserialize)]
struct Bins {
    bits: u32,
    /// How many bins lie between it and the one before, and its count.
    counts: Vec<(u32, u64)>,
    /// As text: it may have more digits than numbers of JSON.
    sum: String,
    /// The shortest and the longest, if there are any.
    ends: Option<(u64, u64)>,
}

impl From<Histogram> for Bins {
    fn from(histogram: Histogram) -> Self {
        let mut next = 0;
        let filled = histogram.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let counts = filled.map(|(bin, &count)| {
            let gap = bin - next;
            next = bin + 1;
            (gap as u32, count) // fewer than 2^17 bins
        });
        Self {
            bits: histogram.bits,
            counts: counts.collect(),
            sum: histogram.sum.to_string(),
            ends: (histogram.count > 0).then_some((histogram.shortest, histogram.longest)),
        }
    }
}

impl TryFrom<Bins> for Histogram {
    type Error = &'static str;

    /// Anybody may have written it.
    fn try_from(bins: Bins) -> Result<Self, Self::Error> {
        const WRONG: &str = "a histogram is none of ours";
        let mut histogram = match bins.bits {
            10 => Self::fine(),
            5 => Self::coarse(),
            _ => return Err(WRONG),
        };
        let most = histogram.bin(LONGEST) + 1;
        let mut next = 0;
        for (gap, count) in bins.counts {
            let bin = next + gap as usize;
            if bin >= most || count == 0 {
                return Err(WRONG);
            }
            histogram.counts.resize(bin + 1, 0);
            histogram.counts[bin] = count;
            histogram.count = histogram.count.checked_add(count).filter(|sum| *sum < MOST_REQUESTS).ok_or(WRONG)?;
            next = bin + 1;
        }
        let most = u128::from(histogram.count) * u128::from(bins.ends.map_or(0, |(_, longest)| longest));
        histogram.sum = bins.sum.parse().ok().filter(|sum| *sum <= most).ok_or(WRONG)?;
        match (bins.ends, histogram.count) {
            (None, 0) => Ok(histogram),
            (Some((shortest, longest)), 1..) if shortest <= longest => Ok(Self { shortest, longest, ..histogram }),
            _ => Err(WRONG),
        }
    }
}

/// More requests than any run has: sums of less do not overflow.
pub const MOST_REQUESTS: u64 = 1 << 53;

#[cfg(test)]
mod tests {
    use super::*;

    fn times() -> impl Iterator<Item = u64> {
        let mut random = fastrand::Rng::with_seed(7);
        (0..20_000).map(move |_| random.u64(..) >> random.u32(25..64))
    }

    #[test]
    fn a_time_is_near_its_bins_middle() {
        for (mut histogram, most) in [(Histogram::fine(), 2048.0), (Histogram::coarse(), 64.0)] {
            for ns in times().chain(0..5000) {
                let middle = histogram.middle(histogram.bin(ns));
                assert!((middle - ns as f64).abs() <= ns as f64 / most, "{ns} and {middle}");
                histogram.add(ns);
            }
            assert_eq!(histogram.count(), 25_000);
            assert!(histogram.counts.len() <= 41 << histogram.bits);
        }
    }

    #[test]
    fn bins_follow_each_other() {
        for histogram in [Histogram::fine(), Histogram::coarse()] {
            let mut last = 0;
            for ns in 0..100_000 {
                let bin = histogram.bin(ns);
                assert!(bin == last || bin == last + 1, "{ns}");
                last = bin;
            }
        }
    }

    #[test]
    fn merged_is_as_counted_together() {
        let mut all = Histogram::fine();
        let mut parts = [Histogram::fine(), Histogram::fine(), Histogram::fine()];
        for (number, ns) in times().enumerate() {
            all.add(ns);
            parts[number % 3].add(ns);
        }
        let [mut first, second, third] = parts;
        first.merge(&third);
        first.merge(&second);
        first.merge(&Histogram::fine());
        assert_eq!(first, all);
    }

    #[test]
    fn on_another_machine_it_is_the_same() {
        let mut histogram = Histogram::fine();
        for empty in [Histogram::fine(), Histogram::coarse()] {
            assert_eq!(serde_json::from_str::<Histogram>(&serde_json::to_string(&empty).unwrap()).unwrap(), empty);
        }
        times().chain([0, u64::MAX]).for_each(|ns| histogram.add(ns));
        let text = serde_json::to_string(&histogram).unwrap();
        assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), histogram);
        for wrong in [
            r#"{"bits": 11, "counts": [], "sum": "0", "ends": null}"#,
            r#"{"bits": 10, "counts": [[4000000000, 1]], "sum": "0", "ends": [1, 1]}"#,
            r#"{"bits": 10, "counts": [[0, 0]], "sum": "0", "ends": null}"#,
            r#"{"bits": 10, "counts": [[0, 18446744073709551615]], "sum": "0", "ends": [1, 1]}"#,
            r#"{"bits": 10, "counts": [[0, 1]], "sum": "-1", "ends": [1, 1]}"#,
            r#"{"bits": 10, "counts": [[0, 1]], "sum": "1", "ends": [2, 1]}"#,
            r#"{"bits": 10, "counts": [[0, 1]], "sum": "1", "ends": null}"#,
        ] {
            assert!(serde_json::from_str::<Histogram>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn percentiles_are_ranks() {
        let mut histogram = Histogram::fine();
        assert_eq!((histogram.percentile(0.5), histogram.mean(), histogram.longest()), (None, None, None));
        (1..=1000).for_each(|ns| histogram.add(ns));
        let all = [0.0, 0.5, 0.99, 0.999, 1.0].map(|share| histogram.percentile(share).unwrap());
        assert_eq!(all, [1.0, 500.0, 990.0, 999.0, 1000.0]);
        histogram.add(u64::MAX);
        assert_eq!(histogram.longest(), Some(u64::MAX));
    }
}
