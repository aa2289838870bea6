//! Adds frames up: their paths in ClickHouse, what is told beside them here.

use rustc_hash::{FxHashMap, FxHashSet};

use super::dictionary::Build;
use super::failure::Failure;
use super::paths::{Answer, Numbered, SUMS};
use super::rows::Large;
use super::schema::NUMBERS;
use super::series::Row;
use super::store::ClickHouse;
use super::told::{self, Told};
use crate::among::Among;
use crate::beyond::{whole, with_parents};
use crate::kept::{Head, OfFunction, Totals};
use crate::sums::OfSeries;
use crate::{Error, codec};

/// Frames that are added up by themselves.
pub struct Unit<'a> {
    pub sums: OfSeries,
    pub build: &'a Build,
    /// In the order of [`super::series::rows`].
    rows: &'a [Row],
    /// What its paths have beyond what follows from others, as it was answered.
    answered: Vec<Numbered<'a>>,
    /// What the first and last frames of recordings are among theirs.
    edges: FxHashMap<u64, Among>,
    large: Vec<Large>,
}

impl<'a> Unit<'a> {
    /// Of frames of one build.
    pub fn new(sums: OfSeries, build: &'a Build, rows: &'a [Row]) -> Self {
        Self { sums, build, rows, answered: Vec::new(), edges: FxHashMap::default(), large: Vec::new() }
    }

    /// The sums of what was added.
    pub fn finish(self, store: &ClickHouse) -> Result<OfSeries, Error> {
        let Self { mut sums, build, answered, large, .. } = self;
        let damaged = || store.damaged("a frame");
        let parent = |path: u32| build.dictionary.parent(path);
        let mut sorted = Vec::with_capacity(answered.len());
        for row in answered {
            let [_, path, _] = row.keys::<SUM_KEYS>().ok_or_else(damaged)?;
            sorted.push((*build.paths.get(&path).ok_or_else(damaged)?, row));
        }
        // Numbers are large, and so are put in order before they are read.
        sorted.sort_unstable_by_key(|(path, _)| *path);
        let mut beyond: Vec<(u32, codec::Numbers)> = Vec::with_capacity(sorted.len());
        for (path, row) in sorted {
            beyond.push((path, [0; codec::NUMBERS]));
            let numbers = beyond.last_mut().map(|(_, numbers)| numbers);
            numbers.and_then(|numbers| row.read_to::<SUM_KEYS>(numbers)).ok_or_else(damaged)?;
        }
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

    /// Adds what is told of its frames beside their paths. `sessions` numbers recordings.
    pub fn add_told(
        &mut self,
        store: &ClickHouse,
        told: &FxHashMap<u64, Told>,
        sessions: &mut FxHashMap<String, i64>,
    ) -> Result<(), Failure> {
        let Self { sums, build, rows, edges, large, .. } = self;
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
}

/// What tells the sums of paths from each other: unit, path, and of how many rows they are.
const SUM_KEYS: usize = 3;

/// Adds the sums of paths, for [`Unit::finish`] to add them up, and what is known of open calls.
pub fn add<'a>(store: &ClickHouse, units: &mut [Unit<'a>], sums: &'a [Answer], open: &[Answer]) -> Result<(), Failure> {
    let damaged = || store.damaged("a frame");
    let mut met = 0u64;
    for answer in sums {
        for row in answer.rows(store, SUM_KEYS)? {
            let [unit, _, count] = row.keys::<SUM_KEYS>().ok_or_else(damaged)?;
            units.get_mut(unit as usize).ok_or_else(damaged)?.answered.push(row);
            met += count;
        }
    }
    // None is missing that the frames have.
    if met != units.iter().flat_map(|unit| unit.rows).map(|row| row.paths).sum::<u64>() {
        return Err(Failure::Moved);
    }
    for answer in open {
        for row in answer.rows(store, 2)? {
            let ([frame, path], numbers) = row.read().ok_or_else(damaged)?;
            let among = units.iter_mut().find_map(|unit| unit.edges.get(&frame).copied().map(|among| (unit, among)));
            let (unit, among) = among.ok_or_else(damaged)?;
            unit.sums.add_path(*unit.build.paths.get(&path).ok_or_else(damaged)?, &among.counted(&numbers));
        }
    }
    Ok(())
}

/// What is told of a frame's recording, as bytes; `None` if somebody has thrown it away.
pub fn head(store: &ClickHouse, row: &Row) -> Result<Option<Vec<u8>>, Error> {
    let mut told = told::read(store, std::iter::once(row))?;
    Ok(told.remove(&row.newest).map(|told| told.head))
}
