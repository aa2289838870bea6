//! Verdicts of comparisons.

use rusqlite::{OptionalExtension, TransactionBehavior, params};

use super::delete::give_back;
use super::file::Sqlite;
use super::schema::VERDICT;
use crate::engine::Put;
use crate::sampled::number;
use crate::verdict::{Row, Verdict, VerdictFacts};
use crate::{Error, Range, blob};

const COLUMNS: &str = "id, kind, saved, compared, command, sentence, status, bytes";

/// Puts one in.
pub fn put(store: &mut Sqlite, verdict: &Verdict) -> Result<Put, Error> {
    let name = store.path.display().to_string();
    let failed = |source| Error::Sqlite { store: name.clone(), source };
    let transaction = store.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    transaction.execute_batch(VERDICT).map_err(failed)?;
    let Row { id, kind, saved, compared, command, sentence, status, bytes } = Row::of(verdict);
    let known = transaction.query_row("SELECT 1 FROM verdict WHERE id = ?1", [id as i64], |_| Ok(()));
    if known.optional().map_err(failed)?.is_some() {
        return Ok(Put::Known);
    }
    let document = blob::deflated(&verdict.document, blob::LASTING);
    let checksum = crc32fast::hash(&verdict.document);
    transaction
        .execute(
            &format!(
                "INSERT INTO verdict ({COLUMNS}, document, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
            ),
            params![id as i64, kind, saved, compared, command, sentence, status, bytes, document, checksum],
        )
        .map_err(failed)?;
    transaction.commit().map_err(failed)?;
    Ok(Put::Added)
}

/// All of them in a time, the latest first.
pub fn all(store: &Sqlite, range: Range) -> Result<Vec<VerdictFacts>, Error> {
    if !is_there(store)? {
        return Ok(Vec::new());
    }
    let failed = |source| store.failed(source);
    let all = format!("SELECT {COLUMNS} FROM verdict WHERE saved > ?1 AND saved <= ?2 ORDER BY saved DESC, id");
    let mut all = store.connection.prepare_cached(&all).map_err(failed)?;
    let rows = all.query_map(params![range.since, range.until], row).map_err(failed)?;
    rows.map(|row| row.map_err(failed)?.facts().ok_or_else(|| store.damaged("a verdict"))).collect()
}

fn row(row: &rusqlite::Row) -> rusqlite::Result<Row> {
    Ok(Row {
        id: row.get::<_, i64>(0)? as u64,
        kind: row.get(1)?,
        saved: row.get(2)?,
        compared: row.get(3)?,
        command: row.get(4)?,
        sentence: row.get(5)?,
        status: row.get(6)?,
        bytes: row.get(7)?,
    })
}

/// One of them.
pub fn one(store: &Sqlite, id: &str) -> Result<Option<Verdict>, Error> {
    let Some(id) = number(id) else { return Ok(None) };
    if !is_there(store)? {
        return Ok(None);
    }
    let failed = |source| store.failed(source);
    let one = format!("SELECT {COLUMNS}, document, checksum FROM verdict WHERE id = ?1");
    let found = store.connection.query_row(&one, [id as i64], |found| {
        let (deflated, checksum): (Vec<u8>, u32) = (found.get(8)?, found.get(9)?);
        Ok((row(found)?, deflated, checksum))
    });
    let Some((row, deflated, checksum)) = found.optional().map_err(failed)? else { return Ok(None) };
    let mut document = Vec::new();
    let is_whole = blob::inflate(&deflated, &mut document).is_some() && crc32fast::hash(&document) == checksum;
    match row.facts().filter(|_| is_whole) {
        Some(facts) => Ok(Some(Verdict { facts, document })),
        None => Err(store.damaged("a verdict")),
    }
}

/// Deletes those of a time, and tells how many.
pub fn delete(store: &mut Sqlite, range: Range) -> Result<u64, Error> {
    if !is_there(store)? {
        return Ok(0);
    }
    let delete = "DELETE FROM verdict WHERE saved > ?1 AND saved <= ?2";
    let deleted =
        store.connection.execute(delete, params![range.since, range.until]).map_err(|source| store.failed(source))?;
    if deleted > 0 {
        give_back(&store.connection).map_err(|source| store.failed(source))?;
    }
    Ok(deleted as u64)
}

/// Whether the store has such a table: it is made when the first one is put in.
fn is_there(store: &Sqlite) -> Result<bool, Error> {
    let tables = "SELECT count(*) FROM sqlite_master WHERE name = 'verdict'";
    store.connection.query_row(tables, [], |row| row.get(0)).map_err(|source| store.failed(source))
}
