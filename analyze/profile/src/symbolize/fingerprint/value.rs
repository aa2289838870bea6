//! What is kept of a function's code.

use serde::{Deserialize, Serialize};

/// What is hashed, and how: what was kept by another version says nothing.
pub const VERSION: u32 = 1;

/// A function's code, hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// That of code with this hash.
    pub(super) fn new(hash: u128) -> Self {
        Self(hash)
    }
}
