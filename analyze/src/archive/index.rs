//! What an archive holds.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::load::{Family, State, reset};
use crate::merge::{Module, ModuleFile};

/// What an archive holds, in the order of its entries' numbers.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Index {
    /// Its profiles.
    pub profiles: Vec<Kept>,
    /// The modules that it has symbols of.
    pub modules: Vec<ModuleKey>,
}

/// What is told of a profile that is not in its bytes: how it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Its path's bytes: no text, maybe.
    path: Vec<u8>,
    /// What had become of its processes, by their numbers in the family.
    states: Vec<(u32, State)>,
    /// When it was read, in ticks, if processes were running; if none was, when its first one was seen to end, or 0.
    moment: u64,
}

/// What a module is known by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ModuleKey {
    /// Its build ID.
    BuildId(Vec<u8>),
    /// If it has none, the very file.
    File(ModuleFile),
}

impl Kept {
    /// How a profile was found.
    pub fn of(family: &Family) -> Self {
        let mut states: Vec<_> = family.arenas.iter().map(|arena| (arena.facts.process, arena.state)).collect();
        states.sort_unstable();
        states.dedup();
        let moment = if is_any_running(&states) { family.read_ticks } else { family.end_ticks };
        Self { path: family.path.as_os_str().as_bytes().to_vec(), states, moment }
    }

    /// Where it was.
    pub fn path(&self) -> PathBuf {
        Path::new(OsStr::from_bytes(&self.path)).to_owned()
    }

    /// Makes a profile's bytes again what they were found as.
    pub fn restore(&self, family: &mut Family) {
        family.path = self.path();
        match is_any_running(&self.states) {
            true => family.read_ticks = self.moment,
            false => family.end_ticks = self.moment,
        }
        for arena in &mut family.arenas {
            let known = self.states.binary_search_by_key(&arena.facts.process, |(process, _)| *process);
            arena.state = known.map_or(State::Killed, |at| self.states[at].1);
        }
        reset::settle(family);
    }
}

fn is_any_running(states: &[(u32, State)]) -> bool {
    states.iter().any(|(_, state)| *state == State::Running)
}

impl ModuleKey {
    /// What a module is known by.
    pub fn of(module: &Module) -> Option<Self> {
        match module.build_id.is_empty() {
            true => module.files.first().cloned().map(Self::File),
            false => Some(Self::BuildId(module.build_id.clone())),
        }
    }
}
