//! Verdicts of comparisons: a row each.

use super::binary::{Reader, Writer};
use super::delete::erase;
use super::store::ClickHouse;
use super::{sampled, schema};
use crate::engine::Put;
use crate::sampled::number;
use crate::verdict::{Row, Verdict, VerdictFacts};
use crate::{Error, Range};

const COLUMNS: &str = "id, kind, saved, compared, command, sentence, status, bytes";

/// Puts one in.
pub fn put(store: &ClickHouse, verdict: &Verdict) -> Result<Put, Error> {
    let Row { id, kind, saved, compared, command, sentence, status, bytes } = Row::of(verdict);
    match sampled::asked(store, &format!("SELECT toUInt64(count()) FROM verdict WHERE id = {id}"))? {
        None => schema::make_verdicts(&store.client)?,
        Some(known) if Reader::of(&known).u64() == Some(0) => {}
        Some(_) => return Ok(Put::Known),
    }
    let mut row = Writer::default();
    row.u64(id);
    row.text(kind.as_bytes());
    row.i64(saved);
    for text in [compared, command, sentence] {
        row.text(text.as_bytes());
    }
    row.u32(status);
    row.u64(bytes);
    row.text(&verdict.document);
    row.u32(crc32fast::hash(&verdict.document));
    store.client.insert(&format!("verdict ({COLUMNS}, document, checksum)"), &row.bytes)?;
    Ok(Put::Added)
}

/// All of them in a time, the latest first.
pub fn all(store: &ClickHouse, range: Range) -> Result<Vec<VerdictFacts>, Error> {
    let (since, until) = (range.since, range.until);
    // Two writers may have put in the same.
    let query = format!(
        "SELECT {COLUMNS} FROM verdict WHERE saved > {since} AND saved <= {until} ORDER BY saved DESC, id LIMIT 1 BY id"
    );
    let Some(rows) = sampled::asked(store, &query)? else { return Ok(Vec::new()) };
    let mut rows = Reader::of(&rows);
    let mut all = Vec::new();
    while !rows.is_at_end() {
        all.push(row(&mut rows).and_then(Row::facts).ok_or_else(|| store.damaged("a verdict"))?);
    }
    Ok(all)
}

fn row(rows: &mut Reader) -> Option<Row> {
    Some(Row {
        id: rows.u64()?,
        kind: rows.text()?,
        saved: rows.i64()?,
        compared: rows.text()?,
        command: rows.text()?,
        sentence: rows.text()?,
        status: rows.u32()?,
        bytes: rows.u64()?,
    })
}

/// One of them.
pub fn one(store: &ClickHouse, id: &str) -> Result<Option<Verdict>, Error> {
    let Some(id) = number(id) else { return Ok(None) };
    let query = format!("SELECT {COLUMNS}, document, checksum FROM verdict WHERE id = {id} ORDER BY saved LIMIT 1");
    let Some(rows) = sampled::asked(store, &query)? else { return Ok(None) };
    let mut rows = Reader::of(&rows);
    if rows.is_at_end() {
        return Ok(None);
    }
    let damaged = || store.damaged("a verdict");
    let facts = row(&mut rows).and_then(Row::facts).ok_or_else(damaged)?;
    let (document, checksum) = (rows.bytes().ok_or_else(damaged)?, rows.u32().ok_or_else(damaged)?);
    let is_whole = crc32fast::hash(document) == checksum;
    if is_whole { Ok(Some(Verdict { facts, document: document.to_vec() })) } else { Err(damaged()) }
}

/// Deletes those of a time, and tells how many.
pub fn delete(store: &ClickHouse, range: Range) -> Result<u64, Error> {
    let ids: Vec<u64> = all(store, range)?.iter().filter_map(|facts| number(&facts.id)).collect();
    erase(store, "verdict", "id", &ids)?;
    Ok(ids.len() as u64)
}
