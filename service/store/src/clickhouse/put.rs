//! Puts frames in: each whole, and once.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use diytrace_profile::merge::{PathId, PlaceId};

use super::binary::{Reader, Writer};
use super::dictionary::{self, Numbers};
use super::id::Id;
use super::schema;
use super::store::{ClickHouse, TRUST};
use crate::dictionary as local;
use crate::engine::Put;
use crate::kept::{Head, Known, MOST_SERIES, Sums, TOO_MANY_SERIES, bytes_of, own, timing_name};
use crate::moment::now_ns;
use crate::{Error, Frame, blob, codec};

/// Puts a frame in.
pub fn frame(store: &mut ClickHouse, frame: &Frame) -> Result<Put, Error> {
    let build = Id::of("build").bytes(&bytes_of(&frame.build())).finish();
    let series = series_of(store, frame, build)?;
    let there = There::of(store, frame)?;
    let merged = &frame.merged;
    let calls = merged.groups.first().map_or(0, |group| group.calls);
    if there.known.is_newer_than(frame, calls) {
        return Ok(Put::Known);
    }
    if there.known.overlap(frame) {
        return Err(Error::Overlap { session: frame.session.clone() });
    }
    let (numbers, news) = match store.known.get_mut(&series) {
        Some(known) => dictionary::number(merged, build, known),
        None => return Err(store.damaged("what was read of its paths")), // it was made above
    };
    // Frames keep the order of their paths and places; their numbers are beside them.
    let paths = merged.groups.first().map_or(0, |group| group.tree.paths.len());
    let own_numbers =
        local::Numbers { places: (0..merged.places.len() as PlaceId).collect(), paths: (0..paths as PathId).collect() };
    let sums = Sums::of(frame, &own_numbers);
    let data = Data::of(&numbers, &sums, bytes_of_head(&Head::of(frame)), |path| {
        merged.groups.first().and_then(|group| group.tree.paths[path as usize].key.parent)
    });
    let told = Id::of("told").bytes(&data.head).number(series).number(frame.end as u64).finish();
    let is_same = there.sums == Some(data.digest) && there.known.later.is_none();
    if is_same && there.told == Some(told) {
        return Ok(Put::Known);
    }
    // What this frame replaces may have held others.
    let later = there.known.later.map_or(0, |(_, ended)| ended);
    let (covers, holds) = match frame.holds_later {
        true => (frame.end.max(later).max(there.covers), there.holds.max(there.highest)),
        false => (there.covers, there.holds),
    };
    let slice = Slice {
        session: &frame.session,
        sequence: frame.sequence,
        series,
        version: now_ns().max(there.version.saturating_add(1)),
        arrived: there.arrived.unwrap_or_else(|| now_ns() as i64),
        started: frame.start,
        ended: frame.end,
        covers,
        holds,
        told,
    };
    let put = news.put(store).and_then(|()| write(store, &slice, &data));
    if let Err(error) = put {
        store.known.remove(&series); // what was numbered may not be there
        return Err(error);
    }
    Ok(match () {
        () if is_same => Put::Known,
        () if there.sums.is_some() || there.known.later.is_some() => Put::Grown,
        () => Put::Added,
    })
}

/// One more than the number of a recording's last frame.
pub fn next_sequence(store: &ClickHouse, session: &str) -> Result<u64, Error> {
    let frames = schema::frames("session = {session:String}");
    let query = format!("SELECT if(count() = 0, 0, max(sequence) + 1)::UInt64 FROM {frames}");
    let rows = store.client.rows(&query, &[("session", session)])?;
    Reader::of(&rows).u64().ok_or_else(|| store.damaged("its frames"))
}

