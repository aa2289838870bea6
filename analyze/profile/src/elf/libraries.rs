//! The libraries that a program needs, found as the loader finds them (`man 8 ld.so`).

use std::collections::HashSet;
use std::env;
use std::path::{Path, PathBuf};

use super::Elf;
use super::cache::Cache;

/// Where every loader looks last.
const STANDARD_FOLDERS: [&str; 6] =
    ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"];

/// What a program starts with.
#[derive(Debug, Default)]
pub struct Libraries {
    /// The libraries that were found, each once, nearest first.
    pub found: Vec<Elf>,
    /// Names of those that were not found.
    pub missing: Vec<String>,
}

/// Finds the libraries that a program needs, the libraries that these need, and so on.
pub fn needed_by(program: &Elf) -> Libraries {
    let cache = Cache::read();
    let mut libraries = Libraries::default();
    let mut seen = HashSet::new();
    // Each round looks at one module, and at the `DT_RPATH`s of those that needed it.
    let mut rounds = vec![search(program, &[])];
    let mut next = 0;
    while next < rounds.len() {
        let search = &rounds[next];
        next += 1;
        let mut found = Vec::new();
        for name in search.needed.iter().filter(|name| seen.insert((*name).clone())) {
            match find(name, search, program, &cache) {
                Some(library) => found.push(library),
                None => libraries.missing.push(name.clone()),
            }
        }
        let inherited = search.rpath.clone();
        for library in found {
            rounds.push(self::search(&library, &inherited));
            libraries.found.push(library);
        }
    }
    libraries
}

/// What one module needs and where it wants that looked for.
struct Search {
    needed: Vec<String>,
    rpath: Vec<PathBuf>,
    runpath: Vec<PathBuf>,
}

fn search(module: &Elf, inherited_rpath: &[PathBuf]) -> Search {
    let origin = module.path().canonicalize().unwrap_or_else(|_| module.path().to_owned());
    let origin = origin.parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned();
    let expand = |folders: &[String]| folders.iter().flat_map(|folder| expand(folder, &origin)).collect::<Vec<_>>();
    let mut rpath = expand(&module.facts.rpath);
    rpath.extend_from_slice(inherited_rpath);
    Search { needed: module.facts.needed.clone(), rpath, runpath: expand(&module.facts.runpath) }
}

/// Puts the loader's tokens into a folder. `$LIB` differs between distributions: both are tried.
fn expand(folder: &str, origin: &str) -> Vec<PathBuf> {
    let folder = folder.replace("${ORIGIN}", origin).replace("$ORIGIN", origin);
    let folder = folder.replace("${PLATFORM}", "x86_64").replace("$PLATFORM", "x86_64");
    if !["$LIB", "${LIB}"].iter().any(|token| folder.contains(token)) {
        return vec![folder.into()];
    }
    let with = |lib| PathBuf::from(folder.replace("${LIB}", lib).replace("$LIB", lib));
    vec![with("lib/x86_64-linux-gnu"), with("lib64")]
}

fn find(name: &str, search: &Search, program: &Elf, cache: &Cache) -> Option<Elf> {
    let fits = |path: PathBuf| {
        let library = Elf::open(&path).ok()?;
        let facts = &library.facts;
        (facts.is_64 == program.facts.is_64 && facts.machine == program.facts.machine).then_some(library)
    };
    if name.contains('/') {
        return fits(name.into());
    }
    let in_folders = |folders: &[PathBuf]| folders.iter().find_map(|folder| fits(folder.join(name)));
    let environment: Vec<_> = env::var_os("LD_LIBRARY_PATH")
        .map(|list| env::split_paths(&list).filter(|folder| !folder.as_os_str().is_empty()).collect())
        .unwrap_or_default();
    let rpath = if search.runpath.is_empty() { search.rpath.as_slice() } else { &[] };
    in_folders(rpath)
        .or_else(|| in_folders(&environment))
        .or_else(|| in_folders(&search.runpath))
        .or_else(|| cache.paths(name).find_map(fits))
        .or_else(|| in_folders(&STANDARD_FOLDERS.map(PathBuf::from)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_relative_to_the_module() {
        assert_eq!(expand("$ORIGIN/../lib", "/opt/x/bin"), [PathBuf::from("/opt/x/bin/../lib")]);
        assert_eq!(expand("${ORIGIN}", "/opt/x"), [PathBuf::from("/opt/x")]);
        assert_eq!(expand("/opt/$LIB", "/"), ["/opt/lib/x86_64-linux-gnu", "/opt/lib64"].map(PathBuf::from));
        assert_eq!(expand("/usr/CALIBRATION/lib", "/"), [PathBuf::from("/usr/CALIBRATION/lib")]);
    }

    #[test]
    fn this_test_needs_libc() {
        let program = Elf::open(&env::current_exe().unwrap()).unwrap();
        let libraries = needed_by(&program);
        assert!(libraries.found.iter().any(|library| library.name().starts_with("libc.so")), "{:?}", libraries.found);
        assert_eq!(libraries.missing, [""; 0]);
        assert!(!program.facts.refers_to_hooks && !program.facts.defines_hooks);
    }
}
