//! Two selections of sampled profiles, compared, in the shape of its JSON (`diytrace-sampled-diff/1`). Fields may be added, none changed.

use diytrace_compare::diff::{Options, Test, Verdict};
use serde::Serialize;

use crate::{Kind, Per};

/// The name of the shape.
pub(super) const SCHEMA: &str = "diytrace-sampled-diff/1";

/// Two selections.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The name of the shape: `diytrace-sampled-diff/1`.
    pub schema: &'static str,
    /// The selection before.
    pub left: Side,
    /// The selection after.
    pub right: Side,
    /// The type of samples, and its unit.
    #[serde(flatten)]
    pub kind: Kind,
    /// What values are of.
    pub per: Per,
    /// From when on a difference is a change.
    pub options: Options,
    /// What tells how much one run differs from another.
    pub replicates: Replicates,
    /// All functions together; null where values are shares.
    pub total: Option<Total>,
    /// Functions, those that changed the most first.
    pub functions: Vec<Function>,
    /// What the reader should know.
    pub warnings: Vec<String>,
}

/// One side.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// Its labels, as they were asked for.
    pub name: String,
    /// Profiles.
    pub profiles: usize,
    /// Runs that these are.
    pub runs: usize,
    /// When the first began, in nanoseconds since 1970.
    pub started_unix_ns: i64,
    /// When the last ended.
    pub ended_unix_ns: i64,
    /// How long all took together.
    pub duration_ns: i64,
    /// What all samples add up to.
    pub total: i64,
    /// How many samples that are, where values are sums of samples.
    pub samples: Option<u64>,
    /// What the values of stacks are multiplied by: those before as if they were of as many seconds, profiles or samples as those after.
    pub scale: f64,
}

/// What tells how much one run differs from another.
#[derive(Clone, Debug, Serialize)]
pub struct Replicates {
    /// What one run is.
    pub of: Run,
    /// Functions that were tested: p-values are adjusted for that many.
    pub tests: usize,
    /// The smallest p-value that so many runs can show.
    pub smallest_p: f64,
    /// Whether so many can show a change of one function among those tested.
    pub suffice: bool,
    /// How many of each side could.
    pub needed: usize,
}

/// What one run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Run {
    /// A profile.
    Profile,
    /// All that a host has.
    Host,
}

/// All functions together.
#[derive(Clone, Debug, Serialize)]
pub struct Total {
    /// What the runs say.
    pub verdict: Verdict,
    /// The values of the runs.
    pub values: Test,
    /// What sampling alone says, where values are sums of samples.
    pub sampling: Option<Sampling>,
}

/// A function on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The last part of its file's path; null if that is not known.
    pub file: Option<String>,
    /// What the runs say of its flat values.
    pub verdict: Verdict,
    /// Its part of all, over both sides.
    pub share: f64,
    /// Of samples in it.
    pub flat: Test,
    /// Of samples in it, or in what it has called.
    pub cum: Test,
    /// What sampling alone says of the flat values, where they are sums of samples.
    pub sampling: Option<Sampling>,
}

/// What two counts of samples say: whether they differ by more than samples do that are taken by chance. It knows nothing of what one
/// run differs from another by.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Sampling {
    /// Samples before.
    pub left: u64,
    /// And after.
    pub right: u64,
    /// How far off the difference of the values may be for that, in 95% of all cases.
    pub plus_minus: f64,
    /// The chance of counts so far apart at equal rates (exact conditional test of two Poisson counts).
    pub p: f64,
    /// The same, adjusted for all functions that were tested; null if it was not one of them.
    pub p_adjusted: Option<f64>,
}
