//! Makes coarser slices of old ones: they add up, so nothing but the moments in between is lost.

use rusqlite::{TransactionBehavior, params};

use super::file::Sqlite;
use super::read::read;
use super::rows::{Slice, insert, read_more};
use super::series::{Series, all_series};
use crate::blob::LASTING;
use crate::dictionary::Dictionary;
use crate::engine::Tier;
use crate::kept::{LATEST_NS, Sums, own};
use crate::sums::OfSeries;
use crate::{Error, Query, Range, blob, codec, function_sums};

/// Some frames of a recording, one after the other, that become one.
struct Run {
    session: i64,
    key: String,
    first: u64,
    start: i64,
    first_end: i64,
    end: i64,
    frames: u64,
}

/// Makes one slice of all that ended in the same span of a tier, if it ended before `until`. How many slices there are less.
pub fn compact(store: &mut Sqlite, tier: Tier, until: i64) -> Result<u64, Error> {
    let mut less = 0;
    for series in all_series(store)? {
        less += of_series(store, &series, tier, until)?;
    }
    Ok(less)
}

/// The same of the first series after one that has anything to be done, by their numbers; which that was, or `None` if there is none.
pub fn next(store: &mut Sqlite, tier: Tier, until: i64, after: Option<i64>) -> Result<Option<i64>, Error> {
    for series in all_series(store)?.into_iter().filter(|series| after.is_none_or(|after| series.id > after)) {
        if of_series(store, &series, tier, until)? > 0 {
            return Ok(Some(series.id));
        }
    }
    Ok(None)
}

/// Whether nobody else has written since.
fn of_now(store: &mut Sqlite) -> Result<bool, Error> {
    let Sqlite { sessions, connection, .. } = store;
    sessions.are_of(connection).map_err(|source| store.failed(source))
}

fn of_series(store: &mut Sqlite, series: &Series, tier: Tier, until: i64) -> Result<u64, Error> {
    let runs = runs(store, series, tier, until)?;
    if runs.is_empty() {
        return Ok(0);
    }
    if !of_now(store)? {
        store.dictionaries.clear(); // somebody may have deleted what they are of
    }
    // What is known of recordings that are being sent is of their latest slices, which stay.
    let mut dictionary = store.dictionaries.remove(&series.build).unwrap_or_default();
    read_more(&store.connection, series.build, &mut dictionary)
        .map_err(|source| store.failed(source))?
        .ok_or_else(|| store.damaged("a table of paths"))?;
    let mut less = 0;
    for run in runs {
        less += run.frames - 1;
        join(store, series, &dictionary, &run)?;
    }
    store.dictionaries.insert(series.build, dictionary);
    Ok(less)
}

/// Until when slices shorter than those of a tier ended that are more than so many bytes, the latest not counted.
pub fn beyond(store: &Sqlite, tier: Tier, bytes: u64) -> Result<Option<i64>, Error> {
    let beyond = "SELECT max(ended) FROM (SELECT ended, sum(bytes) OVER (ORDER BY ended DESC ROWS UNBOUNDED PRECEDING) \
                  AS taken FROM frame WHERE ended - started < ?1) WHERE taken > ?2";
    let beyond = store.connection.prepare_cached(beyond);
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    beyond
        .and_then(|mut beyond| beyond.query_row(params![tier.span_ns(), bytes], |row| row.get(0)))
        .map_err(|source| store.failed(source))
}

/// What is more than one frame in a span of the tier.
fn runs(store: &Sqlite, series: &Series, tier: Tier, until: i64) -> Result<Vec<Run>, Error> {
    let failed = |source| store.failed(source);
    let runs = "SELECT session, key, min(sequence), min(started), min(ended), max(ended), count(*) FROM frame \
                JOIN session ON session.id = session WHERE series = ?1 AND ended <= ?2 \
                AND ended <= (SELECT max(ended) FROM frame AS other WHERE other.session = frame.session) - ?3 \
                GROUP BY session, (ended - 1) / ?4 HAVING count(*) > 1";
    let mut runs = store.connection.prepare_cached(runs).map_err(failed)?;
    let found = runs.query_map(params![series.id, until, LATEST_NS, tier.span_ns()], |row| {
        Ok(Run {
            session: row.get(0)?,
            key: row.get(1)?,
            first: row.get(2)?,
            start: row.get(3)?,
            first_end: row.get(4)?,
            end: row.get(5)?,
            frames: row.get(6)?,
        })
    });
    found.map_err(failed)?.collect::<Result<_, _>>().map_err(failed)
}

fn join(store: &mut Sqlite, series: &Series, dictionary: &Dictionary, run: &Run) -> Result<(), Error> {
    let range = Range { since: run.first_end - 1, until: run.end };
    let query = Query { range, session: Some(run.key.clone()), ..Query::default() };
    let mut sums = OfSeries::to_keep();
    read(&mut sums, store, series, &query, dictionary)?;
    let Sums { hz, totals, rows, functions } =
        sums.sums(dictionary.entries()).ok_or_else(|| store.damaged("a frame"))?;
    let path_sums = blob::deflated(&codec::encode(&rows, |path| dictionary.parent(path)), LASTING);
    let function_sums = function_sums::column(&functions, hz, LASTING);
    let totals_bytes = postcard::to_stdvec(&totals).unwrap_or_default(); // into memory: it cannot fail
    let name = store.path.display().to_string();
    let failed = |source| Error::Sqlite { store: name.clone(), source };
    let transaction = store.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let which = params![run.session, run.first_end, run.end];
    let of = "WHERE session = ?1 AND ended BETWEEN ?2 AND ?3";
    // Somebody may have put in more, or deleted some, since they were added up.
    let there: u64 =
        transaction.query_row(&format!("SELECT count(*) FROM frame {of}"), which, |row| row.get(0)).map_err(failed)?;
    if there != run.frames {
        return Ok(());
    }
    let data = format!("DELETE FROM frame_data WHERE frame IN (SELECT id FROM frame {of})");
    transaction.execute(&data, which).map_err(failed)?;
    transaction.execute(&format!("DELETE FROM frame {of}"), which).map_err(failed)?;
    let slice = Slice { session: run.session, number: run.first, start: run.start, end: run.end };
    insert(&transaction, &slice, &totals, own(&rows), rows.len(), [&totals_bytes, &path_sums, &function_sums])
        .map_err(failed)?;
    transaction.commit().map_err(failed)
}
