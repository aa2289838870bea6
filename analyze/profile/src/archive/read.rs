//! Reads archives: whatever a file is, an answer or an error.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use zip::ZipArchive;

use super::shared::Shared;
use super::{Error, INDEX, Index, Kept, MAGIC, MARK, VERSION};

use crate::module::ModuleKey;

/// Most bytes of an index: what is larger was made to do harm.
const LARGEST_INDEX: u64 = 1 << 26;

/// Most bytes of a module's symbols.
const LARGEST_SYMBOLS: u64 = 1 << 30;

/// What archives hold is at most so many times their size: that of a profile with thousands of processes that made a call
/// each is 200 times, as it is nearly all zeros. Zeros alone deflate to a thousandth.
const DENSEST: u64 = 500;

/// Less than that does no harm.
const HARMLESS: u64 = 1 << 26;

/// An archive; clones share its file.
#[derive(Clone, Debug)]
pub struct Archive {
    path: PathBuf,
    zip: ZipArchive<Shared>,
    index: Arc<Index>,
}

impl Archive {
    /// Whether a file begins as archives do.
    pub fn is_at(path: &Path) -> bool {
        let mut start = [0; MAGIC.len()];
        File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == MAGIC
    }

    /// Opens an archive and reads what it holds.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
        let file = File::open(path).and_then(Shared::new).map_err(unreadable)?;
        let packed = file.len();
        let mut zip = ZipArchive::new(file).map_err(|error| Error::of_zip(path.to_owned(), error))?;
        if zip.index_for_name(MARK).is_none() {
            return Err(Error::Foreign { path: path.to_owned() });
        }
        let unpacked = unpacked(&mut zip).map_err(|error| Error::of_zip(path.to_owned(), error))?;
        if unpacked > HARMLESS.max(packed.saturating_mul(DENSEST)) {
            return Err(Error::TooDense { path: path.to_owned(), packed, unpacked });
        }
        let mut archive = Self { path: path.to_owned(), zip, index: Arc::default() };
        let mark = String::from_utf8(archive.entry(MARK, 100)?).ok();
        let version = mark.and_then(|mark| mark.trim_end().strip_prefix("version ")?.parse().ok());
        match version {
            Some(VERSION) => {}
            Some(version) => return Err(Error::Version { path: path.to_owned(), version }),
            None => return Err(archive.damaged("it has no version")),
        }
        let index = archive.entry(INDEX, LARGEST_INDEX)?;
        let index = postcard::from_bytes(&index).map_err(|_| archive.damaged("its index is none"))?;
        archive.index = Arc::new(index);
        Ok(archive)
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many profiles it has.
    pub fn len(&self) -> usize {
        self.index.profiles.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.index.profiles.is_empty()
    }

    /// The bytes of a profile, and how it was found.
    pub fn profile(&self, number: usize) -> Result<(Vec<u8>, &Kept), Error> {
        let kept = self.index.profiles.get(number).ok_or_else(|| self.damaged("a profile is missing"))?;
        let bytes = self.entry(&profile_name(number, kept), u64::MAX)?;
        Ok((bytes, kept))
    }

    /// What the modules are known by that it has symbols of.
    pub fn modules(&self) -> &[ModuleKey] {
        &self.index.modules
    }

    /// What is known of a module, if anything is.
    pub fn symbols<T: DeserializeOwned>(&self, module: &ModuleKey) -> Result<Option<T>, Error> {
        let Some(number) = self.index.modules.iter().position(|known| known == module) else { return Ok(None) };
        let bytes = self.entry(&symbols_name(number), LARGEST_SYMBOLS)?;
        let symbols = postcard::from_bytes(&bytes).map_err(|_| self.damaged("its symbols are none"))?;
        Ok(Some(symbols))
    }

    /// What an entry says that archives need not have, if this one has it.
    pub fn extra<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Error> {
        if self.zip.index_for_name(name).is_none() {
            return Ok(None);
        }
        let bytes = self.entry(name, LARGEST_SYMBOLS)?;
        postcard::from_bytes(&bytes).map(Some).map_err(|_| self.damaged(&format!("{name} is none")))
    }

    fn entry(&self, name: &str, most: u64) -> Result<Vec<u8>, Error> {
        let mut zip = self.zip.clone();
        let entry = zip.by_name(name).map_err(|error| match error {
            zip::result::ZipError::FileNotFound => self.damaged(&format!("{name} is missing")),
            error => Error::of_zip(self.path.clone(), error),
        })?;
        // Of what there is in all, it cannot be more than it says.
        let most = most.min(entry.size());
        let mut bytes = Vec::new();
        let read = entry.take(most.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| Error::of_zip(self.path.clone(), error.into()))?;
        if bytes.len() as u64 > most {
            return Err(self.damaged(&format!("{name} is too large")));
        }
        Ok(bytes)
    }

    fn damaged(&self, what: &str) -> Error {
        Error::Damaged { path: self.path.clone(), what: what.to_owned() }
    }
}

/// Bytes of all entries together, as they say.
fn unpacked(zip: &mut ZipArchive<Shared>) -> Result<u64, zip::result::ZipError> {
    (0..zip.len()).try_fold(0u64, |sum, number| Ok(sum.saturating_add(zip.by_index_raw(number)?.size())))
}

/// The entry of a profile: its number, and its name for people.
pub(super) fn profile_name(number: usize, kept: &Kept) -> String {
    let path = kept.path();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("profiles/{number}/{}", name.replace(['\\', '/'], "_"))
}

/// The entry of a module's symbols.
pub(super) fn symbols_name(number: usize) -> String {
    format!("symbols/{number}")
}