/// The frame's series. It is said to be in use before anything refers to it, and now and then after that: so whoever sweeps
/// leaves it and its dictionary alone, even if it has no frame yet.
fn series_of(store: &mut ClickHouse, frame: &Frame, build: u64) -> Result<u64, Error> {
    let (labels, part) = (frame.labels.to_json(), &frame.part);
    let timing = timing_name(part.timing);
    let id = Id::of("series").bytes(labels.as_bytes()).bytes(part.program.as_bytes()).bytes(&part.boot_id);
    let id = id.bytes(timing.as_bytes()).number(build).finish();
    if store.known.get(&id).is_some_and(|known| known.since.elapsed() < TRUST) {
        return Ok(id);
    }
    store.known.remove(&id);
    let count = format!("SELECT toUInt64(uniqExact(id)), toUInt64(countIf(id = {id})) FROM series");
    let rows = store.client.rows(&count, &[])?;
    let mut counts = Reader::of(&rows);
    let (count, known) = counts.u64().zip(counts.u64()).ok_or_else(|| store.damaged("its series"))?;
    if known == 0 && count >= MOST_SERIES {
        return Err(Error::Full { most: MOST_SERIES, what: "series", advice: TOO_MANY_SERIES });
    }
    store.client.insert("in_use (series)", &id.to_le_bytes())?;
    if known == 0 {
        let mut row = Writer::default();
        row.u64(id);
        row.text(labels.as_bytes());
        row.text(part.program.as_bytes());
        row.text(&part.boot_id);
        row.text(timing.as_bytes());
        row.u64(build);
        store.client.insert("series (id, labels, program, boot, timing, build)", &row.bytes)?;
    }
    let known = dictionary::known(store, build)?;
    store.known.insert(id, known);
    Ok(id)
}

/// What there is of a frame's recording.
struct There {
    known: Known,
    /// The highest version of a frame, whether it counts or not.
    version: u64,
    arrived: Option<i64>,
    /// Of the frame of this number.
    sums: Option<u64>,
    told: Option<u64>,
    covers: i64,
    holds: u64,
    /// The highest number of a frame.
    highest: u64,
}

impl There {
    fn of(store: &ClickHouse, frame: &Frame) -> Result<Self, Error> {
        let n = frame.sequence;
        let query = format!(
            "SELECT (SELECT max(version) FROM frame WHERE session = {{session:String}})::UInt64, toUInt64(count()), \
             min(came), toUInt64(countIf(sequence = {n})), maxIf(ended, sequence = {n}), anyIf(sums, sequence = {n}), \
             anyIf(told, sequence = {n}), maxIf(covers, sequence = {n}), maxIf(holds, sequence = {n}), max(sequence), toUInt64(countIf(sequence > {n})), \
             sumIf(calls, sequence >= {n}), max(greatest(ended, covers)), toUInt64(countIf(sequence < {n})), \
             maxIf(greatest(ended, covers), sequence < {n}) FROM {}",
            schema::frames("session = {session:String}")
        );
        let rows = store.client.rows(&query, &[("session", &frame.session)])?;
        Self::read(&mut Reader::of(&rows)).ok_or_else(|| store.damaged("its frames"))
    }

    fn read(row: &mut Reader) -> Option<Self> {
        let (version, all, came) = (row.u64()?, row.u64()?, row.i64()?);
        let (same, ended, sums, told, covers) = (row.u64()?, row.i64()?, row.u64()?, row.u64()?, row.i64()?);
        let (holds, highest) = (row.u64()?, row.u64()?);
        let (later, calls, last) = (row.u64()?, row.u64()?, row.i64()?);
        let (earlier, before) = (row.u64()?, row.i64()?);
        let known = Known {
            ended: (same > 0).then_some(ended),
            later: (later > 0).then_some((calls, last)),
            before: (earlier > 0).then_some(before),
        };
        let of_same = |number: u64| (same > 0).then_some(number);
        let arrived = (all > 0).then_some(came);
        Some(Self { known, version, arrived, sums: of_same(sums), told: of_same(told), covers, holds, highest })
    }
}

/// Which frame of which recording, of what time.
pub struct Slice<'a> {
    pub session: &'a str,
    pub sequence: u64,
    pub series: u64,
    pub version: u64,
    pub arrived: i64,
    pub started: i64,
    pub ended: i64,
    pub covers: i64,
    pub holds: u64,
    pub told: u64,
}

/// What is kept of a frame, ready to be written.
pub struct Data {
    head: Vec<u8>,
    totals: Vec<u8>,
    functions: Vec<u8>,
    /// Paths and their numbers.
    rows: Vec<(u64, codec::Numbers)>,
    calls: u64,
    raw_ns: i64,
    bytes: u64,
    digest: u64,
}

