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

/// What two selections were compared to, to be kept.
#[cfg_attr(not(feature = "service"), expect(dead_code, reason = "nothing is kept"))]
pub struct Concluded<'a> {
    pub kind: Kind,
    /// What was compared.
    pub sides: [Selection<'a>; 2],
    /// What the sides are called; `None`: as their labels.
    pub names: Option<[&'a str; 2]>,
    /// What was one run of a side.
    pub replicate: Replicate,
    /// What came out.
    pub sentence: String,
    /// The exit status.
    pub status: u8,
    /// The command's JSON.
    pub document: Vec<u8>,
}

/// Which command compared.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    #[cfg_attr(not(feature = "service"), expect(dead_code, reason = "nothing is kept"))]
    Bench,
    Diff,
    Similar,
}
