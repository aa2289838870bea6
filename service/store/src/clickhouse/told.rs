//! What is told of frames beside their paths.

use rustc_hash::{FxHashMap, FxHashSet};

use super::binary::Reader;
use super::rows::Large;
use super::series::{AT_ONCE, Row, filed};
use super::store::ClickHouse;
use crate::kept::OfFunction;
use crate::{Error, function_sums};

/// How functions begin that are written as [`function_sums`] does: as a store before version 4 has them, they would be of no place and
/// yet one.
const BEGINNING: [u8; 2] = [0, 1];

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

/// What there is of functions, by their places in the store, and numbers that are too large for a column.
pub type Functions = (Vec<(u64, OfFunction<'static>)>, Vec<Large>);

impl Told {
    /// What there is of functions. `None` if it cannot be.
    pub fn functions(&self) -> Option<Functions> {
        let (places, functions, large) = match self.functions.strip_prefix(&BEGINNING) {
            Some(rest) => {
                let (places, packed, large): (Vec<u64>, &[u8], Vec<Large>) = postcard::from_bytes(rest).ok()?;
                let mut functions = Vec::with_capacity(places.len());
                function_sums::decode(packed, u32::MAX, |function| functions.push(function)).ok()?;
                (places, functions, large)
            }
            None => postcard::from_bytes(&self.functions).ok()?,
        };
        (places.len() == functions.len()).then(|| (places.into_iter().zip(functions).collect(), large))
    }
}

/// Those as bytes, of functions and their places in the store.
pub fn functions(mut functions: Vec<(u64, &OfFunction)>, hz: f64, large: &[Large]) -> Vec<u8> {
    functions.sort_unstable_by_key(|(place, _)| *place);
    let places: Vec<u64> = functions.iter().map(|(place, _)| *place).collect();
    let numbered = functions.iter().enumerate().map(|(at, (_, function))| (at as u32, *function));
    let all = (places, function_sums::encode_by(numbered, hz), large);
    [&BEGINNING[..], &postcard::to_stdvec(&all).unwrap_or_default()].concat() // into memory: it cannot fail
}

/// The checksum of what is told of a frame beside its paths.
pub fn checksum(columns: [&[u8]; 3]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    columns.iter().for_each(|column| hasher.update(column));
    hasher.finalize()
}
