//! What is asked for: series, frames, and their sums as a profile.

use std::sync::mpsc;
use std::thread;

use rusqlite::params;

use super::add_up::{AHEAD, add_up};
use super::file::Sqlite;
use super::read::sessions;
use super::reading::Reading;
use super::series::all_series;
use super::slices::within;
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
    let key = "SELECT key FROM session WHERE id = ?1";
    let mut key = store.connection.prepare_cached(key).map_err(failed)?;
    let frames = "SELECT started, ended, calls, raw_ns FROM frame WHERE session = ?1 AND sequence BETWEEN ?2 AND ?3";
    let mut frames = store.connection.prepare_cached(frames).map_err(failed)?;
    let mut found = Vec::new();
    for series in all.iter().filter(|series| query.selects(&series.labels)) {
        let mut of_series = Vec::new();
        for session in sessions(store, series.id, query.session.as_deref()).map_err(failed)? {
            let Some([first, last]) = within(&store.connection, session, query.range).map_err(failed)? else {
                continue;
            };
            let key: String = key.query_row([session], |row| row.get(0)).map_err(failed)?;
            let facts = frames.query_map(params![session, first, last], |row| {
                let (started, ended, calls, raw_ns) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
                Ok(FrameFacts { labels: series.labels.clone(), session: key.clone(), started, ended, calls, raw_ns })
            });
            for facts in facts.map_err(failed)? {
                of_series.push(facts.map_err(failed)?);
            }
        }
        of_series.sort_by(|a, b| (a.ended, &a.session).cmp(&(b.ended, &b.session)));
        found.append(&mut of_series);
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
