//! The rows of a frame: each whole, and once.

use diytrace_profile::merge::{Key, PartKey};
use diytrace_profile::module::ModuleKey;
use diytrace_profile::time::Time;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::dictionaries::Dictionaries;
use crate::blob::{LASTING, PASSING};
use crate::dictionary::{Dictionary, Path};
use crate::engine::Put;
use crate::kept::{Head, Known, MOST_SERIES, Sums, TOO_MANY_SERIES, Totals, build_id_of, bytes_of, own, timing_name};
use crate::{Error, Frame, Labels, blob, codec, function_sums};

/// Puts a frame in.
pub fn frame(
    transaction: &Transaction,
    dictionaries: &mut Dictionaries,
    name: &str,
    frame: &Frame,
) -> Result<Put, Error> {
    let failed = |source| Error::Sqlite { store: name.to_owned(), source };
    let build = build_of(transaction, &frame.build()).map_err(failed)?;
    let series = match series_of(transaction, &frame.labels, &frame.part, build).map_err(failed)? {
        Some(series) => series,
        None => {
            return Err(Error::Full { most: MOST_SERIES, what: "series", advice: TOO_MANY_SERIES });
        }
    };
    let dictionary = dictionaries.of(build);
    read_more(transaction, build, dictionary)
        .map_err(failed)?
        .ok_or_else(|| Error::Damaged { store: name.to_owned(), what: "a table of paths".to_owned() })?;
    let added = add(transaction, series, build, dictionary, frame).map_err(failed)?;
    added.ok_or_else(|| Error::Overlap { session: frame.session.clone() })
}

/// One more than the number of a recording's last frame.
pub fn next_sequence(connection: &Connection, session: &str) -> rusqlite::Result<u64> {
    let next =
        "SELECT coalesce(max(sequence) + 1, 0) FROM frame WHERE session = (SELECT id FROM session WHERE key = ?1)";
    connection.prepare_cached(next)?.query_row([session], |row| row.get(0))
}

/// A recording's number, if it is there.
pub fn session_number(connection: &Connection, session: &str) -> rusqlite::Result<Option<i64>> {
    let number = "SELECT id FROM session WHERE key = ?1";
    connection.prepare_cached(number)?.query_row([session], |row| row.get(0)).optional()
}

/// A module's number; it gets one if it has none.
pub fn number_of(connection: &Connection, key: &ModuleKey, path: &str) -> rusqlite::Result<i64> {
    let bytes = bytes_of(key);
    let known = "SELECT id FROM module WHERE key = ?1";
    if let Some(number) = connection.prepare_cached(known)?.query_row([&bytes], |row| row.get(0)).optional()? {
        return Ok(number);
    }
    let build_id = build_id_of(key);
    connection
        .prepare_cached("INSERT INTO module (key, build_id, path) VALUES (?1, ?2, ?3)")?
        .execute(params![bytes, build_id, path])?;
    Ok(connection.last_insert_rowid())
}

/// A build's number; it gets one if it has none.
pub fn build_of(connection: &Connection, build: &ModuleKey) -> rusqlite::Result<i64> {
    let key = bytes_of(build);
    let known = "SELECT id FROM build WHERE key = ?1";
    if let Some(id) = connection.prepare_cached(known)?.query_row([&key], |row| row.get(0)).optional()? {
        return Ok(id);
    }
    connection.execute("INSERT INTO build (key) VALUES (?1)", [&key])?;
    Ok(connection.last_insert_rowid())
}

