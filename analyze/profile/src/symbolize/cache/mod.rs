//! What reports found out about modules, kept on disk for the next one, which then needs neither symbol tables nor DWARF.
//!
//! ```text
//! [`Cache`] ── a folder ──▶ a file for each [`Key`]: a module's build ID, and the state of each file that was consulted
//!                              └──[`record`]──▶ [`Known`](super::known::Known)
//! ```
//!
//! A file is whole or not there, is believed only if its checksum and its key are right, and holds nothing that is not
//! in the module's files: whatever goes wrong here, the files are read, and nobody needs to hear of it.

mod folder;
mod key;
mod record;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::known::Known;
use crate::elf::{Mapped, Stamp};
use crate::merge::Module;
use folder::Folder;
pub use key::Key;

/// Where it is, or `off`.
pub const VARIABLE: &str = "DIYTRACE_CACHE";

/// The cache of one user; or none, which forgets everything.
#[derive(Debug, Default)]
pub struct Cache(Option<Open>);

#[derive(Debug)]
struct Open {
    folder: Folder,
    /// This very build of diytrace: another may answer otherwise.
    maker: Stamp,
}

impl Cache {
    /// The cache that the environment asks for: where `DIYTRACE_CACHE` says, or `diytrace` in the user's folder of caches.
    pub fn of_environment() -> Self {
        place(|name| env::var_os(name)).map_or_else(Self::default, |folder| Self::in_folder(&folder))
    }

    /// The cache in a folder, which is made if it is missing.
    pub fn in_folder(folder: &Path) -> Self {
        let open = || Some(Open { folder: Folder::of(folder)?, maker: Stamp::at(Path::new("/proc/self/exe"))? });
        Self(open())
    }

    /// The key under which what is found out about a module is kept, if it can be.
    pub fn key(&self, module: &Module, consulted: [Option<&Mapped>; 3]) -> Option<Key> {
        Key::of(self.0.as_ref()?.maker, module, consulted)
    }

    /// What is kept under a key, for [`Cache::read`].
    pub fn bytes(&self, key: &Key) -> Vec<u8> {
        self.0.as_ref().and_then(|open| open.folder.read(&key.file_name())).unwrap_or_default()
    }

    /// What these bytes say, if they are whole and of this key.
    pub fn read<'a>(bytes: &'a [u8], key: &Key) -> Option<Known<'a>> {
        record::read(bytes, key)
    }

    /// Keeps what is known of a module whose files are still what they were.
    pub fn keep<'a>(&self, key: &Key, mut consulted: impl Iterator<Item = &'a Mapped>, known: &Known) {
        let Some(open) = &self.0 else { return };
        if consulted.all(|file| Stamp::at(&file.path) == Some(file.stamp)) {
            open.folder.write(&key.file_name(), &record::write(key, known));
        }
    }

    /// Makes room, the oldest first.
    pub fn tidy(&self) {
        if let Some(open) = &self.0 {
            open.folder.tidy();
        }
    }
}

fn place(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    match set(VARIABLE) {
        Some(value) if value == "off" || value == "0" => None,
        Some(folder) => Some(folder.into()),
        None => {
            let absolute = |path: &PathBuf| path.is_absolute();
            let caches = set("XDG_CACHE_HOME").map(PathBuf::from).filter(absolute);
            let caches =
                caches.or_else(|| set("HOME").map(PathBuf::from).filter(absolute).map(|home| home.join(".cache")));
            caches.filter(|caches| folder::is_under_our_own(caches)).map(|caches| caches.join("diytrace"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_where_it_is() {
        let home = tempfile::tempdir().unwrap();
        let own = |name: &str| home.path().join(name);
        let at = |variables: &[(&str, PathBuf)]| {
            place(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone().into()))
        };
        let (cache, xdg, home) = (own("mine"), ("XDG_CACHE_HOME", own("xdg")), ("HOME", own("")));
        assert_eq!(at(&[(VARIABLE, cache.clone()), xdg.clone()]), Some(cache));
        assert_eq!(at(&[(VARIABLE, "".into()), xdg.clone(), home.clone()]), Some(own("xdg/diytrace")));
        assert_eq!(at(&[("XDG_CACHE_HOME", "relative".into()), home.clone()]), Some(own(".cache/diytrace")));
        for off in ["off", "0"] {
            assert_eq!(at(&[(VARIABLE, off.into()), home.clone()]), None);
        }
        assert_eq!(at(&[]), None);
    }
}
