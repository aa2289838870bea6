//! The functions of an ELF file by its symbol tables.

use object::elf::{STB_GLOBAL, STB_WEAK, STT_FUNC, STT_GNU_IFUNC};
use object::read::elf::Sym;
use object::{Object, ObjectSymbol};

use super::Parsed;

/// A function's symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Its name as the linker knows it, without a version.
    pub name: &'a str,
    /// Its ELF virtual address.
    pub address: u64,
    /// Its size in bytes, or zero.
    pub size: u64,
    /// Who may call it.
    pub binding: Binding,
}

/// Who may call a function; the widest comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Binding {
    /// Every module.
    Global,
    /// Every module that has no other of that name.
    Weak,
    /// Its own source file.
    Local,
}

/// A symbol table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// `.symtab`, with static functions. `strip` removes it.
    All,
    /// `.dynsym`, what other modules may call.
    Exported,
}

/// The functions that a file defines, by one of its tables.
pub fn functions<'a>(elf: &Parsed<'a>, table: Table) -> impl Iterator<Item = Symbol<'a>> + use<'a> {
    let symbols = match table {
        Table::All => elf.elf_symbol_table(),
        Table::Exported => elf.elf_dynamic_symbol_table(),
    };
    let (endian, strings) = (elf.endian(), symbols.strings());
    // Only the table's bytes are borrowed, and these are the file's.
    symbols.symbols().iter().filter_map(move |raw| {
        let is_function = [STT_FUNC, STT_GNU_IFUNC].contains(&raw.st_type());
        if !is_function || raw.is_undefined(endian) {
            return None;
        }
        let name = str::from_utf8(raw.name(endian, strings).ok()?).ok().filter(|name| !name.is_empty())?;
        let binding = match raw.st_bind() {
            STB_GLOBAL => Binding::Global,
            STB_WEAK => Binding::Weak,
            _ => Binding::Local,
        };
        Some(Symbol { name: without_version(name), address: raw.st_value(endian), size: raw.st_size(endian), binding })
    })
}

/// Whether a file wants a symbol that another module has.
pub fn refers_to(elf: &Parsed, name: &str) -> bool {
    elf.dynamic_symbols().any(|symbol| symbol.is_undefined() && symbol.name() == Ok(name))
}

/// A versioned symbol is `name@VERSION` or `name@@VERSION` in `.symtab`.
fn without_version(name: &str) -> &str {
    name.find('@').filter(|&at| at > 0).map_or(name, |at| &name[..at])
}

/// The name of the function that a symbol is a part or a copy of: `f` for `f.part.0`, `f.cold`, `f.constprop.0.isra.1`.
pub fn base_name(symbol: &str) -> &str {
    symbol.find('.').filter(|&at| at > 0).map_or(symbol, |at| &symbol[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn versions_are_no_part_of_a_name() {
        for (symbol, expected) in [("f", "f"), ("f@V1", "f"), ("f@@V2", "f"), ("@f", "@f")] {
            assert_eq!(without_version(symbol), expected);
        }
    }
}
