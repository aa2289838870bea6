//! What became of a run: read from its profiles.

use std::fs;
use std::os::unix::fs::MetadataExt;

use diytrace_format::node::mark;
use rayon::prelude::*;

use super::{Error, Run};
use crate::load::interval::counted;
use crate::load::{Family, Sources, Summary, read_all};
use crate::process::State;

/// What became of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Paths of its programs.
    pub programs: Vec<String>,
    /// Arguments of the first, the program's name first.
    pub arguments: Vec<String>,
    /// Processes that have recorded.
    pub processes: u64,
    /// Calls entered.
    pub calls: u64,
    /// From its beginning to the last that is known of it, in nanoseconds.
    pub time_ns: u64,
    /// What its files take on the disk.
    pub bytes: u64,
    /// Whether it goes on; else whether any of its processes ended without a word.
    pub state: Option<State>,
    /// Why some of it could not be read.
    pub problem: Option<String>,
}

impl Facts {
    /// Of each of these runs.
    pub fn of_all(runs: &[Run]) -> Vec<Self> {
        runs.par_iter().map(Self::of).collect()
    }

    /// Of a run; what cannot be read of it is told instead.
    fn of(run: &Run) -> Self {
        let mut facts = Self {
            bytes: run.files.iter().filter_map(|file| fs::metadata(file).ok()).map(|file| file.blocks() * 512).sum(),
            ..Self::default()
        };
        let mut ends: Vec<(u64, u64)> = Vec::new();
        let read = Sources::find(&run.files).map_err(Error::from).and_then(|sources| {
            read_all(sources, |family, _| {
                ends.push(facts.add(&family));
                Ok::<_, Error>(Some(Summary::from(family)))
            })
        });
        facts.problem = read.err().map(|error| error.to_string());
        let first = ends.iter().map(|(first, _)| *first).min().unwrap_or(0);
        let last = ends.iter().map(|(_, last)| *last).max().unwrap_or(0);
        facts.time_ns = last.saturating_sub(first);
        facts
    }

    /// Adds a program and what it forked; gives its first and last moment in nanoseconds since 1970.
    fn add(&mut self, family: &Family) -> (u64, u64) {
        if !self.programs.contains(&family.exe) {
            self.programs.push(family.exe.clone());
        }
        if self.arguments.is_empty() {
            self.arguments.clone_from(&family.cmdline);
        }
        self.processes += u64::from(family.processes);
        self.calls = self.calls.saturating_add(counted(family));
        let states = family.arenas.iter().map(|arena| arena.state);
        self.state = self.state.into_iter().chain(states).min_by_key(|state| match state {
            State::Running => 0,
            State::Killed => 1,
            State::Exited => 2,
        });
        let marks = family.arenas.iter().flat_map(|arena| &arena.nodes).flat_map(|node| node.slots);
        let last = marks.map(|slot| slot.mark & !mark::BITS).max().unwrap_or(0);
        let last = last.max(family.last_anchor_ticks).max(family.end_ticks).max(family.read_ticks);
        (family.started_unix_ns, family.unix_ns(last))
    }
}
