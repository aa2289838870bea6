//! Reads a profile again and again, while its program goes on.

use std::path::PathBuf;

use diytrace_format::reader::File;

use super::holders::{Holders, Identity};
use super::lease::{self, Held};
use super::snapshot::Moment;
use super::state::Seen;
use super::watched::Watched;
use super::{Changes, Error, Family, family_again, read_into};

/// A profile's file.
pub struct Reader {
    path: PathBuf,
    /// The bytes of the last reading: of hundreds of processes, many to ask memory for each time.
    buffer: Vec<u8>,
    seen: Seen,
}

/// A profile at one moment.
pub struct Reading {
    /// What it has recorded.
    pub family: Family,
    /// The moment, by `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// Whether recording is paused.
    pub paused: bool,
}

impl Reader {
    /// Of this file.
    pub fn new(path: PathBuf) -> Self {
        Self { path, buffer: Vec::new(), seen: Seen::default() }
    }

    /// Whether any process has it mapped, even one that has recorded nothing, or that cannot be seen from here, as in another container.
    pub fn is_mapped(&self) -> bool {
        match lease::ask(&self.path) {
            Held::ByNobody => false,
            Held::BySomebody => true,
            Held::Unknown => Holders::look().of(&Identity::of(&self.path)).next().is_some(),
        }
    }

    /// Reads it.
    pub fn read(&mut self) -> Result<Reading, Error> {
        let failed = |source| Error::Unreadable { path: self.path.clone(), source };
        let bytes = read_into(&self.path, std::mem::take(&mut self.buffer)).map_err(failed)?;
        let paused = File::open(&bytes.profile).is_ok_and(|file| file.header().paused != 0);
        let family = family_again(&bytes, &self.path, &self.seen)?;
        self.buffer = bytes.profile;
        Ok(Reading { family, at_ns: bytes.read_monotonic_ns, paused })
    }

    /// The memory that it reads into, with the bytes of the last reading: one is enough for many readers that read in turn.
    pub fn memory(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// What is to be known of the latest reading, to look after that only at what has changed; if that can be done.
    pub fn watch(&self, latest: &Family) -> Option<Watched> {
        Watched::of(&self.buffer, &self.path, latest)
    }

    /// What has changed since a reading that is watched. `None`: it is to be read as a whole.
    pub fn look(&self, watched: &Watched, since: &Family) -> Option<Changes> {
        watched.look(since, &self.seen)
    }

    /// The file of a snapshot of the latest reading.
    pub fn snapshot(&self, reading: &Reading) -> Vec<u8> {
        let moment = match &reading.family.snapshot {
            Some(moment) => moment.clone(),
            None => Moment::read(&reading.family, reading.at_ns),
        };
        [&self.buffer[..], &moment.bytes()].concat()
    }
}
