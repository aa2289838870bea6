//! Processes.

use serde::{Deserialize, Serialize};

/// What became of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum State {
    /// It is still there.
    Running,
    /// It ended by itself.
    Exited,
    /// It is gone without a word.
    Killed,
}
