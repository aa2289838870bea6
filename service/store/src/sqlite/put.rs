//! Puts frames in: each whole, and once.

use diytrace_profile::load::Summary;
use diytrace_profile::load::costs::Evidence;
use diytrace_profile::load::timed::Timing;
use diytrace_profile::merge::{Filed, FunctionTimes, Group, Key, Module, PartKey, PlaceId, Row};
use diytrace_profile::time::Time;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use super::file::Sqlite;
use super::{blob, names};
use crate::dictionary::{Dictionary, Path};
use crate::engine::Put;
use crate::{Error, Frame, codec};

/// Most series: more mean that a label has values without end.
const MOST_SERIES: u64 = 1 << 20;

/// What is told of a recording as a whole: the latest frame knows best.
#[derive(Serialize, Deserialize)]
pub struct Head {
    pub summary: Summary,
    pub modules: Vec<Module>,
    /// Without what is in frames.
    pub group: Option<Group>,
    /// What tells what its hooks cost.
    pub evidence: Option<Evidence>,
}

/// What a frame counted beside the sums of paths and functions.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub struct Totals {
    pub calls: u64,
    pub lost_calls: u64,
    pub folded_calls: u64,
    pub unwound: u64,
    pub left_out: u64,
    /// Of the part, if there is one.
    pub part_calls: Option<u64>,
}

/// What a frame has of a function.
#[derive(Serialize, Deserialize)]
pub struct OfFunction {
    pub place: PlaceId,
    pub times: Option<FunctionTimes>,
    pub filed: Option<Filed>,
}

/// Puts a frame in.
pub fn frame(store: &mut Sqlite, frame: &Frame) -> Result<Put, Error> {
    let name = store.path.display().to_string();
    let failed = |source| Error::Sqlite { store: name.clone(), source };
    let Sqlite { connection, dictionaries, .. } = store;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;

    let build = build_of(&transaction, frame).map_err(failed)?;
    let series = match series_of(&transaction, frame, build).map_err(failed)? {
        Some(series) => series,
        None => {
            let advice = "leave out labels whose values never come again, such as a time or a process's number";
            return Err(Error::Full { most: MOST_SERIES, what: "series", advice });
        }
    };
    let dictionary = dictionaries.entry(build).or_default();
    read_more(&transaction, build, dictionary)
        .map_err(failed)?
        .ok_or_else(|| Error::Damaged { store: name.clone(), what: "a table of paths".to_owned() })?;
    let added = add(&transaction, series, build, dictionary, frame);
    match added.and_then(|put| transaction.commit().map(|()| put)) {
        Ok(Some(put)) => Ok(put),
        Ok(None) => Err(Error::Overlap { session: frame.session.clone() }),
        Err(source) => {
            dictionaries.remove(&build); // what was numbered is not there
            Err(failed(source))
        }
    }
}

/// One more than the number of a recording's last frame.
pub fn next_sequence(store: &Sqlite, session: &str) -> Result<u64, Error> {
    let next =
        "SELECT coalesce(max(sequence) + 1, 0) FROM frame WHERE session = (SELECT id FROM session WHERE key = ?1)";
    let next = store.connection.prepare_cached(next).and_then(|mut next| next.query_row([session], |row| row.get(0)));
    next.map_err(|source| store.failed(source))
}

fn build_of(connection: &Connection, frame: &Frame) -> rusqlite::Result<i64> {
    let key = names::bytes_of(&frame.build());
    connection.execute("INSERT OR IGNORE INTO build (key) VALUES (?1)", [&key])?;
    connection.query_row("SELECT id FROM build WHERE key = ?1", [&key], |row| row.get(0))
}

/// The frame's series; `None` if there are too many to make it.
fn series_of(connection: &Connection, frame: &Frame, build: i64) -> rusqlite::Result<Option<i64>> {
    let PartKey { program, boot_id, timing } = &frame.part;
    let facts = params![frame.labels.to_json(), program, boot_id, timing_name(*timing), build];
    let known = "SELECT id FROM series WHERE labels = ?1 AND program = ?2 AND boot = ?3 AND timing = ?4 AND build = ?5";
    if let Some(id) = connection.prepare_cached(known)?.query_row(facts, |row| row.get(0)).optional()? {
        return Ok(Some(id));
    }
    let count: u64 = connection.query_row("SELECT count(*) FROM series", [], |row| row.get(0))?;
    if count >= MOST_SERIES {
        return Ok(None);
    }
    let new = "INSERT INTO series (labels, program, boot, timing, build) VALUES (?1, ?2, ?3, ?4, ?5)";
    connection.prepare_cached(new)?.execute(facts)?;
    Ok(Some(connection.last_insert_rowid()))
}

/// A timing's name in the store.
pub fn timing_name(timing: Timing) -> &'static str {
    match timing {
        Timing::All => "all",
        Timing::Off => "off",
    }
}

