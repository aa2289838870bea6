//! Reads what is asked for, series by series, for others to add up.

use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};

use diytrace_profile::load::Loaded;
use diytrace_profile::module::ModuleKey;
use rusqlite::OptionalExtension;
use rustc_hash::{FxHashMap, FxHashSet};

use super::add_up::{self, Build, Unit};
use super::file::Sqlite;
use super::read::read;
use super::rows::read_more;
use super::series::Series;
use crate::dictionary::Dictionary;
use crate::sums::OfSeries;
use crate::{Error, GroupBy, Labels, Query};

/// A selection, as it is read.
pub struct Reading<'a> {
    store: &'a Sqlite,
    series: &'a [Series],
    /// Who adds it up.
    to: SyncSender<add_up::Series>,
    loaded: Loaded,
    /// Recordings in it.
    sessions: FxHashSet<i64>,
    builds: FxHashMap<i64, Arc<Build>>,
}

impl<'a> Reading<'a> {
    /// Of some of these.
    pub fn new(store: &'a Sqlite, series: &'a [Series], to: SyncSender<add_up::Series>) -> Self {
        let (sessions, builds) = (FxHashSet::default(), FxHashMap::default());
        Self { store, series, to, loaded: Loaded::default(), sessions, builds }
    }

    /// Reads all that is asked for. What is told of its recordings; less, if nobody adds up any more.
    pub fn all(mut self, query: &Query, by: &GroupBy) -> Result<Loaded, Error> {
        match by {
            GroupBy::All => self.add(query, |_| None)?,
            GroupBy::Label(name) => {
                self.add(query, |labels| Some(format!("{name}={}", labels.get(name).unwrap_or_default())))?;
            }
            GroupBy::Parts(parts) => {
                for (name, query) in parts {
                    self.add(query, |_| Some(name.clone()))?;
                }
            }
        }
        let mut loaded = self.loaded;
        loaded.profiles.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(loaded)
    }

    /// Adds what is asked for, of each series to the group of this label.
    fn add(&mut self, query: &Query, label: impl Fn(&Labels) -> Option<String>) -> Result<(), Error> {
        for series in self.series.iter().filter(|series| query.selects(&series.labels)) {
            let build = match self.builds.entry(series.build) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(Arc::new(build(self.store, series.build)?)),
            };
            let mut sums = OfSeries::default();
            read(&mut sums, self.store, series, query, &build.dictionary)?;
            if sums.groups.is_empty() {
                continue;
            }
            let new = sums.profiles.drain(..).filter(|(session, _)| self.sessions.insert(*session));
            self.loaded.profiles.extend(new.map(|(_, profile)| profile));
            let (part, build, label) = (series.part.clone(), build.clone(), label(&series.labels));
            let sent = match self.to.try_send(add_up::Series::Read(Box::new(Unit { sums, part, build, label }))) {
                Err(TrySendError::Full(series)) => {
                    let (merged, label) = series.merged();
                    self.to.send(add_up::Series::Merged(merged, label)).is_ok()
                }
                sent => sent.is_ok(),
            };
            if !sent {
                break; // why it cannot be added up is told by who does
            }
        }
        Ok(())
    }
}

/// What is known of a build's numbers.
fn build(store: &Sqlite, number: i64) -> Result<Build, Error> {
    let failed = |source| store.failed(source);
    let mut dictionary = Dictionary::default();
    read_more(&store.connection, number, &mut dictionary)
        .map_err(failed)?
        .ok_or_else(|| store.damaged("a table of paths"))?;
    let numbers: FxHashSet<i64> = dictionary.places().iter().filter_map(|(module, _)| *module).collect();
    let mut modules = FxHashMap::default();
    let mut key = store.connection.prepare_cached("SELECT key FROM module WHERE id = ?1").map_err(failed)?;
    for number in numbers {
        let Some(bytes) = key.query_row([number], |row| row.get::<_, Vec<u8>>(0)).optional().map_err(failed)? else {
            continue; // who needs it says that it is missing
        };
        let key: ModuleKey = postcard::from_bytes(&bytes).map_err(|_| store.damaged("a module"))?;
        modules.insert(number, key);
    }
    Ok(Build { dictionary, modules })
}
