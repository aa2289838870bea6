//! The functions of a module by address.

use super::answers::Symbol;
use super::files::ModuleFiles;
use crate::elf::symbols::{self, Binding, functions};
use crate::elf::{self, Parsed};

/// Symbols in the order of their addresses; of several at one address the one to show comes first.
#[derive(Default)]
pub struct Table<'a> {
    symbols: Vec<Symbol<'a>>,
    /// For each symbol the largest end of it and all before it.
    reaches: Vec<u64>,
    is_stripped: bool,
}

impl<'a> Table<'a> {
    /// The table of symbols that are in its order already.
    pub fn of(symbols: Vec<Symbol<'a>>, is_stripped: bool) -> Self {
        Self { reaches: reaches(&symbols), symbols, is_stripped }
    }

    /// Reads the first table that has static functions, too: the module's own or its debug file's. Where none has (`strip`,
    /// `strip -x`), what is left.
    pub fn read(files: &'a ModuleFiles) -> Self {
        let of_table = |table| move |elf: Parsed<'a>| functions(&elf, table).collect::<Vec<_>>();
        let is_whole = |found: &Vec<symbols::Symbol>| found.iter().any(|symbol| symbol.binding == Binding::Local);
        let whole = files.parsed().map(of_table(symbols::Table::All)).find(is_whole);
        let is_stripped = whole.is_none();
        let mut found = whole.unwrap_or_else(|| {
            let left = [symbols::Table::All, symbols::Table::Exported];
            let left = left.into_iter().flat_map(|table| files.parsed().flat_map(of_table(table)));
            left.chain(unnamed(files)).collect()
        });
        // What others may call comes first, and what has a name.
        found.sort_unstable_by_key(|symbol| {
            (symbol.address, symbol.name.is_empty(), symbol.binding, symbol.name.len(), symbol.name)
        });
        let symbol = |found: &symbols::Symbol<'a>| {
            let symbols::Symbol { name, address, size, .. } = *found;
            Symbol { name, address, size }
        };
        let mut symbols: Vec<Symbol> = found.iter().map(symbol).collect();
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
        Self::of(symbols, is_stripped)
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
        let before = self.symbols[..after].iter().zip(&self.reaches[..after]).rev();
        let mut reaching = before.take_while(|(_, reach)| **reach > address).map(|(symbol, _)| *symbol);
        let found = reaching.find(|symbol| address - symbol.address < symbol.size)?;
        self.starting_at(found.address).find(|symbol| address - symbol.address < symbol.size)
    }

    /// All symbols.
    pub fn all(&self) -> impl Iterator<Item = Symbol<'a>> {
        self.symbols.iter().copied()
    }
}

fn reaches(symbols: &[Symbol]) -> Vec<u64> {
    let ends = symbols.iter().map(|symbol| symbol.address.saturating_add(symbol.size));
    let mut reach = 0;
    let farthest = ends.map(|end| {
        reach = end.max(reach);
        reach
    });
    farthest.collect()
}

/// Where functions begin and end is told to whoever unwinds the stack, if not what they are called.
fn unnamed(files: &ModuleFiles) -> impl Iterator<Item = symbols::Symbol<'_>> {
    let code = files.code.iter().filter_map(|file| file.parsed());
    code.flat_map(|elf| elf::extents(&elf)).map(|extent| symbols::Symbol {
        name: "",
        address: extent.start,
        size: extent.end - extent.start,
        binding: Binding::Local,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(symbols: &[(&'static str, u64, u64)]) -> Table<'static> {
        let symbols: Vec<_> = symbols.iter().map(|&(name, address, size)| Symbol { name, address, size }).collect();
        Table { reaches: reaches(&symbols), symbols, is_stripped: false }
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
}
