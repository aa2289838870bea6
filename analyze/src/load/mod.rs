//! Finds profiles and reads them: from paths to [`Family`] data.
//!
//! ```text
//! paths ──[find]──▶ files ──[parse]──▶ [`Family`] ──[state]──▶ what became of its processes ──▶ whoever asked
//!                                                                                          └──▶ [`Summary`] to keep
//! ```
//!
//! A folder may have a file for each process of months: there are never more of them in memory than cores.
//! Files are read whole, not mapped: one that is cut short meanwhile would end a reader of the map.

mod arenas;
pub mod clock;
pub mod costs;
mod damage;
mod family;
mod find;
mod histograms;
mod parse;
mod state;
mod summary;
pub mod timed;

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use diytrace::VERSION;
use diytrace::reader::NotReadable;
use rayon::prelude::*;

use crate::progress::Progress;
pub use family::{Arena, Family, Function, Module, Node, Root, State};
pub use find::{DEFAULT_FOLDER, find};
pub use parse::parse;
pub use summary::Summary;

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
    #[error("{} is not a diytrace profile: give a .diyt file, or a folder of them", path.display())]
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
        "{} has version {version} of the profile format and this diytrace reads version {VERSION}: record again, or use \
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
    /// Files that could not be read beside others that could.
    pub warnings: Vec<String>,
}

/// Reads all profiles at these paths, or in `diytrace.data` if there are none, and hands them over in their order.
pub fn load(paths: &[PathBuf], mut take: impl FnMut(&Family)) -> Result<Loaded, Error> {
    let files = find(paths)?;
    let progress = Progress::new("reading profiles", files.len());
    let read_one = |file: &find::Found| {
        let result = load_file(&file.path);
        progress.step();
        (file.is_named, result)
    };
    let mut loaded = Loaded::default();
    let mut first_error = None;
    for files in files.chunks(rayon::current_num_threads()) {
        let read: Vec<_> = files.par_iter().map(read_one).collect();
        for (is_named, result) in read {
            match result {
                Ok(family) => {
                    take(&family);
                    loaded.profiles.push(family.into());
                }
                Err(error) if is_named => return Err(error),
                Err(error) => {
                    loaded.warnings.push(error.to_string());
                    first_error.get_or_insert(error);
                }
            }
        }
    }
    match first_error {
        Some(error) if loaded.profiles.is_empty() => Err(error),
        _ => Ok(loaded),
    }
}

/// Reads one profile.
pub fn load_file(path: &Path) -> Result<Family, Error> {
    let bytes = read(path).map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    let mut family = parse(&bytes).map_err(|why| Error::not_readable(path, why))?;
    if family.missing_bytes > 0 && family.arenas.iter().all(|arena| arena.nodes.is_empty()) {
        return Err(Error::Truncated { path: path.to_owned() });
    }
    family.path = path.to_owned();
    state::determine(&mut family);
    Ok(family)
}

/// The bytes of a profile that have been handed out: what follows may be a hole that the recorder left to grow into.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = std::fs::File::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(diytrace::BLOCKS_START as u64).read_to_end(&mut bytes)?;
    // Twice: what was read may name what a running program has been handed out meanwhile.
    for _ in 0..2 {
        let mut start = vec![0; bytes.len().min(diytrace::BLOCKS_START)];
        file.seek(SeekFrom::Start(0))?;
        file.read_exact(&mut start)?;
        if let Ok(start) = diytrace::reader::File::open(&start) {
            let rest = start.header().used.saturating_sub(bytes.len() as u64);
            file.seek(SeekFrom::Start(bytes.len() as u64))?;
            file.by_ref().take(rest).read_to_end(&mut bytes)?;
        }
    }
    Ok(bytes)
}
