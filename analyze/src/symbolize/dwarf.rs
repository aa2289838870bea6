//! DWARF sections of a file: where they lie in it, or decompressed; and what unwinding tells of its functions.

use std::ops::Range;

use gimli::{DwarfSections, EndianSlice, LittleEndian, SectionId, UnwindSection};
use object::{CompressionFormat, Object, ObjectSection};

use super::files::{Mapped, ModuleFiles};

/// What DWARF is read from.
pub type Reader<'a> = EndianSlice<'a, LittleEndian>;

/// The sections of a file.
pub struct Sections(DwarfSections<Bytes>);

enum Bytes {
    InFile(Range<usize>),
    Decompressed(Vec<u8>),
}

impl Sections {
    fn read(file: &Mapped) -> Self {
        let elf = file.elf();
        let load = |id: SectionId| {
            let bytes = elf.as_ref().and_then(|elf| section(elf, file.bytes().len(), id.name()));
            Ok::<_, std::convert::Infallible>(bytes.unwrap_or(Bytes::InFile(0..0)))
        };
        let Ok(sections) = DwarfSections::load(load);
        Self(sections)
    }

    fn borrow<'a>(&'a self, file: &'a Mapped) -> gimli::Dwarf<Reader<'a>> {
        self.0.borrow(|bytes| {
            let bytes = match bytes {
                Bytes::InFile(range) => &file.bytes()[range.clone()],
                Bytes::Decompressed(bytes) => bytes,
            };
            EndianSlice::new(bytes, LittleEndian)
        })
    }
}

fn section(elf: &super::files::Elf, file_size: usize, name: &str) -> Option<Bytes> {
    let section = elf.section_by_name(name)?;
    let compressed = section.compressed_data().ok()?;
    if compressed.format != CompressionFormat::None {
        return Some(Bytes::Decompressed(compressed.decompress().ok()?.into_owned()));
    }
    let (start, size) = section.file_range()?;
    let range = usize::try_from(start).ok()?..usize::try_from(start.checked_add(size)?).ok()?;
    (range.start <= range.end && range.end <= file_size).then_some(Bytes::InFile(range))
}

/// The DWARF of a module, if it has any.
pub fn of(files: &ModuleFiles) -> Option<gimli::Dwarf<Reader<'_>>> {
    let read =
        |file: &'_ Mapped| -> bool { file.elf().is_some_and(|elf| elf.section_by_name(".debug_info").is_some()) };
    let file = files.all().find(|file| read(file))?;
    let mut dwarf = borrow(file);
    if let Some(supplement) = &files.supplement {
        dwarf.set_sup(borrow(supplement));
    }
    Some(dwarf)
}

/// The extents of a file's functions by `.eh_frame`, which a stripped file still has.
pub fn extents(file: &Mapped) -> Vec<Range<u64>> {
    let Some(elf) = file.elf() else { return Vec::new() };
    let Some(section) = elf.section_by_name(".eh_frame") else { return Vec::new() };
    let text = elf.section_by_name(".text").map_or(0, |text| text.address());
    let bases = gimli::BaseAddresses::default().set_eh_frame(section.address()).set_text(text);
    let frames = gimli::EhFrame::new(section.data().unwrap_or_default(), LittleEndian);
    let mut entries = frames.entries(&bases);
    let mut extents = Vec::new();
    while let Ok(Some(entry)) = entries.next() {
        let gimli::CieOrFde::Fde(partial) = entry else { continue };
        if let Ok(entry) = partial.parse(gimli::EhFrame::cie_from_offset) {
            let start = entry.initial_address();
            extents.push(start..start.saturating_add(entry.len()));
        }
    }
    extents
}

fn borrow(file: &Mapped) -> gimli::Dwarf<Reader<'_>> {
    file.sections.get_or_init(|| Sections::read(file)).borrow(file)
}
