//! DWARF sections of a file: where they lie in it, or decompressed.

use std::ops::Range;

use gimli::{DwarfSections, EndianSlice, LittleEndian, SectionId};
use object::{CompressionFormat, Object, ObjectSection};

use super::Parsed;

/// What DWARF is read from.
pub type Reader<'a> = EndianSlice<'a, LittleEndian>;

/// The DWARF of a file.
pub type Dwarf<'a> = gimli::Dwarf<Reader<'a>>;

/// The sections of a file.
#[derive(Debug, Default)]
pub struct Sections(DwarfSections<Bytes>);

#[derive(Debug)]
enum Bytes {
    InFile(Range<usize>),
    Decompressed(Vec<u8>),
}

impl Default for Bytes {
    fn default() -> Self {
        Self::InFile(0..0)
    }
}

impl Sections {
    /// Finds the sections of a file.
    pub fn read(elf: &Parsed) -> Self {
        let load = |id: SectionId| Ok::<_, std::convert::Infallible>(section(elf, id.name()).unwrap_or_default());
        let Ok(sections) = DwarfSections::load(load);
        Self(sections)
    }

    /// What they say, by the bytes of the same file.
    pub fn borrow<'a>(&'a self, file: &'a [u8]) -> Dwarf<'a> {
        self.0.borrow(|bytes| {
            let bytes = match bytes {
                Bytes::InFile(range) => &file[range.clone()],
                Bytes::Decompressed(bytes) => bytes,
            };
            EndianSlice::new(bytes, LittleEndian)
        })
    }
}

fn section(elf: &Parsed, name: &str) -> Option<Bytes> {
    let section = elf.section_by_name(name)?;
    let compressed = section.compressed_data().ok()?;
    if compressed.format != CompressionFormat::None {
        return Some(Bytes::Decompressed(compressed.decompress().ok()?.into_owned()));
    }
    let (start, size) = section.file_range()?;
    let range = usize::try_from(start).ok()?..usize::try_from(start.checked_add(size)?).ok()?;
    (range.start <= range.end && range.end <= elf.data().len()).then_some(Bytes::InFile(range))
}

/// Whether a file has DWARF of its own.
pub fn is_in(elf: &Parsed) -> bool {
    elf.section_by_name(".debug_info").is_some_and(|section| section.size() > 0)
}
