//! What commands want of a profile store.

use std::path::Path;

use clap::ValueEnum;
use diytrace_compare::diff::How;

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

/// How stacks are written for another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Drawn {
    /// A flame graph (SVG)
    Flamegraph,
    /// Stacks, one a line
    Folded,
}

/// Two selections of sampled profiles, to be compared.
#[cfg_attr(not(feature = "service"), expect(dead_code, reason = "nothing reads a store"))]
pub struct SampledSides<'a> {
    pub sides: [Selection<'a>; 2],
    /// The type of samples, if one is named.
    pub of: Option<&'a str>,
    pub are_shares: bool,
    pub replicate: Replicate,
    /// The stacks alone, written so.
    pub drawn: Option<Drawn>,
    /// Whether anything says that samples are meant, not recordings.
    pub is_meant: bool,
    /// A folder for all numbers.
    pub folder: Option<&'a Path>,
    pub how: &'a How,
    pub is_saved: bool,
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
    /// Whether sampled profiles were compared, not recordings.
    pub are_samples: bool,
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

/// Where runs and verdict are kept, beside the folder.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Into a profile store")]
pub struct Kept {
    /// Put the runs and the verdict into this store, which is made if there is none
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,

    /// A label of all runs (repeatable), beside side=left or right, and commit and branch where git knows them
    #[arg(long = "label", value_name = "NAME=VALUE", requires = "store")]
    pub labels: Vec<String>,

    /// A label of the left side's runs (repeatable)
    #[arg(long = "left-label", value_name = "NAME=VALUE", requires = "store")]
    pub left_labels: Vec<String>,

    /// A label of the right side's runs (repeatable)
    #[arg(long = "right-label", value_name = "NAME=VALUE", requires = "store")]
    pub right_labels: Vec<String>,
}
