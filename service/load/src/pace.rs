//! When requests are sent: rates of steps, and the plan of a thread.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// The rates of a run, one a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Rates {
    /// These, in requests a second.
    Listed(Vec<f64>),
    /// From this one on each twice the last, until the server cannot keep up.
    Ramp(f64),
    /// As fast as the connections go: each sends when its answer is there.
    Max,
}

/// Where a ramp begins, unless told.
const FOOT: f64 = 100.0;

/// Most requests a second: their times must differ.
const FASTEST: f64 = 1e8;

/// Least: one an hour.
const SLOWEST: f64 = 1.0 / 3600.0;

impl FromStr for Rates {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::Rate { text: text.to_owned() };
        let rate = |text: &str| {
            let text = text.trim().trim_end_matches("/s");
            let (digits, factor) = text.strip_suffix('k').map_or((text, 1.0), |digits| (digits, 1e3));
            let rate = digits.parse().ok().map(|rate: f64| rate * factor);
            rate.filter(|rate| (SLOWEST..=FASTEST).contains(rate)).ok_or_else(wrong)
        };
        match text.trim() {
            "max" => Ok(Self::Max),
            "ramp" => Ok(Self::Ramp(FOOT)),
            text => match text.strip_prefix("ramp:") {
                Some(from) => rate(from).map(Self::Ramp),
                None => text.split(',').map(rate).collect::<Result<_, _>>().map(Self::Listed),
            },
        }
    }
}

impl Rates {
    /// The lowest of them alone.
    pub fn lowest(&self) -> Self {
        match self {
            Self::Listed(all) => Self::Listed(all.iter().copied().min_by(f64::total_cmp).into_iter().collect()),
            Self::Ramp(foot) => Self::Listed(vec![*foot]),
            Self::Max => Self::Max,
        }
    }
}

/// How a step is paced.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Pace {
    /// So many requests a second, at equal distances.
    Constant(f64),
    /// So many requests a second, independent of each other (exponential gaps).
    Poisson(f64),
    /// A connection sends when its last answer is there.
    Max,
}

impl Pace {
    /// Whether its rate is one that can be asked for: it may come from anybody.
    pub fn is_sound(self) -> bool {
        self.rate().is_none_or(|rate| (SLOWEST..=FASTEST).contains(&rate))
    }

    /// Requests a second, if they are planned.
    pub fn rate(self) -> Option<f64> {
        match self {
            Self::Constant(rate) | Self::Poisson(rate) => Some(rate),
            Self::Max => None,
        }
    }
}

/// The moments at which a thread sends, one of several that share a rate.
#[derive(Clone, Debug)]
pub struct Plan {
    next_ns: u64,
    gaps: Gaps,
}

#[derive(Clone, Debug)]
enum Gaps {
    Equal {
        began_ns: u64,
        number: u64,
        of: u64,
        rate: f64,
    },
    Exponential {
        at: f64,
        mean: f64,
        random: Box<fastrand::Rng>,
    },
    /// Nothing is planned.
    None,
}

impl Plan {
    /// Of thread `thread` of `threads`, from a moment on.
    pub fn new(pace: Pace, began_ns: u64, (thread, threads): (u64, u64), mut random: fastrand::Rng) -> Self {
        let gaps = match pace {
            Pace::Constant(rate) => Gaps::Equal { began_ns, number: thread, of: threads, rate },
            // Several independent ones of a share of the rate are one of the whole.
            Pace::Poisson(rate) => {
                let mean = 1e9 / rate * threads as f64;
                let at = began_ns as f64 + gap(mean, &mut random);
                Gaps::Exponential { at, mean, random: Box::new(random) }
            }
            Pace::Max => Gaps::None,
        };
        let mut plan = Self { next_ns: 0, gaps };
        plan.next_ns = plan.moment();
        plan
    }

    /// When the next request is planned, in nanoseconds of the run's clock; after all time, if none is.
    pub fn peek(&self) -> u64 {
        self.next_ns
    }

    /// It is taken, and the one after it is next.
    pub fn advance(&mut self) {
        match &mut self.gaps {
            Gaps::Equal { number, of, .. } => *number += *of,
            Gaps::Exponential { at, mean, random } => *at += gap(*mean, random),
            Gaps::None => {}
        }
        self.next_ns = self.moment();
    }

    fn moment(&self) -> u64 {
        match &self.gaps {
            // From the beginning each time: sums of gaps would drift.
            Gaps::Equal { began_ns, number, rate, .. } => began_ns + (*number as f64 * 1e9 / rate) as u64,
            Gaps::Exponential { at, .. } => *at as u64,
            Gaps::None => u64::MAX,
        }
    }
}

fn gap(mean: f64, random: &mut fastrand::Rng) -> f64 {
    -(1.0 - random.f64()).ln() * mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_people_write_them() {
        assert_eq!("100, 2k,0.5/s".parse::<Rates>().unwrap(), Rates::Listed(vec![100.0, 2000.0, 0.5]));
        assert_eq!("max".parse::<Rates>().unwrap(), Rates::Max);
        assert_eq!("ramp".parse::<Rates>().unwrap(), Rates::Ramp(100.0));
        assert_eq!("ramp:5k".parse::<Rates>().unwrap(), Rates::Ramp(5000.0));
        for text in ["", "0", "-1", "1,,2", "fast", "inf", "nan", "1e9", "ramp:", "10ms"] {
            assert!(text.parse::<Rates>().is_err(), "{text}");
        }
    }

    fn moments(pace: Pace, threads: u64, until_ns: u64) -> Vec<u64> {
        let mut all = Vec::new();
        for thread in 0..threads {
            let mut plan = Plan::new(pace, 1_000, (thread, threads), fastrand::Rng::with_seed(thread));
            while plan.peek() < until_ns {
                all.push(plan.peek());
                plan.advance();
            }
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn threads_share_a_constant_rate_without_a_gap() {
        let expected: Vec<u64> = (0..3000).map(|number| 1_000 + (f64::from(number) * 1e9 / 3000.0) as u64).collect();
        for threads in [1, 2, 7] {
            assert!(moments(Pace::Constant(3000.0), threads, 1_000_001_000) == expected, "{threads}");
        }
    }

    #[test]
    fn independent_requests_have_the_rate_and_the_spread() {
        let moments = moments(Pace::Poisson(10_000.0), 3, 10_000_001_000);
        let count = moments.len() as f64;
        assert!((count - 100_000.0).abs() < 5.0 * 100_000f64.sqrt(), "{count}");
        let gaps: Vec<f64> = moments.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let longer = gaps.iter().filter(|gap| **gap > 1e5).count() as f64 / count;
        assert!((longer - (-1f64).exp()).abs() < 0.01, "{longer} are longer than the mean");
    }
}