/// Reads what a dictionary has that was not read before. `None` if it cannot be.
pub fn read_more(connection: &Connection, build: i64, dictionary: &mut Dictionary) -> rusqlite::Result<Option<()>> {
    let known = (dictionary.places().len(), dictionary.paths().len());
    let places = "SELECT id, module, address FROM place WHERE build = ?1 AND id >= ?2 ORDER BY id";
    let mut places = connection.prepare_cached(places)?;
    let mut rows = places.query(params![build, known.0])?;
    while let Some(row) = rows.next()? {
        if row.get::<_, usize>(0)? != dictionary.places().len() {
            return Ok(None);
        }
        dictionary.push_place((row.get(1)?, row.get::<_, i64>(2)? as u64));
    }
    let paths = "SELECT id, parent, function, site, hook, flags, folded_into, target FROM path \
                 WHERE build = ?1 AND id >= ?2 ORDER BY id";
    let mut paths = connection.prepare_cached(paths)?;
    let mut rows = paths.query(params![build, known.1])?;
    while let Some(row) = rows.next()? {
        let key = Key {
            parent: row.get(1)?,
            function: row.get(2)?,
            site: row.get(3)?,
            hook: row.get(4)?,
            flags: row.get(5)?,
            folded_into: row.get(6)?,
        };
        let is_next = row.get::<_, usize>(0)? == dictionary.paths().len();
        if !dictionary.push_path(Path { key, target: row.get(7)? }) || !is_next {
            return Ok(None);
        }
    }
    Ok(Some(()))
}

/// `None` if others have a part of its time.
fn add(
    transaction: &Transaction,
    series: i64,
    build: i64,
    dictionary: &mut Dictionary,
    frame: &Frame,
) -> rusqlite::Result<Option<Put>> {
    let merged = &frame.merged;
    let modules = merged.modules.iter().map(|module| match module.key() {
        Some(key) => names::number_of(transaction, &key, module.path()),
        None => Ok(0),
    });
    let modules: Vec<i64> = modules.collect::<Result<_, _>>()?;
    let (places_before, paths_before) = (dictionary.places().len(), dictionary.paths().len());
    let numbers = dictionary.number(merged, &modules);
    write_more(transaction, build, dictionary, places_before, paths_before)?;

    let group = merged.groups.first();
    let part = group.and_then(|group| group.parts.first());
    let mut rows: Vec<(u32, Row)> = Vec::new();
    for (number, (path, at)) in (0u32..).zip(group.iter().flat_map(|group| &group.tree.paths).zip(&numbers.paths)) {
        let pairs = part.and_then(|part| part.pairs(number)).copied().unwrap_or_default();
        rows.push((*at, Row { counts: path.counts, pairs }));
    }
    rows.sort_unstable_by_key(|(path, _)| *path);
    let paths = blob::deflated(&codec::encode(&rows, |path| dictionary.parent(path)));

    let mut places: Vec<PlaceId> = Vec::new();
    places.extend(group.iter().flat_map(|group| group.functions.keys()));
    places.extend(part.iter().flat_map(|part| part.filed.keys()));
    places.sort_unstable();
    places.dedup();
    let of_function = |place: &PlaceId| OfFunction {
        place: numbers.places[*place as usize],
        times: group.and_then(|group| group.functions.get(place)).cloned(),
        filed: part.and_then(|part| part.filed.get(place)).copied(),
    };
    let functions = blob::write(&places.iter().map(of_function).collect::<Vec<_>>());
    let totals = group.map_or_else(Totals::default, |group| Totals {
        calls: group.calls,
        lost_calls: group.lost_calls,
        folded_calls: group.folded_calls,
        unwound: group.unwound,
        left_out: group.left_out,
        part_calls: part.map(|part| part.calls),
    });
    let own: Time = rows.iter().map(|(_, row)| row.counts.own).sum();
    let head = blob::write(&Head {
        summary: frame.summary.clone(),
        modules: merged.modules.clone(),
        group: group.map(|group| Group {
            tree: Default::default(),
            parts: Vec::new(),
            functions: Default::default(),
            ..group.clone()
        }),
        evidence: part.map(|part| (*part.evidence).clone()),
    });
    let totals_bytes = postcard::to_stdvec(&totals).unwrap_or_default(); // into memory: it cannot fail
    let known = Known::of(transaction, frame)?;
    if known.is_newer_than(frame, totals.calls) {
        return Ok(Some(Put::Known));
    }
    if known.overlap(frame) {
        return Ok(None);
    }
    let session = put_session(transaction, series, frame, &head)?;
    let same = "SELECT totals = ?3 AND path_sums = ?4 AND function_sums = ?5 FROM frame, frame_data \
                WHERE frame = id AND session = ?1 AND sequence = ?2";
    let same: Option<bool> = transaction
        .prepare_cached(same)?
        .query_row(params![session, frame.sequence, totals_bytes, paths, functions], |row| row.get(0))
        .optional()?;
    if same == Some(true) && known.later.is_none() {
        let ended = "UPDATE frame SET ended = ?3 WHERE session = ?1 AND sequence = ?2";
        transaction.prepare_cached(ended)?.execute(params![session, frame.sequence, frame.end])?;
        return Ok(Some(Put::Known));
    }
    let replaced = "session = ?1 AND (sequence = ?2 OR ?3 AND sequence > ?2)";
    let which = params![session, frame.sequence, frame.holds_later];
    let data = format!("DELETE FROM frame_data WHERE frame IN (SELECT id FROM frame WHERE {replaced})");
    transaction.prepare_cached(&data)?.execute(which)?;
    transaction.prepare_cached(&format!("DELETE FROM frame WHERE {replaced}"))?.execute(which)?;
    let outcome = if same.is_some() || known.later.is_some() { Put::Grown } else { Put::Added };
    let (number, start, end) = (frame.sequence, frame.start, frame.end);
    insert(
        transaction,
        &Slice { session, number, start, end },
        &totals,
        own,
        rows.len(),
        [&totals_bytes, &paths, &functions],
    )?;
    Ok(Some(outcome))
}

