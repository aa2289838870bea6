//! Why `ctl` and `top` cannot do what they were asked for.

use std::io;
use std::path::PathBuf;

use diytrace_profile::{load, run};

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no profile, or none that can be read.
    #[error(transparent)]
    Load(#[from] load::Error),
    /// A store has no answer.
    #[cfg_attr(not(feature = "service"), expect(dead_code, reason = "no store is asked"))]
    #[error(transparent)]
    Store(diytrace_profile::error::Error),
    /// There is no such run.
    #[error(transparent)]
    Run(#[from] run::Error),
    /// None of the profiles is this process's.
    #[error("no profile in {} has a process {pid}: name its profile, or the folder with DIYTRACE_OUT", folder.display())]
    NoProcess {
        /// The process.
        pid: u32,
        /// Where the profiles are.
        folder: PathBuf,
    },
    /// Several could be meant.
    #[error("several programs are running in {}: name one by its PID or its profile; there are {}", folder.display(), names(which))]
    Several {
        /// The folder.
        folder: PathBuf,
        /// Their profiles.
        which: Vec<PathBuf>,
    },
    /// Nothing would follow the control word, or change.
    #[error("nothing of {} is running any more: `diytrace report` shows what it has recorded", path.display())]
    Finished {
        /// The profile or folder.
        path: PathBuf,
    },
    /// Archives are of what has been recorded.
    #[error("{} is an archive, and nothing of it is running: name a process, or its profile (.diyt)", path.display())]
    Archive {
        /// The archive.
        path: PathBuf,
    },
    /// A copy would replace what was recorded.
    #[error("{} is {what}, and a snapshot would replace it: name another file with -o FILE", path.display())]
    Occupied {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// The control word cannot be reached.
    #[error("cannot change the control word of {}: {source}", path.display())]
    Word {
        /// The profile.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    WriteTo {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The answer could not be written.
    #[error("cannot write the answer: {0}")]
    Write(#[from] io::Error),
}

fn names(paths: &[PathBuf]) -> String {
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    paths.iter().map(name).collect::<Vec<_>>().join(", ")
}
