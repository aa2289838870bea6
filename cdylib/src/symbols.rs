//! The names of a module's functions, read from its file.

use crate::image::Image;
use crate::memory;
use crate::sys::{self, Fd};
use core::ffi::CStr;
use core::fmt::{self, Write};
use elf::ElfBytes;
use elf::abi::{SHT_DYNSYM, SHT_NOTE, SHT_SYMTAB, STT_FUNC};
use elf::endian::LittleEndian;
use elf::file::Class;
use elf::note::Note;
use elf::symbol::SymbolTable;
use profile::pattern;

const PATH_MAX: usize = 4096;

/// What a symbol begins with, if a pattern can name it: of the many that none names, only this byte is read.
pub struct Beginnings([bool; 256]);

impl Beginnings {
    /// Of what any pattern of some lists can name.
    pub fn of(lists: &[&str]) -> Self {
        let mut any = [false; 256];
        any[usize::from(b'_')] = true; // mangled
        for one in lists.iter().flat_map(|list| pattern::split(list)) {
            match one.as_bytes()[0] {
                b'*' | b'?' => any = [true; 256],
                first => any[usize::from(first)] = true,
            }
        }
        Self(any)
    }
}

/// Calls `each` with the name and address of every function of the module that begins so, those of `.symtab` if it has
/// been kept (in the file or in a separate debug file), else the exported ones. `None` if the file cannot be read or is
/// another one by now.
pub fn each_function(
    path: &[u8],
    image: &Image,
    beginnings: &Beginnings,
    mut each: impl FnMut(&[u8], usize),
) -> Option<()> {
    let mut read = |file: &MappedFile, kind| read_table(file.bytes(), image, kind, beginnings, &mut each);
    let file = MappedFile::open(path)?;
    if read(&file, SHT_SYMTAB)? {
        return Some(());
    }
    let debug = debug_path(image).and_then(|path| MappedFile::open(&path));
    if let Some(debug) = debug
        && read(&debug, SHT_SYMTAB) == Some(true)
    {
        return Some(());
    }
    read(&file, SHT_DYNSYM)?.then_some(())
}

/// Reads the symbol table of a kind; `Some(false)` if the file has none.
fn read_table(
    bytes: &[u8],
    image: &Image,
    kind: u32,
    beginnings: &Beginnings,
    each: &mut impl FnMut(&[u8], usize),
) -> Option<bool> {
    let file = ElfBytes::<LittleEndian>::minimal_parse(bytes).ok()?;
    if image.build_id_len > 0 && build_id(&file)? != &image.build_id[..image.build_id_len] {
        return None;
    }
    let sections = file.section_headers()?;
    let Some(section) = sections.iter().find(|section| section.sh_type == kind) else { return Some(false) };
    let (table, _) = file.section_data(&section).ok()?;
    let (names, _) = file.section_data(&sections.get(section.sh_link as usize).ok()?).ok()?;
    for symbol in SymbolTable::new(LittleEndian, Class::ELF64, table) {
        if symbol.st_symtype() == STT_FUNC
            && !symbol.is_undefined()
            && let Some(name) = names.get(symbol.st_name as usize..)
            && name.first().is_some_and(|&first| beginnings.0[usize::from(first)])
            && let Some(end) = name.iter().position(|&c| c == 0)
        {
            each(&name[..end], image.bias.wrapping_add(symbol.st_value as usize));
        }
    }
    Some(true)
}

fn build_id<'a>(file: &ElfBytes<'a, LittleEndian>) -> Option<&'a [u8]> {
    for section in file.section_headers()?.iter().filter(|section| section.sh_type == SHT_NOTE) {
        for note in file.section_data_as_notes(&section).ok()? {
            if let Note::GnuBuildId(id) = note {
                return Some(id.0);
            }
        }
    }
    None
}

/// Where distributions keep what they strip from a module.
fn debug_path(image: &Image) -> Option<[u8; 128]> {
    let id = &image.build_id[..image.build_id_len];
    let (first, rest) = id.split_first()?;
    let mut path = Fixed { bytes: [0; 128], len: 0 };
    write!(path, "/usr/lib/debug/.build-id/{first:02x}/").ok()?;
    rest.iter().try_for_each(|byte| write!(path, "{byte:02x}")).ok()?;
    path.write_str(".debug").ok()?;
    Some(path.bytes)
}

/// Whether a pattern names the function with this symbol.
pub fn is_named(one: &str, symbol: &[u8]) -> bool {
    let Ok(symbol) = core::str::from_utf8(symbol) else { return false };
    if pattern::glob(one, symbol) {
        return true;
    }
    if !(symbol.starts_with("_Z") || symbol.starts_with("_R")) || !symbol.contains(pattern::mangled_hint(one)) {
        return false;
    }
    let answer = demangled_matches(one, symbol);
    memory::free_scratch();
    answer
}

fn demangled_matches(one: &str, symbol: &str) -> bool {
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        let mut text = Fixed { bytes: [0; 4096], len: 0 };
        let _ = write!(text, "{name:#}");
        return pattern::matches_demangled(one, text.as_str());
    }
    let Ok(name) = cpp_demangle::Symbol::new(symbol) else { return false };
    name.demangle().is_ok_and(|name| pattern::matches_demangled(one, &name))
}

/// Text of limited length; what does not fit is cut off.
struct Fixed<const SIZE: usize> {
    bytes: [u8; SIZE],
    len: usize,
}

impl<const SIZE: usize> Fixed<SIZE> {
    fn as_str(&self) -> &str {
        match core::str::from_utf8(&self.bytes[..self.len]) {
            Ok(text) => text,
            Err(error) => core::str::from_utf8(&self.bytes[..error.valid_up_to()]).unwrap_or(""),
        }
    }
}

impl<const SIZE: usize> Write for Fixed<SIZE> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let len = text.len().min(SIZE - self.len);
        self.bytes[self.len..self.len + len].copy_from_slice(&text.as_bytes()[..len]);
        self.len += len;
        if len < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

/// A file mapped for reading. Whoever writes over a program's file in place breaks the program with or without this.
struct MappedFile {
    address: *mut u8,
    size: usize,
}

impl MappedFile {
    fn open(path: &[u8]) -> Option<Self> {
        let path = path.split(|&c| c == 0).next()?;
        let mut buffer = [0; PATH_MAX];
        buffer.get_mut(..path.len())?.copy_from_slice(path);
        let fd = Fd::open(CStr::from_bytes_until_nul(&buffer).ok()?, libc::O_RDONLY).ok()?;
        let mapped = fd.stat().and_then(|stat| Ok((fd.map(stat.size as usize, false)?, stat.size as usize)));
        fd.close();
        mapped.ok().map(|(address, size)| Self { address, size })
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is this large and is given back with `self`.
        unsafe { core::slice::from_raw_parts(self.address, self.size) }
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: nothing refers to the bytes any more.
        unsafe { sys::unmap(self.address, self.size) };
    }
}
