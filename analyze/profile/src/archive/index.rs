//! What an archive holds.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::module::ModuleKey;
use crate::process::State;

/// What an archive holds, in the order of its entries' numbers.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Index {
    /// Its profiles.
    pub profiles: Vec<Kept>,
    /// The modules that it has symbols of.
    pub modules: Vec<ModuleKey>,
}

/// What is told of a profile that is not in its bytes: how it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Its path's bytes: no text, maybe.
    pub path: Vec<u8>,
    /// What had become of its processes, by their numbers in the family.
    pub states: Vec<(u32, State)>,
    /// When it was read, in ticks, if processes were running; if none was, when its first one was seen to end, or 0.
    pub moment: u64,
}

impl Kept {
    /// Where it was.
    pub fn path(&self) -> PathBuf {
        Path::new(OsStr::from_bytes(&self.path)).to_owned()
    }
}
