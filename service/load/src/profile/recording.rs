//! The recordings of a folder, read while their programs run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use diytrace_profile::load::reader::Reader;
use diytrace_profile::load::{self, Family, Loaded, Summary};
use diytrace_profile::merge::By;
use diytrace_profile::opened::Opened;

use super::cost::Costs;
use super::seen::Counted;
use crate::Error;

/// The recordings of a folder; their programs are not touched.
pub struct Recording {
    folder: PathBuf,
    readers: BTreeMap<PathBuf, Reader>,
}

/// All that they had recorded at a moment.
pub type Reading = BTreeMap<PathBuf, Family>;

impl Recording {
    /// Of a folder, or of one file. Something must be recorded there.
    pub fn open(folder: PathBuf) -> Result<Self, Error> {
        let mut recording = Self { folder, readers: BTreeMap::new() };
        let reading = recording.read()?;
        // A program may have loaded the recorder and not have called anything yet.
        let runs = recording.readers.values().any(Reader::is_mapped);
        if reading.is_empty() || !runs {
            return Err(Error::NothingRecorded { folder: recording.folder });
        }
        Ok(recording)
    }

    /// Reads them, and those that have come since.
    pub fn read(&mut self) -> Result<Reading, Error> {
        let found = match load::find(std::slice::from_ref(&self.folder)) {
            Ok(found) => found,
            Err(load::Error::Empty { .. } | load::Error::Missing { .. }) => {
                return Err(Error::NothingRecorded { folder: self.folder.clone() });
            }
            Err(error) => return Err(error.into()),
        };
        let mut reading = Reading::new();
        for found in found {
            let path = found.path;
            if path.extension().is_none_or(|extension| extension != "diyt") {
                continue;
            }
            let reader = self.readers.entry(path.clone()).or_insert_with(|| Reader::new(path.clone()));
            match reader.read() {
                // A copy of what another one is.
                Ok(read) if read.family.snapshot.is_some() => {}
                Ok(read) => _ = reading.insert(path, read.family),
                // It is being made, or was removed: what it has is told by a later reading.
                Err(load::Error::Unfinished { .. } | load::Error::Truncated { .. } | load::Error::Missing { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(reading)
    }
}

/// What lies between two readings, the earlier first.
pub struct Between(pub [Arc<Reading>; 2]);

impl Counted for Between {
    fn costs(&self, requests: u64) -> Result<Costs, Error> {
        let [from, to] = &self.0;
        let opened = Opened::merge(By::All, None, |take| {
            let mut loaded = Loaded::default();
            for (path, family) in &**to {
                take(from.get(path), family);
                loaded.profiles.push(Summary::of(family));
            }
            Ok(loaded)
        })?;
        Costs::of(&opened, requests)
    }
}
