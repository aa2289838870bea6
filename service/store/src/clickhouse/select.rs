//! What is asked for, added up as a profile.

use std::collections::hash_map::Entry;
use std::thread;

use diytrace_profile::load::Loaded;
use diytrace_profile::merge::{By, Merged, Merging, PartKey};
use rustc_hash::{FxHashMap, FxHashSet};

use super::dictionary::{self, Build};
use super::failure::Failure;
use super::parts::{Chosen, apart, together};
use super::series::{self, Row, Series};
use super::store::ClickHouse;
use super::sums::{self, Unit};
use super::{parallel, paths, told};
use crate::engine::Selected;
use crate::sums::OfSeries;
use crate::{Error, GroupBy, Labels, Query};

/// How often frames are listed again that others replace or throw away while they are read.
const MOST_TRIES: usize = 5;

/// Paths of frames that are asked for together, where parts of a selection are.
const MOST_PATHS: u64 = 1 << 20;

/// Of how many builds names are asked for before it is known that they are needed.
const FEW_BUILDS: usize = 2;

/// The sums of what is asked for.
pub fn select(store: &ClickHouse, query: &Query, by: &GroupBy) -> Result<Selected, Error> {
    for _ in 0..MOST_TRIES {
        match once(store, query, by) {
            Ok(selected) => return Ok(selected),
            Err(Failure::Error(error)) => return Err(error),
            Err(Failure::Moved) => {}
        }
    }
    Err(store.damaged("a frame"))
}

fn once(store: &ClickHouse, query: &Query, by: &GroupBy) -> Result<Selected, Failure> {
    let all = series::all(store)?;
    let mut selecting = Selecting {
        store,
        merging: Merging::new(By::All, None),
        loaded: Loaded::default(),
        told: FxHashSet::default(),
        sessions: FxHashMap::default(),
        builds: FxHashMap::default(),
        by: by.label(),
        is_labelled: false,
    };
    match by {
        GroupBy::All => selecting.add(&all, query, |_| None)?,
        GroupBy::Label(name) => {
            selecting.add(&all, query, |labels| Some(format!("{name}={}", labels.get(name).unwrap_or_default())))?
        }
        GroupBy::Parts(parts) => selecting.add_parts(&all, parts)?,
    }
    let Selecting { merging, mut loaded, is_labelled, .. } = selecting;
    if loaded.profiles.is_empty() || by.label().is_some() && !is_labelled {
        series::check(store, &all, query, by.label())?;
    }
    if loaded.profiles.is_empty() {
        return Err(Error::Nothing { why: query.why_nothing() }.into());
    }
    loaded.profiles.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Selected { loaded, merged: merging.finish() })
}

/// Reads the names of builds that are not there yet.
fn read_builds(store: &ClickHouse, builds: &mut FxHashMap<u64, Build>, wanted: FxHashSet<u64>) -> Result<(), Error> {
    for build in wanted {
        if let Entry::Vacant(place) = builds.entry(build) {
            place.insert(dictionary::read(store, build)?);
        }
    }
    Ok(())
}

/// A selection, as it is read.
struct Selecting<'a> {
    store: &'a ClickHouse,
    merging: Merging,
    loaded: Loaded,
    /// Recordings that are told of.
    told: FxHashSet<i64>,
    /// Their numbers.
    sessions: FxHashMap<String, i64>,
    builds: FxHashMap<u64, Build>,
    /// A label, and whether any series that has frames has it.
    by: Option<&'a str>,
    is_labelled: bool,
}

