//! What is wrong with a module whose symbols are asked for.

use std::fmt::{self, Display, Formatter};

/// What is wrong with a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Its file is not what it was.
    File {
        /// Why, in a sentence.
        why: String,
        /// Whether its debug file is there.
        has_debug_file: bool,
    },
    /// Its file has no symbols of static functions, or none at all but those that it exports.
    Stripped {
        /// The file.
        module: String,
    },
}

impl Display for Problem {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        match self {
            Self::File { why, has_debug_file: true } => write!(out, "{why}: names are those of its debug file"),
            Self::File { why, has_debug_file: false } => write!(out, "{why}: its functions are shown by address"),
            Self::Stripped { module } => {
                write!(out, "{module} is stripped: functions of which it has no symbol are shown by address")
            }
        }
    }
}
