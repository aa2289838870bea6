//! What is compared: something with one number a run.

use std::fmt;

/// What a metric is called.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Metric {
    /// The query, or the kind of file. Empty: there is one.
    pub group: String,
    /// A function, what the labels of an item say, or the path of a number in JSON.
    pub name: String,
    /// Which number of it: `p99`, `Perc99`. Empty: it is one itself.
    pub field: String,
}

impl Metric {
    /// Without its group.
    pub fn short(&self) -> String {
        match (self.name.is_empty(), self.field.is_empty()) {
            (_, true) => self.name.clone(),
            (true, false) => self.field.clone(),
            (false, false) => format!("{}:{}", self.name, self.field),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group.as_str() {
            "" => f.write_str(&self.short()),
            group => write!(f, "{group}/{}", self.short()),
        }
    }
}

/// Where a metric comes from, which tells what is usual for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A function's calls or times.
    Function,
    /// What was measured of a run as a whole.
    Run,
    /// Latency of requests to an API, in perf-dashboard's form.
    Request,
    /// Latency of the start of pods, in that form.
    PodStartup,
    /// Something else in that form.
    Item,
    /// A number somewhere in JSON.
    Number,
}

impl Kind {
    /// Whether a metric is compared if nobody says which.
    pub fn is_usual(self, metric: &Metric) -> bool {
        match self {
            Self::Function => ["count", "p50", "p90", "p99"].contains(&metric.field.as_str()),
            Self::Run => metric.name == crate::runs::metric::WALL,
            Self::Request | Self::PodStartup | Self::Item => {
                ["Perc90", "Perc95", "Perc99"].contains(&metric.field.as_str())
            }
            Self::Number => true,
        }
    }

    /// What small values are raised to if nobody says otherwise, in nanoseconds: below, noise is larger than what
    /// matters. Kubemark's for its latencies, and for functions some dozen times what timing a call costs.
    pub fn usual_cutoff_ns(self) -> Option<f64> {
        match self {
            Self::Function => Some(1e3),
            Self::Request => Some(50e6),
            Self::PodStartup => Some(1e9),
            Self::Run | Self::Item | Self::Number => None,
        }
    }
}

/// A metric's number in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// What it is the number of.
    pub metric: Metric,
    /// Finite.
    pub number: f64,
    /// Empty: a count, or not known.
    pub unit: String,
    /// Where it comes from.
    pub kind: Kind,
}

/// Nanoseconds in a unit of time.
pub fn nanoseconds_in(unit: &str) -> Option<f64> {
    match unit {
        "ns" => Some(1.0),
        "us" | "µs" | "μs" => Some(1e3),
        "ms" => Some(1e6),
        "s" => Some(1e9),
        _ => None,
    }
}
