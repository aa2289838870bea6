//! The functions of an ELF file by its symbol tables.

use object::{Object, ObjectSymbol, SymbolKind};

use super::Elf;

/// A function's symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Its name as the linker knows it, without a version.
    pub name: &'a str,
    /// Its ELF virtual address.
    pub address: u64,
    /// Its size in bytes, or zero.
    pub size: u64,
}

/// The functions that a file defines: first those of `.symtab`, static ones included, then those of `.dynsym`, which a
/// stripped file still has. Most dynamic ones are in both.
pub fn functions(elf: &Elf) -> Result<Vec<Symbol<'_>>, super::Error> {
    let file =
        object::File::parse(elf.bytes()).map_err(|reason| super::Error::NotElf { path: elf.path.clone(), reason })?;
    let symbols = file.symbols().chain(file.dynamic_symbols());
    Ok(symbols.filter_map(function).collect())
}

fn function<'a>(symbol: impl ObjectSymbol<'a>) -> Option<Symbol<'a>> {
    if symbol.kind() != SymbolKind::Text || !symbol.is_definition() {
        return None;
    }
    let name = symbol.name().ok().filter(|name| !name.is_empty())?;
    Some(Symbol { name: without_version(name), address: symbol.address(), size: symbol.size() })
}

/// A versioned symbol is `name@VERSION` or `name@@VERSION` in `.symtab`.
fn without_version(name: &str) -> &str {
    name.find('@').filter(|&at| at > 0).map_or(name, |at| &name[..at])
}
