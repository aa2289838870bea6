//! Sets of runs: one side of a comparison, as `bench` writes it and `diff` and `similar` read it.
//!
//! A set is a folder with `runs.json`, and beside that file whatever it names:
//!
//! ```text
//! left/runs.json               {"schema": "diytrace-runs/1", "name": "left", "command": …, "machine": {…}, "runs": [
//! left/q1/001/*.diyt             {"query": "q1", "number": 1, "profile": "q1/001", "status": 0, "metrics": {…}}, …]}
//! left/q1/002/*.diyt
//! ```
//!
//! A run's `profile` is a profile, a folder of them, an archive or `A..B` of two snapshots, or a list of such, each relative to
//! `runs.json`. Keys that are not known are left alone. Without `runs.json`, [`Runs::open`] takes each profile of a folder, or
//! each subfolder that has profiles, for a run.

mod error;
mod find;
mod json;
pub mod metric;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use diytrace_profile::error::Error as Whole;
use diytrace_profile::merge::By;
use diytrace_profile::opened::{Opened, Selection};
use diytrace_profile::run;
pub use error::Error;
pub use metric::Metrics;

/// The name of a set's file in its folder.
pub const FILE: &str = "runs.json";

/// The runs of one side, in the order in which they were started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Runs {
    /// What the side is called: `left`, or as its folder.
    pub name: String,
    /// What was run, for people. Empty: not known.
    pub command: String,
    /// What ran it: free. `null`: not known.
    pub machine: serde_json::Value,
    /// The set's folder, or the profile that is all of it.
    pub folder: PathBuf,
    /// The runs; at least one of a set that was opened.
    pub runs: Vec<Run>,
    /// What was left out of the set, and why.
    pub warnings: Vec<String>,
}

/// One run: a program from its start to its end, or what a server did for one query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Which of the scenario's queries; only runs of one query are comparable.
    pub query: Option<String>,
    /// Which of the side's runs of that query, from 1.
    pub number: u32,
    /// When it was started, in nanoseconds since 1970, where that is known.
    pub started_unix_ns: Option<u64>,
    /// What [`Selection::profiles`] takes; never empty in a set that was opened.
    pub profiles: Vec<PathBuf>,
    /// Where its calls are, if not in profiles.
    pub elsewhere: Option<Elsewhere>,
    /// Its exit status as a shell has it.
    pub status: u8,
    /// What was measured beside its profile; see [`metric`].
    pub metrics: Metrics,
}

impl Runs {
    /// Reads a set: a folder with or without `runs.json`, that file itself, a profile, an archive, or `A..B`.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        match () {
            () if path.is_dir() && path.join(FILE).is_file() => json::read(&path.join(FILE)),
            () if is_json && path.is_file() => json::read(path),
            () => find::find(path),
        }
    }

    /// The runs in a folder that `wanted` means as `--run` does: `latest`, a number or a pattern.
    pub fn chosen(folder: &Path, wanted: &str) -> Result<Self, Error> {
        if folder.join(FILE).is_file() {
            return Err(Error::Whole { path: folder.to_owned() });
        }
        let there = run::find(&[folder.to_owned()])?;
        let chosen = (1..).zip(run::choose(&there, wanted)?);
        let run = |(number, run): (u32, &run::Run)| Run {
            number,
            started_unix_ns: Some(run.started_unix_ns),
            profiles: run.files.clone(),
            ..Run::default()
        };
        let runs = chosen.map(run).collect();
        Ok(Self { name: wanted.to_owned(), folder: folder.to_owned(), runs, ..Self::default() })
    }

    /// Writes `runs.json` into the set's folder, all of it or nothing; the profiles in there are named relative to it.
    pub fn write(&self) -> Result<(), Error> {
        json::write(self, &self.folder.join(FILE))
    }

    /// The queries, in the order of their first runs.
    pub fn queries(&self) -> Vec<Option<&str>> {
        let mut queries = Vec::new();
        for run in &self.runs {
            if !queries.contains(&run.query.as_deref()) {
                queries.push(run.query.as_deref());
            }
        }
        queries
    }

    /// The runs of a query.
    pub fn of<'a>(&'a self, query: Option<&'a str>) -> impl Iterator<Item = &'a Run> {
        self.runs.iter().filter(move |run| run.query.as_deref() == query)
    }
}

impl Run {
    /// Its profiles, read and merged into one group.
    pub fn profile(&self) -> Result<Opened, Whole> {
        if let Some(elsewhere) = &self.elsewhere {
            return elsewhere.0();
        }
        Opened::open(&Selection { profiles: self.profiles.clone(), pid: None, by: By::default() })
    }
}

/// A run that is not kept as profiles: how it is read.
#[derive(Clone)]
pub struct Elsewhere(pub Arc<dyn Fn() -> Result<Opened, Whole> + Send + Sync>);

impl fmt::Debug for Elsewhere {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str("Elsewhere")
    }
}

impl PartialEq for Elsewhere {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[cfg(test)]
mod tests;
