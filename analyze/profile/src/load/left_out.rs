//! Profiles that were left out beside others that were read.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use std::sync::Arc;

use super::Error;

/// A profile that was left out, and why.
#[derive(Clone, Debug)]
pub enum LeftOut {
    /// It could not be read, or is no profile of its own.
    Unread(Arc<Error>),
    /// It is there twice, and counts once.
    Twice {
        /// Where it was met again.
        path: PathBuf,
        /// Where it was met first.
        first: PathBuf,
    },
}

impl Display for LeftOut {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        match self {
            Self::Unread(error) => error.fmt(out),
            Self::Twice { path, first } => {
                write!(out, "{} is {} once more, and counts once", path.display(), first.display())
            }
        }
    }
}
