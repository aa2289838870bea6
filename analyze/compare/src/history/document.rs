//! A history as data, in the shape of its JSON (`diytrace-history/1`). Fields may be added, none changed.

use diytrace_profile::units::{nanoseconds, optional_nanoseconds};
use diytrace_views::report::Bar;
use serde::Serialize;

use super::coarse::Coarse;
use super::found::Found;

/// The name of the shape.
pub(super) const SCHEMA: &str = "diytrace-history/1";

/// Functions over builds, commits or time.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// The name of the shape: `diytrace-history/1`.
    pub schema: &'static str,
    /// What the points are: `time`, or a label.
    pub over: String,
    /// Of `time`: how long a point is, but for the first and last.
    pub slice_ns: Option<i64>,
    /// Of `time`: what came late, so that all of it is in the slice in which it ended; the earlier first.
    pub coarse: Vec<Coarse>,
    /// What the reader should know.
    pub warnings: Vec<String>,
    /// Whether exclusive times of a call are less the time in which others had the processor, which all of the recordings know then.
    pub without_preempted: bool,
    /// Functions whose values have been looked at for steps.
    pub tested: usize,
    /// Functions: those that were named; or those with a step, the greatest rise of self time first.
    pub functions: Vec<Course>,
}

/// A function over the points.
#[derive(Clone, Debug, Serialize)]
pub struct Course {
    /// Its name.
    pub name: String,
    /// File name of its module.
    pub module: String,
    /// Its source file, where several functions of that name are told apart.
    pub file: Option<String>,
    /// In the order of their first recordings; those of time in which nothing was counted are missing.
    pub points: Vec<Point>,
    /// Changes that stayed.
    pub steps: Vec<Found<Measure>>,
}

/// A function in the recordings of one build or commit, or in a slice of time.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// The label's value; empty for a slice of time.
    pub value: String,
    /// When it began, in nanoseconds since 1970.
    pub started_unix_ns: i64,
    /// When it ended.
    pub ended_unix_ns: i64,
    /// Recordings in it; of time, 1.
    pub runs: usize,
    /// Calls entered.
    pub calls: u64,
    /// Inclusive time.
    #[serde(serialize_with = "nanoseconds")]
    pub total_ns: f64,
    /// How far off that may be.
    #[serde(serialize_with = "nanoseconds")]
    pub total_error_ns: f64,
    /// Exclusive time.
    #[serde(serialize_with = "nanoseconds")]
    pub self_ns: f64,
    /// How far off that may be.
    #[serde(serialize_with = "nanoseconds")]
    pub self_error_ns: f64,
    /// Exclusive time of a call, less preempted time where `without_preempted` says so: the median of the recordings'. Null where there is
    /// no call.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub self_per_call_ns: Option<f64>,
    /// Calls of a recording: the median. Of time: calls that were made in the slice, where those that came with others, at once, are spread
    /// evenly over the time of those; `calls` are those that came in it, to the last.
    pub calls_per_run: f64,
    /// Median time of a call.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p50_ns: Option<f64>,
    /// 90th percentile.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p90_ns: Option<f64>,
    /// 99th percentile.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p99_ns: Option<f64>,
    /// Longest call.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub max_ns: Option<f64>,
    /// The distribution of its calls, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Vec<Bar>>,
}

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Exclusive time of a call.
    SelfPerCallNs,
    /// Calls of a recording.
    CallsPerRun,
    /// The median time of a call, with what it calls: it says more than the mean where other programs disturb
    /// some of the calls.
    P50Ns,
}

impl Measure {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::SelfPerCallNs => "self a call",
            Self::CallsPerRun => "calls",
            Self::P50Ns => "p50",
        }
    }
}