/// A frame's series; `None` if there are too many to make it.
pub fn series_of(
    connection: &Connection,
    labels: &Labels,
    part: &PartKey,
    build: i64,
) -> rusqlite::Result<Option<i64>> {
    let PartKey { program, boot_id, timing } = part;
    let facts = params![labels.to_json(), program, boot_id, timing_name(*timing), build];
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
        Some(key) => number_of(transaction, &key, module.path()),
        None => Ok(0),
    });
    let modules: Vec<i64> = modules.collect::<Result<_, _>>()?;
    let (places_before, paths_before) = (dictionary.places().len(), dictionary.paths().len());
    let numbers = dictionary.number(merged, &modules);
    write_more(transaction, build, dictionary, places_before, paths_before)?;

    let Sums { hz, totals, rows, functions } = &Sums::of(frame, &numbers);
    let own = own(rows);
    let level = if frame.holds_later { LASTING } else { PASSING };
    let paths = blob::deflated(&codec::encode(rows, |path| dictionary.parent(path)), level);
    let functions = function_sums::column(functions, *hz, level);
    let head = blob::write(&Head::of(frame), level);
    let totals_bytes = postcard::to_stdvec(totals).unwrap_or_default(); // into memory: it cannot fail
    let known = known(transaction, frame)?;
    if known.is_newer_than(frame, totals.calls) {
        return Ok(Some(Put::Known));
    }
    if known.needs_all(frame) {
        return Ok(None);
    }
    let (session, is_relabelled) = put_session(transaction, series, frame, &head)?;
    let same = "SELECT totals = ?3 AND path_sums = ?4 AND function_sums = ?5 FROM frame, frame_data \
                WHERE frame = id AND session = ?1 AND sequence = ?2";
    let same: Option<bool> = transaction
        .prepare_cached(same)?
        .query_row(params![session, frame.sequence, totals_bytes, paths, functions], |row| row.get(0))
        .optional()?;
    if same == Some(true) && known.later.is_none() {
        let ended = "UPDATE frame SET ended = ?3 WHERE session = ?1 AND sequence = ?2";
        transaction.prepare_cached(ended)?.execute(params![session, frame.sequence, frame.end])?;
        return Ok(Some(if is_relabelled { Put::Relabelled } else { Put::Known }));
    }
    let outcome = if same.is_some() || known.later.is_some() { Put::Grown } else { Put::Added };
    if outcome == Put::Grown {
        let replaced = "session = ?1 AND (sequence = ?2 OR ?3 AND sequence > ?2)";
        let which = params![session, frame.sequence, frame.holds_later];
        let data = format!("DELETE FROM frame_data WHERE frame IN (SELECT id FROM frame WHERE {replaced})");
        transaction.prepare_cached(&data)?.execute(which)?;
        transaction.prepare_cached(&format!("DELETE FROM frame WHERE {replaced}"))?.execute(which)?;
    }
    let (number, start, end) = (frame.sequence, frame.start, frame.end);
    insert(
        transaction,
        &Slice { session, number, start, end },
        totals,
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

/// What there is of a frame's recording. Slices end in the order of their numbers, so three of them are looked at, however many
/// there are.
fn known(connection: &Connection, frame: &Frame) -> rusqlite::Result<Known> {
    let Some(session) = session_number(connection, &frame.session)? else { return Ok(Known::default()) };
    let which = params![session, frame.sequence];
    let ended = |query: &str| {
        let mut query = connection.prepare_cached(query)?;
        query.query_row(which, |row| row.get::<_, i64>(0)).optional()
    };
    let later =
        "SELECT sum(calls), max(ended) FROM frame WHERE session = ?1 AND sequence >= ?2 HAVING max(sequence) > ?2";
    let later = connection.prepare_cached(later)?.query_row(which, |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let highest = "SELECT max(sequence) FROM frame WHERE session = ?1";
    let highest = connection.prepare_cached(highest)?.query_row([session], |row| row.get(0))?;
    Ok(Known {
        ended: ended("SELECT ended FROM frame WHERE session = ?1 AND sequence = ?2")?,
        later,
        before: ended("SELECT ended FROM frame WHERE session = ?1 AND sequence < ?2 ORDER BY sequence DESC LIMIT 1")?,
        highest,
    })
}

/// The checksum of a frame's sums.
pub fn checksum(columns: [&[u8]; 3]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    columns.iter().for_each(|column| hasher.update(column));
    hasher.finalize()
}

/// The number of the frame's session, of which it now is told what this frame knows.
/// A recording's number, and whether it was of another series.
fn put_session(connection: &Connection, series: i64, frame: &Frame, head: &[u8]) -> rusqlite::Result<(i64, bool)> {
    let before = "SELECT series FROM session WHERE key = ?1 AND series <> ?2";
    let before =
        connection.prepare_cached(before)?.query_row(params![frame.session, series], |row| row.get(0)).optional()?;
    let put = "INSERT INTO session (key, series, head) VALUES (?1, ?2, ?3) \
               ON CONFLICT (key) DO UPDATE SET series = ?2, head = ?3 RETURNING id";
    let id = connection.prepare_cached(put)?.query_row(params![frame.session, series, head], |row| row.get(0))?;
    before.map_or(Ok(()), |before| left(connection, before))?;
    Ok((id, before.is_some()))
}

/// A recording is no longer of a series, whose labels somebody has changed: one that has no others is not there any more.
pub fn left(connection: &Connection, series: i64) -> rusqlite::Result<()> {
    let left = "DELETE FROM series WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM session WHERE series = ?1)";
    connection.prepare_cached(left)?.execute([series]).map(|_| ())
}

/// Writes what a dictionary has beyond so many places and paths.
pub fn write_more(
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
