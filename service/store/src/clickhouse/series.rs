//! Series and frames as they stand in the store.

use diytrace_profile::load::timed::Timing;
use diytrace_profile::merge::PartKey;
use rustc_hash::FxHashSet;

use super::binary::Reader;
use super::labels::{Patterns, narrowed};
use super::literal::{listed, quoted};
use super::schema;
use super::store::ClickHouse;
use crate::engine::{FrameFacts, SeriesFacts};
use crate::kept::timing_name;
use crate::query::select;
use crate::{Error, Labels, Query, Range};

/// A series.
pub struct Series {
    pub id: u64,
    pub labels: Labels,
    pub part: PartKey,
    pub build: u64,
}

/// A frame that counts.
#[derive(Clone)]
pub struct Row {
    pub id: u64,
    /// What its sums are filed under.
    pub own_series: u64,
    /// What its recording is in now.
    pub series: u64,
    pub session: String,
    pub sequence: u64,
    pub started: i64,
    pub ended: i64,
    /// The frame that knows best what is told of the recording, and when that ended.
    pub newest: u64,
    pub newest_ended: i64,
    /// When the recording came first.
    pub came: i64,
    /// How many paths its sums are of.
    pub paths: u64,
    /// In which columns those have numbers, and how large these are.
    pub columns: u32,
    pub largest: u64,
    pub version: u64,
    pub calls: u64,
    pub raw_ns: i64,
}

/// How many frames a question names, so that it is not longer than who may only read may ask.
pub const AT_ONCE: usize = 8000;

/// Where the rows of frames lie.
pub fn filed<'a>(rows: impl Iterator<Item = &'a Row> + Clone, ids: impl IntoIterator<Item = u64>) -> String {
    let series: FxHashSet<u64> = rows.clone().map(|row| row.own_series).collect();
    let moments = rows.flat_map(|row| [row.ended, row.newest_ended]);
    let (first, last) = moments.fold((i64::MAX, i64::MIN), |(first, last), at| (first.min(at), last.max(at)));
    format!("series IN {} AND ended BETWEEN {first} AND {last} AND frame IN {}", listed(series), listed(ids))
}

/// All series, the first ones first: also those that have no frame any more, or not yet.
pub fn all(store: &ClickHouse) -> Result<Vec<Series>, Error> {
    chosen(store, &[&[]])
}

/// Those that any of these labels select.
pub fn chosen(store: &ClickHouse, any: &[&Patterns]) -> Result<Vec<Series>, Error> {
    let query = format!(
        "SELECT id, any(labels), any(program), any(boot), toString(any(timing)), any(build) FROM series \
         WHERE {} GROUP BY id ORDER BY min(made), id",
        narrowed(any)
    );
    let rows = store.client.rows(&query, &[])?;
    let mut rows = Reader::of(&rows);
    let mut chosen = Vec::new();
    while !rows.is_at_end() {
        let series = series_row(&mut rows).ok_or_else(|| store.damaged("a series"))?;
        if any.iter().any(|patterns| select(patterns, &series.labels)) {
            chosen.push(series);
        }
    }
    Ok(chosen)
}

fn series_row(row: &mut Reader) -> Option<Series> {
    let (id, labels, program) = (row.u64()?, row.text()?, row.text()?);
    let (boot, timing, build) = (row.bytes()?, row.text()?, row.u64()?);
    let timing = [Timing::All, Timing::Off].into_iter().find(|known| timing_name(*known) == timing)?;
    let part = PartKey { program, boot_id: <[u8; 16]>::try_from(boot).ok()?, timing };
    Some(Series { id, labels: Labels::of_json(&labels)?, part, build })
}

/// All series, and what is in each.
pub fn facts(store: &ClickHouse) -> Result<Vec<SeriesFacts>, Error> {
    let query = format!(
        "SELECT of_series, uniqExact(session), count(), min(started), max(ended), sum(calls), sum(bytes) FROM {} \
         GROUP BY of_series",
        schema::frames("1")
    );
    let rows = store.client.rows(&query, &[])?;
    let mut rows = Reader::of(&rows);
    let mut found = rustc_hash::FxHashMap::default();
    let damaged = || store.damaged("its frames");
    while !rows.is_at_end() {
        let mut number = || rows.u64().ok_or_else(damaged);
        let numbers = [number()?, number()?, number()?, number()?, number()?, number()?, number()?];
        found.insert(numbers[0], numbers);
    }
    let all = all(store)?.into_iter();
    let facts = all.filter_map(|series| {
        let [_, sessions, frames, first, last, calls, bytes] = *found.get(&series.id)?;
        let (first, last) = (first as i64, last as i64);
        Some(SeriesFacts { labels: series.labels, sessions, frames, first, last, calls, bytes })
    });
    Ok(facts.collect())
}

