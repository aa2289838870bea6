//! A module as the linker has laid it out: what lies at an address, called by names that another build has too.

use std::ops::Range;

use object::elf::{SHF_ALLOC, SHF_EXECINSTR, SHF_WRITE};
use object::{
    Object, ObjectSection, ObjectSegment, ObjectSymbol, RelocationTarget, SectionFlags, SectionKind, SymbolKind,
};
use rustc_hash::FxHashMap;

use super::super::answers::Symbol;
use super::super::files::ModuleFiles;
use crate::elf::Parsed;
use crate::elf::symbols::base_name;

/// A section that is in memory while the program runs.
struct Section<'a> {
    name: &'a str,
    range: Range<u64>,
    /// Empty, if it is filled with zeros.
    bytes: &'a [u8],
    is_code: bool,
    /// Whether the program finds there what the file has: it is not written, but for addresses when it is loaded.
    is_constant: bool,
}

/// Most pointers from one to the next: a stub's, to a stub.
const MOST_POINTERS: u8 = 4;

/// Largest element of a table before whose first one a loop may start.
const LARGEST_ELEMENT: u64 = 16;

/// Finds the function that an address lies in.
pub type Enclosing<'f, 'a> = dyn Fn(u64) -> Option<Symbol<'a>> + 'f;

/// What a pointer that is filled in when the program is loaded will point to.
#[derive(Clone, Copy)]
enum Filled<'a> {
    /// Something of any module.
    Named(&'a str, i64),
    /// An address of this one.
    Here(u64),
}

