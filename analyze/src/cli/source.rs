//! Where a command's profiles come from: every command that reads profiles opens them here.

use std::path::PathBuf;

use diytrace_profile::error::Error;
use diytrace_profile::load::interval::Interval;
use diytrace_profile::load::{Family, Loaded};
use diytrace_profile::merge::By;
use diytrace_profile::opened::{self, Opened};
use diytrace_profile::{run, saving};

/// Where a command's profiles come from.
#[derive(Clone, Debug, clap::Args)]
pub struct Source {
    /// A .diyt or .diya file, a folder of them, or A..B of two snapshots [default: diytrace.data]
    #[arg(value_name = "PROFILE")]
    profiles: Vec<PathBuf>,

    /// Only this run of those there: the latest, the Nth that `diytrace list` shows, or those whose label or program is like
    /// PATTERN (repeatable)
    #[arg(long = "run", value_name = "latest|N|PATTERN")]
    runs: Vec<String>,
}

impl Source {
    /// Reads the profiles and merges them.
    pub fn open(&self, by: By, pid: Option<u32>) -> Result<Opened, Error> {
        let opened = Opened::merge(by, pid, |take| self.families(take))?;
        // Of a process or an interval alone, not all that the profile met was read.
        if pid.is_none() && !self.profiles.iter().any(|path| Interval::names(path).is_some()) {
            saving::save_read(&opened);
        }
        Ok(opened)
    }

    /// Reads the profiles and hands over each family: of an interval both readings, the earlier first.
    fn families(&self, take: &mut dyn FnMut(Option<&Family>, &Family)) -> Result<Loaded, Error> {
        opened::read(&self.paths()?, take)
    }

    /// The files and folders they lie in. None: `diytrace.data` here.
    pub fn paths(&self) -> Result<Vec<PathBuf>, Error> {
        if self.runs.is_empty() {
            return Ok(self.profiles.clone());
        }
        let there = run::find(&self.profiles)?;
        let mut paths = Vec::new();
        for wanted in &self.runs {
            paths.extend(run::choose(&there, wanted)?.into_iter().flat_map(|run| run.files.iter().cloned()));
        }
        Ok(paths)
    }
}
