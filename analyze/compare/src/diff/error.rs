//! Why there is no comparison.

use std::io;
use std::path::PathBuf;

use crate::runs;

/// Why there is no comparison.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A set cannot be read.
    #[error(transparent)]
    Runs(#[from] runs::Error),
    /// No run of a side is left.
    #[error("{set} has no run that can be compared: {why}")]
    NoRun {
        /// The set.
        set: String,
        /// Why the first was left out.
        why: String,
    },
    /// Sets of two different benchmarks.
    #[error("{left} and {right} have no query in common: {left} has {left_queries}, {right} has {right_queries}")]
    NoCommonQuery {
        /// The set before.
        left: String,
        /// The set after.
        right: String,
        /// Its queries.
        left_queries: String,
        /// The same.
        right_queries: String,
    },
    /// Nothing was saved by that name.
    #[error(
        "there is no history of `{name}` in {}: `diytrace bench --save {name}` begins one, DIYTRACE_HISTORY or --history names \
         another folder", folder.display()
    )]
    NoHistory {
        /// Where it would be.
        folder: PathBuf,
        /// What was asked for.
        name: String,
    },
    /// One set does not vary.
    #[error("{} has {found} of the two saved sets at least that tell what usually varies", folder.display())]
    ShortHistory {
        /// Where it is.
        folder: PathBuf,
        /// How many there are.
        found: usize,
    },
    /// A name that leads elsewhere.
    #[error("`{name}` cannot be a name in the history: it is a folder's name, without a slash")]
    HistoryName {
        /// What was asked for.
        name: String,
    },
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    WriteTo {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The result could not be written to stdout.
    #[error("cannot write the comparison: {0}")]
    Write(#[from] io::Error),
}
