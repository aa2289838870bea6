//! What the runs of a side are read from.

use std::path::PathBuf;

use crate::runs::Runs;

/// Where a side's runs are.
#[derive(Clone, Debug)]
pub enum Source {
    /// Sets of profiles, and files or folders of JSON.
    At {
        /// Where.
        paths: Vec<PathBuf>,
        /// Which of the recordings there, as `--run` means them. `None`: all.
        wanted: Option<String>,
    },
    /// The runs themselves.
    Of(Runs),
}
