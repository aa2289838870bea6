//! What a comparison asks for.

use std::path::PathBuf;

use serde::Serialize;

use super::Error;
use crate::runs::Runs;
use crate::statistics::{Correction, Looks};
use diytrace_views::report::Format;
use diytrace_views::view::Color;

/// From when on a difference is a change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Options {
    /// Smallest change that matters, as a part of the left side's median, however sure it is: 0.01. What counts above that,
    /// each function's own noise decides.
    pub min_change: f64,
    /// The same of what depends on more than a function's code: counts that vary, what is measured of whole runs, and all
    /// functions together of two builds, which lie elsewhere in memory: 0.05.
    pub whole_min_change: f64,
    /// Where chance moves medians further than this part of them, nothing can be told: 0.10.
    pub max_spread: f64,
    /// Largest adjusted p-value of a change: 0.05.
    pub level: f64,
    /// How p-values are adjusted, as many functions are many tests.
    pub correction: Correction,
    /// Splits of the runs that are drawn by chance where there are too many to look at all.
    pub splits: u64,
    /// Functions with a smaller part of all self time, over both sides, are not tested: 0.001.
    pub min_share: f64,
    /// Where runs are looked at several times: how often, which divides the level among the looks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looks: Option<Looks>,
    /// Thresholds of their own for functions whose medians have varied before.
    #[serde(skip)]
    pub history: super::History,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            min_change: 0.01,
            whole_min_change: 0.05,
            max_spread: 0.10,
            level: 0.05,
            correction: Correction::Bh,
            splits: 10_000,
            min_share: 0.001,
            looks: None,
            history: super::History::default(),
        }
    }
}

impl Options {
    /// The same for so many runs of each side: at the level of that look.
    pub fn at(&self, runs: usize) -> Self {
        let level = self.looks.map_or(self.level, |looks| looks.level(runs, self.level));
        Self { level, ..self.clone() }
    }
}

/// A side of a comparison.
#[derive(Clone, Debug)]
pub enum Set {
    /// Its folder, or whatever [`Runs::open`] takes.
    At(PathBuf),
    /// Its runs.
    Of(Runs),
}

impl Set {
    /// Its runs.
    pub fn open(&self) -> Result<Runs, Error> {
        match self {
            Self::At(path) => Ok(Runs::open(path)?),
            Self::Of(runs) => Ok(runs.clone()),
        }
    }
}

/// The command `diff`.
#[derive(Clone, Debug)]
pub struct Command {
    /// The set before.
    pub left: Set,
    /// The set after.
    pub right: Set,
    /// Fresh runs of both, in which changes must repeat.
    pub confirm: Option<(PathBuf, PathBuf)>,
    /// A folder for the report and every number behind it.
    pub output: Option<PathBuf>,
    /// How they are compared and told.
    pub how: How,
}

/// How sets are compared, and how that is told.
#[derive(Clone, Debug)]
pub struct How {
    /// A name in the history, whose sets tell what is usual.
    pub against: Option<String>,
    /// Where the history is. `None`: `DIYTRACE_HISTORY`, or `diytrace.history` here.
    pub history: Option<PathBuf>,
    /// From when on a difference is a change.
    pub options: Options,
    /// How the result is written to stdout.
    pub format: Format,
    /// Whether text has colours.
    pub color: Color,
    /// Most functions to list in each section of the text.
    pub limit: usize,
    /// What makes the exit status 1.
    pub fail_on: FailOn,
}

/// What makes the exit status 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailOn {
    /// A function, or all together, takes longer.
    #[default]
    Slower,
    /// The same, or a function's cost is higher though its code is the same.
    SameCode,
    /// Anything changed: times, counts, functions that are there.
    Changed,
    /// Nothing.
    Never,
}
