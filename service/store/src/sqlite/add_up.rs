//! Adds series up to one profile, while the next are read.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use diytrace_profile::merge::{By, Merged, Merging, PartKey};
use diytrace_profile::module::ModuleKey;
use rustc_hash::FxHashMap;

use crate::Error;
use crate::dictionary::Dictionary;
use crate::sums::OfSeries;

/// How many series are read ahead of those that are added up.
pub const AHEAD: usize = 1;

/// What the numbers of a build's paths, places and modules stand for.
pub struct Build {
    pub dictionary: Dictionary,
    pub modules: FxHashMap<i64, ModuleKey>,
}

/// What was read of a series.
pub struct Unit {
    pub sums: OfSeries,
    pub part: PartKey,
    pub build: Arc<Build>,
    /// Which group it is in.
    pub label: Option<String>,
}

/// A series on its way.
pub enum Series {
    /// As it was read.
    Read(Box<Unit>),
    /// As a profile: who reads faster than others add up does that, too. Nothing if it cannot be one.
    Merged(Option<Merged>, Option<String>),
}

impl Series {
    /// As a profile.
    pub fn merged(self) -> (Option<Merged>, Option<String>) {
        match self {
            Self::Merged(merged, label) => (merged, label),
            Self::Read(unit) => {
                let Unit { sums, part, build, label } = *unit;
                let Build { dictionary, modules } = &*build;
                let merged = sums.merged(&part, dictionary.entries(), |number| modules.get(&number).cloned());
                (merged.filter(Merged::is_sound), label)
            }
        }
    }
}

/// The sums of all that comes.
pub fn add_up(series: &Receiver<Series>, damaged: Error) -> Result<Merged, Error> {
    let mut merging = Merging::new(By::All, None);
    for series in series {
        let (Some(merged), label) = series.merged() else { return Err(damaged) };
        merging.add_merged(&merged, label.as_deref());
    }
    Ok(merging.finish())
}
