//! Deletes frames, and what nothing needs then; the file gets smaller by it.

use rusqlite::{Connection, TransactionBehavior, params};
use rustc_hash::FxHashSet;

use super::file::Sqlite;
use super::select;
use super::series::all_series;
use crate::engine::Deleted;
use crate::{Error, Query};

/// What nothing refers to any more, in the order in which it goes.
const LEFT_OVER: &str = "
DELETE FROM session WHERE NOT EXISTS (SELECT 1 FROM frame WHERE frame.session = session.id);
DELETE FROM series WHERE NOT EXISTS (SELECT 1 FROM session WHERE session.series = series.id);
DELETE FROM build WHERE id NOT IN (SELECT build FROM series);
DELETE FROM path WHERE build NOT IN (SELECT id FROM build);
DELETE FROM place WHERE build NOT IN (SELECT id FROM build);
DELETE FROM module WHERE id NOT IN (SELECT module FROM place WHERE module IS NOT NULL);
";

/// Most frames that are deleted in one transaction: nothing is put in meanwhile, and a list of them is in memory.
const MOST_AT_ONCE: usize = 1 << 16;

/// Deletes what is asked for.
pub fn delete(store: &mut Sqlite, query: &Query) -> Result<Deleted, Error> {
    let doomed = select::frames(store, query)?.into_iter().map(|frame| (frame.session, frame.ended)).collect();
    remove(store, doomed)
}

/// Deletes the oldest of what is asked for until the store takes no more than so many bytes.
pub fn shrink(store: &mut Sqlite, query: &Query, bytes: u64) -> Result<Deleted, Error> {
    let series = all_series(store)?;
    query.check(
        &series.iter().map(|series| &series.labels).collect::<Vec<_>>(),
        None,
        &store.path.display().to_string(),
    )?;
    let sampled =
        store.connection.query_row("SELECT coalesce(sum(length(messages)), 0) FROM sampled_data", [], |row| row.get(0));
    let sampled = sampled.map_err(|source| store.failed(source))?;
    if sampled > bytes {
        return Err(Error::SampledTake { store: store.path.display().to_string(), sampled, most: bytes });
    }
    let of = series.into_iter().filter(|series| query.selects(&series.labels)).map(|series| series.id).collect();
    let mut all = Deleted::default();
    // What names and dictionaries take is known when they are gone: so by parts, of what is still too much.
    loop {
        let (size, there) = size_of(&store.connection)
            .and_then(|size| Ok((size, count(&store.connection, "frame")?)))
            .map_err(|source| store.failed(source))?;
        if size <= bytes {
            return Ok(all);
        }
        let part = (size - bytes) as f64 / size as f64 * there as f64;
        let doomed = oldest(store, &of, query, (part.ceil() as usize).clamp(1, MOST_AT_ONCE))?;
        if doomed.is_empty() {
            return Ok(all);
        }
        let Deleted { sessions, frames, bytes } = remove(store, doomed)?;
        (all.sessions, all.frames, all.bytes) = (all.sessions + sessions, all.frames + frames, all.bytes + bytes);
    }
}

/// The recordings of the oldest frames of some series, so many at most, and when those ended.
fn oldest(store: &Sqlite, of: &FxHashSet<i64>, query: &Query, most: usize) -> Result<Vec<(String, i64)>, Error> {
    let failed = |source| store.failed(source);
    let all = "SELECT series, key, ended FROM frame INDEXED BY frame_by_end JOIN session ON session.id = frame.session \
               WHERE ended > ?1 AND ended <= ?2 AND (?3 IS NULL OR key = ?3) ORDER BY ended, frame.session";
    let mut all = store.connection.prepare_cached(all).map_err(failed)?;
    let mut all = all.query(params![query.range.since, query.range.until, query.session]).map_err(failed)?;
    let mut oldest = Vec::new();
    while oldest.len() < most
        && let Some(frame) = all.next().map_err(failed)?
    {
        if of.contains(&frame.get(0).map_err(failed)?) {
            oldest.push((frame.get(1).map_err(failed)?, frame.get(2).map_err(failed)?));
        }
    }
    Ok(oldest)
}

fn remove(store: &mut Sqlite, frames: Vec<(String, i64)>) -> Result<Deleted, Error> {
    let name = store.path.display().to_string();
    let failed = |source| Error::Sqlite { store: name.clone(), source };
    // Builds and recordings may go, and others come that have their numbers.
    store.dictionaries.clear();
    store.sessions.forget();
    let connection = &mut store.connection;
    let size = size_of(connection).map_err(failed)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let sessions = count(&transaction, "session").map_err(failed)?;
    let mut deleted = Deleted::default();
    {
        const WHICH: &str = "FROM frame WHERE ended = ?2 AND session = (SELECT id FROM session WHERE key = ?1)";
        let data = format!("DELETE FROM frame_data WHERE frame IN (SELECT id {WHICH})");
        let mut data = transaction.prepare(&data).map_err(failed)?;
        let mut frame = transaction.prepare(&format!("DELETE {WHICH}")).map_err(failed)?;
        for (session, ended) in frames {
            data.execute(params![session, ended]).map_err(failed)?;
            deleted.frames += frame.execute(params![session, ended]).map_err(failed)? as u64;
        }
    }
    transaction.execute_batch(LEFT_OVER).map_err(failed)?;
    deleted.sessions = sessions - count(&transaction, "session").map_err(failed)?;
    transaction.commit().map_err(failed)?;
    if deleted.sessions > 0 {
        let there = numbers_of_sessions(connection).map_err(failed)?;
        store.sessions.compacted.keep(|session| there.contains(&session));
    }
    give_back(connection).map_err(failed)?;
    deleted.bytes = size.saturating_sub(size_of(connection).map_err(failed)?);
    Ok(deleted)
}

/// Makes the file as small as what is in it.
pub fn give_back(connection: &Connection) -> rusqlite::Result<()> {
    let mut vacuum = connection.prepare("PRAGMA incremental_vacuum")?;
    let mut pages = vacuum.query([])?;
    while pages.next()?.is_some() {} // each step gives one back
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

fn numbers_of_sessions(connection: &Connection) -> rusqlite::Result<FxHashSet<i64>> {
    connection.prepare("SELECT id FROM session")?.query_map([], |row| row.get(0))?.collect()
}

fn count(connection: &Connection, table: &str) -> rusqlite::Result<u64> {
    connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
}

fn size_of(connection: &Connection) -> rusqlite::Result<u64> {
    let number = |what: &str| connection.pragma_query_value(None, what, |row| row.get::<_, u64>(0));
    Ok(number("page_count")? * number("page_size")?)
}
