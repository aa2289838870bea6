//! Programs and libraries as files: what the loader needs of them, and their functions.
//!
//! ```text
//! path ──▶ [`Elf`] (mapped) ──▶ [`Facts`]
//!             ├──▶ [`symbols`]: its functions
//!             ├──▶ [`debug`]: what was split off it for debuggers
//!             └──▶ [`libraries`]: the libraries it needs, found as the loader finds them (with its [`cache`])
//! ```

mod cache;
pub mod debug;
mod facts;
pub mod libraries;
pub mod symbols;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use object::Endianness;
use object::read::elf::ElfFile64;

pub use facts::{Facts, Linkage};

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

/// An ELF file, mapped, and what it says of itself.
#[derive(Debug)]
pub struct Elf {
    /// Where it lies.
    pub path: PathBuf,
    /// What the loader needs to know of it.
    pub facts: Facts,
    map: Mmap,
}

impl Elf {
    /// Maps a file and reads its facts.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
        let file = File::open(path).map_err(unreadable)?;
        // SAFETY: the map is private and only read, and every read is checked. A file that shrinks while it is looked
        // at ends this process with SIGBUS, as it does with every tool that maps programs.
        let map = unsafe { Mmap::map(&file) }.map_err(unreadable)?;
        let facts = Facts::read(&map).map_err(|reason| Error::NotElf { path: path.to_owned(), reason })?;
        Ok(Self { path: path.to_owned(), facts, map })
    }

    /// The file's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// The file, parsed as one of 64 bits, if it is: only its tables of contents are read.
    pub fn parsed(&self) -> Option<ElfFile64<'_, Endianness>> {
        ElfFile64::parse(self.bytes()).ok()
    }

    /// The file's own name, for messages.
    pub fn name(&self) -> Cow<'_, str> {
        self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy()
    }
}

/// Whether a file starts as ELF files do.
pub fn has_magic(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut start)?;
    Ok(start == b"\x7fELF")
}
