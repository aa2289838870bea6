//! Profiles, read and merged, with the files that explain them: where every view of them begins.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::left_inline;
use crate::load::interval::Interval;
use crate::load::{self, Family, Loaded, Sources, Summary, read_all};
use crate::memory::give_back;
use crate::merge::{By, Merged, Merging};
use crate::once::Once;
use crate::run;
use crate::symbolize::saved::Saved;
use crate::symbolize::{Files, KnownModules, Symbols};

/// Which profiles, and what of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Profiles, folders of them, and `A..B`, what one has beyond another. Empty: `diytrace.data` here.
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
    /// How many runs that was.
    pub runs: usize,
    /// Its calls.
    pub merged: Merged,
    files: Files,
}

impl Opened {
    /// Reads and merges profiles.
    pub fn open(selection: &Selection) -> Result<Self, Error> {
        Self::merge(selection.by, selection.pid, |take| read(&selection.profiles, take))
    }

    /// Merges families, wherever they come from: `read` hands them over, of a difference with the earlier reading.
    pub fn merge(
        by: By,
        pid: Option<u32>,
        read: impl FnOnce(&mut dyn FnMut(Option<&Family>, &Family)) -> Result<Loaded, Error>,
    ) -> Result<Self, Error> {
        let mut merging = Merging::new(by, pid);
        let loaded = read(&mut |from, to| merging.add_since(from, to))?;
        let merged = merging.finish();
        if let Some(pid) = pid.filter(|_| merged.groups.is_empty()) {
            return Err(Error::UnknownProcess { pid, known: pids(&loaded) });
        }
        let mut opened = Self::of(loaded, merged);
        opened.runs = run::count(opened.loaded.profiles.iter().map(|profile| &*profile.path));
        opened.settle();
        Ok(opened)
    }

    /// What was read and merged elsewhere, by whoever also knows its modules.
    pub fn known(loaded: Loaded, merged: Merged, modules: Box<dyn KnownModules>) -> Self {
        let files = Files::new(merged.modules.len()).with_known(modules);
        let runs = run::count(loaded.profiles.iter().map(|profile| &*profile.path));
        let mut opened = Self { loaded, runs, merged, files };
        opened.settle();
        opened
    }

    /// Puts calls where they belong, as far as the files tell more of that than the recorder could know.
    fn settle(&mut self) {
        let modules = self.merged.modules.clone(); // few, and the symbols are of them
        left_inline::settle(&mut self.merged, &Symbols::new(&modules, &self.files));
    }

    /// What was read and merged.
    pub fn of(loaded: Loaded, merged: Merged) -> Self {
        let saved = Saved::beside(loaded.profiles.iter().map(|profile| profile.path.clone()));
        let files = Files::new(merged.modules.len()).with_archives(&loaded.archives).with_saved(saved);
        Self { runs: loaded.profiles.len(), loaded, merged, files }
    }

    /// What was merged elsewhere of these profiles: their programs' files tell what it means, or what was saved beside them.
    pub fn beside(profiles: impl IntoIterator<Item = PathBuf>, merged: Merged) -> Self {
        let files = Files::new(merged.modules.len()).with_saved(Saved::beside(profiles));
        Self { runs: 0, loaded: Loaded::default(), merged, files }
    }

    /// What its addresses mean, found out when it is asked for.
    pub fn symbols(&self) -> Symbols<'_> {
        Symbols::new(&self.merged.modules, &self.files)
    }
}

/// What was merged of a profile, with calls put where they belong as far as the modules' files, or what was saved of them, are
/// here: for whoever keeps it without them.
pub fn settled(merged: Merged, profile: &Path) -> Merged {
    let mut opened = Opened::beside([profile.to_owned()], merged);
    opened.settle();
    opened.merged
}

/// Reads profiles and hands over each family: of `A..B` both readings, the earlier first.
pub fn read(paths: &[PathBuf], take: &mut dyn FnMut(Option<&Family>, &Family)) -> Result<Loaded, Error> {
    let mut loaded = Loaded::default();
    let (mut profiles, mut intervals) = (Vec::new(), Vec::new());
    for path in paths {
        match Interval::names(path) {
            Some(interval) => intervals.push(interval),
            None => profiles.push(path.clone()),
        }
    }
    let mut once = Once::default();
    for (from, to) in &intervals {
        let Interval { from, to } = Interval::load(from, to)?;
        if once.is_first_since(Some(&from), &to)? {
            take(Some(&from), &to);
            loaded.profiles.push(to.into());
        }
    }
    if !profiles.is_empty() || intervals.is_empty() {
        let more = read_all(Sources::find(&profiles)?, |family, bytes| {
            give_back(bytes); // as many as merging will need
            let is_first = once.is_first(&family)?;
            if is_first {
                take(None, &family);
            }
            let summary = is_first.then(|| Summary::of(&family));
            give_back(family);
            Ok::<_, load::Error>(summary)
        })?;
        loaded.profiles.extend(more.profiles);
        loaded.left_out.extend(more.left_out);
        loaded.archives = more.archives;
    }
    loaded.left_out.extend(once.left_out);
    Ok(loaded)
}

fn pids(loaded: &Loaded) -> Vec<u32> {
    let mut pids: Vec<u32> = loaded.profiles.iter().flat_map(|profile| profile.pids.iter().copied()).collect();
    pids.sort_unstable();
    pids.dedup();
    pids
}
