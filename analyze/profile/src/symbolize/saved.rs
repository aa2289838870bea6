//! Names that last: what reports ask of modules, saved beside the profile, for when their files are rebuilt or gone.
//!
//! `PROFILE.names` is an [archive](crate::archive) without profiles. It has what is known of each module that the profile met, and:
//!
//! | entry | what |
//! |---|---|
//! | `places` | how many addresses the profile had met when this was saved; 0 if a module was not here |
//! | `around` | for each module, the functions around addresses ([`Around`]) |
//! | `code` | the version of fingerprints, and for each module those of its functions ([`Codes`]) |

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::fingerprint::value::{Fingerprint, VERSION};
use super::portable::Portable;
use crate::archive::{Archive, Error, Writer};
use crate::module::ModuleKey;

const PLACES: &str = "places";
const AROUND: &str = "around";
const CODE: &str = "code";

/// The functions around addresses, as [`Inlined`](super::Inlined) finds them.
pub type Around = BTreeMap<u64, Option<Vec<String>>>;

/// The code of functions, by where they begin; nothing, where nobody could tell.
pub type Codes = BTreeMap<u64, Option<Fingerprint>>;

/// What was saved of a module.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Names, lines and forms of calls.
    pub portable: Portable,
    /// The functions around addresses.
    pub around: Around,
    /// What the code of functions does.
    pub codes: Codes,
}

/// Modules, and what was saved of each.
pub type Modules = BTreeMap<ModuleKey, Kept>;

/// What was saved beside profiles, read when it is first asked for.
#[derive(Default)]
pub struct Saved {
    profiles: Vec<PathBuf>,
    found: OnceLock<Found>,
}

#[derive(Default)]
struct Found {
    modules: Modules,
    /// The first file that cannot be read.
    damaged: Option<PathBuf>,
}

impl Saved {
    /// What was saved beside these profiles.
    pub fn beside(profiles: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { profiles: profiles.into_iter().collect(), found: OnceLock::new() }
    }

    /// What was saved of a module; or the file that cannot be read, if it might have it.
    pub fn module(&self, key: &ModuleKey) -> Result<Option<&Kept>, &Path> {
        let found = self.found.get_or_init(|| self.read());
        match (found.modules.get(key), &found.damaged) {
            (None, Some(damaged)) => Err(damaged),
            (known, _) => Ok(known),
        }
    }

    fn read(&self) -> Found {
        let mut found = Found::default();
        // One after the other: of many profiles not all files can be open at once.
        for path in self.profiles.iter().map(|profile| path(profile)) {
            match read(&path) {
                Ok(modules) => modules.into_iter().for_each(|(key, known)| add(&mut found.modules, key, known)),
                Err(error) if is_missing(&error) => {}
                Err(_) => found.damaged = found.damaged.or(Some(path)),
            }
        }
        found
    }
}

fn add(modules: &mut Modules, key: ModuleKey, other: Kept) {
    let known = match modules.remove(&key) {
        Some(mut known) => {
            known.around.extend(other.around);
            known.codes.extend(other.codes);
            Kept { portable: known.portable.beside(other.portable), ..known }
        }
        None => other,
    };
    modules.insert(key, known);
}

fn is_missing(error: &Error) -> bool {
    matches!(error, Error::Unreadable { source, .. } if source.kind() == io::ErrorKind::NotFound)
}

/// Where the names of a profile are saved.
pub fn path(profile: &Path) -> PathBuf {
    // Of a snapshot that is named otherwise, all of its name: another may differ in what looks like an extension.
    match profile.extension() == Some(OsStr::new("diyt")) {
        true => profile.with_extension("names"),
        false => {
            let mut name = profile.as_os_str().to_owned();
            name.push(".names");
            name.into()
        }
    }
}

/// How many addresses a profile had met when its names were saved; nothing if they were not, or cannot be read.
pub fn places(profile: &Path) -> Option<u64> {
    Archive::open(&path(profile)).ok()?.extra(PLACES).ok()?
}

/// What is saved in a file.
pub fn read(path: &Path) -> Result<Modules, Error> {
    let archive = Archive::open(path)?;
    let mut around: BTreeMap<ModuleKey, Around> = archive.extra(AROUND)?.unwrap_or_default();
    let codes: Option<(u32, BTreeMap<ModuleKey, Codes>)> = archive.extra(CODE)?;
    let mut codes = codes.filter(|(version, _)| *version == VERSION).map(|(_, codes)| codes).unwrap_or_default();
    let mut modules = Modules::new();
    for key in archive.modules() {
        if let Some(portable) = archive.symbols(key)? {
            let (around, codes) = (around.remove(key).unwrap_or_default(), codes.remove(key).unwrap_or_default());
            modules.insert(key.clone(), Kept { portable, around, codes });
        }
    }
    Ok(modules)
}

/// Saves what is known of modules.
pub fn write(writer: Writer, profile: &Path, places: u64, modules: &Modules) -> io::Result<()> {
    let mut writer = writer;
    for (key, kept) in modules {
        writer.symbols(key.clone(), &kept.portable)?;
    }
    let around = modules.iter().map(|(key, kept)| (key, &kept.around)).filter(|(_, around)| !around.is_empty());
    writer.extra(AROUND, &around.collect::<BTreeMap<_, _>>())?;
    let codes = modules.iter().map(|(key, kept)| (key, &kept.codes)).filter(|(_, codes)| !codes.is_empty());
    writer.extra(CODE, &(VERSION, codes.collect::<BTreeMap<_, _>>()))?;
    writer.extra(PLACES, &places)?;
    writer.finish_soon(&path(profile))
}
