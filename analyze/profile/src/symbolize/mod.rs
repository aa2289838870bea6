//! Names, lines and forms of calls for places in modules, from the files that are there now.
//!
//! ```text
//! [`Module`] ──[files]──▶ its file, checked, and its debug files ──[table]──▶ functions by address ────┐
//!                                │                    ├──[lines]──▶ file and line                      ├──▶ [known]
//!                                │                    └──[code]──▶ what kind of call ends at an address┘       ▲
//!                                └──▶ their state ──[cache]──▶ what earlier reports found in them ─────────────┤
//!  archive ──[portable]──▶ what goes with the profile ─────────────────────────────────────────────────────────┤
//!                                ├──[fingerprint]──▶ what a function's code does, to be held against another build's
//!  beside the profile ──[saved]──▶ the names that it met, where a file is no longer what it was ────────────────┘
//! ```
//!
//! Everything is read when it is first asked for, and only then: a program has far more functions than a profile. What
//! was found out is kept when [`Symbols`] are dropped, so that the next report asks the cache alone.

mod answers;
mod body;
mod cache;
mod code;
mod files;
mod fingerprint;
mod gather;
mod inlined;
mod known;
mod lines;
mod portable;
mod problem;
pub mod saved;
mod table;

use std::borrow::Cow;
use std::path::Path;
use std::sync::OnceLock;

use rayon::prelude::*;

use crate::elf::debug::FoundBy;
use crate::elf::symbols::base_name;
use crate::merge::{Module, ModuleId, Place};
pub use answers::{Body, CallForm, Location, Probe, Symbol};
use body::Bodies;
pub use cache::Cache;
pub use files::{Files, Known as KnownModules};
use fingerprint::Fingerprints;
pub use fingerprint::value::Fingerprint;
pub use gather::{gather, gather_met};
pub use inlined::Inlined;
use known::Known;
pub use portable::Portable;
pub use problem::Problem;
use table::Table;

/// Symbols of all modules of a profile.
pub struct Symbols<'a> {
    modules: &'a [Module],
    files: &'a Files,
    tables: Vec<OnceLock<Table<'a>>>,
    code: Vec<OnceLock<code::Code<'a>>>,
    fingerprints: Vec<OnceLock<Option<Fingerprints<'a>>>>,
    known: Vec<OnceLock<Known<'a>>>,
}

/// What was split off a module for debuggers.
#[derive(Clone, Copy, Debug)]
pub struct DebugFile<'a> {
    /// Where it lies, or lay when the profile was made portable.
    pub path: &'a Path,
    /// How it was found.
    pub found_by: FoundBy,
}

impl<'a> Symbols<'a> {
    /// Symbols of modules, from files opened for them.
    pub fn new(modules: &'a [Module], files: &'a Files) -> Self {
        Self {
            modules,
            files,
            tables: modules.iter().map(|_| OnceLock::new()).collect(),
            code: modules.iter().map(|_| OnceLock::new()).collect(),
            fingerprints: modules.iter().map(|_| OnceLock::new()).collect(),
            known: modules.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    fn files(&self, module: ModuleId) -> &'a files::ModuleFiles {
        self.files.module(module, &self.modules[module as usize])
    }

    fn table(&self, module: ModuleId) -> &Table<'a> {
        self.tables[module as usize].get_or_init(|| {
            let files = self.files(module);
            match &files.portable {
                Some(portable) => Table::of(portable.symbols().collect(), portable.is_stripped),
                None => Table::read(files),
            }
        })
    }

