//! Profiles, read and merged, with the files that explain them: where every view of them begins.

use std::path::PathBuf;

use crate::error::Error;
use crate::load::{self, Loaded};
use crate::merge::{By, Merged, Merging};
use crate::symbolize::{Files, Symbols};

/// Which profiles, and what of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Profiles, and folders of them. Empty: `diytrace.data` here.
    pub profiles: Vec<PathBuf>,
    /// Only this process, as it saw its own number.
    pub pid: Option<u32>,
    /// What is told together.
    pub by: By,
}

/// Profiles, read and merged.
pub struct Opened {
    /// What was read.
    pub loaded: Loaded,
    /// Its calls.
    pub merged: Merged,
    files: Files,
}

impl Opened {
    /// Reads and merges profiles.
    pub fn open(selection: &Selection) -> Result<Self, Error> {
        let mut merging = Merging::new(selection.by, selection.pid);
        let loaded = load::load(&selection.profiles, |family| merging.add(family))?;
        let merged = merging.finish();
        if let Some(pid) = selection.pid.filter(|_| merged.groups.is_empty()) {
            return Err(Error::UnknownProcess { pid, known: pids(&loaded) });
        }
        Ok(Self::of(loaded, merged))
    }

    /// What was read and merged.
    pub fn of(loaded: Loaded, merged: Merged) -> Self {
        let files = Files::new(merged.modules.len()).with_archives(&loaded.archives);
        Self { loaded, merged, files }
    }

    /// What its addresses mean, found out when it is asked for.
    pub fn symbols(&self) -> Symbols<'_> {
        Symbols::new(&self.merged.modules, &self.files)
    }
}

fn pids(loaded: &Loaded) -> Vec<u32> {
    let mut pids: Vec<u32> = loaded.profiles.iter().flat_map(|profile| profile.pids.iter().copied()).collect();
    pids.sort_unstable();
    pids.dedup();
    pids
}
