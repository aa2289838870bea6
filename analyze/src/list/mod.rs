//! The command `list`: the runs in a folder, with what became of them.

pub mod view;

use std::collections::BTreeSet;
use std::path::PathBuf;

use diytrace_profile::error::Error;
use diytrace_profile::process::State;
use diytrace_profile::run::{self, Facts};
use serde::Serialize;

/// The runs, in the shape of their JSON. Fields may be added, none changed.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// The name of the shape: `diytrace-list/1`.
    pub schema: &'static str,
    /// What the reader should know.
    pub warnings: Vec<String>,
    /// The runs, the oldest first.
    pub runs: Vec<Run>,
    /// Older ones that are left out.
    pub left_out: usize,
}

/// A run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Its place among those of its folder, from 1.
    pub number: usize,
    /// What somebody called it.
    pub label: Option<String>,
    /// When it began, in nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// Paths of its programs.
    pub programs: Vec<String>,
    /// Arguments of the first, its name first.
    pub arguments: Vec<String>,
    /// Processes that have recorded.
    pub processes: u64,
    /// Calls entered.
    pub calls: u64,
    /// From its beginning to the last that is known of it.
    pub time_ns: u64,
    /// What its files take on the disk.
    pub bytes: u64,
    /// `running`, `exited` or `killed` (one of its processes ended without a word); null if nobody can tell.
    pub state: Option<&'static str>,
    /// Its files.
    pub profiles: Vec<PathBuf>,
}

/// Looks at the runs at these paths.
pub fn document(paths: &[PathBuf], wanted: &[String], limit: Option<usize>) -> Result<Document, Error> {
    let mut found = run::find(paths)?;
    if !wanted.is_empty() {
        let mut numbers = BTreeSet::new();
        for wanted in wanted {
            numbers.extend(run::choose(&found, wanted)?.into_iter().map(|run| run.number));
        }
        found.retain(|run| numbers.contains(&run.number));
    }
    let left_out = found.len().saturating_sub(limit.unwrap_or(usize::MAX));
    found.drain(..left_out);
    let facts = Facts::of_all(&found);
    let warnings = facts.iter().filter_map(|facts| facts.problem.clone()).collect();
    let runs = found.into_iter().zip(facts).map(|(run, facts)| Run::of(run, facts)).collect();
    Ok(Document { schema: "diytrace-list/1", warnings, runs, left_out })
}

impl Run {
    fn of(run: run::Run, facts: Facts) -> Self {
        Self {
            number: run.number,
            label: run.label,
            started_unix_ns: run.started_unix_ns,
            programs: facts.programs,
            arguments: facts.arguments,
            processes: facts.processes,
            calls: facts.calls,
            time_ns: facts.time_ns,
            bytes: facts.bytes,
            state: facts.state.map(|state| match state {
                State::Running => "running",
                State::Exited => "exited",
                State::Killed => "killed",
            }),
            profiles: run.files,
        }
    }
}
