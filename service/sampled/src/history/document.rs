//! Functions in sampled profiles over builds, commits or time, in the shape of its JSON (`diytrace-sampled-history/1`). Fields may be
//! added, none changed.

use diytrace_compare::history::Found;
use serde::Serialize;

use crate::{Kind, Per};

/// The name of the shape.
pub(super) const SCHEMA: &str = "diytrace-sampled-history/1";

/// Functions over the points.
#[derive(Clone, Debug, Serialize)]
pub struct History {
    /// The name of the shape: `diytrace-sampled-history/1`.
    pub schema: &'static str,
    /// What the points are: `time`, or a label.
    pub over: String,
    /// Of `time`: how long a point is.
    pub slice_ns: Option<i64>,
    /// The type of samples, and its unit.
    #[serde(flatten)]
    pub kind: Kind,
    /// What values are of.
    pub per: Per,
    /// What the reader should know.
    pub warnings: Vec<String>,
    /// Functions whose values could have shown a step.
    pub tested: usize,
    /// Functions: those that were named; or those that rose, the greatest rise first.
    pub functions: Vec<Course>,
}

/// A function over the points.
#[derive(Clone, Debug, Serialize)]
pub struct Course {
    /// Its name.
    pub name: String,
    /// The last part of its file's path; null if that is not known.
    pub file: Option<String>,
    /// In the order of their first profiles; those of time in which nothing was sampled are missing.
    pub points: Vec<Point>,
    /// Changes that stayed.
    pub steps: Vec<Found<Measure>>,
}

/// A function in the profiles of one build or commit, or in a slice of time.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// The label's value; empty for a slice of time.
    pub value: String,
    /// When it began, in nanoseconds since 1970.
    pub started_unix_ns: i64,
    /// When it ended.
    pub ended_unix_ns: i64,
    /// Profiles in it.
    pub profiles: usize,
    /// Of samples in the function: the median of the profiles'; null if nothing was sampled at all.
    pub flat: Option<f64>,
    /// How far off it may be for sampling, in 95% of all cases, where values are sums of samples: of all profiles together.
    pub flat_plus_minus: Option<f64>,
    /// Of samples in it, or in what it has called.
    pub cum: Option<f64>,
    /// What of all samples were in it.
    pub share: Option<f64>,
}

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Of samples in it.
    Flat,
    /// Of samples in it, or in what it has called.
    Cum,
}