/// What lies at an address.
pub enum Thing<'a> {
    /// A function, or a place in it.
    Code { name: &'a str, offset: u64 },
    /// Data with a name; constant, if the program cannot write it.
    Data { name: &'a str, offset: u64, range: Range<u64>, is_constant: bool },
    /// A pointer that the linker has made: what it points to.
    Pointer { name: &'a str, addend: i64 },
    /// Constant data without a name.
    Constant,
    /// Data without a name that the program may write.
    Variable(&'a str),
    /// Nothing.
    Nowhere,
}

/// The layout of a module.
pub struct Image<'a> {
    sections: Vec<Section<'a>>,
    /// Data that has a name, by address; of several at one address the one whose name comes first.
    data: Vec<Symbol<'a>>,
    /// Variables of each thread, by their offsets.
    of_threads: Vec<Symbol<'a>>,
    /// From where a thread's variables are counted.
    thread_block: u64,
    filled: FxHashMap<u64, Filled<'a>>,
    /// Whether there are pointers that are filled in, of which only the linker's packed list tells.
    has_packed: bool,
    /// Whether it always lies where the linker says, so that its code has addresses.
    pub is_fixed: bool,
}

impl<'a> Image<'a> {
    /// The layout of a module, if its file is there.
    pub fn read(files: &'a ModuleFiles) -> Option<Self> {
        let elf = files.code.as_ref()?.parsed()?;
        let mut sections: Vec<Section> = elf.sections().filter_map(|section| read_section(&section)).collect();
        sections.sort_by_key(|section| section.range.start);
        let symbols = |kind| {
            let with_symbols = files.parsed().find(|elf| elf.symbols().next().is_some());
            let mut found: Vec<Symbol> = with_symbols.map(|elf| symbols_of(&elf, kind)).unwrap_or_default();
            found.sort_by_key(|symbol| (symbol.address, symbol.name));
            found.dedup_by_key(|symbol| symbol.address);
            found
        };
        let thread_block =
            elf.sections().filter(|section| matches!(section.kind(), SectionKind::Tls | SectionKind::UninitializedTls));
        let thread_block = thread_block.fold((u64::MAX, 0, 1), |(start, end, align), section| {
            let last = section.address().saturating_add(section.size());
            (start.min(section.address()), end.max(last), align.max(section.align()))
        });
        let (start, end, align) = thread_block;
        Some(Self {
            data: symbols(SymbolKind::Data),
            of_threads: symbols(SymbolKind::Tls),
            thread_block: end.saturating_sub(start).checked_next_multiple_of(align.max(1)).unwrap_or(0),
            filled: filled(&elf),
            has_packed: sections.iter().any(|section| section.name == ".relr.dyn"),
            is_fixed: elf.kind() == object::ObjectKind::Executable && elf.segments().all(|one| one.address() > 0xffff),
            sections,
        })
    }

    fn section(&self, address: u64) -> Option<&Section<'a>> {
        let after = self.sections.partition_point(|section| section.range.start <= address);
        self.sections[..after].last().filter(|section| section.range.contains(&address))
    }

    /// Bytes from an address to the end of its section.
    pub fn bytes_from(&self, address: u64) -> &'a [u8] {
        let bytes = |section: &Section<'a>| section.bytes.get((address - section.range.start) as usize..);
        self.section(address).and_then(bytes).unwrap_or_default()
    }

    /// Bytes at an address.
    pub fn bytes(&self, range: &Range<u64>) -> Option<&'a [u8]> {
        self.bytes_from(range.start).get(..usize::try_from(range.end.checked_sub(range.start)?).ok()?)
    }

    /// Whether a number is the address of something, in code that has addresses.
    pub fn is_address(&self, number: u64) -> bool {
        self.is_fixed && self.section(number).is_some()
    }

    /// Whether program code lies there.
    pub fn is_code(&self, address: u64) -> bool {
        self.section(address).is_some_and(|section| section.is_code)
    }

    /// What lies at an address; `enclosing` finds functions.
    pub fn thing(&self, address: u64, enclosing: &Enclosing<'_, 'a>) -> Thing<'a> {
        self.thing_after(address, enclosing, 0)
    }

    /// The same, after so many pointers: in a damaged file they may lead in circles.
    fn thing_after(&self, address: u64, enclosing: &Enclosing<'_, 'a>, pointers: u8) -> Thing<'a> {
        if pointers > MOST_POINTERS {
            return Thing::Nowhere;
        }
        let Some(section) = self.section(address) else { return Thing::Nowhere };
        if section.name.starts_with(".got") {
            return self.pointer_after(address, enclosing, pointers + 1).unwrap_or(Thing::Variable(section.name));
        }
        if section.is_code && section.name.starts_with(".plt") {
            let slot = self.slot_of_stub(address);
            return slot.and_then(|slot| self.pointer_after(slot, enclosing, pointers + 1)).unwrap_or(Thing::Nowhere);
        }
        if section.is_code {
            return match enclosing(address).filter(|symbol| !symbol.name.is_empty()) {
                Some(symbol) => Thing::Code { name: symbol.name, offset: address - symbol.address },
                None => Thing::Nowhere,
            };
        }
        match at(&self.data, address) {
            Some(symbol) => Thing::Data {
                name: symbol.name,
                offset: address - symbol.address,
                range: symbol.address..symbol.address.saturating_add(symbol.size),
                is_constant: section.is_constant,
            },
            None if section.is_constant => Thing::Constant,
            None => Thing::Variable(section.name),
        }
    }

    /// The data that ends at an address, or begins an element after it, where loops stop and start that go through it: its
    /// name, and how far into it that is.
    pub fn beside(&self, address: u64) -> Option<(&'a str, i64)> {
        let after = self.data.partition_point(|symbol| symbol.address < address);
        let last = self.data[..after].last().filter(|symbol| address - symbol.address == symbol.size);
        let next = self.data.get(after).filter(|symbol| symbol.address - address <= LARGEST_ELEMENT);
        let found = last.or(next)?;
        Some((found.name, address.wrapping_sub(found.address) as i64))
    }

    /// Whether an address at the end of data may as well be an element before other data, which begins there.
    pub fn is_before_other(&self, address: u64, end: u64) -> bool {
        let after = self.data.partition_point(|symbol| symbol.address <= address);
        let begins = |symbol: &Symbol| symbol.address - address <= LARGEST_ELEMENT;
        end - address <= LARGEST_ELEMENT && self.data.get(after).is_some_and(begins)
    }

    /// What a pointer points to that is filled in when the program is loaded, or that the linker has filled in.
    pub fn pointer(&self, address: u64, enclosing: &Enclosing<'_, 'a>) -> Option<Thing<'a>> {
        self.pointer_after(address, enclosing, 0)
    }

    fn pointer_after(&self, address: u64, enclosing: &Enclosing<'_, 'a>, pointers: u8) -> Option<Thing<'a>> {
        if let Some(Filled::Named(name, addend)) = self.filled.get(&address) {
            return Some(Thing::Pointer { name, addend: *addend });
        }
        let target = self.pointed_to(address)?;
        match self.section(target) {
            Some(section) if section.name.starts_with(".got") => Some(Thing::Variable(section.name)),
            _ => Some(self.thing_after(target, enclosing, pointers + 1)),
        }
    }

    /// The address of this module that a pointer has.
    pub fn pointed_to(&self, address: u64) -> Option<u64> {
        match self.filled.get(&address) {
            Some(Filled::Named(..)) => None,
            Some(Filled::Here(target)) => Some(*target),
            None => {
                let section = self.section(address)?;
                let may_have = self.is_fixed || self.has_packed && section.name.starts_with(".data.rel.ro");
                let target = u64::from_le_bytes(self.bytes_from(address).first_chunk().copied()?);
                (may_have && self.section(target).is_some()).then_some(target)
            }
        }
    }

    /// The pointer that a stub of the procedure linkage table jumps by.
    fn slot_of_stub(&self, address: u64) -> Option<u64> {
        use iced_x86::{Decoder, DecoderOptions, Register};
        let bytes = self.bytes_from(address);
        let stub = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).into_iter().take(3);
        let mut jumps = stub.filter(|one| one.is_jmp_near_indirect() && one.memory_base() == Register::RIP);
        jumps.next().map(|jump| jump.memory_displacement64())
    }

    /// The variable of each thread at an offset from the thread's pointer, which is negative.
    pub fn of_thread(&self, offset: u64) -> Option<(&'a str, u64)> {
        let offset = offset.wrapping_add(self.thread_block);
        let symbol = at(&self.of_threads, offset)?;
        Some((symbol.name, offset - symbol.address))
    }
}

