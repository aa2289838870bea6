//! What is asked for, added up as a profile.

use std::collections::hash_map::Entry;
use std::thread;

use diytrace_profile::load::Loaded;
use diytrace_profile::merge::{By, Merged, Merging, PartKey};
use rustc_hash::{FxHashMap, FxHashSet};

use super::dictionary::{self, Build};
use super::failure::Failure;
use super::parts::{Chosen, Part, apart, together};
use super::series::{self, Row, Series};
use super::store::ClickHouse;
use super::sums::{self, Unit};
use super::{paths, told};
use crate::engine::Selected;
use crate::sums::OfSeries;
use crate::{Error, GroupBy, Labels, Query, Range, parallel};

/// How often frames are listed again that others replace or throw away while they are read.
const MOST_TRIES: usize = 5;

/// Paths of frames that are asked for together, where parts of a selection are.
const MOST_PATHS: u64 = 1 << 20;

/// Of how many builds names are asked for before it is known that they are needed.
const FEW_BUILDS: usize = 2;

/// The sums of what is asked for.
pub fn select(store: &ClickHouse, query: &Query, by: &GroupBy) -> Result<Selected, Error> {
    settled(store, || {
        let mut selecting = Selecting::new(store, 1, by.label());
        match by {
            GroupBy::All => selecting.add(query, 0, |_| None)?,
            GroupBy::Label(name) => {
                selecting.add(query, 0, |labels| Some(format!("{name}={}", labels.get(name).unwrap_or_default())))?
            }
            GroupBy::Parts(parts) => {
                let parts = parts.iter().map(|(name, query)| Part { sum: 0, label: Some(name), query });
                selecting.add_parts(&parts.collect::<Vec<_>>())?
            }
        }
        let Selecting { sums, is_labelled, .. } = selecting;
        let selected = sums.into_iter().next().and_then(Sum::selected);
        if selected.is_none() || by.label().is_some() && !is_labelled {
            series::check(store, query, by.label())?;
        }
        selected.ok_or_else(|| Error::Nothing { why: query.why_nothing() }.into())
    })
}

/// The sums of each of these by itself, if there is anything.
pub fn each(store: &ClickHouse, queries: &[Query]) -> Result<Vec<Option<Selected>>, Error> {
    settled(store, || {
        let mut selecting = Selecting::new(store, queries.len(), None);
        let parts = queries.iter().enumerate().map(|(sum, query)| Part { sum, label: None, query });
        selecting.add_parts(&parts.collect::<Vec<_>>())?;
        Ok(selecting.sums.into_iter().map(Sum::selected).collect())
    })
}

/// What is answered when nobody replaces frames or throws them away meanwhile.
fn settled<T>(store: &ClickHouse, answer: impl Fn() -> Result<T, Failure>) -> Result<T, Error> {
    for _ in 0..MOST_TRIES {
        match answer() {
            Ok(answered) => return Ok(answered),
            Err(Failure::Error(error)) => return Err(error),
            Err(Failure::Moved) => {}
        }
    }
    Err(store.damaged("a frame"))
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

/// What was asked for, as it is added up.
struct Sum {
    merging: Merging,
    loaded: Loaded,
    /// Recordings that are told of.
    told: FxHashSet<i64>,
}

impl Sum {
    fn new() -> Self {
        Self { merging: Merging::new(By::All, None), loaded: Loaded::default(), told: FxHashSet::default() }
    }

    /// All of it, if there is anything.
    fn selected(self) -> Option<Selected> {
        let Self { merging, mut loaded, .. } = self;
        loaded.profiles.sort_by(|a, b| a.path.cmp(&b.path));
        (!loaded.profiles.is_empty()).then(|| Selected { loaded, merged: merging.finish() })
    }
}

/// Selections, as they are read.
struct Selecting<'a> {
    store: &'a ClickHouse,
    sums: Vec<Sum>,
    /// Numbers of recordings.
    sessions: FxHashMap<String, i64>,
    builds: FxHashMap<u64, Build>,
    /// A label, and whether any series that has frames has it.
    by: Option<&'a str>,
    is_labelled: bool,
}

impl<'a> Selecting<'a> {
    /// So many, of which there is nothing yet.
    fn new(store: &'a ClickHouse, sums: usize, by: Option<&'a str>) -> Self {
        let (sessions, builds) = (FxHashMap::default(), FxHashMap::default());
        Self { store, sums: (0..sums).map(|_| Sum::new()).collect(), sessions, builds, by, is_labelled: false }
    }