impl Selecting<'_> {
    /// Adds what is asked for, of each series to the group of this label.
    fn add(&mut self, all: &[Series], query: &Query, label: impl Fn(&Labels) -> Option<String>) -> Result<(), Failure> {
        let found = self.rows(all, query)?;
        let found = found.into_iter();
        self.add_rows(found.map(|(series, rows)| Chosen { label: label(&series.labels), series, rows }).collect())
    }

    /// Adds parts of a selection, each to a group of its own: as many at once as are quick to answer, for each question takes a while.
    fn add_parts(&mut self, all: &[Series], parts: &[(String, Query)]) -> Result<(), Failure> {
        let together = together(parts);
        let found = together.as_ref().map_or(Ok(Vec::new()), |query| self.rows(all, query))?;
        let Some(mut apart) = together.and_then(|_| apart(parts, found)) else {
            return parts.iter().try_for_each(|(name, query)| self.add(all, query, |_| Some(name.clone())));
        };
        while !apart.is_empty() {
            let mut paths = 0;
            let fits = apart.iter().take_while(|chosen| {
                let is_first = paths == 0;
                paths += chosen.rows.iter().map(|row| row.paths).sum::<u64>();
                is_first || paths <= MOST_PATHS
            });
            let others = apart.split_off(fits.count());
            self.add_rows(apart)?;
            apart = others;
        }
        Ok(())
    }

    /// The frames of what is asked for, by series.
    fn rows<'a>(&mut self, all: &'a [Series], query: &Query) -> Result<Vec<(&'a Series, Vec<Row>)>, Failure> {
        let Self { store, builds, .. } = self;
        let chosen: Vec<&Series> = all.iter().filter(|series| query.selects(&series.labels)).collect();
        let mut rows: FxHashMap<u64, Vec<Row>> = FxHashMap::default();
        // Names take as long to be asked for as frames: both at once, where names are not many more than will be needed.
        let likely: FxHashSet<u64> = chosen.iter().map(|series| series.build).collect();
        let found = thread::scope(|scope| {
            let reading = (likely.len() <= FEW_BUILDS).then(|| scope.spawn(|| read_builds(store, builds, likely)));
            let found = series::rows(store, &chosen, query.range, query.session.as_deref());
            reading
                .map_or(Ok(()), |reading| reading.join().unwrap_or_else(|_| Err(store.damaged("a table of paths"))))?;
            found
        })?;
        for row in found {
            rows.entry(row.series).or_default().push(row);
        }
        Ok(chosen.into_iter().filter_map(|series| Some((series, rows.remove(&series.id)?))).collect())
    }

    /// Adds frames up: what is of one group, and whose hooks cost the same, at once.
    fn add_rows(&mut self, chosen: Vec<Chosen>) -> Result<(), Failure> {
        let Self { store, merging, loaded, told, sessions, builds, by, is_labelled } = self;
        type Key<'a> = (Option<String>, &'a PartKey, u64);
        let mut keys: Vec<Key> = Vec::new();
        let mut numbers: FxHashMap<Key, usize> = FxHashMap::default();
        let mut rows_of: Vec<Vec<Row>> = Vec::new();
        for Chosen { label, series, rows } in chosen {
            *is_labelled |= by.is_some_and(|name| series.labels.get(name).is_some());
            let key = (label, &series.part, series.build);
            let at = *numbers.entry(key.clone()).or_insert_with(|| {
                keys.push(key);
                rows_of.push(Vec::new());
                keys.len() - 1
            });
            rows_of[at].extend(rows);
        }
        if keys.is_empty() {
            return Ok(());
        }
        let ([sums, open], mut units) = paths::ask(store, &rows_of, || {
            read_builds(store, builds, keys.iter().map(|(_, _, build)| *build).collect())?;
            let builds = &*builds;
            let found = told::read(store, rows_of.iter().flatten())?;
            let each = keys.iter().zip(&rows_of);
            let mut units: Vec<Unit> =
                each.map(|((_, _, build), rows)| Unit::new(OfSeries::default(), &builds[build], rows)).collect();
            units.iter_mut().try_for_each(|unit| unit.add_told(store, &found, sessions))?;
            Ok(units)
        })?;
        sums::add(store, &mut units, &sums, &open)?;
        // ClickHouse has nothing to do now.
        let finished = parallel::each(keys.iter().zip(units).collect(), |((_, part, _), unit)| {
            let build = unit.build;
            let mut sums = unit.finish(store)?;
            if sums.groups.is_empty() {
                return Ok::<_, Error>(None);
            }
            let profiles = std::mem::take(&mut sums.profiles);
            let damaged = || store.damaged("a frame");
            let key = |number: i64| build.modules.get(number as usize).cloned();
            let merged = sums.merged(part, build.dictionary.entries(), key).filter(Merged::is_sound);
            Ok(Some((profiles, merged.ok_or_else(damaged)?)))
        });
        for ((label, ..), finished) in keys.iter().zip(finished.ok_or_else(|| store.damaged("a frame"))?) {
            let Some((profiles, merged)) = finished? else { continue };
            let new = profiles.into_iter().filter(|(session, _)| told.insert(*session));
            loaded.profiles.extend(new.map(|(_, profile)| profile));
            merging.add_merged(&merged, label.as_deref());
        }
        Ok(())
    }
}
