//! Why there is no checkup.

use std::io;

/// Why there is no checkup.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such program.
    #[error("cannot check {name}: {reason}")]
    NotFound {
        /// As it was given.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The checkup could not be written.
    #[error("cannot write the checkup: {0}")]
    Write(#[from] io::Error),
}
