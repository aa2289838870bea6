//! Makes coarser slices of old ones: they add up, so nothing but the moments in between is lost.

use std::collections::hash_map::Entry;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::binary::Reader;
use super::delete::sweep;
use super::dictionary::{self, Build, Numbers};
use super::failure::Failure;
use super::schema;
use super::series::{self, Series};
use super::store::ClickHouse;
use super::sums::{self, Unit};
use super::write::{Data, Slice, write};
use super::{paths, told};
use crate::engine::Tier;
use crate::kept::LATEST_NS;
use crate::moment::now_ns;
use crate::sums::OfSeries;
use crate::{Error, Range};

/// Some frames of a recording, one after the other, that become one.
struct Run {
    series: u64,
    session: String,
    first_end: i64,
    end: i64,
    frames: u64,
}

/// How long slices are joined before frames that have come meanwhile go first.
const PORTION: Duration = Duration::from_millis(200);

/// Makes one slice of all that ended in the same span of a tier, if it ended before `until`. How many slices there are less.
pub fn compact(store: &ClickHouse, tier: Tier, until: i64) -> Result<u64, Error> {
    let (less, _) = join_all(store, runs(store, tier, tier.last_end(until), None)?, || false)?;
    if less > 0 {
        sweep(store)?;
    }
    Ok(less)
}

/// The same of some series after one, by their numbers; which was the last, or `None` if there is none left.
pub fn next(store: &ClickHouse, tier: Tier, until: i64, after: Option<i64>) -> Result<Option<i64>, Error> {
    let began = Instant::now();
    let runs = runs(store, tier, tier.last_end(until), after.map(series_at))?;
    let (_, last) = join_all(store, runs, || began.elapsed() > PORTION)?;
    if last.is_none() && after.is_some() {
        sweep(store)?;
    }
    Ok(last.map(place_of))
}

/// Where a series lies in the order of their numbers: as a number that has a sign.
fn place_of(series: u64) -> i64 {
    (series ^ 1 << 63) as i64
}

fn series_at(place: i64) -> u64 {
    place as u64 ^ 1 << 63
}

/// How many slices there are less, and which series was the last; it is whole, and others are not begun when it is time.
fn join_all(store: &ClickHouse, runs: Vec<Run>, is_time: impl Fn() -> bool) -> Result<(u64, Option<u64>), Error> {
    if runs.is_empty() {
        return Ok((0, None));
    }
    let all = series::all(store)?;
    let all: FxHashMap<u64, &Series> = all.iter().map(|series| (series.id, series)).collect();
    let mut builds: FxHashMap<u64, Build> = FxHashMap::default();
    let (mut less, mut last) = (0, None);
    for run in runs {
        if last.is_some_and(|last| last != run.series) && is_time() {
            break;
        }
        last = Some(run.series);
        let Some(series) = all.get(&run.series) else { continue };
        let build = match builds.entry(series.build) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(dictionary::read(store, series.build)?),
        };
        if join(store, series, build, &run)? {
            less += run.frames - 1;
        }
    }
    Ok((less, last))
}

/// What is more than one frame in a span of the tier, in series behind one, in their order.
fn runs(store: &ClickHouse, tier: Tier, until: i64, after: Option<u64>) -> Result<Vec<Run>, Error> {
    let behind = after.map_or_else(String::new, |after| format!("AND of_series > {after} "));
    let query = format!(
        "SELECT of_series, session, min(ended), max(ended), toUInt64(count()) \
         FROM (SELECT of_series, session, ended, max(ended) OVER (PARTITION BY session) AS last FROM {}) \
         WHERE ended <= {until} AND ended <= last - {LATEST_NS} {behind}\
         GROUP BY of_series, session, intDiv(ended - 1, {}) HAVING count() > 1 ORDER BY 1, 2, 3",
        schema::frames("1"),
        tier.span_ns()
    );
    let rows = store.client.rows(&query, &[])?;
    let mut rows = Reader::of(&rows);
    let mut runs = Vec::new();
    while !rows.is_at_end() {
        runs.push(run(&mut rows).ok_or_else(|| store.damaged("its frames"))?);
    }
    Ok(runs)
}

fn run(row: &mut Reader) -> Option<Run> {
    Some(Run { series: row.u64()?, session: row.text()?, first_end: row.i64()?, end: row.i64()?, frames: row.u64()? })
}

/// Puts one frame in place of several: it says that it holds the others, so all is done by its row. Whether it is.
fn join(store: &ClickHouse, series: &Series, build: &Build, run: &Run) -> Result<bool, Error> {
    let range = Range { since: run.first_end - 1, until: run.end };
    let rows = series::rows(store, std::slice::from_ref(series), range, Some(&[&run.session]))?;
    // Somebody may have put in more, or deleted some.
    let ([first, .., last], true) = (&rows[..], rows.len() as u64 == run.frames) else { return Ok(false) };
    let Some(head) = sums::head(store, first)? else { return Ok(false) };
    let version = rows.iter().map(|row| row.version).max().unwrap_or(0);
    let mut slice = Slice {
        session: run.session.clone(),
        sequence: first.sequence,
        series: series.id,
        version: now_ns().max(version + 1),
        arrived: first.came,
        started: first.started,
        ended: last.ended,
        covers: last.ended,
        holds: last.sequence,
        told: 0,
        replaces: Some(first.id),
    };
    let all = [rows];
    let answered = paths::ask(store, &all, || {
        let mut unit = Unit::new(OfSeries::to_keep(), build, &all[0]);
        unit.add_told(store, &told::read(store, all[0].iter())?, &mut FxHashMap::default())?;
        Ok(unit)
    });
    let ([sums, open], unit) = match answered {
        Ok(answered) => answered,
        Err(Failure::Moved) => return Ok(false),
        Err(Failure::Error(error)) => return Err(error),
    };
    let mut units = [unit];
    match sums::add(store, &mut units, &sums, &open) {
        Ok(()) => {}
        Err(Failure::Moved) => return Ok(false),
        Err(Failure::Error(error)) => return Err(error),
    }
    let [unit] = units;
    let sums = unit.finish(store)?;
    let sums = sums.sums(build.dictionary.entries()).ok_or_else(|| store.damaged("a frame"))?;
    let numbers = Numbers { places: build.place_ids.clone(), paths: build.path_ids.clone() };
    let data = Data::of(&numbers, &sums, head, |path| build.dictionary.parent(path));
    slice.version = slice.version.max(now_ns());
    write(store, &[(slice, data)])?;
    Ok(true)
}

/// Until when slices shorter than those of a tier ended that are more than so many bytes, the latest not counted.
pub fn beyond(store: &ClickHouse, tier: Tier, bytes: u64) -> Result<Option<i64>, Error> {
    let query = format!(
        "SELECT toUInt64(count()), max(ended) FROM (SELECT ended, \
         sum(bytes) OVER (ORDER BY ended DESC ROWS UNBOUNDED PRECEDING) AS taken FROM {} WHERE ended - started < {}) \
         WHERE taken > {bytes}",
        schema::frames("1"),
        tier.span_ns()
    );
    let rows = store.client.rows(&query, &[])?;
    let mut row = Reader::of(&rows);
    let (count, until) = row.u64().zip(row.i64()).ok_or_else(|| store.damaged("its frames"))?;
    Ok((count > 0).then_some(until))
}
