//! Programs and libraries: what makes one the same as another.

use serde::{Deserialize, Serialize};

/// A module's file as it was when it was recorded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModuleFile {
    /// Where it was.
    pub path: String,
    /// Its size in bytes; 0 if unknown.
    pub size: u64,
    /// When it was modified, in nanoseconds since 1970; 0 if unknown.
    pub modified_unix_ns: u64,
}

/// What makes two modules one: the build ID, or else the very same file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ModuleKey {
    /// Its build ID.
    BuildId(Vec<u8>),
    /// If it has none, the very file.
    File(ModuleFile),
}
