//! The names of a module's functions, read from its file.

use crate::image::Image;
use crate::mapped_file::MappedFile;
use crate::memory;
use crate::separate;
use crate::sys;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;
use demangle::{demangle, is_mangled};
use elf::ElfBytes;
use elf::abi::{
    R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE, R_X86_64_JUMP_SLOT, SHT_DYNSYM, SHT_NOTE, SHT_RELA, SHT_SYMTAB, STT_FUNC,
    STT_GNU_IFUNC,
};
use elf::endian::LittleEndian;
use elf::file::Class;
use elf::note::Note;
use elf::symbol::{Symbol, SymbolTable};
use profile::pattern;

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
/// been kept (in the file or in a separate debug file), else the exported ones. A function with several implementations
/// (IFUNC) is called with the address of the one that was chosen. `None` if the file cannot be read or is another one by
/// now.
pub fn each_function(
    path: &[u8],
    image: &Image,
    beginnings: &Beginnings,
    mut each: impl FnMut(&[u8], usize),
) -> Option<()> {
    let file = MappedFile::open(path)?;
    let module = ElfBytes::<LittleEndian>::minimal_parse(file.bytes()).ok()?;
    let mut read = |file: &MappedFile, kind| {
        read_table(file.bytes(), image, kind, beginnings, |symbol, name| {
            each(name, image.bias.wrapping_add(symbol.st_value as usize));
            if symbol.st_symtype() == STT_GNU_IFUNC {
                let _ = each_choice(&module, image, symbol.st_value, |address| each(name, address));
            }
        })
    };
    if read(&file, SHT_SYMTAB)? {
        return Some(());
    }
    let is_read = separate::each_file(path, image, &module, |debug| read(debug, SHT_SYMTAB) == Some(true));
    if is_read {
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
    mut each: impl FnMut(&Symbol, &[u8]),
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
        if matches!(symbol.st_symtype(), STT_FUNC | STT_GNU_IFUNC)
            && !symbol.is_undefined()
            && let Some(name) = names.get(symbol.st_name as usize..)
            && name.first().is_some_and(|&first| beginnings.0[usize::from(first)])
            && let Some(end) = name.iter().position(|&c| c == 0)
        {
            each(&symbol, &name[..end]);
        }
    }
    Some(true)
}

/// Calls `each` with the addresses that the loader has found for a function whose implementation is chosen by `resolver`:
/// they lie where the module's relocations say.
fn each_choice(
    module: &ElfBytes<LittleEndian>,
    image: &Image,
    resolver: u64,
    mut each: impl FnMut(usize),
) -> Option<()> {
    let dynamic = module.dynamic_symbol_table().ok()?.map(|(symbols, _)| symbols);
    for section in module.section_headers()?.iter().filter(|section| section.sh_type == SHT_RELA) {
        for rela in module.section_data_as_relas(&section).ok()? {
            let is_its = match rela.r_type {
                R_X86_64_IRELATIVE => rela.r_addend as u64 == resolver,
                R_X86_64_GLOB_DAT | R_X86_64_JUMP_SLOT => {
                    let symbol = dynamic.as_ref().and_then(|symbols| symbols.get(rela.r_sym as usize).ok());
                    symbol.is_some_and(|symbol| symbol.st_symtype() == STT_GNU_IFUNC && symbol.st_value == resolver)
                }
                _ => false,
            };
            let mut address = [0; size_of::<usize>()];
            let place = image.bias.wrapping_add(rela.r_offset as usize);
            if is_its && sys::read_memory(sys::getpid(), place, &mut address) {
                each(usize::from_le_bytes(address));
            }
        }
    }
    Some(())
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

/// A pattern that functions are named by, with what of it need not be found out for each symbol.
pub struct Pattern<'a> {
    text: &'a str,
    /// What the symbol of every function has in it whose demangled name the pattern means; `None` if it means none.
    hint: Option<&'a str>,
}

impl<'a> Pattern<'a> {
    /// Those of a list.
    pub fn all(list: &'a str) -> Vec<Self> {
        pattern::split(list).map(Self::of).collect()
    }

    fn of(text: &'a str) -> Self {
        let is_symbol = is_mangled(text) && !text.contains(['*', '?']);
        Self { text, hint: (!is_symbol).then(|| pattern::mangled_hint(text)) }
    }
}

/// The name of a function: of many patterns some may have to be compared with the demangled one, which is made once.
pub struct Name<'a> {
    symbol: &'a str,
    demangled: OnceCell<Option<String>>,
    /// What was allocated before.
    before: usize,
}

impl<'a> Name<'a> {
    /// Of a symbol.
    pub fn of(symbol: &'a [u8]) -> Option<Self> {
        let symbol = core::str::from_utf8(symbol).ok()?;
        Some(Self { symbol, demangled: OnceCell::new(), before: memory::scratch_used() })
    }

    /// Whether a pattern means it.
    pub fn is_meant_by(&self, one: &Pattern) -> bool {
        if pattern::glob(one.text, self.symbol) {
            return true;
        }
        if !is_mangled(self.symbol) || !one.hint.is_some_and(|hint| self.symbol.contains(hint)) {
            return false;
        }
        let demangled = self.demangled.get_or_init(|| demangle(self.symbol));
        demangled.as_ref().is_some_and(|name| pattern::matches_demangled(one.text, name))
    }
}

impl Drop for Name<'_> {
    fn drop(&mut self) {
        if self.demangled.take().is_some() {
            memory::free_scratch(self.before);
        }
    }
}
