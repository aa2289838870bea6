//! The functions of a module as the processor has them: one body of code each, with a name where one is known.

use object::Object;
use rustc_hash::FxHashSet;

use super::hooks::Section;
use diytrace_profile::elf::symbols::{Symbol, Table, base_name, functions};
use diytrace_profile::elf::{Parsed, extents};

/// What the C runtime puts into every module. No compiler's flag reaches it.
const RUNTIME: [&str; 9] = [
    "_start",
    "_dl_relocate_static_pie",
    "deregister_tm_clones",
    "register_tm_clones",
    "__do_global_dtors_aux",
    "frame_dummy",
    "__libc_csu_init",
    "__libc_csu_fini",
    "atexit",
];

/// A function's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body<'a> {
    /// Its symbol; empty if only its extent is known.
    pub name: &'a str,
    /// Its ELF virtual address.
    pub address: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// A module's functions in the order of their addresses.
#[derive(Debug, Default)]
pub struct Bodies<'a> {
    all: Vec<Body<'a>>,
    /// Where the module starts to run: in the C runtime.
    entry: u64,
}

impl<'a> Bodies<'a> {
    /// Reads the symbols of a module and of its debug file, and, for what these leave out, what is told to whoever
    /// unwinds the stack.
    pub fn read(elf: &Parsed<'a>, debug: Option<&Parsed<'a>>, code: &[Section<'a>]) -> Self {
        let is_code = |address| code.iter().any(|section| section.range().contains(&address));
        let of_debug = debug.into_iter().flat_map(|debug| functions(debug, Table::All));
        let symbols = functions(elf, Table::All).chain(of_debug).chain(functions(elf, Table::Exported));
        let bodies = symbols.filter(|symbol| symbol.size > 0 && is_code(symbol.address));
        let mut bodies: Vec<Body<'a>> =
            bodies.map(|Symbol { name, address, size, .. }| Body { name, address, size }).collect();
        sort(&mut bodies);
        let known = Self { all: bodies, entry: elf.entry() };
        let mut extents = extents(elf);
        extents.retain(|extent| is_code(extent.start) && known.around(extent.start).is_none());
        let unnamed =
            extents.into_iter().map(|extent| Body { name: "", address: extent.start, size: extent.end - extent.start });
        let mut bodies = known.all;
        bodies.extend(unnamed);
        sort(&mut bodies);
        Self { all: bodies, entry: known.entry }
    }

    /// All of them.
    pub fn all(&self) -> &[Body<'a>] {
        &self.all
    }

    /// The function that starts at an address.
    pub fn at(&self, address: u64) -> Option<&Body<'a>> {
        let index = self.all.binary_search_by_key(&address, |body| body.address).ok()?;
        Some(&self.all[index])
    }

    /// The number of the function that an address lies in.
    pub fn around(&self, address: u64) -> Option<usize> {
        let index = self.all.partition_point(|body| body.address <= address).checked_sub(1)?;
        (address - self.all[index].address < self.all[index].size).then_some(index)
    }

    /// How many functions of the source they are: parts of a function and copies of it are not counted beside it.
    pub fn count(&self) -> usize {
        let whole: FxHashSet<&str> =
            self.all.iter().map(|body| body.name).filter(|name| base_name(name) == *name).collect();
        let is_counted = |body: &&Body| {
            let base = base_name(body.name);
            let is_extra = base != body.name && (whole.contains(base) || is_part(body.name));
            !is_extra && !RUNTIME.contains(&body.name) && body.address != self.entry
        };
        self.all.iter().filter(is_counted).count()
    }
}

/// Whether a symbol is of code that was cut out of a function.
fn is_part(name: &str) -> bool {
    name.contains(".cold") || name.contains(".part.")
}

/// Of several names of one body the plainest stays.
fn sort(bodies: &mut Vec<Body>) {
    bodies.sort_unstable_by_key(|body| {
        (body.address, body.name.is_empty(), body.name.contains('.'), body.name.len(), body.name)
    });
    bodies.dedup_by_key(|body| body.address);
}
