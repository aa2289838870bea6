//! `A..B`: what a family counted between two readings of it.

use std::path::{Path, PathBuf};

use super::{Arena, Error, Family, Node, family_of, read};
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
pub fn counted(family: &Family) -> u64 {
    let of_arena = |arena: &Arena| arena.of_all(Node::calls_once, u64::saturating_add);
    family.arenas.iter().map(of_arena).fold(family.lost_calls, u64::saturating_add)
}
