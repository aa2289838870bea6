//! Names, lines and forms of calls for places in modules, from the files that are there now.
//!
//! ```text
//! [`Module`] ──[files]──▶ its file, checked, and its debug files ──[table]──▶ functions by address
//!                                     ├──[lines]──▶ file and line
//!                                     └──[code]──▶ what kind of call ends at an address
//! ```
//!
//! Everything is read when it is first asked for, and only then: a program has far more functions than a profile.

mod code;
mod debug;
mod dwarf;
mod files;
mod lines;
mod table;

use std::borrow::Cow;
use std::sync::OnceLock;

use dashmap::DashMap;
use rustc_hash::FxBuildHasher;

use crate::merge::{Module, ModuleId, Place};
pub use code::CallForm;
pub use files::Files;
pub use lines::Location;
use table::Table;
pub use table::{Symbol, base_name};

/// Symbols of all modules of a profile.
pub struct Symbols<'a> {
    modules: &'a [Module],
    files: &'a Files,
    tables: Vec<OnceLock<Table<'a>>>,
    code: Vec<OnceLock<code::Code<'a>>>,
    lines: DashMap<(Place, Probe), Option<Location>, FxBuildHasher>,
}

/// Which line is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Probe {
    /// Where the function that starts at the address is written.
    Function,
    /// Where the call is written that returns to the address.
    Call,
    /// The address is the return address of an inlined function's enter hook: where the call of that function is
    /// written, which was to return nowhere.
    InlinedCall,
}

impl<'a> Symbols<'a> {
    /// Symbols of modules, from files opened for them.
    pub fn new(modules: &'a [Module], files: &'a Files) -> Self {
        Self {
            modules,
            files,
            tables: modules.iter().map(|_| OnceLock::new()).collect(),
            code: modules.iter().map(|_| OnceLock::new()).collect(),
            lines: DashMap::default(),
        }
    }

    fn table(&self, module: ModuleId) -> &Table<'a> {
        let index = module as usize;
        self.tables[index].get_or_init(|| Table::read(self.files.module(module, &self.modules[index])))
    }

    /// The symbol of the function that starts at a place.
    pub fn function(&self, place: Place) -> Option<Symbol<'a>> {
        self.table(place.module?).starting_at(place.address).next()
    }

    /// All names of the function that starts at a place.
    pub fn aliases(&self, place: Place) -> Vec<&'a str> {
        let names = |module| self.table(module).starting_at(place.address).map(|symbol| symbol.name).collect();
        place.module.map(names).unwrap_or_default()
    }

    /// The symbol of the function that a place lies in.
    pub fn enclosing(&self, place: Place) -> Option<Symbol<'a>> {
        self.table(place.module?).enclosing(place.address)
    }

    /// Names of all functions of a module.
    pub fn names(&self, module: ModuleId) -> impl Iterator<Item = Cow<'a, str>> {
        self.table(module).all().map(|symbol| crate::demangle::shown(symbol.name))
    }

    /// What kind of call returns to a place.
    pub fn call_before(&self, site: Place) -> CallForm {
        let Some(module) = site.module else { return CallForm::Unknown };
        let index = module as usize;
        let code = self.code[index].get_or_init(|| code::Code::read(self.files.module(module, &self.modules[index])));
        code.call_before(site.address)
    }

    /// Finds many lines at once, on all cores; [`Self::line`] then knows them.
    pub fn find_lines(&self, mut wanted: Vec<(Place, Probe)>) {
        wanted.sort_unstable();
        wanted.dedup();
        for of_module in wanted.chunk_by(|(a, _), (b, _)| a.module == b.module) {
            let Some(module) = of_module[0].0.module else { continue };
            let files = self.files.module(module, &self.modules[module as usize]);
            lines::find(files, of_module, |query, location| {
                self.lines.insert(query, location);
            });
        }
    }

    /// The line of a place, if it was looked for and found.
    pub fn line(&self, place: Place, probe: Probe) -> Option<Location> {
        self.lines.get(&(place, probe)).and_then(|found| found.clone())
    }
}
