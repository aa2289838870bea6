//! The functions of a module by address.

use object::read::elf::Sym;
use object::{Endianness, elf};

use super::files::{Elf, ModuleFiles};

/// A function's symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Its name as the linker knows it, without a version; empty if only its extent is known.
    pub name: &'a str,
    /// Its ELF virtual address.
    pub address: u64,
    /// Its size in bytes; 0 if nobody knows.
    pub size: u64,
    /// The largest end of it and all before it.
    reach: u64,
}

/// Symbols in the order of their addresses; of several at one address the one to show comes first.
#[derive(Default)]
pub struct Table<'a> {
    symbols: Vec<Symbol<'a>>,
    is_stripped: bool,
}

impl<'a> Table<'a> {
    /// Reads the first table there is: the module's own, its debug file's, or what a stripped file has left.
    pub fn read(files: &'a ModuleFiles) -> Self {
        let elves: Vec<Elf<'a>> = files.all().filter_map(|file| file.elf()).collect();
        let mut ranked = Vec::new();
        for elf in &elves {
            if !elf.elf_symbol_table().is_empty() {
                collect(elf, elf.elf_symbol_table(), &mut ranked);
                break;
            }
        }
        let is_stripped = ranked.is_empty();
        if is_stripped {
            for elf in &elves {
                collect(elf, elf.elf_dynamic_symbol_table(), &mut ranked);
            }
            // Where functions begin and end is still told to whoever unwinds the stack, if not their names.
            let extents = files.code.iter().flat_map(super::dwarf::extents);
            ranked.extend(extents.map(|extent| {
                let size = extent.end - extent.start;
                (Rank::MAX, Symbol { name: "", address: extent.start, size, reach: 0 })
            }));
        }
        ranked.sort_unstable_by_key(|(rank, symbol)| (symbol.address, *rank, symbol.name.len(), symbol.name));
        let mut symbols: Vec<Symbol> = ranked.into_iter().map(|(_, symbol)| symbol).collect();
        symbols.dedup_by_key(|symbol| (symbol.address, symbol.name));
        // What is written in assembly may have no size: it is as long as nothing else begins.
        let mut following = None;
        for index in (0..symbols.len()).rev() {
            let symbol = &mut symbols[index];
            if symbol.size == 0 {
                symbol.size = following.map_or(1, |next| next - symbol.address);
            }
            let address = symbol.address;
            if index > 0 && symbols[index - 1].address < address {
                following = Some(address);
            }
        }
        let mut reach = 0;
        for symbol in &mut symbols {
            reach = symbol.address.saturating_add(symbol.size).max(reach);
            symbol.reach = reach;
        }
        Self { symbols, is_stripped }
    }

    /// The symbols at an address, the one to show first.
    pub fn starting_at(&self, address: u64) -> impl Iterator<Item = Symbol<'a>> {
        let first = self.symbols.partition_point(|symbol| symbol.address < address);
        self.symbols[first..].iter().copied().take_while(move |symbol| symbol.address == address)
    }

    /// Whether only what the module exports has names.
    pub fn is_stripped(&self) -> bool {
        self.is_stripped
    }

    /// The symbol that an address lies in: the nearest before it that reaches it.
    pub fn enclosing(&self, address: u64) -> Option<Symbol<'a>> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let reaching = self.symbols[..after].iter().rev().take_while(|symbol| symbol.reach > address);
        let found = reaching.copied().find(|symbol| address - symbol.address < symbol.size)?;
        self.starting_at(found.address).find(|symbol| address - symbol.address < symbol.size)
    }

    /// All symbols.
    pub fn all(&self) -> impl Iterator<Item = Symbol<'a>> {
        self.symbols.iter().copied()
    }
}

/// How far down among symbols of one address a symbol is: what others may call comes first.
type Rank = u8;

fn collect<'a>(
    elf: &Elf<'a>,
    table: &object::read::elf::SymbolTable<'a, elf::FileHeader64<Endianness>>,
    found: &mut Vec<(Rank, Symbol<'a>)>,
) {
    let endian = elf.endian();
    let strings = table.strings();
    for raw in table.iter() {
        let kind = raw.st_type();
        let is_function = kind == elf::STT_FUNC || kind == elf::STT_GNU_IFUNC;
        if !is_function || raw.is_undefined(endian) {
            continue;
        }
        let name = raw.name(endian, strings).ok().and_then(|name| std::str::from_utf8(name).ok());
        let Some(name) = name.filter(|name| !name.is_empty()) else { continue };
        let rank = match raw.st_bind() {
            elf::STB_GLOBAL => 0,
            elf::STB_WEAK => 1,
            _ => 2,
        };
        let name = name.find('@').filter(|&at| at > 0).map_or(name, |at| &name[..at]);
        let (address, size) = (raw.st_value(endian), raw.st_size(endian));
        found.push((rank, Symbol { name, address, size, reach: 0 }));
    }
}

/// The name of the function that a symbol is a part or a copy of: `f` for `f.part.0`, `f.cold`, `f.constprop.0.isra.1`.
pub fn base_name(symbol: &str) -> &str {
    symbol.find('.').filter(|&at| at > 0).map_or(symbol, |at| &symbol[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(symbols: &[(&'static str, u64, u64)]) -> Table<'static> {
        let mut reach = 0;
        let symbols = symbols.iter().map(|&(name, address, size)| {
            reach = reach.max(address + size);
            Symbol { name, address, size, reach }
        });
        Table { symbols: symbols.collect(), is_stripped: false }
    }

    #[test]
    fn an_address_lies_in_the_innermost_symbol_that_reaches_it() {
        let table = table(&[("outer", 100, 100), ("inner", 120, 10), ("next", 300, 10)]);
        for (address, expected) in [
            (99, None),
            (100, Some("outer")),
            (125, Some("inner")),
            (130, Some("outer")),
            (200, None),
            (300, Some("next")),
        ] {
            assert_eq!(table.enclosing(address).map(|symbol| symbol.name), expected, "{address}");
        }
    }

    #[test]
    fn base_names() {
        for (symbol, expected) in [
            ("f", "f"),
            ("f.part.0", "f"),
            ("f.constprop.0.isra.1", "f"),
            ("_ZN1a1bEv.cold", "_ZN1a1bEv"),
            (".L1", ".L1"),
        ] {
            assert_eq!(base_name(symbol), expected);
        }
    }
}
