//! What is asked for: series, frames, and their sums as a profile.

use std::collections::hash_map::Entry;

use diytrace_profile::load::Loaded;
use diytrace_profile::merge::{By, Merging};
use diytrace_profile::module::ModuleKey;
use rusqlite::params;
use rustc_hash::{FxHashMap, FxHashSet};

use super::file::Sqlite;
use super::put::read_more;
use super::read::read;
use super::series::{Series, all_series};
use crate::dictionary::Dictionary;
use crate::engine::{FrameFacts, Selected, SeriesFacts};
use crate::sums::OfSeries;
use crate::{Error, GroupBy, Labels, Query};

/// All series, and what is in each.
pub fn series(store: &Sqlite) -> Result<Vec<SeriesFacts>, Error> {
    let failed = |source| store.failed(source);
    let facts = "SELECT count(DISTINCT session), count(*), min(started), max(ended), sum(calls), sum(bytes) \
                 FROM frame WHERE session IN (SELECT id FROM session WHERE series = ?1)";
    let mut facts = store.connection.prepare_cached(facts).map_err(failed)?;
    let mut found = Vec::new();
    for series in all_series(store)? {
        let of_series = facts.query_row([series.id], |row| {
            Ok(SeriesFacts {
                labels: series.labels,
                sessions: row.get(0)?,
                frames: row.get(1)?,
                first: row.get::<_, Option<i64>>(2)?.unwrap_or(0),
                last: row.get::<_, Option<i64>>(3)?.unwrap_or(0),
                calls: row.get::<_, Option<u64>>(4)?.unwrap_or(0),
                bytes: row.get::<_, Option<u64>>(5)?.unwrap_or(0),
            })
        });
        found.push(of_series.map_err(failed)?);
    }
    Ok(found)
}

/// The recordings of what is asked for, by the moments at which their frames ended.
pub fn frames(store: &Sqlite, query: &Query) -> Result<Vec<FrameFacts>, Error> {
    let failed = |source| store.failed(source);
    let all = all_series(store)?;
    let labels: Vec<&Labels> = all.iter().map(|series| &series.labels).collect();
    query.check(&labels, None, &store.path.display().to_string())?;
    let frames = "SELECT key, started, ended, calls, raw_ns FROM frame JOIN session ON session.id = session \
                  WHERE series = ?1 AND ended > ?2 AND ended <= ?3 ORDER BY ended, key";
    let mut frames = store.connection.prepare_cached(frames).map_err(failed)?;
    let mut found = Vec::new();
    for series in all.iter().filter(|series| query.selects(&series.labels)) {
        let facts = frames.query_map(params![series.id, query.range.since, query.range.until], |row| {
            let (session, started, ended, calls, raw_ns) =
                (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
            Ok(FrameFacts { labels: series.labels.clone(), session, started, ended, calls, raw_ns })
        });
        found.extend(facts.map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?);
    }
    match found.is_empty() {
        true => Err(Error::Nothing { why: query.why_nothing() }),
        false => Ok(found),
    }
}

/// The sums of what is asked for.
pub fn select(store: &Sqlite, query: &Query, by: &GroupBy) -> Result<Selected, Error> {
    // One moment of the store, whoever writes.
    let moment = store.connection.unchecked_transaction().map_err(|source| store.failed(source))?;
    let all = all_series(store)?;
    let labels: Vec<&Labels> = all.iter().map(|series| &series.labels).collect();
    query.check(&labels, by.label(), &store.path.display().to_string())?;
    let mut selecting = Selecting::new(store);
    match by {
        GroupBy::All => selecting.add(&all, query, |_| None)?,
        GroupBy::Label(name) => {
            selecting.add(&all, query, |labels| Some(format!("{name}={}", labels.get(name).unwrap_or_default())))?
        }
        GroupBy::Parts(parts) => {
            for (name, query) in parts {
                selecting.add(&all, query, |_| Some(name.clone()))?;
            }
        }
    }
    drop(moment);
    let Selecting { merging, mut loaded, .. } = selecting;
    if loaded.profiles.is_empty() {
        return Err(Error::Nothing { why: query.why_nothing() });
    }
    loaded.profiles.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Selected { loaded, merged: merging.finish() })
}

/// A selection, as it is read.
struct Selecting<'a> {
    store: &'a Sqlite,
    merging: Merging,
    loaded: Loaded,
    /// Recordings in it.
    sessions: FxHashSet<i64>,
    /// Of each build.
    dictionaries: FxHashMap<i64, Dictionary>,
    modules: Modules,
}

impl<'a> Selecting<'a> {
    fn new(store: &'a Sqlite) -> Self {
        Self {
            store,
            merging: Merging::new(By::All, None),
            loaded: Loaded::default(),
            sessions: FxHashSet::default(),
            dictionaries: FxHashMap::default(),
            modules: Modules::default(),
        }
    }

    /// Adds what is asked for, of each series to the group of this label.
    fn add(&mut self, all: &[Series], query: &Query, label: impl Fn(&Labels) -> Option<String>) -> Result<(), Error> {
        let Self { store, merging, loaded, sessions, dictionaries, modules } = self;
        for series in all.iter().filter(|series| query.selects(&series.labels)) {
            let mut sums = OfSeries::default();
            let dictionary = match dictionaries.entry(series.build) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => {
                    let mut dictionary = Dictionary::default();
                    read_more(&store.connection, series.build, &mut dictionary)
                        .map_err(|source| store.failed(source))?
                        .ok_or_else(|| store.damaged("a table of paths"))?;
                    place.insert(dictionary)
                }
            };
            read(&mut sums, store, series, query, dictionary)?;
            if sums.groups.is_empty() {
                continue;
            }
            let new = sums.profiles.drain(..).filter(|(session, _)| sessions.insert(*session));
            loaded.profiles.extend(new.map(|(_, profile)| profile));
            let damaged = || store.damaged("a frame");
            let merged =
                sums.merged(&series.part, dictionary.entries(), damaged, |number| modules.key(store, number))?;
            if !merged.is_sound() {
                return Err(damaged());
            }
            merging.add_merged(&merged, label(&series.labels).as_deref());
        }
        Ok(())
    }
}

/// Keys of modules, by their numbers.
#[derive(Default)]
struct Modules(FxHashMap<i64, ModuleKey>);

impl Modules {
    fn key(&mut self, store: &Sqlite, number: i64) -> Result<ModuleKey, Error> {
        if let Some(key) = self.0.get(&number) {
            return Ok(key.clone());
        }
        let bytes: Vec<u8> = (store.connection)
            .query_row("SELECT key FROM module WHERE id = ?1", [number], |row| row.get(0))
            .map_err(|source| store.failed(source))?;
        let key: ModuleKey = postcard::from_bytes(&bytes).map_err(|_| store.damaged("a module"))?;
        self.0.insert(number, key.clone());
        Ok(key)
    }
}
