//! What tells one state of a file from another without reading it.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// A file and its state. Whoever writes to a file moves `changed_ns` on, and no program can set that back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified_ns: i128,
    changed_ns: i128,
}

impl Stamp {
    /// The stamp that goes with these facts.
    pub fn of(facts: &Metadata) -> Self {
        let ns = |seconds: i64, ns: i64| i128::from(seconds) * 1_000_000_000 + i128::from(ns);
        Self {
            device: facts.dev(),
            inode: facts.ino(),
            size: facts.size(),
            modified_ns: ns(facts.mtime(), facts.mtime_nsec()),
            changed_ns: ns(facts.ctime(), facts.ctime_nsec()),
        }
    }

    /// The stamp of the file that lies at a path now.
    pub fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|facts| Self::of(&facts))
    }

    /// When it changed last, in nanoseconds since 1970.
    pub fn changed_unix_ns(&self) -> i128 {
        self.changed_ns
    }
}
