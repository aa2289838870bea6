//! Sampled profiles of others.

use rusqlite::{OptionalExtension, Row, TransactionBehavior, params};

use super::delete::give_back;
use super::file::Sqlite;
use crate::engine::Put;
use crate::kept::{MOST_SERIES, TOO_MANY_SERIES};
use crate::sampled::{Sampled, SampledFacts, number, shown};
use crate::{Error, Labels, Range, blob};

/// Puts one in.
pub fn put(store: &mut Sqlite, sampled: &Sampled) -> Result<Put, Error> {
    let name = store.path.display().to_string();
    let failed = |source| Error::Sqlite { store: name.clone(), source };
    let transaction = store.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let id = sampled.number() as i64;
    let known = transaction.query_row("SELECT 1 FROM sampled WHERE id = ?1", [id], |_| Ok(()));
    if known.optional().map_err(failed)?.is_some() {
        return Ok(Put::Known);
    }
    let facts = &sampled.facts;
    let labels = facts.labels.to_json();
    let series = transaction.query_row("SELECT id FROM sampled_series WHERE labels = ?1", [&labels], |row| row.get(0));
    let series: i64 = match series.optional().map_err(failed)? {
        Some(series) => series,
        None => {
            let count: u64 =
                transaction.query_row("SELECT count(*) FROM sampled_series", [], |row| row.get(0)).map_err(failed)?;
            if count >= MOST_SERIES {
                return Err(Error::Full { most: MOST_SERIES, what: "series", advice: TOO_MANY_SERIES });
            }
            transaction.execute("INSERT INTO sampled_series (labels) VALUES (?1)", [&labels]).map_err(failed)?;
            transaction.last_insert_rowid()
        }
    };
    let types = serde_json::to_string(&facts.types).unwrap_or_default(); // of text and numbers
    transaction
        .execute(
            "INSERT INTO sampled (id, series, started, ended, types, samples, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![id, series, facts.started, facts.ended, types, facts.samples, facts.bytes],
        )
        .map_err(failed)?;
    transaction
        .execute(
            "INSERT INTO sampled_data (sampled, messages, checksum) VALUES (?1, ?2, ?3)",
            params![id, blob::deflated(&sampled.messages, blob::LASTING), crc32fast::hash(&sampled.messages)],
        )
        .map_err(failed)?;
    transaction.commit().map_err(failed)?;
    Ok(Put::Added)
}

const COLUMNS: &str = "sampled.id, labels, started, ended, types, samples, bytes";

/// All of them in a time.
pub fn all(store: &Sqlite, range: Range) -> Result<Vec<SampledFacts>, Error> {
    if !is_there(store)? {
        return Ok(Vec::new());
    }
    // Of those out of the time, the last of each series: whoever asks for another time learns which labels there are.
    let all = format!(
        "SELECT {COLUMNS} FROM sampled JOIN sampled_series ON sampled_series.id = series WHERE ended > ?1 AND ended <= ?2 UNION \
         SELECT {COLUMNS} FROM sampled_series JOIN sampled ON sampled.id = \
         (SELECT id FROM sampled WHERE series = sampled_series.id ORDER BY ended DESC LIMIT 1)"
    );
    let failed = |source| store.failed(source);
    let mut all = store.connection.prepare_cached(&all).map_err(failed)?;
    let mut rows = all.query(params![range.since, range.until]).map_err(failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        found.push(facts(store, row)?);
    }
    Ok(found)
}

fn facts(store: &Sqlite, row: &Row) -> Result<SampledFacts, Error> {
    let failed = |source| store.failed(source);
    let damaged = || store.damaged("a sampled profile");
    let text = |at: usize| row.get::<_, String>(at).map_err(failed);
    Ok(SampledFacts {
        id: shown(row.get::<_, i64>(0).map_err(failed)? as u64),
        labels: Labels::of_json(&text(1)?).ok_or_else(damaged)?,
        started: row.get(2).map_err(failed)?,
        ended: row.get(3).map_err(failed)?,
        types: serde_json::from_str(&text(4)?).map_err(|_| damaged())?,
        samples: row.get(5).map_err(failed)?,
        bytes: row.get(6).map_err(failed)?,
    })
}

/// One of them.
pub fn one(store: &Sqlite, id: &str) -> Result<Option<Sampled>, Error> {
    let Some(id) = number(id) else { return Ok(None) };
    if !is_there(store)? {
        return Ok(None);
    }
    let failed = |source| store.failed(source);
    let one = format!(
        "SELECT {COLUMNS}, messages, checksum FROM sampled JOIN sampled_series ON sampled_series.id = series \
         JOIN sampled_data ON sampled = sampled.id WHERE sampled.id = ?1"
    );
    let mut one = store.connection.prepare_cached(&one).map_err(failed)?;
    let mut rows = one.query([id as i64]).map_err(failed)?;
    let Some(row) = rows.next().map_err(failed)? else { return Ok(None) };
    let (deflated, checksum): (Vec<u8>, u32) = (row.get(7).map_err(failed)?, row.get(8).map_err(failed)?);
    let mut messages = Vec::new();
    let is_whole = blob::inflate(&deflated, &mut messages).is_some() && crc32fast::hash(&messages) == checksum;
    match is_whole {
        true => Ok(Some(Sampled { facts: facts(store, row)?, messages })),
        false => Err(store.damaged("a sampled profile")),
    }
}

/// Deletes some.
pub fn delete(store: &mut Sqlite, ids: &[String]) -> Result<(), Error> {
    let name = store.path.display().to_string();
    let failed = |source| Error::Sqlite { store: name.clone(), source };
    let transaction = store.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    for id in ids.iter().filter_map(|id| number(id)) {
        for statement in ["DELETE FROM sampled_data WHERE sampled = ?1", "DELETE FROM sampled WHERE id = ?1"] {
            transaction.prepare_cached(statement).and_then(|mut one| one.execute([id as i64])).map_err(failed)?;
        }
    }
    transaction
        .execute("DELETE FROM sampled_series WHERE id NOT IN (SELECT series FROM sampled)", [])
        .map_err(failed)?;
    transaction.commit().map_err(failed)?;
    give_back(&store.connection).map_err(failed)
}

/// Whether the store has such tables: one of version 3, which nobody has written since, has none.
fn is_there(store: &Sqlite) -> Result<bool, Error> {
    let tables = "SELECT count(*) FROM sqlite_master WHERE name = 'sampled'";
    store.connection.query_row(tables, [], |row| row.get(0)).map_err(|source| store.failed(source))
}
