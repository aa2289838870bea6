//! Why a run is not found.

use crate::load;

/// Why a run is not found.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its folder cannot be read.
    #[error(transparent)]
    Load(#[from] load::Error),
    /// There is none of that name or number.
    #[error(
        "no run here is `{wanted}`: it is `latest`, a number from 1 to {count}, or a pattern of a label or program; `diytrace list` has them all"
    )]
    Unknown {
        /// What was asked for.
        wanted: String,
        /// How many there are.
        count: usize,
    },
}
