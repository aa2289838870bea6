//! Adds frames up: their paths in ClickHouse, what is told beside them here.

use rustc_hash::FxHashMap;

use super::binary::Reader;
use super::dictionary::Build;
use super::rows::Large;
use super::schema::NUMBERS;
use super::series::Row;
use super::store::ClickHouse;
use super::told::{self, Told, filed};
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

/// Frames that are added up by themselves.
pub struct Unit<'a> {
    pub sums: OfSeries,
    pub build: &'a Build,
    /// In the order of [`super::series::rows`].
    pub rows: Vec<Row>,
    /// What its paths have beyond what follows from others.
    beyond: Vec<(u32, codec::Numbers)>,
    /// What the first and last frames of recordings are among theirs.
    edges: FxHashMap<u64, Among>,
    large: Vec<Large>,
}

/// How many numbers of a path are sums; the others are of open calls.
const SUMS: usize = diytrace_profile::merge::Row::SUMS;

/// A bit for each of these.
const OF_SUMS: u32 = (1 << SUMS) - 1;

impl<'a> Unit<'a> {
    /// Of frames of one build.
    pub fn new(sums: OfSeries, build: &'a Build, rows: Vec<Row>) -> Self {
        Self { sums, build, rows, beyond: Vec::new(), edges: FxHashMap::default(), large: Vec::new() }
    }
}

/// Adds the frames of units up, each unit by itself; a frame is in one of them. `sessions` numbers recordings.
pub fn add(store: &ClickHouse, units: &mut [Unit], sessions: &mut FxHashMap<String, i64>) -> Result<(), Failure> {
    if units.iter().all(|unit| unit.rows.is_empty()) {
        return Ok(());
    }
    let told = told::read(store, units.iter().flat_map(|unit| &unit.rows))?;
    for unit in &mut *units {
        add_told(store, unit, &told, sessions)?;
    }
    drop(told);
    add_sums(store, units)?;
    add_open(store, units)
}

