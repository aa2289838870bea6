//! What a file of the cache is about.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::elf::debug::hex;
use crate::elf::{Mapped, Stamp};
use crate::merge::Module;

/// A file without a build ID that changed so shortly ago could change again and look the same: file systems have clocks
/// of up to two seconds.
const SETTLED_NS: i128 = 2_000_000_000;

/// More of a build ID would make no better name.
const LONGEST_ID: usize = 32;

/// A module, and all that answers about it depend on. A debug file that is installed later makes another key, and so
/// does `strip`, which leaves the build ID as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// The diytrace that answered.
    maker: Stamp,
    build_id: Vec<u8>,
    /// The module's file, what was split off it, and what several debug files share.
    consulted: [Option<Stamp>; 3],
}

impl Key {
    /// The key of a module with these files (its own, what was split off it, and what several debug files share), if there are
    /// any, and it is sure to be another when they change.
    pub fn of(maker: Stamp, module: &Module, consulted: [Option<&Mapped>; 3]) -> Option<Self> {
        let consulted = consulted.map(|file| file.map(|file| file.stamp));
        let mut stamps = consulted.iter().flatten().peekable();
        stamps.peek()?;
        if module.build_id.is_empty() {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_nanos() as i128;
            if !stamps.all(|stamp| stamp.changed_unix_ns() + SETTLED_NS < now) {
                return None;
            }
        }
        Some(Self { maker, build_id: module.build_id.clone(), consulted })
    }

    /// The name of the file: by it people find a module's, and two keys of one name only push each other out.
    pub fn file_name(&self) -> String {
        let id = &self.build_id[..self.build_id.len().min(LONGEST_ID)];
        let id = if id.is_empty() { "no-build-id".to_owned() } else { hex(id) };
        let files = crc32fast::hash(format!("{:?}{:?}", self.build_id, self.consulted).as_bytes());
        format!("{id}-{files:08x}")
    }
}
