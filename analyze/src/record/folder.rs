//! The folder for profiles, before and after the command.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{self, Path, PathBuf};
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

use diytrace_format::{BLOCKS_START, Header, reader};

use super::Error;
use diytrace_profile::run::note::Note;
use diytrace_profile::saving;

/// The folder, and what lay in it before the command.
#[derive(Debug)]
pub struct Folder {
    /// As it was given, for messages.
    pub given: PathBuf,
    /// For the command, which may work elsewhere.
    pub path: PathBuf,
    /// The number of the run, by which its profiles are known: others may record there at the same time.
    pub run: u64,
    /// Whether there were profiles in it already, which a report on the folder would show, too.
    pub had_profiles: bool,
    made: bool,
}

impl Folder {
    /// Makes the folder if it is missing.
    pub fn open(given: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Folder { path: given.to_owned(), source };
        let path = path::absolute(given).map_err(failed)?;
        let made = !path.is_dir();
        fs::create_dir_all(&path).map_err(failed)?;
        let had_profiles = !profiles(&path).is_empty();
        let run = RandomState::new().hash_one(process::id()) | 1;
        Ok(Self { given: given.to_owned(), path, run, made, had_profiles })
    }

    /// Names of the profiles of this run: those of the command, and of all that it has started.
    pub fn new_profiles(&self) -> Vec<OsString> {
        let is_ours = |name: &OsString| header(&self.path.join(name)).is_some_and(|header| header.run == self.run);
        profiles(&self.path).into_iter().filter(is_ours).collect()
    }

    /// Notes beside the profiles of this run that they are of one, and what that is called.
    pub fn note_run(&self, label: Option<&str>) {
        let new = self.new_profiles();
        if label.is_none() && new.len() < 2 {
            return; // a profile by itself is a run
        }
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let note = Note { run: format!("{}-{at}", process::id()), label: label.map(str::to_owned) };
        for name in new {
            let _ = note.write(&self.path.join(name)); // without it, each is a run of its own
        }
    }

    /// Saves the names of what the profiles of this run met: their programs may be rebuilt before anybody reads them.
    pub fn save_names(&self) {
        let new: Vec<PathBuf> = self.new_profiles().iter().map(|name| self.path.join(name)).collect();
        saving::save(new.iter().map(PathBuf::as_path));
    }

    /// Removes the folder if it was made for nothing.
    pub fn remove_if_unused(&self) {
        if self.made {
            let _ = fs::remove_dir(&self.path); // fails if anything is in it, as it should
        }
    }
}

/// The header of a profile; of a file that is none, such as a pipe, nothing.
pub fn header(path: &Path) -> Option<Header> {
    // A pipe that nobody writes into is not waited for.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(BLOCKS_START as u64).read_to_end(&mut bytes).ok()?;
    Some(*reader::File::open(&bytes).ok()?.header())
}

fn profiles(folder: &Path) -> BTreeSet<OsString> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeSet::new() };
    // A program's name may be no text.
    let names = entries.flatten().map(|entry| entry.file_name());
    names.filter(|name| name.as_bytes().ends_with(b".diyt")).collect()
}