    /// Adds what is asked for, of each series to the group of this label.
    fn add(&mut self, query: &Query, sum: usize, label: impl Fn(&Labels) -> Option<String>) -> Result<(), Failure> {
        let series = series::chosen(self.store, &[&query.labels])?;
        let session = query.session.as_deref();
        let found = self.rows(&series, query.range, session.as_ref().map(std::slice::from_ref))?.into_iter();
        self.add_rows(found.map(|(series, rows)| Chosen { sum, label: label(&series.labels), series, rows }).collect())
    }

    /// Adds parts, each to its group: as many at once as are quick to answer, for each question takes a while.
    fn add_parts(&mut self, parts: &[Part]) -> Result<(), Failure> {
        let Some(together) = together(parts) else { return Ok(()) };
        let series = series::chosen(self.store, &together.labels)?;
        let found = self.rows(&series, together.range, together.sessions.as_deref())?;
        let Some(mut apart) = apart(parts, &together, found) else {
            let add = |Part { sum, label, query }: &Part| self.add(query, *sum, |_| label.map(str::to_owned));
            return parts.iter().try_for_each(add);
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
    fn rows<'b>(
        &mut self,
        chosen: &'b [Series],
        range: Range,
        sessions: Option<&[&str]>,
    ) -> Result<Vec<(&'b Series, Vec<Row>)>, Failure> {
        let Self { store, builds, .. } = self;
        let mut rows: FxHashMap<u64, Vec<Row>> = FxHashMap::default();
        // Names take as long to be asked for as frames: both at once, where names are not many more than will be needed.
        let likely: FxHashSet<u64> = chosen.iter().map(|series| series.build).collect();
        let found = thread::scope(|scope| {
            let reading = (likely.len() <= FEW_BUILDS).then(|| scope.spawn(|| read_builds(store, builds, likely)));
            let found = series::rows(store, chosen, range, sessions);
            reading
                .map_or(Ok(()), |reading| reading.join().unwrap_or_else(|_| Err(store.damaged("a table of paths"))))?;
            found
        })?;
        for row in found {
            rows.entry(row.series).or_default().push(row);
        }
        Ok(chosen.iter().filter_map(|series| Some((series, rows.remove(&series.id)?))).collect())
    }

    /// Adds frames up: what is of one group, and whose hooks cost the same, at once.
    fn add_rows(&mut self, chosen: Vec<Chosen>) -> Result<(), Failure> {
        let Self { store, sums: of, sessions, builds, by, is_labelled } = self;
        type Key<'a> = (usize, Option<String>, &'a PartKey, u64);
        let mut keys: Vec<Key> = Vec::new();
        let mut numbers: FxHashMap<Key, usize> = FxHashMap::default();
        let mut rows_of: Vec<Vec<Row>> = Vec::new();
        for Chosen { sum, label, series, rows } in chosen {
            *is_labelled |= by.is_some_and(|name| series.labels.get(name).is_some());
            let key = (sum, label, &series.part, series.build);
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
            read_builds(store, builds, keys.iter().map(|(.., build)| *build).collect())?;
            let builds = &*builds;
            let found = told::read(store, rows_of.iter().flatten())?;
            let each = keys.iter().zip(&rows_of);
            let mut units: Vec<Unit> =
                each.map(|((.., build), rows)| Unit::new(OfSeries::default(), &builds[build], rows)).collect();
            units.iter_mut().try_for_each(|unit| unit.add_told(store, &found, sessions))?;
            Ok(units)
        })?;
        sums::add(store, &mut units, &sums, &open)?;
        // ClickHouse has nothing to do now.
        let finished = parallel::each(keys.iter().zip(units).collect(), |((_, _, part, _), unit)| {
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
        for ((sum, label, ..), finished) in keys.iter().zip(finished.ok_or_else(|| store.damaged("a frame"))?) {
            let Some((profiles, merged)) = finished? else { continue };
            let Sum { merging, loaded, told } = &mut of[*sum];
            let new = profiles.into_iter().filter(|(session, _)| told.insert(*session));
            loaded.profiles.extend(new.map(|(_, profile)| profile));
            merging.add_merged(&merged, label.as_deref());
        }
        Ok(())
    }
}
