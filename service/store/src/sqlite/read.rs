//! Reads the frames of a series, one after the other.

use rusqlite::{Row, params};

use super::file::Sqlite;
use super::rows::checksum;
use super::series::Series;
use super::slices::within;
use crate::among::Among;
use crate::dictionary::Dictionary;
use crate::kept::{Head, Totals};
use crate::sums::OfSeries;
use crate::{Error, Query, blob, function_sums};

/// Adds what is asked for.
pub fn read(
    sums: &mut OfSeries,
    store: &Sqlite,
    series: &Series,
    query: &Query,
    dictionary: &Dictionary,
) -> Result<(), Error> {
    let failed = |source| store.failed(source);
    for session in sessions(store, series.id, query.session.as_deref()).map_err(failed)? {
        if let Some(slices) = within(&store.connection, session, query.range).map_err(failed)? {
            read_slices(sums, store, session, slices, dictionary)?;
        }
    }
    Ok(())
}

/// The recordings of a series, or the one of this name.
pub fn sessions(store: &Sqlite, series: i64, name: Option<&str>) -> rusqlite::Result<Vec<i64>> {
    let number = |row: &Row| row.get(0);
    let connection = &store.connection;
    match name {
        None => {
            let all = "SELECT id FROM session WHERE series = ?1 ORDER BY id";
            connection.prepare_cached(all)?.query_map([series], number)?.collect()
        }
        Some(name) => {
            let one = "SELECT id FROM session WHERE key = ?2 AND +series = ?1";
            connection.prepare_cached(one)?.query_map(params![series, name], number)?.collect()
        }
    }
}

/// Adds the slices of a recording from one to another, both by number: the first and the last that are to be added.
pub fn read_slices(
    sums: &mut OfSeries,
    store: &Sqlite,
    session: i64,
    [first, last]: [u64; 2],
    dictionary: &Dictionary,
) -> Result<(), Error> {
    let failed = |source| store.failed(source);
    let frames = "SELECT sequence, totals, path_sums, function_sums, checksum, started, ended FROM frame, frame_data \
                  WHERE frame = id AND session = ?1 AND sequence BETWEEN ?2 AND ?3 ORDER BY sequence";
    let mut frames = store.connection.prepare_cached(frames).map_err(failed)?;
    let mut frames = frames.query(params![session, first, last]).map_err(failed)?;
    let (mut began, mut bytes) = (None, Vec::new());
    while let Some(frame) = frames.next().map_err(failed)? {
        let sequence: u64 = frame.get(0).map_err(failed)?;
        let number = |at: usize| frame.get::<_, i64>(at).map_err(failed);
        let is_first = sequence == first;
        if is_first {
            sums.add_session(session, head_of(store, session)?);
            began = sums.began(sequence, number(5)?);
        }
        let place = Among::of(is_first, sequence == last, began, number(6)?);
        let column = |at: usize| frame.get_ref(at).and_then(|value| Ok(value.as_blob()?)).map_err(failed);
        let damaged = || store.damaged("a frame");
        if frame.get::<_, u32>(4).map_err(failed)? != checksum([column(1)?, column(2)?, column(3)?]) {
            return Err(damaged());
        }
        let totals: Totals = postcard::from_bytes(column(1)?).map_err(|_| damaged())?;
        sums.add_totals(&totals);
        blob::inflate(column(2)?, &mut bytes).ok_or_else(damaged)?;
        sums.add_paths(&bytes, place, dictionary.entries()).map_err(|_| damaged())?;
        let places = dictionary.places().len() as u32;
        let add = |function| sums.add_function(function, place);
        function_sums::read_column(column(3)?, places, &mut bytes, add).map_err(|_| damaged())?;
        if place.is_last {
            sums.end_session();
        }
    }
    Ok(())
}

fn head_of(store: &Sqlite, session: i64) -> Result<Head, Error> {
    let head: Vec<u8> = (store.connection)
        .prepare_cached("SELECT head FROM session WHERE id = ?1")
        .and_then(|mut head| head.query_row([session], |row| row.get(0)))
        .map_err(|source| store.failed(source))?;
    blob::read(&head).ok_or_else(|| store.damaged("what is told of a recording"))
}
