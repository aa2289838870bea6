//! What is asked for: series, frames, and their sums as a profile.

use std::sync::mpsc;
use std::thread;

use rusqlite::params;

use super::add_up::{AHEAD, add_up};
use super::file::Sqlite;
use super::reading::Reading;
use super::series::all_series;
use crate::engine::{FrameFacts, Selected, SeriesFacts};
use crate::{Error, GroupBy, Labels, Query, parallel};

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
    let damaged = store.damaged("a frame");
    let (loaded, merged) = thread::scope(|scope| {
        let (to, read) = mpsc::sync_channel(AHEAD);
        let adding = scope.spawn(move || add_up(&read, damaged));
        let loaded = Reading::new(store, &all, to).all(query, by);
        // What cannot be added up ends the reading, too.
        let merged = adding.join().unwrap_or_else(|_| Err(store.damaged("a frame")))?;
        Ok::<_, Error>((loaded?, merged))
    })?;
    drop(moment);
    match loaded.profiles.is_empty() {
        true => Err(Error::Nothing { why: query.why_nothing() }),
        false => Ok(Selected { loaded, merged }),
    }
}

/// The sums of each of these by itself, if there is anything: several at once, each by a connection of its own.
pub fn each(store: &Sqlite, queries: &[Query]) -> Result<Vec<Option<Selected>>, Error> {
    let path = &store.path;
    let one = |query: &Query| match select(&Sqlite::open(path, false)?, query, &GroupBy::All) {
        Err(error) if error.is_missing() => Ok(None),
        selected => selected.map(Some),
    };
    let found = parallel::each(queries.iter().collect(), one).ok_or_else(|| store.damaged("a frame"))?;
    found.into_iter().collect()
}
