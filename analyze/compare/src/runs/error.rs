//! Why there is no set of runs.

use std::io;
use std::path::PathBuf;

use diytrace_profile::{load, run};

/// Why there is no set of runs.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no profile, or none that can be read.
    #[error(transparent)]
    Load(#[from] load::Error),
    /// There is no such run.
    #[error(transparent)]
    Run(#[from] run::Error),
    /// Runs of a set are not chosen one by one: they were made to be compared together.
    #[error("{} is a set of `diytrace bench`, which is compared as a whole: --run is for folders of recordings", path.display())]
    Whole {
        /// The folder.
        path: PathBuf,
    },
    /// The set's file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is no JSON, or does not say what it should.
    #[error("{} is not a set of runs: {source}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What, and on which line.
        source: serde_json::Error,
    },
    /// Something else, or something newer.
    #[error(
        "{} is a {schema:?} and this diytrace reads \"diytrace-runs/1\": name a folder that `diytrace bench` wrote, or a \
         folder of profiles",
        path.display()
    )]
    Schema {
        /// The file.
        path: PathBuf,
        /// What it says it is.
        schema: String,
    },
    /// There are none.
    #[error("{} has no runs: `diytrace bench` was ended before the first was complete; run it again", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A run has nothing to compare.
    #[error("run {run} in {} names no profile", path.display())]
    NoProfile {
        /// The file.
        path: PathBuf,
        /// The run.
        run: String,
    },
    /// What a run names was moved, or deleted.
    #[error("run {run} in {} names the profile {}, which is not there: copy the whole folder", path.display(), profile.display())]
    ProfileMissing {
        /// The file.
        path: PathBuf,
        /// The run.
        run: String,
        /// The profile.
        profile: PathBuf,
    },
    /// One number stands for two runs.
    #[error("{} has run {run} twice", path.display())]
    Twice {
        /// The file.
        path: PathBuf,
        /// The run.
        run: String,
    },
    /// It could be one run a file or one a folder.
    #[error("{} has both profiles and folders of profiles: name one of the folders, or move the profiles into their own", path.display())]
    Ambiguous {
        /// The folder.
        path: PathBuf,
    },
    /// It cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    WriteTo {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
