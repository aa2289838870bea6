//! What is told of frames beside their paths.

use rustc_hash::{FxHashMap, FxHashSet};

use super::binary::Reader;
use super::series::{AT_ONCE, Row, filed};
use super::store::ClickHouse;
use crate::Error;

/// What is told of a frame beside its paths.
pub struct Told {
    /// Of the newest frame of a recording, which knows best; of others it is empty.
    pub head: Vec<u8>,
    pub totals: Vec<u8>,
    pub functions: Vec<u8>,
}

/// Reads it, by frame. Those that are not there somebody has thrown away.
pub fn read<'a>(
    store: &ClickHouse,
    rows: impl Iterator<Item = &'a Row> + Clone,
) -> Result<FxHashMap<u64, Told>, Error> {
    let newest: FxHashSet<u64> = rows.clone().map(|row| row.newest).collect();
    let rows: Vec<&Row> = rows.collect();
    let mut told = FxHashMap::default();
    // Each may name another that is newer.
    for rows in rows.chunks(AT_ONCE / 2) {
        let ids: FxHashSet<u64> = rows.iter().flat_map(|row| [row.id, row.newest]).collect();
        let condition = filed(rows.iter().copied(), ids);
        let query = format!("SELECT frame, head, totals, functions, checksum FROM frame_data WHERE {condition}");
        let bytes = store.client.rows(&query, &[])?;
        let mut frames = Reader::of(&bytes);
        while !frames.is_at_end() {
            let (id, frame) = one(&mut frames, &newest).ok_or_else(|| store.damaged("a frame"))?;
            told.insert(id, frame);
        }
    }
    Ok(told)
}

fn one(row: &mut Reader, newest: &FxHashSet<u64>) -> Option<(u64, Told)> {
    let id = row.u64()?;
    let [head, totals, functions] = [row.bytes()?, row.bytes()?, row.bytes()?];
    let is_sound = row.u32()? == checksum([head, totals, functions]);
    let head = if newest.contains(&id) { head.to_vec() } else { Vec::new() };
    is_sound.then(|| (id, Told { head, totals: totals.to_vec(), functions: functions.to_vec() }))
}

/// The checksum of what is told of a frame beside its paths.
pub fn checksum(columns: [&[u8]; 3]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    columns.iter().for_each(|column| hasher.update(column));
    hasher.finalize()
}
