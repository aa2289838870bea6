//! Deletes frames, and what nothing needs then; the file gets smaller by it.

use rusqlite::{Connection, TransactionBehavior, params};
use rustc_hash::FxHashSet;

use super::file::Sqlite;
use super::select;
use crate::engine::Deleted;
use crate::{Error, Query};

/// What nothing refers to any more, in the order in which it goes.
const LEFT_OVER: &str = "
DELETE FROM session WHERE id NOT IN (SELECT session FROM frame);
DELETE FROM series WHERE id NOT IN (SELECT series FROM session);
DELETE FROM build WHERE id NOT IN (SELECT build FROM series);
DELETE FROM path WHERE build NOT IN (SELECT id FROM build);
DELETE FROM place WHERE build NOT IN (SELECT id FROM build);
DELETE FROM module WHERE id NOT IN (SELECT module FROM place WHERE module IS NOT NULL);
";

/// Deletes what is asked for.
pub fn delete(store: &mut Sqlite, query: &Query) -> Result<Deleted, Error> {
    let doomed = select::frames(store, query)?.into_iter().map(|frame| (frame.session, frame.ended)).collect();
    remove(store, doomed)
}

/// Deletes the oldest of what is asked for until the store takes no more than so many bytes.
pub fn shrink(store: &mut Sqlite, query: &Query, bytes: u64) -> Result<Deleted, Error> {
    let mut frames = select::frames(store, query)?;
    frames.sort_by_key(|frame| frame.ended);
    let mut all = Deleted::default();
    let mut rest = &frames[..];
    // What names and dictionaries take is known when they are gone: so by parts, of what is still too much.
    while !rest.is_empty() {
        let size = size_of(&store.connection).map_err(|source| store.failed(source))?;
        if size <= bytes {
            break;
        }
        let part = ((size - bytes) as f64 / size as f64 * rest.len() as f64).ceil() as usize;
        let (oldest, others) = rest.split_at(part.clamp(1, rest.len()));
        let Deleted { sessions, frames, bytes } =
            remove(store, oldest.iter().map(|frame| (frame.session.clone(), frame.ended)).collect())?;
        (all.sessions, all.frames, all.bytes) = (all.sessions + sessions, all.frames + frames, all.bytes + bytes);
        rest = others;
    }
    Ok(all)
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
