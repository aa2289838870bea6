//! The cache's folder: files that belong to us alone, and never more than a few.

use std::fs::{self, DirBuilder, Metadata, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The folder inside the cache's: whatever else lies beside it is not ours to remove.
const SYMBOLS: &str = "symbols";

/// Most bytes of one file: some hundred thousand addresses.
const LARGEST: u64 = 16 << 20;

/// Most bytes and files of all.
const ALL_BYTES: u64 = 128 << 20;
const ALL_FILES: usize = 1024;

/// What was used within this time need not be marked as used.
const USED_LATELY: Duration = Duration::from_secs(3600);

/// A file on its way that is older than this has lost its writer.
const ABANDONED: Duration = Duration::from_secs(3600);
const ON_ITS_WAY: &str = ".new-";

/// A folder of ours.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder inside this one. It is made when there is something to keep.
    pub fn of(cache: &Path) -> Option<Self> {
        std::path::absolute(cache).ok().map(|cache| Self(cache.join(SYMBOLS)))
    }

    /// Whether it is there, and nobody else can write into it.
    fn is_safe(&self) -> bool {
        fs::symlink_metadata(&self.0).is_ok_and(|facts| facts.is_dir() && is_ours(&facts))
    }

    /// The bytes of a file.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        if !self.is_safe() {
            return None;
        }
        // What lies there may be anything: a link elsewhere, a pipe that nobody writes to.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(self.0.join(name)).ok()?;
        let facts = file.metadata().ok()?;
        if !facts.is_file() || !is_ours(&facts) || facts.len() > LARGEST {
            return None;
        }
        let mut bytes = Vec::with_capacity(facts.len() as usize);
        (&file).take(LARGEST).read_to_end(&mut bytes).ok()?;
        if facts.modified().is_ok_and(|used| age(used) > USED_LATELY) {
            let _ = file.set_modified(SystemTime::now());
        }
        Some(bytes)
    }

    /// Writes a file: others see the old one, or the new one, and whoever comes last has the say.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(&self.0);
        if !self.is_safe() {
            return;
        }
        let path = self.0.join(name);
        if bytes.len() as u64 > LARGEST {
            let _ = fs::remove_file(path); // begin anew, with what the next report asks
            return;
        }
        let write = || {
            let mut file = tempfile::Builder::new().prefix(ON_ITS_WAY).tempfile_in(&self.0)?; // owner-only
            file.write_all(bytes)?;
            file.persist(path)?;
            std::io::Result::Ok(())
        };
        let _ = write(); // a full disk is no concern of who wants a report
    }

    /// Removes what was not used for longest until the rest is a good deal below the limits.
    pub fn tidy(&self) {
        let Some(entries) = fs::read_dir(&self.0).ok().filter(|_| self.is_safe()) else { return };
        let file = |entry: fs::DirEntry| {
            let facts = entry.metadata().ok().filter(Metadata::is_file)?;
            Some((facts.modified().ok()?, facts.len(), entry.path()))
        };
        let mut files: Vec<_> = entries.flatten().filter_map(file).collect();
        files.retain(|(used, _, path)| {
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            let is_on_its_way = name.starts_with(ON_ITS_WAY.as_bytes());
            if is_on_its_way && age(*used) > ABANDONED {
                let _ = fs::remove_file(path);
            }
            !is_on_its_way
        });
        let mut bytes: u64 = files.iter().map(|(_, size, _)| size).sum();
        if bytes <= ALL_BYTES && files.len() <= ALL_FILES {
            return;
        }
        files.sort();
        let mut left = files.len();
        for (_, size, path) in files {
            if bytes <= ALL_BYTES / 4 * 3 && left <= ALL_FILES / 4 * 3 {
                break;
            }
            let _ = fs::remove_file(path);
            bytes -= size;
            left -= 1;
        }
    }
}

/// Whether the nearest folder there is above a path, or it itself, belongs to us: under `sudo` the home may be another's,
/// who could not use what we would leave there.
pub fn is_under_our_own(path: &Path) -> bool {
    let facts = path.ancestors().find_map(|folder| fs::metadata(folder).ok());
    facts.is_some_and(|facts| facts.uid() == our_uid())
}

fn is_ours(facts: &Metadata) -> bool {
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    facts.uid() == our_uid() && facts.mode() & WRITABLE_BY_OTHERS == 0
}

fn our_uid() -> u32 {
    // SAFETY: it takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

fn age(then: SystemTime) -> Duration {
    SystemTime::now().duration_since(then).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Folder) -> Vec<String> {
        let entries = fs::read_dir(&folder.0).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn set_age(folder: &Folder, name: &str, seconds: u64) {
        let file = fs::File::open(folder.0.join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    }

    #[test]
    fn what_was_used_lately_stays() {
        let here = tempfile::tempdir().unwrap();
        let folder = Folder::of(here.path()).unwrap();
        for number in 0..ALL_FILES {
            folder.write(&format!("{number:04}"), b"x");
            set_age(&folder, &format!("{number:04}"), 1_000_000 - number as u64);
        }
        folder.tidy();
        assert_eq!(names(&folder).len(), ALL_FILES);
        assert_eq!(folder.read("0000").unwrap(), b"x");
        folder.write("one more", b"x");
        folder.tidy();
        let left = names(&folder);
        assert_eq!(left.len(), ALL_FILES / 4 * 3);
        assert_eq!((&*left[0], &*left[1], &*left[left.len() - 1]), ("0000", "0258", "one more"));
    }

    #[test]
    fn bytes_are_bounded() {
        let here = tempfile::tempdir().unwrap();
        let folder = Folder::of(here.path()).unwrap();
        folder.write("0", b"x");
        for number in 0..9 {
            let sparse = fs::File::create(folder.0.join(number.to_string())).unwrap();
            sparse.set_len(LARGEST).unwrap();
            set_age(&folder, &number.to_string(), 100 - number);
        }
        folder.tidy();
        assert_eq!(names(&folder), ["3", "4", "5", "6", "7", "8"]);
        folder.write("8", &vec![0; LARGEST as usize + 1]);
        assert_eq!(folder.read("8"), None);
    }

    #[test]
    fn files_that_lost_their_writer_are_removed() {
        let here = tempfile::tempdir().unwrap();
        let folder = Folder::of(here.path()).unwrap();
        folder.write(".new-old", b"x");
        folder.write(".new-young", b"x");
        set_age(&folder, ".new-old", 4000);
        folder.tidy();
        assert_eq!(names(&folder), [".new-young"]);
    }
}
