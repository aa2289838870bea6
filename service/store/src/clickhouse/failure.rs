//! Why frames are not added up.

use crate::Error;

/// Why there are no sums.
pub enum Failure {
    /// Somebody has replaced frames or thrown them away since they were listed: they are to be listed again.
    Moved,
    Error(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}
