//! Separate debug files: where distributions keep what they strip from a module.
//!
//! They are found as debuggers do: by the module's build ID, or by the name and checksum in its `.gnu_debuglink` section, in
//! the module's folder, in `.debug` there, and in the same folder below `/usr/lib/debug`.

use crate::fixed::Fixed;
use crate::image::Image;
use crate::mapped_file::MappedFile;
use core::fmt::Write;
use elf::ElfBytes;
use elf::endian::LittleEndian;

const PATH_MAX: usize = 4096;

/// Calls `read` with each file that may be the module's, until it says that it has read one.
pub fn each_file(
    path: &[u8],
    image: &Image,
    module: &ElfBytes<LittleEndian>,
    mut read: impl FnMut(&MappedFile) -> bool,
) -> bool {
    let by_build_id = build_id_path(image).and_then(|path| MappedFile::open(&path));
    if by_build_id.is_some_and(|file| read(&file)) {
        return true;
    }
    let Some((name, checksum)) = debug_link(module) else { return false };
    let folder = &path[..path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1)];
    let places: [[&[u8]; 3]; 3] = [[folder, b"", name], [folder, b".debug/", name], [b"/usr/lib/debug", folder, name]];
    places.iter().any(|parts| {
        let mut path = Fixed::<PATH_MAX>::new();
        let fits = parts.iter().all(|part| path.push(part));
        let file = if fits { MappedFile::open(&path.bytes) } else { None };
        file.is_some_and(|file| crc32(file.bytes()) == checksum && read(&file))
    })
}

/// By build ID.
fn build_id_path(image: &Image) -> Option<[u8; 128]> {
    let id = &image.build_id[..image.build_id_len];
    let (first, rest) = id.split_first()?;
    let mut path = Fixed::<128>::new();
    write!(path, "/usr/lib/debug/.build-id/{first:02x}/").ok()?;
    rest.iter().try_for_each(|byte| write!(path, "{byte:02x}")).ok()?;
    path.write_str(".debug").ok()?;
    Some(path.bytes)
}

/// The name in `.gnu_debuglink`, and the checksum of the file that it means.
fn debug_link<'a>(module: &ElfBytes<'a, LittleEndian>) -> Option<(&'a [u8], u32)> {
    let section = module.section_header_by_name(".gnu_debuglink").ok()??;
    let (bytes, _) = module.section_data(&section).ok()?;
    let name = &bytes[..bytes.iter().position(|&byte| byte == 0)?];
    // The checksum is aligned, and the last thing there.
    let checksum = bytes.get((name.len() + 1).next_multiple_of(4)..)?.first_chunk()?;
    (!name.is_empty() && !name.contains(&b'/')).then_some((name, u32::from_le_bytes(*checksum)))
}

/// The checksum of the ITU's V.42 and of zip files.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut index = 0;
        while index < table.len() {
            let (mut value, mut bit) = (index as u32, 0);
            while bit < 8 {
                value = if value & 1 != 0 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
                bit += 1;
            }
            table[index] = value;
            index += 1;
        }
        table
    };
    !bytes.iter().fold(!0, |crc, &byte| crc >> 8 ^ TABLE[usize::from(crc as u8 ^ byte)])
}
