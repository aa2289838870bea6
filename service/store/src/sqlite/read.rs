//! Reads the frames of a series, one after the other.

use rusqlite::params;

use super::file::Sqlite;
use super::rows::checksum;
use super::series::Series;
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
    let frames = "SELECT session, totals, path_sums, function_sums, checksum, sequence, started, ended, \
                  sequence = (SELECT max(sequence) FROM frame AS other WHERE other.session = frame.session \
                  AND other.ended > ?2 AND other.ended <= ?3) FROM frame, frame_data WHERE frame = id \
                  AND session IN (SELECT id FROM session WHERE series = ?1 AND (?4 IS NULL OR key = ?4)) \
                  AND ended > ?2 AND ended <= ?3 \
                  ORDER BY session, sequence";
    let mut frames = store.connection.prepare_cached(frames).map_err(failed)?;
    let range = query.range;
    let mut frames = frames.query(params![series.id, range.since, range.until, query.session]).map_err(failed)?;
    let (mut latest, mut began, mut bytes) = (None, None, Vec::new());
    while let Some(frame) = frames.next().map_err(failed)? {
        let session: i64 = frame.get(0).map_err(failed)?;
        let is_first = latest.replace(session) != Some(session);
        if is_first {
            sums.add_session(session, head_of(store, session)?);
        }
        let number = |at: usize| frame.get::<_, i64>(at).map_err(failed);
        if is_first {
            began = sums.began(frame.get(5).map_err(failed)?, number(6)?);
        }
        let place = Among::of(is_first, number(8)? != 0, began, number(7)?);
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
