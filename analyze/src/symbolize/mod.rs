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
mod files;
mod lines;
mod table;

use std::borrow::Cow;
use std::sync::OnceLock;

use dashmap::DashMap;
use rustc_hash::FxBuildHasher;

use crate::elf::debug::DebugFile;
use crate::elf::symbols::base_name;
use crate::merge::{Module, ModuleId, Place};
pub use code::CallForm;
pub use files::Files;
pub use lines::Location;
pub use table::Symbol;
use table::Table;

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
        self.table(place.module?).starting_at(place.address).next().filter(|symbol| !symbol.name.is_empty())
    }

    /// All names of the function that starts at a place.
    pub fn aliases(&self, place: Place) -> Vec<&'a str> {
        let Some(module) = place.module else { return Vec::new() };
        let symbols = self.table(module).starting_at(place.address);
        symbols.map(|symbol| symbol.name).filter(|name| !name.is_empty()).collect()
    }

    /// The symbol of the function that a place lies in; it may have no name.
    pub fn enclosing(&self, place: Place) -> Option<Symbol<'a>> {
        self.table(place.module?).enclosing(place.address)
    }

    /// All functions of a module, and parts and copies of them.
    pub fn all(&self, module: ModuleId) -> impl Iterator<Item = Symbol<'a>> {
        self.table(module).all()
    }

    /// Names of all functions of a module, without those of parts and copies that the compiler made.
    pub fn names(&self, module: ModuleId) -> impl Iterator<Item = Cow<'a, str>> {
        let whole = self.all(module).filter(|symbol| !symbol.name.is_empty() && base_name(symbol.name) == symbol.name);
        whole.map(|symbol| crate::demangle::shown(symbol.name))
    }

    /// What was split off a module for debuggers.
    pub fn debug_file(&self, module: ModuleId) -> Option<&'a DebugFile> {
        self.files.module(module, &self.modules[module as usize]).debug.as_ref()
    }

    /// Whether the file of a module is still there, as it was.
    pub fn has_code(&self, module: ModuleId) -> bool {
        self.files.module(module, &self.modules[module as usize]).code.is_some()
    }

    /// What is wrong with the modules that symbols were asked for, if it matters.
    pub fn problems(&self) -> impl Iterator<Item = (ModuleId, String)> {
        let asked = self.tables.iter().enumerate().filter_map(|(id, table)| Some((id as ModuleId, table.get()?)));
        asked.filter_map(|(id, table)| {
            let module = &self.modules[id as usize];
            let files = self.files.module(id, module);
            let problem = match &files.problem {
                Some(problem) if files.debug.is_some() => format!("{problem}: names are those of its debug file"),
                Some(problem) => format!("{problem}: its functions are shown by address"),
                None if table.is_stripped() => {
                    format!("{} is stripped: functions that it does not export are shown by address", module.path())
                }
                None => return None,
            };
            Some((id, problem))
        })
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
        wanted.retain(|query| !self.lines.contains_key(query));
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
