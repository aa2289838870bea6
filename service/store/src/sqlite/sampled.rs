//! Sampled profiles of others.

use rusqlite::{OptionalExtension, TransactionBehavior, params};
use rustc_hash::FxHashMap;

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
            params![id, blob::deflated(&sampled.messages), crc32fast::hash(&sampled.messages)],
        )
        .map_err(failed)?;
    transaction.commit().map_err(failed)?;
    Ok(Put::Added)
}

/// All of them in a time.
pub fn all(store: &Sqlite, range: Range) -> Result<Vec<SampledFacts>, Error> {
    let failed = |source| store.failed(source);
    if !is_there(store)? {
        return Ok(Vec::new());
    }
    let mut series: FxHashMap<i64, Labels> = FxHashMap::default();
    let mut labels = store.connection.prepare_cached("SELECT id, labels FROM sampled_series").map_err(failed)?;
    let rows = labels.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?))).map_err(failed)?;
    for row in rows {
        let (id, labels) = row.map_err(failed)?;
        series.insert(id, Labels::of_json(&labels).ok_or_else(|| store.damaged("a series"))?);
    }
    // Of those out of the time, one of each series: whoever asks for another time learns which labels there are.
    let all = "SELECT id, series, started, ended, types, samples, bytes FROM sampled WHERE ended > ?1 AND ended <= ?2 \
               UNION SELECT id, series, started, max(ended), types, samples, bytes FROM sampled GROUP BY series";
    let mut all = store.connection.prepare_cached(all).map_err(failed)?;
    let rows = all.query_map(params![range.since, range.until], |row| {
        let (id, series, types): (i64, i64, String) = (row.get(0)?, row.get(1)?, row.get(4)?);
        Ok((id, series, row.get(2)?, row.get(3)?, types, row.get(5)?, row.get(6)?))
    });
    let facts = rows.map_err(failed)?.map(|row| {
        let (id, of, started, ended, types, samples, bytes) = row.map_err(failed)?;
        let types = serde_json::from_str(&types).map_err(|_| store.damaged("a sampled profile"))?;
        let labels = series.get(&of).cloned().ok_or_else(|| store.damaged("a sampled profile"))?;
        Ok(SampledFacts { id: shown(id as u64), labels, started, ended, types, samples, bytes })
    });
    facts.collect()
}

/// The messages of one.
pub fn messages(store: &Sqlite, id: &str) -> Result<Option<Vec<u8>>, Error> {
    let Some(id) = number(id).filter(|_| is_there(store).unwrap_or(true)) else { return Ok(None) };
    let data = "SELECT messages, checksum FROM sampled_data WHERE sampled = ?1";
    let found = (store.connection)
        .query_row(data, [id as i64], |row| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, u32>(1)?)))
        .optional()
        .map_err(|source| store.failed(source))?;
    let Some((deflated, checksum)) = found else { return Ok(None) };
    let mut messages = Vec::new();
    let is_whole = blob::inflate(&deflated, &mut messages).is_some() && crc32fast::hash(&messages) == checksum;
    if is_whole { Ok(Some(messages)) } else { Err(store.damaged("a sampled profile")) }
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
