//! `A..B`: what a family counted between two readings of it.

use std::path::{Path, PathBuf};

use super::{Error, Family, family_of, read};
use crate::archive::Archive;

/// Two readings of a family, the earlier first.
pub struct Interval {
    /// Before.
    pub from: Family,
    /// After.
    pub to: Family,
}

impl Interval {
    /// The two files that `A..B` names; `None` if it names one file, or no two.
    pub fn names(path: &Path) -> Option<(PathBuf, PathBuf)> {
        Self::names_in(Path::new(""), path)
    }

    /// The path that names these two files.
    pub fn join(from: &Path, to: &Path) -> PathBuf {
        let mut path = from.as_os_str().to_owned();
        path.push("..");
        path.push(to);
        path.into()
    }

    /// The same where A and B lie relative to a folder, as they are written.
    pub fn names_in(folder: &Path, path: &Path) -> Option<(PathBuf, PathBuf)> {
        use std::os::unix::ffi::OsStrExt;
        let bytes = path.as_os_str().as_bytes();
        if folder.join(path).exists() {
            return None;
        }
        let part = |bytes: &[u8]| PathBuf::from(std::ffi::OsStr::from_bytes(bytes));
        let places = (1..bytes.len().saturating_sub(2)).filter(|&at| &bytes[at..at + 2] == b"..");
        let pairs = || places.clone().map(|at| (part(&bytes[..at]), part(&bytes[at + 2..])));
        // `../a.diyt..b.diyt`: the dots between two files, or, so that one can say what is missing, those behind `.diyt`.
        pairs()
            .find(|(a, b)| folder.join(a).is_file() && folder.join(b).is_file())
            .or_else(|| pairs().find(|(a, _)| is_profile(a)))
    }

    /// Reads both.
    pub fn load(from: &Path, to: &Path) -> Result<Self, Error> {
        Self::of(one(from)?, one(to)?)
    }

    /// Two readings, if they are of one family and in this order.
    pub fn of(from: Family, to: Family) -> Result<Self, Error> {
        let identity = |family: &Family| (family.boot_id, family.pid, family.started_unix_ns, family.first_ticks);
        if identity(&from) != identity(&to) {
            return Err(Error::NotOneFamily { from: from.path, to: to.path });
        }
        if from.resets != to.resets {
            return Err(Error::Reset { from: from.path, to: to.path });
        }
        // What is no snapshot is read now, or was left when the last process ended.
        let moment = |family: &Family| family.snapshot.as_ref().map_or(u64::MAX, |moment| moment.ticks);
        if moment(&from) > moment(&to) || counted(&from) > counted(&to) {
            return Err(Error::Backwards { from: from.path, to: to.path });
        }
        Ok(Self { from, to })
    }
}

fn one(path: &Path) -> Result<Family, Error> {
    if Archive::is_at(path) {
        return Err(Error::IntervalOfArchive { path: path.to_owned() });
    }
    let bytes = read(path).map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    family_of(&bytes, path)
}

fn is_profile(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "diyt")
}

/// All calls that a family has counted.
pub(crate) fn counted(family: &Family) -> u64 {
    let nodes = family.arenas.iter().flat_map(|arena| &arena.nodes);
    nodes.fold(family.lost_calls, |sum, node| sum.saturating_add(node.calls()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::archive;
    use crate::load::snapshot::Moment;
    use crate::opened::{Opened, Selection};
    use crate::testing::sample;

    /// A folder with a profile, two snapshots of it beside that folder, and an archive of the first.
    fn story() -> tempfile::TempDir {
        let here = tempfile::tempdir().unwrap();
        let snapshot = |ticks| [sample(), Moment { ticks, unix_ns: ticks, running: vec![1] }.bytes()].concat();
        fs::create_dir(here.path().join("out")).unwrap();
        fs::write(here.path().join("out/whole.diyt"), sample()).unwrap();
        fs::write(here.path().join("a.diyt"), snapshot(20_000)).unwrap();
        fs::write(here.path().join("b.diyt"), snapshot(30_000)).unwrap();
        pack(here.path(), &["a.diyt"]).unwrap();
        here
    }

    fn pack(here: &Path, names: &[&str]) -> Result<(), String> {
        let profiles = names.iter().map(|name| here.join(name)).collect();
        let options = archive::Options { profiles, output: here.join("a.diya"), symbols: false };
        archive::run(&options).map_err(|error| error.to_string())
    }

    fn open(here: &Path, name: impl AsRef<Path>) -> Result<Opened, String> {
        let profiles = vec![here.join(name)];
        Opened::open(&Selection { profiles, ..Selection::default() }).map_err(|error| error.to_string())
    }

    fn calls(opened: &Opened) -> u64 {
        opened.merged.groups.iter().map(|group| group.calls).sum()
    }

    #[test]
    fn snapshots_beside_their_profile_are_left_out_and_told() {
        let here = story();
        let alone = calls(&open(here.path(), "out").unwrap());
        fs::copy(here.path().join("a.diyt"), here.path().join("out/copy.diyt")).unwrap();
        let opened = open(here.path(), "out").unwrap();
        assert!(opened.loaded.warnings[0].contains("copy.diyt is a snapshot"), "{:?}", opened.loaded.warnings);
        assert_eq!((calls(&opened), opened.loaded.profiles.len()), (alone, 1));
        assert_eq!(calls(&open(here.path(), "a.diyt").unwrap()), alone);
    }

    #[test]
    fn an_archive_keeps_a_snapshot_as_it_was() {
        let here = story();
        let archive = Archive::open(&here.path().join("a.diya")).unwrap();
        assert!(archive.profile(0).unwrap().0 == fs::read(here.path().join("a.diyt")).unwrap());
        let [kept, direct] = ["a.diya", "a.diyt"].map(|name| open(here.path(), name).unwrap());
        assert_eq!(kept.merged, direct.merged);
        assert_eq!(kept.loaded.profiles, direct.loaded.profiles);
    }

    #[test]
    fn differences_are_of_profiles_and_archives_of_no_differences() {
        let here = story();
        let difference = |from: &str, to: &str| format!("{from}..{}/{to}", here.path().display());
        assert_eq!(calls(&open(here.path(), difference("a.diyt", "b.diyt")).unwrap()), 0);
        for of_archive in [difference("a.diya", "b.diyt"), difference("a.diyt", "a.diya")] {
            let error = open(here.path(), of_archive).map(|_| ()).unwrap_err();
            assert!(error.contains("a.diya is an archive: A..B"), "{error}");
        }
        let error = pack(here.path(), &[&difference("a.diyt", "b.diyt")]).unwrap_err();
        assert!(error.contains("is a difference, and an archive"), "{error}");
    }
}
