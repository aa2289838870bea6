//! Which family is meant: by a PID, a profile, a folder, or nothing.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use diytrace_format::Header;
use diytrace_format::reader::File;

use super::Error;
use diytrace_profile::archive::Archive;
use diytrace_profile::load::holders::{Holders, Identity};
use diytrace_profile::load::{self, Bytes, DEFAULT_FOLDER, Family, state};
use diytrace_profile::process::State;
use diytrace_profile::run;

/// What somebody has named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// A process, a profile or a folder of profiles. `None`: where profiles are written from here.
    pub name: Option<OsString>,
    /// Of those there, the run that is meant: `latest`, a number or a pattern.
    pub run: Option<String>,
}

impl From<PathBuf> for Target {
    fn from(path: PathBuf) -> Self {
        Self { name: Some(path.into_os_string()), run: None }
    }
}

/// A family and who of it is running.
pub struct Watched {
    /// What it has recorded.
    pub family: Family,
    /// The start of its file.
    pub header: Header,
    /// Its running processes: those that have recorded, and those that could.
    pub running: BTreeSet<u32>,
    /// The file's bytes.
    pub(super) bytes: Bytes,
}

impl Watched {
    fn load(path: &Path, holders: &Holders) -> Result<Self, load::Error> {
        let bytes = load::read(path).map_err(|source| load::Error::Unreadable { path: path.to_owned(), source })?;
        let family = load::family_of(&bytes, path)?;
        let header = match File::open(&bytes.profile) {
            Ok(file) => *file.header(),
            Err(_) => return Err(load::Error::Truncated { path: path.to_owned() }),
        };
        let mut running = BTreeSet::new();
        if family.snapshot.is_none() {
            let arenas = family.arenas.iter().filter(|arena| arena.state == State::Running);
            running.extend(arenas.map(|arena| arena.facts.pid));
            if state::is_of_this_boot(&family) {
                running.extend(holders.of(&Identity::of(path)).map(|holder| holder.pid));
            }
        }
        Ok(Self { family, header, running, bytes })
    }

    /// Whether anything of it is running.
    pub fn is_running(&self) -> bool {
        !self.running.is_empty()
    }

    fn has(&self, pid: u32) -> bool {
        let recorded = |arena: &load::Arena| !arena.is_merged() && arena.facts.pid == pid;
        self.running.contains(&pid) || self.family.pid == pid || self.family.arenas.iter().any(recorded)
    }

    /// All that is meant; at least one.
    pub fn all(target: &Target) -> Result<Vec<Self>, Error> {
        let (folder, pid) = match &target.name {
            None => (default_folder(), None),
            Some(name) => match name.to_str().and_then(|name| name.parse().ok()) {
                Some(pid) if !Path::new(name).exists() => (default_folder(), Some(pid)),
                _ => (PathBuf::from(name), None),
            },
        };
        let chosen = target.run.as_deref().map(|wanted| files_of(&folder, wanted)).transpose()?;
        let holders = Holders::look();
        let (mut all, mut first_error) = (Vec::new(), None);
        for found in load::find(std::slice::from_ref(&folder))? {
            if chosen.as_ref().is_some_and(|files| !files.contains(&found.path)) {
                continue;
            }
            // Nothing runs in an archive.
            if Archive::is_at(&found.path) {
                if found.is_named {
                    return Err(Error::Archive { path: found.path });
                }
                continue;
            }
            match Self::load(&found.path, &holders) {
                // A copy is meant only by its name.
                Ok(watched) if watched.family.snapshot.is_some() && !found.is_named => {}
                Ok(watched) => all.push(watched),
                Err(error) => _ = first_error.get_or_insert(error),
            }
        }
        if let Some(pid) = pid {
            all.retain(|watched| watched.has(pid));
            // The kernel uses numbers again.
            if all.iter().any(|watched| watched.running.contains(&pid)) {
                all.retain(|watched| watched.running.contains(&pid));
            }
            if all.is_empty() {
                return Err(Error::NoProcess { pid, folder });
            }
        }
        match first_error {
            _ if !all.is_empty() => Ok(all),
            Some(error) => Err(error.into()),
            None => Err(load::Error::Empty { path: folder }.into()),
        }
    }

    /// The one that is meant: of several, the one that is running.
    pub fn one(target: &Target) -> Result<Self, Error> {
        let folder = target.name.as_ref().map_or_else(default_folder, PathBuf::from);
        let mut all = Self::all(target)?;
        if all.len() > 1 {
            all.retain(Self::is_running);
        }
        if all.len() > 1 {
            return Err(Error::Several { folder, which: all.into_iter().map(|watched| watched.family.path).collect() });
        }
        all.pop().ok_or(Error::Finished { path: folder })
    }
}

/// The files of the runs in a folder that are meant.
fn files_of(folder: &PathBuf, wanted: &str) -> Result<Vec<PathBuf>, Error> {
    let runs = run::find(std::slice::from_ref(folder))?;
    Ok(run::choose(&runs, wanted)?.into_iter().flat_map(|run| run.files.iter().cloned()).collect())
}

fn default_folder() -> PathBuf {
    let named = std::env::var_os("DIYTRACE_OUT").filter(|folder| !folder.is_empty());
    named.map_or_else(|| PathBuf::from(DEFAULT_FOLDER), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use diytrace_profile::pack;
    use diytrace_profile::testing::sample;

    #[test]
    fn nothing_of_an_archive_is_watched() {
        let here = tempfile::tempdir().unwrap();
        let (profile, output) = (here.path().join("a.diyt"), here.path().join("a.diya"));
        fs::write(&profile, sample()).unwrap();
        let profiles = vec![profile.clone()];
        pack::run(&pack::Options { profiles, output: output.clone(), symbols: false }).unwrap();
        let why = |target: &Path| Watched::all(&target.to_owned().into()).map(|_| ()).unwrap_err().to_string();
        assert!(why(&output).contains("is an archive, and nothing of it is running"), "{}", why(&output));
        assert_eq!(Watched::all(&here.path().to_owned().into()).unwrap().len(), 1);
        fs::remove_file(profile).unwrap();
        assert!(why(here.path()).contains("there is no profile in"), "{}", why(here.path()));
    }
}
