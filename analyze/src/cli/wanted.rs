//! What commands want of a profile store.

use clap::ValueEnum;

/// A selection, as it was written.
#[cfg_attr(not(feature = "service"), expect(dead_code, reason = "nothing reads a store"))]
pub struct Selection<'a> {
    pub store: &'a str,
    pub labels: &'a str,
    pub since: Option<&'a str>,
    pub until: Option<&'a str>,
}

/// What is one run of a side.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Replicate {
    /// A recording
    #[default]
    Run,
    /// All that a host has
    Host,
    /// What was counted between two moments
    Slice,
}
