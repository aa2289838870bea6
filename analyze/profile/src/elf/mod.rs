//! Programs and libraries as files: what the loader needs of them, and their functions.
//!
//! ```text
//! path ──▶ [`Mapped`] ──▶ [`Parsed`] ─┬▶ [`symbols`]: its functions
//!             │                       ├▶ [`extents`](extents()): where functions without a name begin and end
//!             │                       └▶ [`dwarf`]: its debug information
//!             ├──▶ [`debug`]: what was split off it for debuggers
//!             └──▶ [`Elf`], with [`Facts`] ──▶ [`libraries`]: what it needs, found as the loader finds it
//! ```
//!
//! All that looks into programs does so through this: `check`, `record` and [`crate::symbolize`].

mod cache;
pub mod debug;
pub mod dwarf;
mod extents;
mod facts;
mod file;
pub mod libraries;
mod stamp;
pub mod symbols;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use object::Object;

pub use extents::extents;
pub use facts::{Facts, Linkage};
pub use file::{Mapped, Parsed};
pub use stamp::Stamp;

/// The hook whose name an instrumented program refers to.
pub const HOOK: &str = "__cyg_profile_func_enter";

/// Why a file cannot be looked into.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is something else, or damaged.
    #[error("{} is no ELF file, or a damaged one: {reason}", path.display())]
    NotElf {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: object::read::Error,
    },
}

/// An ELF file, and what it says of itself.
#[derive(Debug)]
pub struct Elf {
    /// The file.
    pub file: Mapped,
    /// What the loader needs to know of it.
    pub facts: Facts,
}

impl Elf {
    /// Maps a file and reads its facts.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = Mapped::open(path).map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
        let facts = Facts::read(file.bytes()).map_err(|reason| Error::NotElf { path: path.to_owned(), reason })?;
        Ok(Self { file, facts })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// What was split off it for debuggers.
    pub fn debug_file(&self) -> Option<debug::DebugFile> {
        let elf = self.file.parsed()?;
        debug::find(Some(&self.file), elf.build_id().ok().flatten().unwrap_or_default())
    }

    /// The file's own name, for messages.
    pub fn name(&self) -> Cow<'_, str> {
        self.path().file_name().unwrap_or(self.path().as_os_str()).to_string_lossy()
    }
}

/// Whether a file starts as ELF files do.
pub fn has_magic(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut start)?;
    Ok(start == b"\x7fELF")
}