fn add_told(
    store: &ClickHouse,
    unit: &mut Unit,
    told: &FxHashMap<u64, Told>,
    sessions: &mut FxHashMap<String, i64>,
) -> Result<(), Failure> {
    let Unit { sums, build, rows, edges, large, .. } = unit;
    let damaged = || store.damaged("a frame");
    let mut began = None;
    for (at, row) in rows.iter().enumerate() {
        let is_same = |other: Option<&Row>| other.is_some_and(|other| other.session == row.session);
        let is_first = !is_same(at.checked_sub(1).and_then(|before| rows.get(before)));
        let is_last = !is_same(rows.get(at + 1));
        if is_first {
            let head = told.get(&row.newest).ok_or(Failure::Moved)?;
            let head: Head = postcard::from_bytes(&head.head).map_err(|_| damaged())?;
            let next = sessions.len() as i64;
            sums.add_session(*sessions.entry(row.session.clone()).or_insert(next), head);
            began = sums.began(row.sequence, row.started);
        }
        let among = Among::of(is_first, is_last, began, row.ended);
        let told = told.get(&row.id).ok_or(Failure::Moved)?;
        let totals: Totals = postcard::from_bytes(&told.totals).map_err(|_| damaged())?;
        sums.add_totals(&totals);
        let (places, functions, others): (Vec<u64>, Vec<OfFunction>, Vec<Large>) =
            postcard::from_bytes(&told.functions).map_err(|_| damaged())?;
        if places.len() != functions.len() || others.iter().any(|(_, column, _)| usize::from(*column) >= NUMBERS.len())
        {
            return Err(damaged().into());
        }
        for (place, function) in places.iter().zip(functions) {
            let place = *build.places.get(place).ok_or_else(damaged)?;
            sums.add_function(OfFunction { place, ..function }, among);
        }
        for (path, column, number) in others {
            match usize::from(column) < SUMS {
                true => large.push((path, column, number)),
                false => {
                    let mut numbers: codec::Numbers = [0; codec::NUMBERS];
                    numbers[usize::from(column)] = number;
                    sums.add_path(*build.paths.get(&path).ok_or_else(damaged)?, &among.counted(&numbers));
                }
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

/// The columns of the table of paths that bits stand for, with their places.
fn columns(bits: u32) -> Vec<(usize, &'static str)> {
    NUMBERS.into_iter().enumerate().filter(|(at, _)| bits >> at & 1 != 0).collect()
}

/// An expression for the number of the unit that a row of the table of paths is in.
fn unit_of(units: &[Unit]) -> String {
    if units.len() == 1 {
        return "0::UInt64".to_owned();
    }
    let rows = || units.iter().enumerate().flat_map(|(at, unit)| unit.rows.iter().map(move |row| (at, row)));
    let mut of_series: FxHashMap<u64, usize> = FxHashMap::default();
    // Series are few. But a recording may have gone from one to another, while what it has is filed where it was.
    let are_told = rows().all(|(at, row)| *of_series.entry(row.own_series).or_insert(at) == at);
    let (column, pairs): (_, Vec<(u64, usize)>) = match are_told {
        true => ("series", of_series.into_iter().collect()),
        false => ("frame", rows().map(|(at, row)| (row.id, at)).collect()),
    };
    let of = |numbers: Vec<String>| numbers.join(",");
    let ids = of(pairs.iter().map(|(id, _)| id.to_string()).collect());
    let numbers = of(pairs.iter().map(|(_, at)| at.to_string()).collect());
    format!("transform({column}, [{ids}]::Array(UInt64), [{numbers}]::Array(UInt64), 0::UInt64)")
}

/// The sums of paths over all frames.
fn add_sums(store: &ClickHouse, units: &mut [Unit]) -> Result<(), Failure> {
    let rows = || units.iter().flat_map(|unit| &unit.rows);
    let used = columns(rows().fold(0, |all, row| all | row.columns) & OF_SUMS);
    // Of each path a frame has one row: so no sum is larger than that of the largest numbers of all.
    let most: u128 = rows().map(|row| u128::from(row.largest)).sum();
    let is_small = most <= i64::MAX as u128;
    let number = if is_small { "" } else { "::Int128" };
    let totals: String = used.iter().map(|(_, name)| format!(", sum({name}{number})")).collect();
    let condition = filed(rows(), rows().map(|row| row.id));
    let query = format!(
        "SELECT {} AS unit, path, count(){totals} FROM path_sum PREWHERE {condition} GROUP BY unit, path",
        unit_of(units)
    );
    let expected: u64 = rows().map(|row| row.paths).sum();
    let bytes = store.client.rows(&query, &[])?;
    let mut paths = Reader::of(&bytes);
    let mut met = 0u64;
    let damaged = || store.damaged("a frame");
    while !paths.is_at_end() {
        let (Some(unit), Some(path), Some(count)) = (paths.u64(), paths.u64(), paths.u64()) else {
            return Err(damaged().into());
        };
        let unit = units.get_mut(unit as usize).ok_or_else(damaged)?;
        let mut numbers: codec::Numbers = [0; codec::NUMBERS];
        for (at, _) in &used {
            let number = if is_small { paths.i64().map(i128::from) } else { paths.i128() };
            numbers[*at] = number.ok_or_else(damaged)?;
        }
        unit.beyond.push((*unit.build.paths.get(&path).ok_or_else(damaged)?, numbers));
        met += count;
    }
    // None is missing that the frames have.
    if met != expected {
        return Err(Failure::Moved);
    }
    for unit in units {
        let Unit { sums, build, beyond, large, .. } = unit;
        let parent = |path: u32| build.dictionary.parent(path);
        with_parents(beyond, parent);
        for (path, column, number) in large.drain(..) {
            let path = build.paths.get(&path).ok_or_else(damaged)?;
            let at = beyond.binary_search_by_key(path, |(path, _)| *path).map_err(|_| damaged())?;
            beyond[at].1[usize::from(column)] += number;
        }
        whole(beyond, parent);
        beyond.drain(..).for_each(|(path, numbers)| sums.add_path(path, &numbers));
    }
    Ok(())
}

/// What the first and last frames of recordings know of open calls.
fn add_open(store: &ClickHouse, units: &mut [Unit]) -> Result<(), Failure> {
    let all = units.iter().flat_map(|unit| unit.rows.iter().map(move |row| (unit, row)));
    let open = all.filter(|(unit, row)| row.columns & !OF_SUMS != 0 && unit.edges.contains_key(&row.id));
    let open: Vec<&Row> = open.map(|(_, row)| row).collect();
    if open.is_empty() {
        return Ok(());
    }
    let used = columns(open.iter().fold(0, |all, row| all | row.columns) & !OF_SUMS);
    let names: String = used.iter().map(|(_, name)| format!(", {name}")).collect();
    let are_some = used.iter().map(|(_, name)| format!("{name} != 0")).collect::<Vec<_>>().join(" OR ");
    let condition = filed(open.iter().copied(), open.iter().map(|row| row.id));
    let query = format!("SELECT frame, path{names} FROM path_sum PREWHERE {condition} WHERE {are_some}");
    let bytes = store.client.rows(&query, &[])?;
    let mut paths = Reader::of(&bytes);
    let damaged = || store.damaged("a frame");
    let mut found: Vec<(u64, u64, codec::Numbers)> = Vec::new();
    while !paths.is_at_end() {
        let (frame, path) = paths.u64().zip(paths.u64()).ok_or_else(damaged)?;
        let mut numbers: codec::Numbers = [0; codec::NUMBERS];
        for (at, _) in &used {
            numbers[*at] = i128::from(paths.i64().ok_or_else(damaged)?);
        }
        found.push((frame, path, numbers));
    }
    for (frame, path, numbers) in found {
        let among = units.iter_mut().find_map(|unit| unit.edges.get(&frame).copied().map(|among| (unit, among)));
        let (unit, among) = among.ok_or_else(damaged)?;
        unit.sums.add_path(*unit.build.paths.get(&path).ok_or_else(damaged)?, &among.counted(&numbers));
    }
    Ok(())
}

/// What is told of a frame's recording, as bytes; `None` if somebody has thrown it away.
pub fn head(store: &ClickHouse, row: &Row) -> Result<Option<Vec<u8>>, Error> {
    let mut told = told::read(store, std::iter::once(row))?;
    Ok(told.remove(&row.newest).map(|told| told.head))
}
