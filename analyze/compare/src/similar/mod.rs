//! The command `similar`: whether two environments perform alike, from a series of runs of the same test in each.
//!
//! ```text
//! two [`Side`]s ──[`read`]──▶ runs, one value of each metric ──[`choose`]──▶ those that were asked for
//!     ──[`series`]──▶ two samples of each metric, small values raised ──[`compare`]──▶ [`Document`] ──▶ a view
//! ```
//!
//! The rule is Kubemark's (github.com/kubernetes/perf-tests, `benchmark/design.md`): a metric matches if the ratio of its
//! averages is between 0.66 and 1.50, or the Kolmogorov–Smirnov test finds no difference; environments are similar if 90% of
//! the metrics match. A metric that one side lacks does not.

mod choose;
mod compare;
mod document;
mod error;
mod metric;
mod options;
mod read;
mod series;
mod source;
pub mod view;

pub use choose::{Patterns, Since};
pub use document::{Compared, Document, Sample, SideFacts, Verdict};
pub use error::Error;
pub use metric::{Kind, Metric, Value};
pub use options::{Cutoff, Options, Scheme};
pub use read::{Run, Side};
pub use source::Source;

/// The comparison as data.
pub fn document(options: &Options) -> Result<Document, Error> {
    let side = |name, source| read::side(source).and_then(|side| choose::runs(side, name, options));
    let (left, right) = (side("A", &options.left), side("B", &options.right));
    let (left, right) = (left?, right?);
    let series = series::series(&left, &right, options)?;
    compare::compare(options, &left, &right, series)
}