/// The symbol that an address lies in.
fn at<'a>(symbols: &[Symbol<'a>], address: u64) -> Option<Symbol<'a>> {
    let after = symbols.partition_point(|symbol| symbol.address <= address);
    symbols[..after].last().copied().filter(|symbol| address - symbol.address < symbol.size)
}

fn read_section<'a>(section: &impl ObjectSection<'a>) -> Option<Section<'a>> {
    let SectionFlags::Elf { sh_flags, .. } = section.flags() else { return None };
    let has = |flag| sh_flags.contains(flag);
    // Variables of threads are copied from theirs, which takes no room of its own.
    let is_of_threads = matches!(section.kind(), SectionKind::Tls | SectionKind::UninitializedTls);
    if !has(SHF_ALLOC) || section.size() == 0 || is_of_threads {
        return None;
    }
    let name = section.name().ok()?;
    Some(Section {
        name,
        range: section.address()..section.address().checked_add(section.size())?,
        bytes: section.data().unwrap_or_default(),
        is_code: has(SHF_EXECINSTR),
        is_constant: !has(SHF_WRITE) || name.starts_with(".data.rel.ro"),
    })
}

fn symbols_of<'a>(elf: &Parsed<'a>, kind: SymbolKind) -> Vec<Symbol<'a>> {
    let is_wanted = |symbol: &object::read::elf::ElfSymbol<'a, '_, _>| {
        symbol.kind() == kind && !symbol.is_undefined() && symbol.size() > 0
    };
    let symbols = elf.symbols().filter(is_wanted);
    let symbol = |symbol: object::read::elf::ElfSymbol<'a, '_, _>| {
        let name = symbol.name().ok().filter(|name| !name.is_empty())?;
        Some(Symbol { name, address: symbol.address(), size: symbol.size() })
    };
    symbols.filter_map(symbol).collect()
}

fn filled<'a>(elf: &Parsed<'a>) -> FxHashMap<u64, Filled<'a>> {
    let Some(relocations) = elf.dynamic_relocations() else { return FxHashMap::default() };
    let one = |(address, relocation): (u64, object::Relocation)| {
        let filled = match relocation.target() {
            RelocationTarget::Symbol(index) => {
                let name = elf.dynamic_symbol_table()?;
                let name = object::ObjectSymbolTable::symbol_by_index(&name, index).ok()?.name().ok()?;
                Filled::Named(name, relocation.addend())
            }
            _ => Filled::Here(relocation.addend() as u64),
        };
        Some((address, filled))
    };
    relocations.filter_map(one).collect()
}

/// A name without the numbers that compilers give to copies and to static variables, which depend on what else there is:
/// `table` for `table.3`, `f.part` for `f.part.0`; nor the hash of a crate.
pub fn without_numbers(name: &str) -> String {
    let (base, rest) = name.split_at(base_name(name).len());
    let base = match base.strip_suffix('E').and_then(|base| base.rsplit_once("17h")) {
        Some((start, hash)) if hash.len() == 16 && hash.bytes().all(|digit| digit.is_ascii_hexdigit()) => start,
        _ => base,
    };
    let is_number = |part: &&str| part.bytes().all(|digit| digit.is_ascii_digit());
    std::iter::once(base).chain(rest.split('.').filter(|part| !is_number(part))).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_no_part_of_a_name() {
        for (name, expected) in [
            ("f", "f"),
            ("f.part.0", "f.part"),
            ("table.12", "table"),
            ("f.constprop.1.isra.0", "f.constprop.isra"),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "_ZN4core3fmt5write"),
            (".L1", ".L1"),
        ] {
            assert_eq!(without_numbers(name), expected);
        }
    }
}
