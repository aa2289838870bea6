//! Where the code of a function begins: from the table that unwinders search (`.eh_frame_hdr`).

use crate::family::Family;
use crate::modules;

/// Version and `DW_EH_PE_…` of the table as every linker writes it: a pointer to the frames, a count, and addresses
/// relative to the table.
const ENCODINGS: [u8; 4] = [1, 0x1b, 0x03, 0x3b];

/// Whether an address lies in the code that begins at a function: not in a body of it that was inlined elsewhere, nor in
/// a part that was split off. `None` if there is no table to tell.
///
/// # Safety
/// The address must be in code that is running: its module, and so the table, cannot be unloaded now.
pub unsafe fn is_of(family: &Family, address: usize, function: usize) -> Option<bool> {
    // SAFETY: the caller's promise.
    unsafe { start_of(family, address) }.map(|start| start == function)
}

/// Where the code that an address lies in begins. `None` if there is no table to tell.
///
/// # Safety
/// As for [`is_of`].
pub unsafe fn start_of(family: &Family, address: usize) -> Option<usize> {
    // SAFETY: the caller's promise.
    unsafe { description_of(family, address) }.map(|(start, _)| start)
}

/// The same, and where that code's frames are described.
///
/// # Safety
/// As for [`is_of`].
pub unsafe fn description_of(family: &Family, address: usize) -> Option<(usize, usize)> {
    let table = modules::unwind_table(family, address)?;
    let words = core::ptr::with_exposed_provenance::<i32>(table);
    // SAFETY: the loader has mapped the table, which is as long as its count says.
    unsafe {
        if words.read_unaligned().to_le_bytes() != ENCODINGS {
            return None;
        }
        let address_at = |word: usize| table.wrapping_add_signed(words.add(word).read_unaligned() as isize);
        let start = |index: usize| address_at(3 + index * 2);
        let (mut low, mut high) = (0, words.add(2).read_unaligned() as u32 as usize);
        if high == 0 {
            return None;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if start(middle) <= address { low = middle } else { high = middle }
        }
        Some((start(low), address_at(4 + low * 2)))
    }
}
