//! Why a command was not run.

use std::io;
use std::path::PathBuf;

/// Why a command was not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command is empty.
    #[error("there is no command to run")]
    NoCommand,
    /// The recorder is not where it should be.
    #[error(
        "cannot find the recorder libdiytrace.so; looked for {}: `cargo build --release` in diytrace's source makes it, to be \
         copied there or named in DIYTRACE_LIB",
        list(looked)
    )]
    NoLibrary {
        /// Where it was looked for.
        looked: Vec<PathBuf>,
    },
    /// The recorder's path cannot stand in `LD_PRELOAD`, and no link to it can be made.
    #[error(
        "cannot preload {}: the loader splits its path at spaces and colons, and a link in {} failed: {source}",
        library.display(), links.display()
    )]
    Unpreloadable {
        /// The recorder.
        library: PathBuf,
        /// Where a link was to be made.
        links: PathBuf,
        /// Why it could not.
        source: io::Error,
    },
    /// The folder for profiles cannot be made.
    #[error("cannot make the folder {} for profiles: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no such program.
    #[error("cannot run {name}: {reason}")]
    NotFound {
        /// As it was given.
        name: String,
        /// Where it was looked for.
        reason: String,
    },
    /// The program is there but cannot be run.
    #[error("cannot run {name}: {reason}")]
    NotExecutable {
        /// As it was given.
        name: String,
        /// Why.
        reason: String,
    },
}

impl Error {
    /// The exit status, as shells have it: 127 for a program that is not there, 126 for one that cannot be run.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NotFound { .. } => 127,
            Self::NotExecutable { .. } => 126,
            _ => 2,
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" and ")
}
