//! What an ELF file says of itself, of either class and byte order.

use std::path::PathBuf;

use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader, SectionTable, Sym};
use object::{Endianness, FileKind, read};

use super::HOOK;

/// What the loader needs to know of a file, and whether it is instrumented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Whether it is a 64-bit file.
    pub is_64: bool,
    /// The processor that it is for.
    pub machine: elf::Machine,
    /// How it is started.
    pub linkage: Linkage,
    /// The libraries it needs (`DT_NEEDED`).
    pub needed: Vec<String>,
    /// Where its libraries, and theirs, are looked for first (`DT_RPATH`).
    pub rpath: Vec<String>,
    /// Where its own libraries are looked for (`DT_RUNPATH`).
    pub runpath: Vec<String>,
    /// It calls hooks that another module provides: it is instrumented, and can be recorded.
    pub refers_to_hooks: bool,
    /// It has hooks of its own.
    pub defines_hooks: bool,
    /// These are for other modules, too.
    pub exports_hooks: bool,
}

/// How a file is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Linkage {
    /// By a loader, which loads its libraries and preloads others.
    Dynamic {
        /// The loader that it names.
        loader: PathBuf,
    },
    /// By itself: nothing can be preloaded.
    Static,
    /// A library, or the loader itself.
    Library,
}

impl Facts {
    /// Reads the facts of a file.
    pub fn read(bytes: &[u8]) -> read::Result<Self> {
        match FileKind::parse(bytes)? {
            FileKind::Elf32 => read_class::<FileHeader32<Endianness>>(bytes),
            _ => read_class::<FileHeader64<Endianness>>(bytes), // or not at all, and it says why
        }
    }

    /// Whether the recorder, a 64-bit x86 library, can be loaded into its processes.
    pub fn is_for_recorder(&self) -> bool {
        self.is_64 && self.machine == elf::EM_X86_64
    }

    /// The class and processor, for messages: `32-bit x86`.
    pub fn kind(&self) -> String {
        let machine = match self.machine {
            elf::EM_386 | elf::EM_X86_64 => "x86".to_owned(),
            elf::EM_AARCH64 | elf::EM_ARM => "ARM".to_owned(),
            elf::EM_RISCV => "RISC-V".to_owned(),
            elf::EM_PPC64 => "POWER".to_owned(),
            elf::EM_S390 => "s390".to_owned(),
            other => format!("machine-{}", other.0),
        };
        format!("{}-bit {machine}", if self.is_64 { 64 } else { 32 })
    }
}

fn read_class<Header: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> read::Result<Facts> {
    let header = Header::parse(bytes)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, bytes)?;

    let mut facts = Facts {
        is_64: header.is_type_64(),
        machine: header.e_machine(endian),
        linkage: Linkage::Static,
        needed: Vec::new(),
        rpath: Vec::new(),
        runpath: Vec::new(),
        refers_to_hooks: hook_symbols(&sections, endian, bytes, elf::SHT_DYNSYM)?.undefined,
        exports_hooks: hook_symbols(&sections, endian, bytes, elf::SHT_DYNSYM)?.defined,
        defines_hooks: [elf::SHT_DYNSYM, elf::SHT_SYMTAB]
            .into_iter()
            .any(|table| hook_symbols(&sections, endian, bytes, table).is_ok_and(|found| found.defined)),
    };

    let mut is_pie = false;
    let table = sections.dynamic_table(endian, bytes)?;
    for entry in &table {
        let string = || table.string(entry).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        match entry.tag {
            elf::DT_NEEDED => facts.needed.push(string()?),
            elf::DT_RPATH => facts.rpath = folders(&string()?),
            elf::DT_RUNPATH => facts.runpath = folders(&string()?),
            elf::DT_FLAGS_1 => is_pie = entry.val & elf::DF_1_PIE.0 != 0,
            _ => {}
        }
    }
    if !facts.runpath.is_empty() {
        facts.rpath.clear(); // the loader ignores it then
    }

    let loader = header.program_headers(endian, bytes)?.iter().find_map(|segment| {
        let name = segment.interpreter(endian, bytes).ok()??;
        Some(PathBuf::from(String::from_utf8_lossy(name).into_owned()))
    });
    facts.linkage = match loader {
        Some(loader) => Linkage::Dynamic { loader },
        None if header.e_type(endian) == elf::ET_DYN && !is_pie => Linkage::Library,
        None => Linkage::Static,
    };
    Ok(facts)
}

struct HookSymbols {
    undefined: bool,
    defined: bool,
}

/// Looks for the hook in one of the two symbol tables.
fn hook_symbols<Header: FileHeader<Endian = Endianness>>(
    sections: &SectionTable<'_, Header>,
    endian: Endianness,
    bytes: &[u8],
    table: elf::SectionType,
) -> read::Result<HookSymbols> {
    let mut found = HookSymbols { undefined: false, defined: false };
    let symbols = sections.symbols(endian, bytes, table)?;
    for symbol in symbols.iter() {
        if symbol.name(endian, symbols.strings()).is_ok_and(|name| name == HOOK.as_bytes()) {
            let undefined = symbol.is_undefined(endian);
            found.undefined |= undefined;
            found.defined |= !undefined;
        }
    }
    Ok(found)
}

fn folders(list: &str) -> Vec<String> {
    list.split(':').filter(|folder| !folder.is_empty()).map(str::to_owned).collect()
}