    fn known(&self, module: ModuleId) -> &Known<'a> {
        self.known[module as usize].get_or_init(|| {
            let files = self.files(module);
            if let Some(portable) = &files.portable {
                return Known::of(portable);
            }
            let kept = files.key.as_ref().and_then(|key| Cache::read(&files.cached, key));
            kept.unwrap_or_default()
        })
    }

    fn starting_at<R>(&self, place: Place, read: impl FnOnce(&[Symbol<'a>]) -> R) -> Option<R> {
        let module = place.module?;
        let find = || self.table(module).starting_at(place.address).collect();
        Some(self.known(module).starting.get_or_find(place.address, find, |symbols| read(symbols)))
    }

    /// The symbol of the function that starts at a place.
    pub fn function(&self, place: Place) -> Option<Symbol<'a>> {
        self.starting_at(place, |symbols| symbols.first().copied())?.filter(|symbol| !symbol.name.is_empty())
    }

    /// All names of the function that starts at a place.
    pub fn aliases(&self, place: Place) -> Vec<&'a str> {
        let names =
            |symbols: &[Symbol<'a>]| symbols.iter().map(|symbol| symbol.name).filter(|name| !name.is_empty()).collect();
        self.starting_at(place, names).unwrap_or_default()
    }

    /// The symbol of the function that a place lies in; it may have no name.
    pub fn enclosing(&self, place: Place) -> Option<Symbol<'a>> {
        let module = place.module?;
        let find = || self.table(module).enclosing(place.address);
        self.known(module).enclosing.get_or_find(place.address, find, |symbol| *symbol)
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
    pub fn debug_file(&self, module: ModuleId) -> Option<DebugFile<'a>> {
        let files = self.files(module);
        match &files.portable {
            Some(portable) => portable.debug.as_ref().map(|(path, found_by)| DebugFile { path, found_by: *found_by }),
            None => {
                let debug = files.debug.as_ref()?;
                Some(DebugFile { path: &debug.file.path, found_by: debug.found_by })
            }
        }
    }

    /// Whether the file of a module is still there, as it was; or was there when the profile was made portable.
    pub fn has_code(&self, module: ModuleId) -> bool {
        let files = self.files(module);
        files.portable.as_ref().map_or(files.code.is_some(), |portable| portable.has_code)
    }

    fn problem(&self, module: ModuleId) -> Option<&'a str> {
        let files = self.files(module);
        files.portable.as_ref().map_or(&files.problem, |portable| &portable.problem).as_deref()
    }

    fn is_stripped(&self, module: ModuleId) -> bool {
        *self.known(module).is_stripped.get_or_init(|| self.table(module).is_stripped())
    }

    /// What is wrong with the modules that symbols were asked for, if it matters.
    pub fn problems(&self) -> impl Iterator<Item = (ModuleId, Problem)> {
        let asked = (0..).zip(&self.known).filter(|(_, known)| known.get().is_some()).map(|(id, _)| id);
        asked.filter_map(|id: ModuleId| {
            let problem = match self.problem(id) {
                Some(why) => Problem::File { why: why.to_owned(), has_debug_file: self.debug_file(id).is_some() },
                None if self.is_stripped(id) => {
                    Problem::Stripped { module: self.modules[id as usize].path().to_owned() }
                }
                None => return None,
            };
            Some((id, problem))
        })
    }

    /// What kind of call returns to a place.
    pub fn call_before(&self, site: Place) -> CallForm {
        let Some(module) = site.module else { return CallForm::Unknown };
        let code = || self.code[module as usize].get_or_init(|| code::Code::read(self.files(module)));
        let find = || code().call_before(site.address);
        self.known(module).calls.get_or_find(site.address, find, |form| *form)
    }

    /// Finds the functions at many places at once, on all cores.
    pub fn find_functions(&self, places: &[Place]) {
        // Reading a module's table takes far longer than asking it.
        let mut places = places.to_vec();
        places.sort_unstable();
        let modules: Vec<_> = places.chunk_by(|a, b| a.module == b.module).collect();
        modules.into_par_iter().for_each(|places| {
            for place in places {
                self.function(*place);
            }
        });
    }

    /// Machine code of a module.
    pub fn bytes(&self, place: Place, length: u64) -> Option<&'a [u8]> {
        let module = place.module?;
        let files = self.files(module);
        let portable = files.portable.as_ref().and_then(|portable| portable.bytes(place.address, length));
        portable.or_else(|| {
            let code = self.code[module as usize].get_or_init(|| code::Code::read(files));
            code.bytes(place.address, length)
        })
    }

    /// What the code of the function that starts at a place does; `None` if nobody can tell, as its file is gone or refers to
    /// data of which nobody knows where it ends.
    pub fn fingerprint(&self, place: Place) -> Option<Fingerprint> {
        let module = place.module?;
        let files = self.files(module);
        if let Some(saved) = &files.saved {
            return saved.codes.get(&place.address).copied().flatten();
        }
        let prints = self.fingerprints[module as usize].get_or_init(|| Fingerprints::of(files));
        prints.as_ref()?.at(place.address, self.table(module))
    }

    /// Where the function that starts at a place is written, and the lines of these call sites in its module.
    pub fn body(&self, place: Place, sites: &[u64]) -> Option<Body> {
        let module = place.module?;
        let function = self.function(place)?;
        let bodies = Bodies::of(self.files(module));
        let (file, first, last) = self.extent(&bodies, place)?;
        let calls = sites.iter().map(|&site| self.line_within(&bodies, module, site, function.name)).collect();
        Some(Body { file, first, last, calls })
    }

    /// The functions whose code addresses of a module are part of.
    pub fn inlined(&self, module: ModuleId) -> Inlined<'a> {
        Inlined::of(self.files(module))
    }

    fn extent(&self, bodies: &Bodies, place: Place) -> Option<(String, u32, u32)> {
        let portable = self.files(place.module?).portable.as_ref();
        let known = portable.and_then(|portable| portable.bodies.get(&place.address).cloned());
        known.or_else(|| bodies.extent(self.function(place)?))
    }

    fn line_within(&self, bodies: &Bodies, module: ModuleId, site: u64, name: &str) -> Option<Location> {
        let portable = self.files(module).portable.as_ref();
        let known = portable.and_then(|portable| portable.within.get(name)?.get(&site).cloned());
        known.unwrap_or_else(|| bodies.line_within(site, name))
    }

    /// Finds many lines at once, on all cores; [`Self::line`] then knows them.
    pub fn find_lines(&self, mut wanted: Vec<(Place, Probe)>) {
        wanted.sort_unstable();
        wanted.dedup();
        for of_module in wanted.chunk_by(|(a, _), (b, _)| a.module == b.module) {
            let Some(module) = of_module[0].0.module else { continue };
            let known = self.known(module);
            let queries = of_module.iter().map(|(place, probe)| (place.address, *probe));
            let unknown: Vec<_> = queries.filter(|query| !known.lines.has(*query)).collect();
            if !unknown.is_empty() {
                lines::find(self.files(module), &unknown, |query, location| known.lines.insert(query, location));
            }
        }
    }

    /// The line of a place, if it was looked for and found.
    pub fn line(&self, place: Place, probe: Probe) -> Option<Location> {
        self.known(place.module?).lines.get((place.address, probe)).flatten()
    }

    /// Keeps what was found out for the next report.
    fn keep(&self) {
        let known = (0..).zip(&self.known).filter_map(|(id, known)| Some((id, known.get()?)));
        let mut news = known.filter(|(_, known)| known.has_news()).peekable();
        if news.peek().is_none() {
            return;
        }
        for (id, known) in news {
            let files = self.files(id);
            if let Some(key) = &files.key {
                self.files.cache.keep(key, files.consulted(), known);
            }
        }
        self.files.cache.tidy();
    }
}

