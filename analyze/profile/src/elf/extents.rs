//! The extents of a file's functions by what is told to whoever unwinds the stack: a stripped file still has that.

use std::ops::Range;

use gimli::{BaseAddresses, CieOrFde, EhFrame, LittleEndian, UnwindSection};
use object::{Object, ObjectSection};

use super::Parsed;

/// The extents that `.eh_frame` has.
pub fn extents(elf: &Parsed) -> Vec<Range<u64>> {
    let Some(section) = elf.section_by_name(".eh_frame") else { return Vec::new() };
    let text = elf.section_by_name(".text").map_or(0, |text| text.address());
    let bases = BaseAddresses::default().set_eh_frame(section.address()).set_text(text);
    let frames = EhFrame::new(section.data().unwrap_or_default(), LittleEndian);
    let mut entries = frames.entries(&bases);
    let mut extents = Vec::new();
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        if let Ok(entry) = partial.parse(EhFrame::cie_from_offset) {
            let start = entry.initial_address();
            extents.push(start..start.saturating_add(entry.len()));
        }
    }
    extents
}
