//! What there is of recordings before more of them is put in.

use rustc_hash::FxHashMap;

use super::binary::Reader;
use super::literal::quoted;
use super::schema;
use super::store::ClickHouse;
use crate::kept::Known;
use crate::{Error, Frame};

/// What there is of a frame's recording.
#[derive(Default)]
pub struct There {
    pub known: Known,
    /// Of the frame of this number.
    pub id: Option<u64>,
    /// The highest version of a frame, whether it counts or not.
    pub version: u64,
    pub arrived: Option<i64>,
    /// Of the frame of this number.
    pub sums: Option<u64>,
    pub told: Option<u64>,
    pub series: Option<u64>,
    pub covers: i64,
    pub holds: u64,
    /// The highest number of a frame.
    pub highest: u64,
}

/// What there is of the recordings of frames, each of another; of those that are not among it there is nothing.
pub fn all(store: &ClickHouse, frames: &[Frame]) -> Result<FxHashMap<String, There>, Error> {
    let sessions = frames.iter().map(|frame| quoted(&frame.session)).collect::<Vec<_>>().join(",");
    let numbers = frames.iter().map(|frame| frame.sequence.to_string()).collect::<Vec<_>>().join(",");
    let query = format!(
        "SELECT session, max(highest_version), min(came), toUInt64(countIf(sequence = n)), maxIf(ended, sequence = n), \
         anyIf(sums, sequence = n), anyIf(told, sequence = n), maxIf(covers, sequence = n), maxIf(holds, sequence = n), \
         max(sequence), anyIf(id, sequence = n), toUInt64(countIf(sequence > n)), sumIf(calls, sequence >= n), max(greatest(ended, covers)), \
         toUInt64(countIf(sequence < n)), maxIf(greatest(ended, covers), sequence < n), anyIf(own_series, sequence = n) \
         FROM (SELECT *, transform(session, [{sessions}], [{numbers}]::Array(UInt64), 0::UInt64) AS n FROM {}) GROUP BY session",
        schema::frames(&format!("session IN ({sessions})"))
    );
    let rows = store.client.rows(&query, &[])?;
    let mut rows = Reader::of(&rows);
    let mut all = FxHashMap::default();
    while !rows.is_at_end() {
        let (session, there) = read(&mut rows).ok_or_else(|| store.damaged("its frames"))?;
        all.insert(session, there);
    }
    Ok(all)
}

fn read(row: &mut Reader) -> Option<(String, There)> {
    let (session, version, came) = (row.text()?, row.u64()?, row.i64()?);
    let (same, ended, sums, told, covers) = (row.u64()?, row.i64()?, row.u64()?, row.u64()?, row.i64()?);
    let (holds, highest, id) = (row.u64()?, row.u64()?, row.u64()?);
    let (later, calls, last) = (row.u64()?, row.u64()?, row.i64()?);
    let (earlier, before, series) = (row.u64()?, row.i64()?, row.u64()?);
    let known = Known {
        ended: (same > 0).then_some(ended),
        later: (later > 0).then_some((calls, last)),
        before: (earlier > 0).then_some(before),
        highest: Some(highest),
    };
    let of_same = |number: u64| (same > 0).then_some(number);
    let [id, sums, told, series] = [id, sums, told, series].map(of_same);
    Some((session, There { known, id, version, arrived: Some(came), sums, told, series, covers, holds, highest }))
}

/// Of each of these recordings one more than the number of its last frame.
pub fn next_sequences(store: &ClickHouse, sessions: &[&str]) -> Result<Vec<u64>, Error> {
    let chosen = sessions.iter().map(|session| quoted(session)).collect::<Vec<_>>().join(",");
    let frames = schema::frames(&format!("session IN ({chosen})"));
    let rows = store.client.rows(&format!("SELECT session, max(sequence) + 1 FROM {frames} GROUP BY session"), &[])?;
    let mut rows = Reader::of(&rows);
    let mut next = FxHashMap::default();
    while !rows.is_at_end() {
        let (session, number) = rows.text().zip(rows.u64()).ok_or_else(|| store.damaged("its frames"))?;
        next.insert(session, number);
    }
    Ok(sessions.iter().map(|session| next.get(*session).copied().unwrap_or(0)).collect())
}
