//! What can go wrong in a command, as one sentence for the user.

use std::io;

use crate::load;
use crate::nearest::nearest_sentence;
use crate::run;

/// Why a command has no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no profile to read, or none that can be read.
    #[error(transparent)]
    Load(#[from] load::Error),
    /// The run that was asked for is not there.
    #[error(transparent)]
    Run(#[from] run::Error),
    /// A pattern names no function that the profile knows.
    #[error(
        "nothing in the profile is called `{pattern}`{}",
        nearest_sentence(nearest, if *has_names { "" } else { "; its functions have no names, and are called by their addresses" })
    )]
    UnknownFunction {
        /// The pattern.
        pattern: String,
        /// Functions whose names come near.
        nearest: Vec<String>,
        /// Whether it has functions with names.
        has_names: bool,
    },
    /// No process in the profile has this number.
    #[error("the profile has no process {pid}; it has {}", numbers(known))]
    UnknownProcess {
        /// What was asked for.
        pid: u32,
        /// What there is.
        known: Vec<u32>,
    },
    /// One kind of time is asked for, and nobody knows how times divide.
    #[error(
        "of some threads in the profile it is not known when they were on a processor (`diytrace report` tells why): leave \
         --time out"
    )]
    UnknownKindOfTime,
    /// Options that do not go together.
    #[error("{0}")]
    Usage(String),
    /// Whoever keeps profiles elsewhere has none.
    #[error(transparent)]
    Elsewhere(Box<dyn std::error::Error + Send + Sync>),
    /// There are no calls, or none inside the roots that were asked for.
    #[error("there is nothing to export: no call was recorded, or none of those that were asked for")]
    NothingToExport,
    /// No time is long enough to be told from the profiler's own.
    #[error(
        "there is no flame graph to draw: there is no such time, or all of it is below what the correction can resolve (--raw: \
         as measured)"
    )]
    NoTimeToDraw,
    /// There are counts alone.
    #[error(
        "there is no time to export, as calls were counted, not timed (DIYTRACE_TIMING=off): `diytrace report` tells the counts"
    )]
    OnlyCounted,
    /// What is no text would be written to a terminal.
    #[error("this format is binary and stdout is a terminal: name a file with -o FILE, or redirect the output")]
    BinaryToTerminal,
    /// It would replace what nobody can make again.
    #[error("{} is {what}, and this would replace it: name another file with -o FILE", path.display())]
    Irreplaceable {
        /// The file.
        path: std::path::PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    WriteTo {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file could not be removed.
    #[error("cannot remove {}: {source}", path.display())]
    Remove {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The report could not be written.
    #[error("cannot write the report: {0}")]
    Write(#[from] io::Error),
}

fn numbers(all: &[u32]) -> String {
    const SHOWN: usize = 8;
    let mut text = all.iter().take(SHOWN).map(u32::to_string).collect::<Vec<_>>().join(", ");
    if all.is_empty() {
        text.push_str("none");
    }
    if all.len() > SHOWN {
        text.push_str(&format!(" and {} more", all.len() - SHOWN));
    }
    text
}
