//! Finds profiles and reads them: from paths to [`Family`] data.
//!
//! ```text
//! paths ──[find]──▶ files ──[parse]──▶ [`Family`] ──[state]──▶ what became of its processes ──▶ whoever asked
//!                                                                                          └──▶ [`Summary`] to keep
//! ```
//!
//! A folder may have a file for each process of months: there are never more of them in memory than cores.
//! Files are read whole, not mapped: one that is cut short meanwhile would end a reader of the map. Who looks again and again at what has
//! changed maps them for each look, and is prepared for that (`mapping`).

mod alike;
mod arenas;
mod bytes;
mod changes;
pub mod clock;
pub mod costs;
mod counts;
mod damage;
mod doubt;
pub mod ending;
mod family;
mod find;
mod histograms;
pub mod holders;
pub mod interval;
mod kept;
mod lease;
mod left_out;
mod mapping;
mod moment;
mod node;
mod nodes;
mod off_cpu;
mod parse;
pub mod reader;
mod recycled;
pub mod reset;
mod returned;
mod ring;
pub mod snapshot;
mod source;
pub mod state;
mod summary;
pub mod timed;
mod watched;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use diytrace_format::reader::NotReadable;
use diytrace_format::{OLDEST, VERSION};
use rayon::prelude::*;

use crate::archive::{self, Archive};
use crate::progress::Progress;
pub use bytes::{Bytes, family_again, family_of, read, read_into};
pub use changes::{ArenaChanges, Changes, FunctionChanges, Octave};
pub use doubt::{Doubt, Lost};
pub use family::{Arena, Family, Function, Module, Root};
pub use find::{DEFAULT_FOLDER, find, find_below};
pub use left_out::LeftOut;
pub use node::{Node, Off};
pub use nodes::Nodes;
pub use parse::parse;
pub use recycled::GaveWay;
pub use source::{Source, Sources};
pub use summary::Summary;
pub use watched::Watched;

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing lies at the path.
    #[error("there is no profile at {}: record one with `diytrace record -- COMMAND`", path.display())]
    Missing {
        /// Where.
        path: PathBuf,
    },
    /// The folder has no profiles.
    #[error(
        "there is no profile in {}: a program leaves one when it runs under `diytrace record` and has code that was \
         compiled with -finstrument-functions",
        path.display()
    )]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is something else.
    #[error("{} is not a diytrace profile: give a .diyt or .diya file, or a folder of them", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file ends before anything that it has to tell.
    #[error("{} is truncated: it ends before the first calls that it counted; copy it again", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
    },
    /// A newer recorder wrote the file.
    #[error(
        "{} has version {version} of the profile format and this diytrace reads up to {VERSION}: use a newer diytrace",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// An older recorder wrote the file.
    #[error(
        "{} has version {version} of the profile format and this diytrace reads versions {OLDEST} to {VERSION}: record again, or use \
        the diytrace that came with the recorder",
        path.display()
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// The header says a version that never was.
    #[error("{} is damaged: there is no version {version} of the profile format", path.display())]
    NoSuchVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// It is an archive that cannot be read.
    #[error(transparent)]
    Archive(#[from] archive::Error),
    /// A copy lies in a folder of profiles.
    #[error("{} is a snapshot, and beside its profile its calls would count twice: to see it, name the file", path.display())]
    Snapshot {
        /// The file.
        path: PathBuf,
    },
    /// Two files that have nothing to subtract.
    #[error("{} and {} are not of one family: compare two snapshots of the same run", from.display(), to.display())]
    NotOneFamily {
        /// The first.
        from: PathBuf,
        /// The second.
        to: PathBuf,
    },
    /// Counters do not only grow.
    #[error("the counters were reset between {} and {}: compare two snapshots from before, or from after that", from.display(), to.display())]
    Reset {
        /// The first.
        from: PathBuf,
        /// The second.
        to: PathBuf,
    },
    /// The later comes first.
    #[error("{} is older than {}: write the earlier one first, A..B", to.display(), from.display())]
    Backwards {
        /// The first.
        from: PathBuf,
        /// The second.
        to: PathBuf,
    },
    /// What may be many profiles has no one difference.
    #[error("{} is an archive: A..B is the difference of two profiles (.diyt)", path.display())]
    IntervalOfArchive {
        /// The archive.
        path: PathBuf,
    },
    /// A difference is no profile.
    #[error("{} is a difference, and an archive holds whole profiles: name both", path.display())]
    IntervalInArchive {
        /// What was named.
        path: PathBuf,
    },
    /// One family, as it was at two moments: what came before the first is in both.
    #[error(
        "{} and {} are of one run at two moments, and what both have would count twice: name one of them, or A..B for what \
         lies between", one.display(), other.display()
    )]
    Twice {
        /// The first that was met.
        one: PathBuf,
        /// The other.
        other: PathBuf,
    },
    /// The recorder died early.
    #[error("{} has no data: its program ended before the recorder had made the file", path.display())]
    Unfinished {
        /// The file.
        path: PathBuf,
    },
}

impl Error {
    fn not_readable(path: &Path, why: NotReadable) -> Self {
        let path = path.to_owned();
        match why {
            NotReadable::Truncated => Self::Truncated { path },
            NotReadable::Foreign => Self::Foreign { path },
            NotReadable::Version(version) if version > VERSION => Self::Newer { path, version },
            NotReadable::Version(version) if version > 0 => Self::Older { path, version },
            NotReadable::Version(version) => Self::NoSuchVersion { path, version },
            NotReadable::Unfinished => Self::Unfinished { path },
        }
    }
}

/// What could be read.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The profiles, in the order of their paths.
    pub profiles: Vec<Summary>,
    /// Files that are not among them.
    pub left_out: Vec<LeftOut>,
    /// Archives that some came from, which may have symbols.
    pub archives: Vec<Archive>,
}

/// Reads all profiles of these sources and hands them over with their bytes, as many at a time as there are cores. `take`
/// gives what is told of those that it has taken.
pub fn read_all<E: From<Error>>(
    sources: Sources,
    mut take: impl FnMut(Family, Vec<u8>) -> Result<Option<Summary>, E>,
) -> Result<Loaded, E> {
    let Sources { list, archives, mut left_out } = sources;
    let progress = Progress::new("reading profiles", list.len());
    let read_one = |source: &Source| {
        let result = source.read();
        progress.step();
        (source.is_named(), result)
    };
    let mut profiles = Vec::new();
    for sources in list.chunks(rayon::current_num_threads()) {
        let read: Vec<_> = sources.par_iter().map(read_one).collect();
        for (is_named, result) in read {
            match result {
                Ok((Family { snapshot: Some(_), path, .. }, _)) if !is_named => {
                    left_out.push(Error::Snapshot { path });
                }
                Ok((family, bytes)) => profiles.extend(take(family, bytes)?),
                Err(error) if is_named => return Err(error.into()),
                Err(error) => left_out.push(error),
            }
        }
    }
    if profiles.is_empty() && !left_out.is_empty() {
        return Err(left_out.swap_remove(0).into());
    }
    // Those of archives stand where they were found, as if they were still there.
    profiles.sort_by(|a: &Summary, b: &Summary| a.path.cmp(&b.path));
    let left_out = left_out.into_iter().map(|error| LeftOut::Unread(Arc::new(error))).collect();
    Ok(Loaded { profiles, left_out, archives })
}
