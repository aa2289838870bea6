//! Runs, as they lie in a folder: what one `diytrace record` left, or one program that was started with the preload.
//!
//! ```text
//! paths ──[`find`]──▶ [`Run`]s, the oldest first ──[`choose`]──▶ the files of those that are meant
//!                                               └─[`facts`]───▶ what became of them
//! ```

mod choose;
mod error;
pub mod facts;
mod find;
pub mod note;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub use choose::choose;
pub use error::Error;
pub use facts::Facts;
pub use find::find;
use note::Note;

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Its place among those of its folder, from 1: the oldest.
    pub number: usize,
    /// Its profiles, or the archive that has them.
    pub files: Vec<PathBuf>,
    /// What somebody called it.
    pub label: Option<String>,
    /// When it began, in nanoseconds since 1970; of an archive, when that was written. 0 if that is not known.
    pub started_unix_ns: u64,
}

/// How many runs have left these profiles.
pub fn count<'a>(profiles: impl Iterator<Item = &'a Path>) -> usize {
    let run = |profile: &'a Path| match Note::read(profile) {
        Some(note) => (profile.parent(), note.run),
        None => (Some(profile), String::new()),
    };
    profiles.map(run).collect::<BTreeSet<_>>().len()
}