/// The frames of some series that ended in a range, recording by recording in the order in which these came. `sessions`: only of these.
pub fn rows(store: &ClickHouse, series: &[Series], range: Range, sessions: Option<&[&str]>) -> Result<Vec<Row>, Error> {
    if series.is_empty() {
        return Ok(Vec::new());
    }
    let chosen = listed(series.iter().map(|series| series.id));
    let inner = match sessions {
        Some(sessions) => {
            let sessions: Vec<String> = sessions.iter().map(|session| quoted(session)).collect();
            format!("session IN ({})", sessions.join(","))
        }
        // All recordings that have anything there: what counts of them is found out among these.
        None => format!("session GLOBAL IN (SELECT session FROM frame WHERE series IN {chosen})"),
    };
    let Range { since, until } = range;
    let query = format!(
        "SELECT id, own_series, of_series, session, sequence, started, ended, newest, newest_ended, came, paths, columns, \
         largest, version, calls, raw_ns FROM {} \
         WHERE of_series IN {chosen} AND ended > {since} AND ended <= {until} ORDER BY came, session, sequence",
        schema::frames(&inner)
    );
    let rows = store.client.rows(&query, &[])?;
    let mut rows = Reader::of(&rows);
    let mut all = Vec::new();
    while !rows.is_at_end() {
        all.push(row(&mut rows).ok_or_else(|| store.damaged("its frames"))?);
    }
    Ok(all)
}

fn row(row: &mut Reader) -> Option<Row> {
    Some(Row {
        id: row.u64()?,
        own_series: row.u64()?,
        series: row.u64()?,
        session: row.text()?,
        sequence: row.u64()?,
        started: row.i64()?,
        ended: row.i64()?,
        newest: row.u64()?,
        newest_ended: row.i64()?,
        came: row.i64()?,
        paths: row.u64()?,
        columns: row.u32()?,
        largest: row.u64()?,
        version: row.u64()?,
        calls: row.u64()?,
        raw_ns: row.i64()?,
    })
}

/// The frames of what is asked for, with their series; an error if there are none.
pub fn asked(store: &ClickHouse, query: &Query) -> Result<(Vec<Series>, Vec<Row>), Error> {
    let chosen = chosen(store, &[&query.labels])?;
    let rows = rows(store, &chosen, query.range, None)?;
    match rows.is_empty() {
        true => {
            check(store, query, None)?;
            Err(Error::Nothing { why: query.why_nothing() })
        }
        false => Ok((chosen, rows)),
    }
}

/// Whether there is anything like what is asked for among series that have frames: which these are takes a while to find out, so
/// it is asked only where there is nothing.
pub fn check(store: &ClickHouse, query: &Query, by: Option<&str>) -> Result<(), Error> {
    let all = all(store)?;
    let used = format!("SELECT DISTINCT of_series FROM {}", schema::frames("1"));
    let rows = store.client.rows(&used, &[])?;
    let mut rows = Reader::of(&rows);
    let mut used = rustc_hash::FxHashSet::default();
    while !rows.is_at_end() {
        used.insert(rows.u64().ok_or_else(|| store.damaged("its frames"))?);
    }
    let labels: Vec<&Labels> =
        all.iter().filter(|series| used.contains(&series.id)).map(|series| &series.labels).collect();
    query.check(&labels, by, &store.client.place.to_string())
}

/// The frames of what is asked for, series by series, by the moments at which they ended.
pub fn frames(store: &ClickHouse, query: &Query) -> Result<Vec<FrameFacts>, Error> {
    let (chosen, mut rows) = asked(store, query)?;
    let place: rustc_hash::FxHashMap<u64, usize> = (0..).zip(&chosen).map(|(at, series)| (series.id, at)).collect();
    rows.sort_by(|a, b| (place[&a.series], a.ended, &a.session).cmp(&(place[&b.series], b.ended, &b.session)));
    let facts = rows.into_iter().map(|row| {
        let labels = chosen[place[&row.series]].labels.clone();
        let Row { session, started, ended, calls, raw_ns, .. } = row;
        FrameFacts { labels, session, started, ended, calls, raw_ns }
    });
    Ok(facts.collect())
}
