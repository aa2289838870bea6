//! Adds the frames of a series up: their paths in ClickHouse, what is told beside them here.

use rustc_hash::{FxHashMap, FxHashSet};

use super::binary::Reader;
use super::dictionary::Build;
use super::put::checksum;
use super::schema::NUMBERS;
use super::series::Row;
use super::store::{ClickHouse, listed};
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

/// What is told of a frame beside its paths.
struct Told {
    head: Vec<u8>,
    totals: Vec<u8>,
    functions: Vec<u8>,
}

/// How many numbers of a path are sums; the others are of open calls.
const SUMS: usize = diytrace_profile::merge::Row::SUMS;

/// Adds frames, which are in the order of [`super::series::rows`]. `sessions` numbers recordings.
pub fn add(
    sums: &mut OfSeries,
    store: &ClickHouse,
    rows: &[Row],
    build: &Build,
    sessions: &mut FxHashMap<String, i64>,
) -> Result<(), Failure> {
    if rows.is_empty() {
        return Ok(());
    }
    let told = read_told(store, rows)?;
    let damaged = || store.damaged("a frame");
    let mut edges: FxHashMap<u64, Among> = FxHashMap::default();
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
        let (places, functions): (Vec<u64>, Vec<OfFunction>) =
            postcard::from_bytes(&told.functions).map_err(|_| damaged())?;
        if places.len() != functions.len() {
            return Err(damaged().into());
        }
        for (place, function) in places.iter().zip(functions) {
            let place = *build.places.get(place).ok_or_else(damaged)?;
            sums.add_function(OfFunction { place, ..function }, among);
        }
        if is_first || is_last {
            edges.insert(row.id, among);
        }
        if is_last {
            sums.end_session();
        }
    }
    add_sums(sums, store, rows, build)?;
    add_open(sums, store, rows, build, &edges)
}

/// Where the rows of frames lie.
fn filed(rows: &[Row], ids: impl IntoIterator<Item = u64>) -> String {
    let series: FxHashSet<u64> = rows.iter().map(|row| row.own_series).collect();
    let moments = || rows.iter().flat_map(|row| [row.ended, row.newest_ended]);
    let (first, last) = (moments().min().unwrap_or(0), moments().max().unwrap_or(0));
    format!("series IN {} AND ended BETWEEN {first} AND {last} AND frame IN {}", listed(series), listed(ids))
}

fn read_told(store: &ClickHouse, rows: &[Row]) -> Result<FxHashMap<u64, Told>, Error> {
    let newest: FxHashSet<u64> = rows.iter().map(|row| row.newest).collect();
    let ids: FxHashSet<u64> = rows.iter().map(|row| row.id).chain(newest.iter().copied()).collect();
    let query = format!("SELECT frame, head, totals, functions, checksum FROM frame_data WHERE {}", filed(rows, ids));
    let bytes = store.client.rows(&query, &[])?;
    let mut told = FxHashMap::default();
    let mut frames = Reader::of(&bytes);
    let mut frame = || -> Option<(u64, Told, bool)> {
        if frames.is_at_end() {
            return None;
        }
        let id = frames.u64()?;
        let [head, totals, functions] = [frames.bytes()?, frames.bytes()?, frames.bytes()?];
        let is_sound = frames.u32()? == checksum([head, totals, functions]);
        // Of what is told the newest frame knows best.
        let head = if newest.contains(&id) { head.to_vec() } else { Vec::new() };
        Some((id, Told { head, totals: totals.to_vec(), functions: functions.to_vec() }, is_sound))
    };
    while let Some((id, frame, is_sound)) = frame() {
        if !is_sound {
            return Err(store.damaged("a frame"));
        }
        told.insert(id, frame);
    }
    Ok(told)
}

/// The sums of paths over all frames.
fn add_sums(sums: &mut OfSeries, store: &ClickHouse, rows: &[Row], build: &Build) -> Result<(), Failure> {
    let totals = NUMBERS[..SUMS].iter().map(|name| format!("sum({name})")).collect::<Vec<_>>().join(", ");
    let condition = filed(rows, rows.iter().map(|row| row.id));
    let query = format!("SELECT path, toUInt64(count()), {totals} FROM path_sum WHERE {condition} GROUP BY path");
    let bytes = store.client.rows(&query, &[])?;
    let mut paths = Reader::of(&bytes);
    let mut met = 0u64;
    let damaged = || store.damaged("a frame");
    while !paths.is_at_end() {
        let (path, count) = paths.u64().zip(paths.u64()).ok_or_else(damaged)?;
        let mut numbers: codec::Numbers = [0; codec::NUMBERS];
        for number in &mut numbers[..SUMS] {
            *number = paths.i128().ok_or_else(damaged)?;
        }
        sums.add_path(*build.paths.get(&path).ok_or_else(damaged)?, &numbers);
        met += count;
    }
    // None is missing that the frames have.
    if met == rows.iter().map(|row| row.paths).sum::<u64>() { Ok(()) } else { Err(Failure::Moved) }
}

/// What the first and last frames of recordings know of open calls.
fn add_open(
    sums: &mut OfSeries,
    store: &ClickHouse,
    rows: &[Row],
    build: &Build,
    edges: &FxHashMap<u64, Among>,
) -> Result<(), Failure> {
    let columns = NUMBERS[SUMS..].join(", ");
    let are_some = NUMBERS[SUMS..].iter().map(|name| format!("{name} != 0")).collect::<Vec<_>>().join(" OR ");
    let condition = filed(rows, edges.keys().copied());
    let query = format!("SELECT frame, path, {columns} FROM path_sum WHERE {condition} AND ({are_some})");
    let bytes = store.client.rows(&query, &[])?;
    let mut paths = Reader::of(&bytes);
    let damaged = || store.damaged("a frame");
    while !paths.is_at_end() {
        let (frame, path) = paths.u64().zip(paths.u64()).ok_or_else(damaged)?;
        let mut numbers: codec::Numbers = [0; codec::NUMBERS];
        for number in &mut numbers[SUMS..] {
            *number = paths.i128().ok_or_else(damaged)?;
        }
        let among = edges.get(&frame).ok_or_else(damaged)?;
        sums.add_path(*build.paths.get(&path).ok_or_else(damaged)?, &among.counted(&numbers));
    }
    Ok(())
}

/// What is told of a frame's recording, as bytes; `None` if somebody has thrown it away.
pub fn head(store: &ClickHouse, row: &Row) -> Result<Option<Vec<u8>>, Error> {
    let mut told = read_told(store, std::slice::from_ref(row))?;
    Ok(told.remove(&row.newest).map(|told| told.head))
}
