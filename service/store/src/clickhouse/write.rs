//! Writes frames: what is told of them, their paths, and last the rows that make them count.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use super::binary::Writer;
use super::dictionary::Numbers;
use super::rows::{Gathered, Rows};
use super::schema;
use super::store::ClickHouse;
use super::told::{self, checksum};
use crate::Error;
use crate::id::Id;
use crate::kept::{Head, Sums, own};

/// How many rows are put into the table of paths at once: few large parts are less to merge, and must be in memory.
pub const AT_ONCE: usize = 3 << 18;

/// Which frame of which recording, of what time.
pub struct Slice {
    pub session: String,
    pub sequence: u64,
    pub series: u64,
    pub version: u64,
    pub arrived: i64,
    pub started: i64,
    pub ended: i64,
    pub covers: i64,
    pub holds: u64,
    pub told: u64,
    /// The frame of the same number that is there.
    pub replaces: Option<u64>,
}

/// What is kept of a frame, ready to be written.
pub struct Data {
    pub head: Vec<u8>,
    totals: Vec<u8>,
    functions: Vec<u8>,
    rows: Rows,
    calls: u64,
    raw_ns: i64,
    pub digest: u64,
}

/// What is told of a recording, as bytes. ClickHouse deflates them together with those of other frames, which are alike.
pub fn bytes_of_head(head: &Head) -> Vec<u8> {
    postcard::to_stdvec(head).unwrap_or_default() // into memory: it cannot fail
}

impl Data {
    /// Of sums whose paths and places have these numbers in the store.
    pub fn of(numbers: &Numbers, sums: &Sums, head: Vec<u8>, parent: impl Fn(u32) -> Option<u32>) -> Self {
        let Sums { hz, totals, rows, functions } = sums;
        let (calls, raw_ns) = (totals.calls, own(rows).ns() as i64);
        let totals = postcard::to_stdvec(totals).unwrap_or_default(); // into memory, too
        let functions = functions.iter().map(|function| (numbers.places[function.place as usize], function)).collect();
        let rows = Rows::of(rows, &numbers.paths, parent);
        let functions = told::functions(functions, *hz, &rows.large);
        let digest = Id::of("sums").bytes(&totals).bytes(&functions).number(rows.digest()).finish();
        Self { head, totals, functions, rows, calls, raw_ns, digest }
    }
}

/// Writes frames: the rows that make them count come last, all at once.
pub fn write(store: &ClickHouse, frames: &[(Slice, Data)]) -> Result<(), Error> {
    let (mut told, mut replaced, mut counting) = (Writer::default(), Writer::default(), Writer::default());
    let mut ids = Vec::with_capacity(frames.len());
    let random = RandomState::new();
    for (slice, data) in frames {
        let Slice { session, sequence, series, version, arrived, started, ended, covers, holds, .. } = slice;
        // Of nobody else, whoever writes the same: the rows of two would be added up.
        let id = random.hash_one((session, sequence, version, std::process::id())).max(1);
        ids.push(id);
        told.u64(*series);
        told.i64(*ended);
        told.u64(id);
        let columns = [&data.head[..], &data.totals, &data.functions];
        columns.into_iter().for_each(|bytes| told.text(bytes));
        told.u32(checksum(columns));
        slice.replaces.iter().for_each(|id| replaced.u64(*id));

        let row = &mut counting;
        row.text(session.as_bytes());
        [*sequence, *version, id, *series].into_iter().for_each(|number| row.u64(number));
        [arrived, started, ended, covers].into_iter().for_each(|moment| row.i64(*moment));
        [*holds, data.calls].into_iter().for_each(|number| row.u64(number));
        row.i64(data.raw_ns);
        row.u64(data.rows.len() as u64);
        row.u32(data.rows.columns());
        let bytes = data.rows.bytes + (data.totals.len() + data.functions.len()) as u64;
        [data.rows.largest, bytes, data.digest, slice.told].into_iter().for_each(|number| row.u64(number));
    }
    store.client.insert("frame_data (series, ended, frame, head, totals, functions, checksum)", &told.bytes)?;
    let mut gathered = Gathered::default();
    // As the table has them, so that ClickHouse need not sort them.
    let mut sorted: Vec<(&(Slice, Data), &u64)> = frames.iter().zip(&ids).collect();
    sorted.sort_unstable_by_key(|((slice, _), id)| (slice.series, slice.ended, **id));
    for ((slice, data), id) in sorted {
        gathered.add(slice.series, slice.ended, *id, &data.rows);
        if gathered.len() >= AT_ONCE {
            store.client.insert_block("path_sum", &gathered.take())?;
        }
    }
    if gathered.len() > 0 {
        store.client.insert_block("path_sum", &gathered.take())?;
    }
    if !replaced.bytes.is_empty() {
        schema::make_replaced(&store.client)?;
        store.client.insert("replaced (frame)", &replaced.bytes)?;
    }
    let columns = "session, sequence, version, id, series, arrived, started, ended, covers, holds, calls, raw_ns, paths, columns, \
                   largest, bytes, sums, told";
    store.client.insert(&format!("frame ({columns})"), &counting.bytes)
}
