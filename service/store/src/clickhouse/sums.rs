//! Adds frames up: their paths in ClickHouse, what is told beside them here.

use rustc_hash::{FxHashMap, FxHashSet};

use super::dictionary::Build;
use super::paths::{Answer, SUMS};
use super::rows::Large;
use super::schema::NUMBERS;
use super::series::Row;
use super::store::ClickHouse;
use super::told::{self, Told};
use crate::beyond::{whole, with_parents};
use crate::kept::{Head, OfFunction, Totals};
use crate::sums::{Among, OfSeries};
use crate::{Error, codec};

/// Why there are no sums.
pub enum Failure {
    /// Somebody has replaced frames or thrown them away since they were listed: they are to be listed again.
    Moved,
    Error(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// What is told of frames, and the sums of their paths.
pub struct Found {
    pub told: FxHashMap<u64, Told>,
    pub sums: Vec<Answer>,
    pub open: Vec<Answer>,
}

/// Frames that are added up by themselves.
pub struct Unit<'a> {
    pub sums: OfSeries,
    pub build: &'a Build,
    /// In the order of [`super::series::rows`].
    rows: Vec<Row>,
    /// What its paths have beyond what follows from others.
    beyond: Vec<(u32, codec::Numbers)>,
    /// What the first and last frames of recordings are among theirs.
    edges: FxHashMap<u64, Among>,
    large: Vec<Large>,
}

impl<'a> Unit<'a> {
    /// Of frames of one build.
    pub fn new(sums: OfSeries, build: &'a Build, rows: Vec<Row>) -> Self {
        Self { sums, build, rows, beyond: Vec::new(), edges: FxHashMap::default(), large: Vec::new() }
    }

    /// The sums of what was added.
    pub fn finish(self, store: &ClickHouse) -> Result<OfSeries, Error> {
        let Self { mut sums, build, mut beyond, large, .. } = self;
        let damaged = || store.damaged("a frame");
        let parent = |path: u32| build.dictionary.parent(path);
        with_parents(&mut beyond, parent);
        // Each answer may have the same path.
        beyond.dedup_by(|(path, numbers), (before, sums)| {
            let is_same = path == before;
            if is_same {
                sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum = sum.wrapping_add(*number));
            }
            is_same
        });
        for (path, column, number) in large {
            let path = build.paths.get(&path).ok_or_else(damaged)?;
            let at = beyond.binary_search_by_key(path, |(path, _)| *path).map_err(|_| damaged())?;
            let sum = &mut beyond[at].1[usize::from(column)];
            *sum = sum.wrapping_add(number);
        }
        whole(&mut beyond, parent);
        beyond.iter().for_each(|(path, numbers)| sums.add_path(*path, numbers));
        Ok(sums)
    }
}

/// Adds what is told of the frames of units, each unit by itself, for [`Unit::finish`] to add it up; a frame is in one of them. `sessions` numbers recordings.
pub fn add(
    store: &ClickHouse,
    units: &mut [Unit],
    found: Found,
    sessions: &mut FxHashMap<String, i64>,
) -> Result<(), Failure> {
    for unit in &mut *units {
        add_told(store, unit, &found.told, sessions)?;
    }
    add_sums(store, units, &found.sums)?;
    Ok(add_open(store, units, &found.open)?)
}

fn add_told(
    store: &ClickHouse,
    unit: &mut Unit,
    told: &FxHashMap<u64, Told>,
    sessions: &mut FxHashMap<String, i64>,
) -> Result<(), Failure> {
    let Unit { sums, build, rows, edges, large, .. } = unit;
    let damaged = || store.damaged("a frame");
    let (mut heads, mut counting) = (FxHashMap::default(), FxHashSet::default());
    for recording in rows.chunk_by(|a, b| a.session == b.session) {
        let head = told.get(&recording[0].newest).ok_or(Failure::Moved)?;
        let head: Head = postcard::from_bytes(&head.head).map_err(|_| damaged())?;
        counting.extend(head.group.as_ref().map(|_| recording[0].series));
        heads.insert(&recording[0].session, head);
    }
    let mut began = None;
    for (at, row) in rows.iter().enumerate() {
        // A series that has counted nothing is not told of; what is kept is.
        if !sums.is_to_keep && !counting.contains(&row.series) {
            continue;
        }
        let is_same = |other: Option<&Row>| other.is_some_and(|other| other.session == row.session);
        let is_first = !is_same(at.checked_sub(1).and_then(|before| rows.get(before)));
        let is_last = !is_same(rows.get(at + 1));
        if is_first {
            let head = heads.remove(&row.session).ok_or_else(damaged)?;
            let next = sessions.len() as i64;
            sums.add_session(*sessions.entry(row.session.clone()).or_insert(next), head);
            began = sums.began(row.sequence, row.started);
        }
        let among = Among::of(is_first, is_last, began, row.ended);
        let told = told.get(&row.id).ok_or(Failure::Moved)?;
        let totals: Totals = postcard::from_bytes(&told.totals).map_err(|_| damaged())?;
        sums.add_totals(&totals);
        let (functions, others) = told.functions().ok_or_else(damaged)?;
        for (place, function) in functions {
            let place = *build.places.get(&place).ok_or_else(damaged)?;
            sums.add_function(OfFunction { place, ..function }, among);
        }
        for (path, column, number) in others {
            match usize::from(column) {
                ..SUMS => large.push((path, column, number)),
                at if at < NUMBERS.len() => {
                    let mut numbers: codec::Numbers = [0; codec::NUMBERS];
                    numbers[at] = number;
                    sums.add_path(*build.paths.get(&path).ok_or_else(damaged)?, &among.counted(&numbers));
                }
                _ => return Err(damaged().into()),
            }
        }
        if is_first || is_last {
            edges.insert(row.id, among);
        }
        if is_last {
            sums.end_session();
        }
    }
    Ok(())
}

/// The sums of paths over all frames.
fn add_sums(store: &ClickHouse, units: &mut [Unit], answers: &[Answer]) -> Result<(), Failure> {
    let damaged = || store.damaged("a frame");
    let mut met = 0u64;
    for answer in answers {
        answer.read(store, |[unit, path, count], numbers| {
            let unit = units.get_mut(unit as usize).ok_or_else(damaged)?;
            unit.beyond.push((*unit.build.paths.get(&path).ok_or_else(damaged)?, numbers));
            met += count;
            Ok(())
        })?;
    }
    // None is missing that the frames have.
    if met != units.iter().flat_map(|unit| &unit.rows).map(|row| row.paths).sum::<u64>() {
        return Err(Failure::Moved);
    }
    Ok(())
}

/// What the first and last frames of recordings know of open calls.
fn add_open(store: &ClickHouse, units: &mut [Unit], answers: &[Answer]) -> Result<(), Error> {
    let damaged = || store.damaged("a frame");
    answers.iter().try_for_each(|answer| {
        answer.read(store, |[frame, path], numbers| {
            let among = units.iter_mut().find_map(|unit| unit.edges.get(&frame).copied().map(|among| (unit, among)));
            let (unit, among) = among.ok_or_else(damaged)?;
            unit.sums.add_path(*unit.build.paths.get(&path).ok_or_else(damaged)?, &among.counted(&numbers));
            Ok(())
        })
    })
}

/// What is told of a frame's recording, as bytes; `None` if somebody has thrown it away.
pub fn head(store: &ClickHouse, row: &Row) -> Result<Option<Vec<u8>>, Error> {
    let mut told = told::read(store, std::iter::once(row))?;
    Ok(told.remove(&row.newest).map(|told| told.head))
}
