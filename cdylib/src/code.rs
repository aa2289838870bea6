//! Where the code of a function begins: from the table that unwinders search (`.eh_frame_hdr`).

use crate::family::Family;
use crate::image::{Image, read};
use crate::modules;

/// Version and `DW_EH_PE_…` of the table as every linker writes it: a pointer to the frames, a count, and addresses
/// relative to the table.
const ENCODINGS: [u8; 4] = [1, 0x1b, 0x03, 0x3b];

/// Whether an address lies in the code that begins at a function: not in a body of it that was inlined elsewhere, nor in
/// a part that was split off. `None` if there is no table to tell.
pub fn is_of(family: &Family, address: usize, function: usize) -> Option<bool> {
    let table = Image::unwind_table(modules::start(family, address)?)?;
    let [encodings, _, count] = read::<[u32; 3]>(table)?;
    if encodings.to_le_bytes() != ENCODINGS {
        return None;
    }
    let start = |index: usize| {
        let offset: i32 = read(table + 12 + index * 8)?;
        Some(table.wrapping_add_signed(offset as isize))
    };
    let (mut low, mut high) = (0, count as usize);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if start(middle)? <= address { low = middle } else { high = middle }
    }
    Some(start(low)? == function)
}
