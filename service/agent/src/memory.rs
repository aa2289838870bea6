//! Where an agent goes on after it was started again: the readings that the service has acknowledged.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use diytrace_profile::load::{self, Family};
use diytrace_profile::new_file::NewFile;
use serde::{Deserialize, Serialize};

use crate::Error;

/// What is remembered of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// The service that has the frames.
    pub service: String,
    /// The number of the next frame.
    pub next: u64,
    /// The recording's file.
    pub profile: PathBuf,
    /// As which file it had ended, and all of it was sent.
    pub done: Option<Version>,
    /// The snapshot of the reading, in the same folder; none if all since the beginning is to be sent.
    reading: Option<String>,
}

impl Remembered {
    /// Of a recording whose frames up to this one the service has.
    pub fn new(service: &str, next: u64, profile: &Path, done: Option<Version>) -> Self {
        Self { service: service.to_owned(), next, profile: profile.to_owned(), done, reading: None }
    }
}

/// A file at some time. Another one in its place, or one that was written to since (a copy of a recording that goes on elsewhere),
/// has another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    modified_unix_ns: u64,
    bytes: u64,
}

impl Version {
    /// Of a file that is there.
    pub fn of(path: &Path) -> Option<Self> {
        let file = fs::metadata(path).ok()?;
        let modified = file.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        Some(Self { modified_unix_ns: u64::try_from(modified.as_nanos()).unwrap_or(u64::MAX), bytes: file.len() })
    }
}

/// A folder with what is remembered.
pub struct Memory {
    folder: PathBuf,
    /// Most bytes of readings in it.
    most: u64,
}

impl Memory {
    /// In a folder that is made if it is missing, for its owner alone.
    pub fn open(folder: &Path, most: u64) -> Result<Self, Error> {
        let failed = |source| Error::Spool { folder: folder.to_owned(), source };
        use std::os::unix::fs::DirBuilderExt;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let memory = Self { folder: folder.to_owned(), most };
        memory.forget_gone();
        Ok(memory)
    }

    /// What is remembered of a recording, and the reading, if there is one.
    pub fn of(&self, session: &str, service: &str) -> Option<(Remembered, Option<Family>)> {
        let text = fs::read(self.facts(session)).ok()?;
        let known: Remembered = serde_json::from_slice(&text).ok()?;
        if known.service != service {
            return None;
        }
        let Some(reading) = &known.reading else { return Some((known, None)) };
        let path = self.folder.join(reading);
        let family = load::read(&path).ok().and_then(|bytes| load::family_of(&bytes, &path).ok())?;
        Some((known, Some(family)))
    }

    /// Remembers that the service has all up to a reading: its snapshot, whose size may be too much.
    pub fn keep(&self, session: &str, known: &Remembered, snapshot: Option<&[u8]>) -> Result<(), Error> {
        let before = fs::read(self.facts(session)).ok();
        let before = before.and_then(|text| serde_json::from_slice::<Remembered>(&text).ok());
        let before = before.and_then(|known| known.reading);
        let fits = |bytes: &&[u8]| self.size(before.as_deref()).saturating_add(bytes.len() as u64) <= self.most;
        let failed = |source| Error::Spool { folder: self.folder.clone(), source };
        let mut reading = None;
        if let Some(bytes) = snapshot.filter(fits) {
            let name = format!("{session}-{}.reading", known.next);
            write(&self.folder.join(&name), bytes).map_err(failed)?;
            reading = Some(name);
        }
        // First the reading, then what names it, then the one before goes: whenever that ends, one of them is whole.
        let facts = serde_json::to_vec(&Remembered { reading: reading.clone(), ..known.clone() }).unwrap_or_default();
        write(&self.facts(session), &facts).map_err(failed)?;
        if let Some(before) = before.filter(|before| Some(before) != reading.as_ref()) {
            let _ = fs::remove_file(self.folder.join(before)); // it only takes room
        }
        Ok(())
    }

    /// Forgets recordings whose files went while no agent ran.
    fn forget_gone(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for path in
            entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|of| of == "json"))
        {
            let known = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Remembered>(&text).ok());
            let session = path.file_stem().and_then(|name| name.to_str());
            if let (Some(known), Some(session)) = (known, session)
                && matches!(known.profile.try_exists(), Ok(false))
            {
                self.forget(session);
            }
        }
    }

    /// Forgets a recording whose file is gone.
    pub fn forget(&self, session: &str) {
        if let Ok(entries) = fs::read_dir(&self.folder) {
            let is_of = |name: &str| name.strip_prefix(session).is_some_and(|rest| rest.starts_with(['.', '-']));
            let all = entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_of));
            all.for_each(|entry| drop(fs::remove_file(entry.path())));
        }
    }

    fn facts(&self, session: &str) -> PathBuf {
        self.folder.join(format!("{session}.json"))
    }

    /// Bytes of all readings but one.
    fn size(&self, but: Option<&str>) -> u64 {
        let Ok(entries) = fs::read_dir(&self.folder) else { return 0 };
        let others = entries.flatten().filter(|entry| entry.file_name().to_str() != but);
        others.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
    }
}

/// Writes a file whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (new, mut file) = NewFile::beside(path)?;
    file.write_all(bytes)?;
    new.appear(&file, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_while_no_agent_ran_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let [here, gone] = ["here", "gone"].map(|name| folder.path().join(name));
        fs::write(&here, "").unwrap();
        let spool = folder.path().join("spool");
        let memory = Memory::open(&spool, 1000).unwrap();
        for (session, profile) in [("a", &here), ("b", &gone)] {
            memory.keep(session, &Remembered::new("s", 1, profile, None), Some(&[0; 100])).unwrap();
        }
        assert_eq!(fs::read_dir(&spool).unwrap().count(), 4);
        let memory = Memory::open(&spool, 1000).unwrap();
        assert_eq!(fs::read_dir(&spool).unwrap().count(), 2);
        assert!(memory.facts("a").exists() && !memory.facts("b").exists());
    }
}
