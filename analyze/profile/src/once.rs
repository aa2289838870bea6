//! What is there twice counts once: copies of a profile, or an archive beside the profiles that it was made of.

use std::path::PathBuf;

use rustc_hash::FxHashMap;

use crate::load::interval::counted;
use crate::load::{Error, Family, LeftOut};

/// What tells a family from all others, on any machine.
type Identity = ([u8; 16], u32, u64, u64);

/// The families that have been met.
#[derive(Default)]
pub struct Once {
    met: FxHashMap<Identity, (PathBuf, u64)>,
    /// Those that are there once more.
    pub left_out: Vec<LeftOut>,
}

impl Once {
    /// Whether this is the first time that a family is met. Two moments of one cannot be added up.
    pub fn is_first(&mut self, family: &Family) -> Result<bool, Error> {
        let identity = (family.boot_id, family.pid, family.started_unix_ns, family.first_ticks);
        let calls = counted(family);
        match self.met.get(&identity) {
            // Of what has no beginning nothing can be told.
            _ if family.started_unix_ns == 0 => Ok(true),
            None => {
                self.met.insert(identity, (family.path.clone(), calls));
                Ok(true)
            }
            Some((path, known)) if *known == calls => {
                self.left_out.push(LeftOut::Twice { path: family.path.clone(), first: path.clone() });
                Ok(false)
            }
            Some((path, _)) => Err(Error::Twice { one: path.clone(), other: family.path.clone() }),
        }
    }
}
