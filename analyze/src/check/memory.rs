//! How much room a recording may need: all that is known of it beforehand is how many hooks there are.

use serde::Serialize;

/// How many call paths go through a hook depends on the program and on what it does: Lua's took 2.0 kB for each, SQLite's 2.1, and
/// cppcheck's 1.4 with a file of 300 lines. Twice that leaves room for larger runs.
const BYTES_OF_A_HOOK: u64 = 4_000;

/// What `DIYTRACE_MEMORY` is by itself (the recorder's `Settings::DEFAULT`).
const DEFAULT_LIMIT: u64 = 256 << 20;

/// How much room a recording may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// Hooks for entering that may be called.
    pub hooks: u64,
    /// What a file may grow to.
    pub estimated_bytes: u64,
    /// The `DIYTRACE_MEMORY` that has room for it.
    pub limit_bytes: u64,
}

impl Memory {
    /// Of a program with so many hooks for entering.
    pub fn of(hooks: u64) -> Self {
        let estimated_bytes = hooks.saturating_mul(BYTES_OF_A_HOOK);
        let limit_bytes = estimated_bytes.checked_next_power_of_two().unwrap_or(u64::MAX).max(DEFAULT_LIMIT);
        Self { hooks, estimated_bytes, limit_bytes }
    }

    /// The limit as `--memory` takes it, if the usual one is too small.
    pub fn wanted(&self) -> Option<String> {
        let mebibytes = self.limit_bytes >> 20;
        let text =
            if mebibytes.is_multiple_of(1024) { format!("{}G", mebibytes / 1024) } else { format!("{mebibytes}M") };
        (self.limit_bytes > DEFAULT_LIMIT).then_some(text)
    }
}
