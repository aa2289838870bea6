//! Reads a profile again and again.

use std::path::PathBuf;

use diytrace_format::reader::File;

use diytrace_profile::load::holders::{Holders, Identity};
use diytrace_profile::load::state::Seen;
use diytrace_profile::load::{self, Error, Family};

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

    /// Whether any process has it mapped, even one that has recorded nothing.
    pub fn is_mapped(&self) -> bool {
        Holders::look().of(&Identity::of(&self.path)).next().is_some()
    }

    /// Reads it.
    pub fn read(&mut self) -> Result<Reading, Error> {
        let failed = |source| Error::Unreadable { path: self.path.clone(), source };
        let bytes = load::read_into(&self.path, std::mem::take(&mut self.buffer)).map_err(failed)?;
        let paused = File::open(&bytes.profile).is_ok_and(|file| file.header().paused != 0);
        let family = load::family_again(&bytes, &self.path, &self.seen)?;
        self.buffer = bytes.profile;
        Ok(Reading { family, at_ns: bytes.read_monotonic_ns, paused })
    }
}
