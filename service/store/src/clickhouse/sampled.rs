//! Sampled profiles of others: a row each. Their messages are in a column of their own, which only who reads one reads.

use super::binary::{Reader, Writer};
use super::client::{Failure, reason};
use super::delete::erase;
use super::store::ClickHouse;
use crate::engine::Put;
use crate::kept::{MOST_SERIES, TOO_MANY_SERIES};
use crate::sampled::{Sampled, SampledFacts, number, shown};
use crate::{Error, Labels, Range};

const COLUMNS: &str = "sampled (labels, started, ended, id, types, samples, bytes, messages, checksum)";

const FACTS: &str = "labels, started, ended, id, types, samples, bytes";

/// Puts one in.
pub fn put(store: &ClickHouse, sampled: &Sampled) -> Result<Put, Error> {
    let facts = &sampled.facts;
    let (id, labels) = (sampled.number(), facts.labels.to_json());
    let asked = "SELECT toUInt64(countIf(id = {id:UInt64})), toUInt64(count()), \
                 (SELECT toUInt64(uniqExact(labels)) FROM sampled) FROM sampled WHERE labels = {labels:String}";
    let found = store.client.rows(asked, &[("id", &id.to_string()), ("labels", &labels)])?;
    let mut found = Reader::of(&found);
    let (Some(known), Some(of_series), Some(series)) = (found.u64(), found.u64(), found.u64()) else {
        return Err(store.damaged("a sampled profile"));
    };
    if known > 0 {
        return Ok(Put::Known);
    }
    if of_series == 0 && series >= MOST_SERIES {
        return Err(Error::Full { most: MOST_SERIES, what: "series", advice: TOO_MANY_SERIES });
    }
    let mut row = Writer::default();
    row.text(labels.as_bytes());
    row.i64(facts.started);
    row.i64(facts.ended);
    row.u64(id);
    row.text(serde_json::to_string(&facts.types).unwrap_or_default().as_bytes()); // of text and numbers
    row.u64(facts.samples);
    row.u64(facts.bytes);
    row.text(&sampled.messages);
    row.u32(crc32fast::hash(&sampled.messages));
    store.client.insert(COLUMNS, &row.bytes)?;
    Ok(Put::Added)
}

/// All of them in a time.
pub fn all(store: &ClickHouse, range: Range) -> Result<Vec<SampledFacts>, Error> {
    // Of those out of the time, the last of each series: whoever asks for another time learns which labels there are. Two writers may
    // have put in the same.
    let (since, until) = (range.since, range.until);
    let query = format!(
        "SELECT {FACTS} FROM (SELECT {FACTS} FROM sampled WHERE ended > {since} AND ended <= {until} \
         UNION ALL SELECT {FACTS} FROM sampled ORDER BY labels, ended DESC LIMIT 1 BY labels) LIMIT 1 BY id"
    );
    let Some(rows) = asked(store, &query)? else { return Ok(Vec::new()) };
    let mut rows = Reader::of(&rows);
    let mut all = Vec::new();
    while !rows.is_at_end() {
        all.push(facts(&mut rows).ok_or_else(|| store.damaged("a sampled profile"))?);
    }
    Ok(all)
}

fn facts(rows: &mut Reader) -> Option<SampledFacts> {
    let labels = Labels::of_json(&rows.text()?)?;
    let (started, ended, id) = (rows.i64()?, rows.i64()?, shown(rows.u64()?));
    let types = serde_json::from_str(&rows.text()?).ok()?;
    Some(SampledFacts { id, labels, started, ended, types, samples: rows.u64()?, bytes: rows.u64()? })
}

/// One of them.
pub fn one(store: &ClickHouse, id: &str) -> Result<Option<Sampled>, Error> {
    let Some(id) = number(id) else { return Ok(None) };
    let query = format!("SELECT {FACTS}, messages, checksum FROM sampled WHERE id = {id} LIMIT 1");
    let Some(rows) = asked(store, &query)? else { return Ok(None) };
    let mut rows = Reader::of(&rows);
    if rows.is_at_end() {
        return Ok(None);
    }
    let damaged = || store.damaged("a sampled profile");
    let facts = facts(&mut rows).ok_or_else(damaged)?;
    let (messages, checksum) = (rows.bytes().ok_or_else(damaged)?, rows.u32().ok_or_else(damaged)?);
    let is_whole = crc32fast::hash(messages) == checksum;
    if is_whole { Ok(Some(Sampled { facts, messages: messages.to_vec() })) } else { Err(damaged()) }
}

/// The rows of an answer; none of a store that has no such table yet.
pub fn asked(store: &ClickHouse, query: &str) -> Result<Option<Vec<u8>>, Error> {
    match store.client.ask(true, &[("default_format", "RowBinary")], query.as_bytes()) {
        Err(Failure::Said { reason: reason::UNKNOWN_TABLE, .. }) => Ok(None),
        rows => rows.map(Some).map_err(|failure| store.client.failed(failure)),
    }
}

/// Deletes some.
pub fn delete(store: &ClickHouse, ids: &[String]) -> Result<(), Error> {
    let ids: Vec<u64> = ids.iter().filter_map(|id| number(id)).collect();
    erase(store, "sampled", "id", &ids)
}
