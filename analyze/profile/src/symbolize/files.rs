//! The files of modules: those that were recorded, or none.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;

use object::Object;

use super::cache::{Cache, Key};
use super::portable::Portable;
use super::saved::{Kept, Saved};
use crate::archive::Archive;
use crate::elf::debug::{self, DebugFile};
use crate::elf::dwarf::{self, Dwarf};
use crate::elf::symbols;
use crate::elf::{Mapped, Parsed};
use crate::merge::{Module, ModuleFile, ModuleId};
use crate::module::ModuleKey;

/// The files of all modules, opened when they are first asked for.
#[derive(Default)]
pub struct Files {
    modules: Vec<OnceLock<ModuleFiles>>,
    /// What earlier reports have found in them.
    pub(super) cache: Cache,
    /// What goes with the profiles.
    archives: Vec<Archive>,
    /// What was saved beside the profiles.
    saved: Saved,
    /// Who else may know modules.
    known: Option<Box<dyn Known>>,
}

/// Whoever has kept what is known of modules.
pub trait Known: Send + Sync {
    /// What is known of a module; or why that cannot be read, in a sentence.
    fn module(&self, key: &ModuleKey) -> Result<Option<Portable>, String>;
}

/// What is left of a module.
#[derive(Default)]
pub struct ModuleFiles {
    /// Its code.
    pub code: Option<Mapped>,
    /// What was split off for debuggers.
    pub debug: Option<DebugFile>,
    /// What several debug files share (`dwz`).
    pub supplement: Option<Mapped>,
    /// Why its code is not there.
    pub problem: Option<String>,
    /// What the cache has it under.
    pub(super) key: Option<Key>,
    /// What the cache has.
    pub(super) cached: Vec<u8>,
    /// What came with the profile: it goes before what is here.
    pub(super) portable: Option<Portable>,
    /// Where that was saved beside the profile, all that was.
    pub(super) saved: Option<Kept>,
}

impl Files {
    /// Files of that many modules, with the cache that the environment asks for.
    pub fn new(modules: usize) -> Self {
        Self::with_cache(modules, Cache::of_environment())
    }

    /// Files of that many modules.
    pub fn with_cache(modules: usize, cache: Cache) -> Self {
        Self { modules: (0..modules).map(|_| OnceLock::new()).collect(), cache, ..Self::default() }
    }

    /// These, beside what archives have of them.
    pub fn with_archives(self, archives: &[Archive]) -> Self {
        Self { archives: archives.to_vec(), ..self }
    }

    /// These, or what was saved beside these profiles, where they are no longer what they were.
    pub fn with_saved(self, saved: Saved) -> Self {
        Self { saved, ..self }
    }

    /// These, beside what somebody else knows of them.
    pub fn with_known(self, known: Box<dyn Known>) -> Self {
        Self { known: Some(known), ..self }
    }

    fn portable(&self, key: Option<&ModuleKey>) -> Result<Option<Portable>, String> {
        let of_archives = Portable::of_archives(&self.archives, key).map_err(|error| error.to_string())?;
        let (Some(key), Some(known)) = (key, &self.known) else { return Ok(of_archives) };
        Ok(match (of_archives, known.module(key)?) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other),
        })
    }

    /// The files of a module.
    pub fn module(&self, id: ModuleId, module: &Module) -> &ModuleFiles {
        self.modules[id as usize].get_or_init(|| {
            let mut files = ModuleFiles::open(module);
            match self.portable(module.key().as_ref()) {
                // Where the file is here and was not there, it tells more.
                Ok(Some(portable)) if portable.has_code || files.code.is_none() => files.portable = Some(portable),
                Ok(_) => {}
                Err(problem) => files.problem = files.problem.or(Some(problem)),
            }
            if files.portable.is_none() && files.lacks(module.is_instrumented) {
                self.take_saved(&mut files, module.key().as_ref());
            }
            // The cache knows what is in files, and nothing else.
            files.key = if files.portable.is_none() { self.cache.key(module, files.by_role()) } else { None };
            files.cached = files.key.as_ref().map(|key| self.cache.bytes(key)).unwrap_or_default();
            files
        })
    }

    fn take_saved(&self, files: &mut ModuleFiles, key: Option<&ModuleKey>) {
        match key.map_or(Ok(None), |key| self.saved.module(key)) {
            Ok(Some(kept)) if !files.tells_less_than(&kept.portable) => {}
            Ok(Some(kept)) => {
                files.problem = None;
                files.portable = Some(kept.portable.clone());
                files.saved = Some(kept.clone());
            }
            Ok(None) => {}
            Err(damaged) => {
                let sentence =
                    |problem| format!("{problem}, and what was saved of it in {} is damaged", damaged.display());
                files.problem = files.problem.take().map(sentence);
            }
        }
    }
}