impl Drop for Symbols<'_> {
    fn drop(&mut self) {
        self.keep();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use object::Object;

    use super::*;
    use crate::elf::Mapped;
    use crate::merge::ModuleFile;

    #[test]
    fn the_next_report_reads_no_symbols() {
        let program = std::env::current_exe().unwrap();
        let mapped = Mapped::open(&program).unwrap();
        let build_id = mapped.parsed().unwrap().build_id().unwrap().map(<[u8]>::to_vec);
        let file = ModuleFile { path: program.display().to_string(), size: 0, modified_unix_ns: 0 };
        let module = Module {
            build_id: build_id.unwrap_or_default(),
            files: BTreeSet::from([file]),
            is_instrumented: true,
            is_program: true,
        };
        let (modules, folder) = ([module], tempfile::tempdir().unwrap());
        let ask = |symbols: &Symbols, places: &[Place]| {
            symbols.find_lines(places.iter().map(|place| (*place, Probe::Function)).collect());
            let all = places.iter().map(|&place| {
                let names = (symbols.aliases(place).join(" "), symbols.enclosing(place).map(|symbol| symbol.size));
                format!("{names:?} {:?} {:?}", symbols.call_before(place), symbols.line(place, Probe::Function))
            });
            (all.collect::<Vec<_>>(), symbols.problems().count())
        };

        let (places, found) = {
            let files = Files::with_cache(1, Cache::in_folder(folder.path()));
            let symbols = Symbols::new(&modules, &files);
            let here: Vec<_> = symbols.all(0).filter(|symbol| symbol.name.contains("symbolize")).take(50).collect();
            let place =
                |symbol: Symbol| [0, 7].map(|offset| Place { module: Some(0), address: symbol.address + offset });
            let places: Vec<Place> = here.into_iter().flat_map(place).collect();
            let found = ask(&symbols, &places);
            assert!(found.0.iter().any(|line| line.contains("symbolize/")), "{found:?}");
            (places, found)
        };
        let files = Files::with_cache(1, Cache::in_folder(folder.path()));
        let symbols = Symbols::new(&modules, &files);
        assert_eq!(ask(&symbols, &places), found);
        assert!(symbols.tables[0].get().is_none() && symbols.code[0].get().is_none(), "symbols were read again");
        assert!(!symbols.known(0).has_news());
    }
}