/// Which frame of which recording, of what time.
pub struct Slice {
    pub session: i64,
    pub number: u64,
    pub start: i64,
    pub end: i64,
}

/// Writes a frame's row, and its sums.
pub fn insert(
    connection: &Connection,
    slice: &Slice,
    totals: &Totals,
    own: Time,
    paths: usize,
    columns: [&[u8]; 3],
) -> rusqlite::Result<()> {
    let bytes: usize = columns.iter().map(|column| column.len()).sum();
    connection
        .prepare_cached(
            "INSERT INTO frame (session, sequence, started, ended, calls, raw_ns, paths, bytes) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            slice.session,
            slice.number,
            slice.start,
            slice.end,
            i64::try_from(totals.calls).unwrap_or(i64::MAX),
            own.ns() as i64,
            paths,
            bytes
        ])?;
    let id = connection.last_insert_rowid();
    let [totals, paths, functions] = columns;
    let checksum = checksum(columns);
    let data = "INSERT INTO frame_data VALUES (?1, ?2, ?3, ?4, ?5)";
    connection.prepare_cached(data)?.execute(params![id, totals, paths, functions, checksum])?;
    Ok(())
}

/// What there is of a frame's recording.
struct Known {
    /// When the frame of this number ended.
    ended: Option<i64>,
    /// If there are later ones: the calls in this and those, and when the last ended.
    later: Option<(u64, i64)>,
    /// When the last before it ended.
    before: Option<i64>,
}

impl Known {
    fn of(connection: &Connection, frame: &Frame) -> rusqlite::Result<Self> {
        let facts = "SELECT max(CASE WHEN sequence = ?2 THEN ended END), \
                     CASE WHEN max(sequence) > ?2 THEN sum(CASE WHEN sequence >= ?2 THEN calls END) END, \
                     max(ended), max(CASE WHEN sequence < ?2 THEN ended END) \
                     FROM frame WHERE session = (SELECT id FROM session WHERE key = ?1)";
        connection.prepare_cached(facts)?.query_row(params![frame.session, frame.sequence], |row| {
            let later = row.get::<_, Option<u64>>(1)?.zip(row.get::<_, Option<i64>>(2)?);
            Ok(Self { ended: row.get(0)?, later, before: row.get(3)? })
        })
    }

    /// Whether the frame tells nothing that is not there: it was sent before what is.
    fn is_newer_than(&self, frame: &Frame, calls: u64) -> bool {
        match self.later {
            Some((there, ended)) => !frame.holds_later || (calls, frame.end) <= (there, ended),
            None => self.ended.is_some_and(|ended| ended > frame.end),
        }
    }

    /// Whether a part of its time is in frames before it.
    fn overlap(&self, frame: &Frame) -> bool {
        self.before.is_some_and(|before| before > frame.start)
    }
}

/// The checksum of a frame's sums.
pub fn checksum(columns: [&[u8]; 3]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    columns.iter().for_each(|column| hasher.update(column));
    hasher.finalize()
}

/// The number of the frame's session, of which it now is told what this frame knows.
fn put_session(connection: &Connection, series: i64, frame: &Frame, head: &[u8]) -> rusqlite::Result<i64> {
    let put = "INSERT INTO session (key, series, head) VALUES (?1, ?2, ?3) \
               ON CONFLICT (key) DO UPDATE SET series = ?2, head = ?3 RETURNING id";
    connection.prepare_cached(put)?.query_row(params![frame.session, series, head], |row| row.get(0))
}

fn write_more(
    connection: &Connection,
    build: i64,
    dictionary: &Dictionary,
    places_before: usize,
    paths_before: usize,
) -> rusqlite::Result<()> {
    let mut place = connection.prepare_cached("INSERT INTO place VALUES (?1, ?2, ?3, ?4)")?;
    for (id, (module, address)) in dictionary.places().iter().enumerate().skip(places_before) {
        place.execute(params![build, id, module, *address as i64])?;
    }
    let mut insert = connection.prepare_cached("INSERT INTO path VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?;
    for (id, Path { key, target }) in dictionary.paths().iter().enumerate().skip(paths_before) {
        let Key { parent, function, site, hook, flags, folded_into } = key;
        insert.execute(params![build, id, parent, function, site, hook, flags, folded_into, target])?;
    }
    Ok(())
}
