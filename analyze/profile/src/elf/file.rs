//! A file in memory.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use memmap2::Mmap;
use object::Endianness;
use object::read::elf::ElfFile64;

use super::Stamp;
use super::dwarf::{Dwarf, Sections};

/// A 64-bit ELF file, parsed.
pub type Parsed<'a> = ElfFile64<'a, Endianness>;

/// A file in memory: a program, a library, or what was split off one.
#[derive(Debug)]
pub struct Mapped {
    /// Where it lies.
    pub path: PathBuf,
    /// The state in which it was opened.
    pub stamp: Stamp,
    map: Mmap,
    sections: OnceLock<Sections>,
}

impl Mapped {
    /// Maps a file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let stamp = Stamp::of(&file.metadata()?);
        // SAFETY: the map is private and only read, and every read of it is checked. A program that is rewritten in
        // place just now could tear what is read. One that shrinks would end this process with SIGBUS, as it does with
        // every tool that maps programs.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self { path: path.to_owned(), stamp, map, sections: OnceLock::new() })
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// It, parsed as an ELF file of 64 bits, if it is one: only its tables of contents are read.
    pub fn parsed(&self) -> Option<Parsed<'_>> {
        Parsed::parse(self.bytes()).ok()
    }

    /// Its DWARF, empty if it has none. What is compressed is decompressed once.
    pub fn dwarf(&self) -> Dwarf<'_> {
        let read = || self.parsed().map(|elf| Sections::read(&elf)).unwrap_or_default();
        self.sections.get_or_init(read).borrow(self.bytes())
    }
}
