//! Why `bench` ended early.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::{ctl, record};
use diytrace_compare::{diff, runs};
use diytrace_profile::load;

/// Why `bench` ended early. What was complete before is in its folder.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The recorder cannot be used.
    #[error(transparent)]
    Record(#[from] record::Error),
    /// The sides cannot be compared.
    #[error(transparent)]
    Diff(#[from] diff::Error),
    /// A run cannot be archived.
    #[error(transparent)]
    Archive(#[from] diytrace_profile::error::Error),
    /// The store takes it not.
    #[error(transparent)]
    Store(diytrace_profile::error::Error),
    /// A set of runs cannot be written.
    #[error(transparent)]
    Runs(#[from] runs::Error),
    /// A profile cannot be read.
    #[error(transparent)]
    Load(#[from] load::Error),
    /// A server's profile cannot be copied.
    #[error(transparent)]
    Ctl(#[from] ctl::Error),
    /// The most runs are fewer than the runs.
    #[error("--most-runs {most} is less than --runs {runs}: name at least as many, or leave one of them out")]
    MostRuns {
        /// As many as `--runs` asks for.
        runs: u32,
        /// As many as `--most-runs` allows.
        most: u32,
    },
    /// The scenario does not say what it should.
    #[error("{}: {what}", path.display())]
    Scenario {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        what: String,
    },
    /// The scenario cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The folder for the results holds something else.
    #[error("{} is there and was not made by bench: name another folder with --output DIR", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// A file or folder cannot be made.
    #[error("cannot write {}: {source}", path.display())]
    WriteTo {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no shell.
    #[error("cannot start a shell for {what}: {source}")]
    NoShell {
        /// For which command.
        what: String,
        /// Why.
        source: io::Error,
    },
    /// A command did not succeed.
    #[error("{what} failed with {how}: {command}{hint}")]
    Failed {
        /// Which command.
        what: String,
        /// Exit status or signal.
        how: String,
        /// As it was given.
        command: String,
        /// What else there is to do.
        hint: &'static str,
    },
    /// Nothing of it is instrumented.
    #[error(
        "{what} left no profile: nothing in it was compiled with -finstrument-functions (see `diytrace check PROGRAM`), or the \
         recorder could not write to {}: {command}",
        folder.display()
    )]
    NoProfile {
        /// Which run.
        what: String,
        /// The command.
        command: String,
        /// Where the profile should be.
        folder: PathBuf,
    },
    /// A server's profile did not change.
    #[error(
        "the {side} server counted no call during {what}: does the query reach that server (DIYTRACE_SIDE tells its command \
         which), and is what it reaches instrumented?"
    )]
    NothingCounted {
        /// Which server.
        side: &'static str,
        /// Which run.
        what: String,
    },
    /// A server did not get ready.
    #[error("the {side} server was not ready within {} s ({waited_for}); its output is in {}", limit.as_secs_f64(), log.display())]
    NotReady {
        /// Which server.
        side: &'static str,
        /// The check.
        waited_for: String,
        /// How long it was waited for.
        limit: Duration,
        /// What it wrote.
        log: PathBuf,
    },
    /// A server has ended.
    #[error("the {side} server ended with {how} {when}; its output is in {}", log.display())]
    ServerEnded {
        /// Which server.
        side: &'static str,
        /// How.
        how: String,
        /// Before or after it was ready.
        when: &'static str,
        /// What it wrote.
        log: PathBuf,
    },
    /// The answer could not be written.
    #[error("cannot write the result: {0}")]
    Write(#[from] io::Error),
}
