//! The files of modules: those that were recorded, or none.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use memmap2::Mmap;
use object::Endianness;
use object::read::elf::ElfFile64;

use super::debug;
use super::dwarf::Sections;
use crate::merge::{Module, ModuleFile, ModuleId};

/// An ELF file of x86-64 as `object` reads it.
pub type Elf<'a> = ElfFile64<'a, Endianness>;

/// The files of all modules, opened when they are first asked for.
#[derive(Default)]
pub struct Files {
    modules: Vec<OnceLock<ModuleFiles>>,
}

/// What is left of a module.
#[derive(Default)]
pub struct ModuleFiles {
    /// Its code.
    pub code: Option<Mapped>,
    /// What was split off for debuggers.
    pub debug: Option<Mapped>,
    /// What several debug files share (`dwz`).
    pub supplement: Option<Mapped>,
    /// Why its code is not there.
    pub problem: Option<String>,
}

/// A file in memory.
pub struct Mapped {
    /// Where it is.
    pub path: PathBuf,
    map: Mmap,
    /// Its DWARF sections, once they were asked for.
    pub sections: OnceLock<Sections>,
}

impl Files {
    /// Files of that many modules.
    pub fn new(modules: usize) -> Self {
        Self { modules: (0..modules).map(|_| OnceLock::new()).collect() }
    }

    /// The files of a module.
    pub fn module(&self, id: ModuleId, module: &Module) -> &ModuleFiles {
        self.modules[id as usize].get_or_init(|| ModuleFiles::open(module))
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
        files.supplement = files.debug.as_ref().or(files.code.as_ref()).and_then(debug::supplement);
        files
    }

    /// The files that may have symbols or lines, the best first.
    pub fn all(&self) -> impl Iterator<Item = &Mapped> {
        self.code.iter().chain(&self.debug)
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
    let elf = mapped.elf().ok_or_else(|| format!("{} is no longer an ELF file", path.display()))?;
    let changed = || Err(format!("{} has changed since it was recorded", path.display()));
    if build_id.is_empty() {
        let modified = i128::from(facts.mtime()) * 1_000_000_000 + i128::from(facts.mtime_nsec());
        let same_size = recorded.size == 0 || recorded.size == facts.size();
        let same_time = recorded.modified_unix_ns == 0 || i128::from(recorded.modified_unix_ns) == modified;
        if !same_size || !same_time {
            return changed();
        }
    } else if object::Object::build_id(&elf).ok().flatten() != Some(build_id) {
        return changed();
    }
    Ok(mapped)
}

impl Mapped {
    /// Maps a file.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let file = File::open(path)?;
        // SAFETY: the map is private and only read, and every read of it is checked. A program that is rewritten in
        // place just now could tear what is read; one that shrinks would end this process, as it would any debugger.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self { path: path.to_owned(), map, sections: OnceLock::new() })
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// It, parsed: only its tables of contents are read.
    pub fn elf(&self) -> Option<Elf<'_>> {
        Elf::parse(self.bytes()).ok()
    }
}