/// What is told of a recording, as bytes. ClickHouse deflates them together with those of other frames, which are alike.
pub fn bytes_of_head(head: &Head) -> Vec<u8> {
    postcard::to_stdvec(head).unwrap_or_default() // into memory: it cannot fail
}

impl Data {
    /// Of sums whose paths and places have these numbers in the store.
    pub fn of(numbers: &Numbers, sums: &Sums, head: Vec<u8>, parent: impl Fn(u32) -> Option<u32>) -> Self {
        let Sums { totals, rows, functions } = sums;
        let totals_bytes = postcard::to_stdvec(totals).unwrap_or_default(); // into memory, too
        let places: Vec<u64> = functions.iter().map(|function| numbers.places[function.place as usize]).collect();
        let mut paths: Vec<(u64, codec::Numbers)> =
            rows.iter().map(|(path, row)| (numbers.paths[*path as usize], codec::numbers(row))).collect();
        paths.sort_unstable_by_key(|(path, _)| *path);
        let functions = postcard::to_stdvec(&(places, functions)).unwrap_or_default();
        let mut digest = Id::of("sums").bytes(&totals_bytes).bytes(&functions);
        for (path, numbers) in &paths {
            digest = numbers.iter().fold(digest.number(*path), |digest, number| digest.bytes(&number.to_le_bytes()));
        }
        // As in a file: what ClickHouse makes of so many rows depends on their neighbours.
        let packed = blob::deflated(&codec::encode(rows, parent)).len() + blob::deflated(&functions).len();
        Self {
            head,
            bytes: (packed + totals_bytes.len()) as u64,
            totals: totals_bytes,
            functions,
            calls: totals.calls,
            raw_ns: own(rows).ns() as i64,
            rows: paths,
            digest: digest.finish(),
        }
    }
}

/// Writes a frame: the row that makes it count comes last.
pub fn write(store: &ClickHouse, slice: &Slice, data: &Data) -> Result<(), Error> {
    let Slice { session, sequence, series, version, arrived, started, ended, covers, holds, told } = *slice;
    // Of nobody else, whoever writes the same: the rows of two would be added up.
    let id = RandomState::new().hash_one((session, sequence, version, std::process::id())).max(1);
    let key = |row: &mut Writer| {
        row.u64(series);
        row.i64(ended);
        row.u64(id);
    };
    let mut row = Writer::default();
    key(&mut row);
    [&data.head, &data.totals, &data.functions].into_iter().for_each(|bytes| row.text(bytes));
    row.u32(checksum([&data.head, &data.totals, &data.functions]));
    store.client.insert("frame_data (series, ended, frame, head, totals, functions, checksum)", &row.bytes)?;

    let columns = schema::NUMBERS.join(", ");
    let into = format!("path_sum (series, ended, frame, path, {columns})");
    // Of many paths in parts, so that they need not be in memory as a whole once more.
    for part in data.rows.chunks(1 << 16) {
        let mut rows = Writer::default();
        for (path, numbers) in part {
            key(&mut rows);
            rows.u64(*path);
            numbers.iter().for_each(|number| rows.i128(*number));
        }
        store.client.insert(&into, &rows.bytes)?;
    }

    let mut row = Writer::default();
    row.text(session.as_bytes());
    [sequence, version, id, series].into_iter().for_each(|number| row.u64(number));
    [arrived, started, ended, covers].into_iter().for_each(|moment| row.i64(moment));
    [holds, data.calls].into_iter().for_each(|number| row.u64(number));
    row.i64(data.raw_ns);
    [data.rows.len() as u64, data.bytes, data.digest, told].into_iter().for_each(|number| row.u64(number));
    let columns = "session, sequence, version, id, series, arrived, started, ended, covers, holds, calls, raw_ns, paths, bytes, \
                   sums, told";
    store.client.insert(&format!("frame ({columns})"), &row.bytes)
}

/// The checksum of what is told of a frame beside its paths.
pub fn checksum(columns: [&[u8]; 3]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    columns.iter().for_each(|column| hasher.update(column));
    hasher.finalize()
}
