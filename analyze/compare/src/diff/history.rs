//! Saved sets: how much a function's median usually moves from one to the next, whatever the reason.
//!
//! As in ClickHouse's performance tests, half as much again as 99% of past differences is the least that is called a
//! change of that function, if it is more than what matters of any function.
//!
//! The history is a folder, with a folder for each name, in which each folder is a set: `<history>/NAME/<n>/runs.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::Error;
use super::loaded::Loaded;
use super::sides::{Series, Sides};
use crate::observed::identity::Key;
use crate::runs::Runs;
use crate::statistics::median;

/// Where the history is if nobody says otherwise.
pub const DEFAULT_FOLDER: &str = "diytrace.history";

/// How far beyond the past a difference must be.
const MARGIN: f64 = 1.5;

/// The share of past differences that must be below.
const QUANTILE: f64 = 0.99;

/// Thresholds that come from the past.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    thresholds: BTreeMap<(Option<String>, What), f64>,
}

/// What has a threshold of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A function's self time.
    Function(String),
    /// That of all together.
    Total,
    /// A metric of whole runs.
    Metric(String),
}

/// Whether sets can be saved by this name: a folder's.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0'])
}

impl History {
    /// Reads what was saved by a name.
    pub fn read(history: &Path, name: &str) -> Result<Self, Error> {
        if !is_name(name) {
            return Err(Error::HistoryName { name: name.to_owned() });
        }
        let folder = history.join(name);
        let sets =
            sets(&folder).ok_or_else(|| Error::NoHistory { folder: history.to_owned(), name: name.to_owned() })?;
        if sets.len() < 2 {
            return Err(Error::ShortHistory { folder, found: sets.len() });
        }
        let mut differences: BTreeMap<(Option<String>, What), Vec<f64>> = BTreeMap::new();
        let mut earlier = Runs::open(&sets[0])?;
        for path in &sets[1..] {
            let later = Runs::open(path)?;
            for query in earlier.queries().into_iter().filter(|query| later.queries().contains(query)) {
                let sets = [&earlier, &later];
                let (loaded, _) = Loaded::both(sets, query)?;
                for (what, [old, new]) in medians(&loaded) {
                    if old > 0.0 {
                        let past = differences.entry((query.map(str::to_owned), what)).or_default();
                        past.push((new / old - 1.0).abs());
                    }
                }
            }
            earlier = later;
        }
        let threshold = |(what, mut past): ((Option<String>, What), Vec<f64>)| {
            past.sort_unstable_by(f64::total_cmp);
            let rank = (QUANTILE * past.len() as f64).ceil() as usize;
            (what, MARGIN * past[rank - 1])
        };
        Ok(Self { thresholds: differences.into_iter().map(threshold).collect() })
    }

    /// The least difference that is unusual, as a part of the median; at least `usual`.
    pub fn min_change(&self, query: Option<&str>, what: What, usual: f64) -> f64 {
        self.thresholds.get(&(query.map(str::to_owned), what)).map_or(usual, |threshold| threshold.max(usual))
    }
}

/// The medians of an earlier and a later set.
fn medians(loaded: &[Loaded; 2]) -> Vec<(What, [f64; 2])> {
    let sides = Sides::of(&loaded[0].observed, &loaded[1].observed);
    // What the correction cannot resolve varies without end.
    let resolved = sides.functions.iter().filter(|(_, series)| series.pooled_own() >= series.pooled_error());
    let of_function = |(key, series): &(Key, Series)| {
        (What::Function(key.name.clone()), [0, 1].map(|side: usize| median(&series.own[side])))
    };
    let mut medians: Vec<_> = resolved.map(of_function).collect();
    medians.push((What::Total, [0, 1].map(|side: usize| median(&sides.total[side]))));
    let of_all = |name: &&String| loaded.iter().all(|set| set.runs.iter().all(|run| run.metrics.contains_key(*name)));
    for name in loaded[0].runs.iter().take(1).flat_map(|run| run.metrics.keys()).filter(of_all) {
        let values = |set: &Loaded| median(&set.runs.iter().map(|run| run.metrics[name]).collect::<Vec<_>>());
        medians.push((What::Metric(name.clone()), [values(&loaded[0]), values(&loaded[1])]));
    }
    medians
}

/// The sets in a folder, in the natural order of their names; `None` if there is no such folder.
fn sets(folder: &Path) -> Option<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).ok()?;
    // What is being written has a name that begins with a dot.
    let is_hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    let folders = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir() && !is_hidden(path));
    let mut sets: Vec<PathBuf> = folders.collect();
    alphanumeric_sort::sort_path_slice(&mut sets);
    Some(sets)
}
