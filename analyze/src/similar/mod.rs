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

use std::io::{BufWriter, Write};

use crate::report::Format;
use crate::view::{self, Screen};
pub use choose::{Patterns, Since};
pub use document::{Compared, Document, Sample, SideFacts, Verdict};
pub use error::Error;
pub use metric::{Kind, Metric, Value};
pub use options::{Cutoff, Options, Scheme};
pub use read::{Run, Side};

/// Most warnings that are printed; JSON has them all.
const MOST_WARNINGS: usize = 10;

/// Writes a comparison; warnings go to stderr. Gives the exit status: 0 similar, 1 not.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<u8, Error> {
    let document = document(options)?;
    let mut out = BufWriter::new(out);
    match options.format {
        Format::Json => view::json::write(&document, &mut out)?,
        Format::Csv => view::similar::csv::write(&document, &mut out)?,
        Format::Table => view::similar::table::write(&document, options.limit, &Screen::of(options.color), &mut out)?,
    }
    out.flush()?;
    for warning in document.warnings.iter().take(MOST_WARNINGS) {
        eprintln!("warning: {warning}");
    }
    if let more @ 1.. = document.warnings.len().saturating_sub(MOST_WARNINGS) {
        eprintln!("warning: … and {more} more; --format json has them all");
    }
    Ok(if document.pass { 0 } else { 1 })
}

/// The comparison as data.
pub fn document(options: &Options) -> Result<Document, Error> {
    let [left, right] = [("A", &options.left), ("B", &options.right)]
        .map(|(name, paths)| read::side(paths).and_then(|side| choose::runs(side, name, options)));
    let (left, right) = (left?, right?);
    let series = series::series(&left, &right, options)?;
    compare::compare(options, &left, &right, series)
}
