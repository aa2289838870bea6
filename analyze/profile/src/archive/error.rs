//! Why a file is no archive that can be read.

use std::io;
use std::path::PathBuf;

use zip::result::ZipError;

use super::VERSION;
use crate::human::bytes;

/// Why a file is no archive that can be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is some other ZIP file.
    #[error("{} is no diytrace archive: give a .diyt or .diya file, or a folder of them", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A part of it is missing or not what was written.
    #[error("{} is a damaged archive ({what}): copy it again, or make it anew", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// It unpacks to far more than profiles do.
    #[error(
        "{} would unpack from {} to {}, as no archive of profiles does: it is damaged, or was made to fill the memory",
        path.display(), bytes(*packed), bytes(*unpacked)
    )]
    TooDense {
        /// The file.
        path: PathBuf,
        /// Its bytes.
        packed: u64,
        /// Those of all that it holds.
        unpacked: u64,
    },
    /// Another diytrace wrote it.
    #[error(
        "{} has version {version} of the archive format and this diytrace reads version {VERSION}: use the diytrace that \
         wrote it",
        path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
}

impl Error {
    pub(super) fn of_zip(path: PathBuf, error: ZipError) -> Self {
        match error {
            // What the decoder finds wrong, and an early end, come as these.
            ZipError::Io(source)
                if !matches!(
                    source.kind(),
                    io::ErrorKind::UnexpectedEof
                        | io::ErrorKind::InvalidData
                        | io::ErrorKind::InvalidInput
                        | io::ErrorKind::Other
                ) =>
            {
                Self::Unreadable { path, source }
            }
            error => Self::Damaged { path, what: error.to_string() },
        }
    }
}