impl ModuleFiles {
    fn open(module: &Module) -> Self {
        let mut files = Self::default();
        for recorded in &module.files {
            match open_unchanged(&module.build_id, recorded) {
                Ok(mapped) => {
                    files.code = Some(mapped);
                    files.problem = None;
                    break;
                }
                Err(problem) => files.problem = files.problem.or(Some(problem)),
            }
        }
        files.debug = debug::find(files.code.as_ref(), &module.build_id);
        files.supplement = files.all().last().and_then(debug::supplement);
        files
    }

    /// Whether they may tell less than when the module was recorded: it is gone, or stripped since.
    fn lacks(&self, is_instrumented: bool) -> bool {
        self.code.is_none() || is_instrumented && !(self.has_symbols() && self.has_lines())
    }

    fn tells_less_than(&self, saved: &Portable) -> bool {
        self.code.is_none() || !saved.is_stripped && !self.has_symbols() || saved.has_lines() && !self.has_lines()
    }

    fn has_lines(&self) -> bool {
        self.parsed().any(|elf| dwarf::is_in(&elf))
    }

    /// Whether static functions have names, too.
    fn has_symbols(&self) -> bool {
        let mut functions = self.parsed().flat_map(|elf| symbols::functions(&elf, symbols::Table::All));
        functions.any(|symbol| symbol.binding == symbols::Binding::Local)
    }

    /// The files that may have symbols or lines, the best first.
    pub fn all(&self) -> impl Iterator<Item = &Mapped> {
        self.code.iter().chain(self.debug.iter().map(|debug| &debug.file))
    }

    /// All files that answers may come from.
    pub fn consulted(&self) -> impl Iterator<Item = &Mapped> {
        self.by_role().into_iter().flatten()
    }

    /// The same: its own, what was split off it, and what several debug files share.
    pub fn by_role(&self) -> [Option<&Mapped>; 3] {
        [self.code.as_ref(), self.debug.as_ref().map(|debug| &debug.file), self.supplement.as_ref()]
    }

    /// The same as [`Self::all`], parsed.
    pub fn parsed(&self) -> impl Iterator<Item = Parsed<'_>> {
        self.all().filter_map(Mapped::parsed)
    }

    /// Their DWARF, if there is any.
    pub fn dwarf(&self) -> Option<Dwarf<'_>> {
        let has_dwarf = |file: &&Mapped| file.parsed().is_some_and(|elf| dwarf::is_in(&elf));
        let mut dwarf = self.all().find(has_dwarf)?.dwarf();
        if let Some(supplement) = &self.supplement {
            dwarf.set_sup(supplement.dwarf());
        }
        Some(dwarf)
    }
}

/// Opens a module's file if it is still the one that was recorded.
fn open_unchanged(build_id: &[u8], recorded: &ModuleFile) -> Result<Mapped, String> {
    let path = Path::new(&recorded.path);
    let facts = match fs::metadata(path) {
        Ok(facts) if facts.is_file() => facts,
        Ok(_) => return Err(format!("{} is no file", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(format!("{} is gone", path.display()));
        }
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    let mapped = Mapped::open(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let elf = mapped.parsed().ok_or_else(|| format!("{} is no longer an ELF file", path.display()))?;
    let changed = || Err(format!("{} has changed since it was recorded", path.display()));
    if build_id.is_empty() {
        let modified = i128::from(facts.mtime()) * 1_000_000_000 + i128::from(facts.mtime_nsec());
        let same_size = recorded.size == 0 || recorded.size == facts.size();
        let same_time = recorded.modified_unix_ns == 0 || i128::from(recorded.modified_unix_ns) == modified;
        if !same_size || !same_time {
            return changed();
        }
    } else if elf.build_id().ok().flatten() != Some(build_id) {
        return changed();
    }
    Ok(mapped)
}
