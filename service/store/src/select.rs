//! What was selected, as if its recordings had been read from files.

use diytrace_profile::load::Loaded;
use diytrace_profile::merge::Merged;

/// What was selected.
#[derive(Debug)]
pub struct Selected {
    /// What is told of the recordings.
    pub loaded: Loaded,
    /// What they counted.
    pub merged: Merged,
}
