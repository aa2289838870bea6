//! What to compare, and what counts as alike.

use super::choose::{Patterns, Since};
use super::source::Source;

/// What to compare, and what counts as alike.
#[derive(Clone, Debug)]
pub struct Options {
    /// A's runs.
    pub left: Source,
    /// B's.
    pub right: Source,
    /// The metrics; none: the usual ones.
    pub metrics: Patterns,
    /// What small values are raised to; of several for a metric the last counts.
    pub cutoffs: Vec<Cutoff>,
    /// Only the last runs of each side, and query.
    pub last: Option<usize>,
    /// Only runs that began then or later.
    pub since: Option<Since>,
    /// How a metric is compared.
    pub scheme: Scheme,
    /// Least share of metrics that match, in percent.
    pub pass: f64,
}

/// How a metric is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scheme {
    /// The ratio of averages, A's over B's, is between these.
    Avg {
        /// Smallest ratio that matches.
        low: f64,
        /// Largest.
        high: f64,
    },
    /// The Kolmogorov–Smirnov test does not tell the samples apart.
    Ks {
        /// Smallest *p* that matches.
        significance: f64,
    },
}

/// What the small values of some metrics are raised to.
#[derive(Clone, Debug, PartialEq)]
pub struct Cutoff {
    /// The metrics.
    pub metrics: Patterns,
    /// The value.
    pub value: f64,
    /// Its unit, if it is a time, which means times only; else it is in the metric's.
    pub unit: Option<&'static str>,
}
