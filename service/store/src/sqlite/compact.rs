//! Makes coarser slices of old ones: they add up, so nothing but the moments in between is lost.

use rusqlite::{TransactionBehavior, params};

use super::compacted::GoOn;
use super::file::Sqlite;
use super::read::{read_slices, sessions};
use super::rows::{Slice, insert, read_more};
use super::series::{Series, next_series};
use super::slices::latest_end;
use crate::blob::LASTING;
use crate::dictionary::Dictionary;
use crate::engine::Tier;
use crate::kept::{LATEST_NS, Sums, own};
use crate::sums::OfSeries;
use crate::{Error, blob, codec, function_sums};

/// Some frames of a recording, one after the other, that become one.
struct Run {
    session: i64,
    first: u64,
    last: u64,
    start: i64,
    end: i64,
    frames: u64,
}

/// Makes one slice of all that ended in the same span of a tier, if it ended before `until`. How many slices there are less.
pub fn compact(store: &mut Sqlite, tier: Tier, until: i64) -> Result<u64, Error> {
    let (mut less, mut after) = (0, None);
    while let Some(series) = next_series(store, after)? {
        less += of_series(store, &series, tier, until)?;
        after = Some(series.id);
    }
    Ok(less)
}

/// The same of the first series after one that has anything to be done, by their numbers; which that was, or `None` if there is none.
pub fn next(store: &mut Sqlite, tier: Tier, until: i64, mut after: Option<i64>) -> Result<Option<i64>, Error> {
    while let Some(series) = next_series(store, after)? {
        if of_series(store, &series, tier, until)? > 0 {
            return Ok(Some(series.id));
        }
        after = Some(series.id);
    }
    Ok(None)
}

fn of_series(store: &mut Sqlite, series: &Series, tier: Tier, until: i64) -> Result<u64, Error> {
    let Sqlite { sessions: known, connection, .. } = store;
    let is_of_now = known.are_of(connection).map_err(|source| store.failed(source))?;
    if !is_of_now {
        store.dictionaries.clear(); // somebody may have deleted what they are of
    }
    store.dictionaries.begin();
    let until = tier.last_end(until);
    let mut less = 0;
    for session in sessions(store, series.id, None).map_err(|source| store.failed(source))? {
        let Some(from) = store.sessions.compacted.from(session, tier) else { continue };
        let Some((runs, next)) = runs(store, session, tier, until, from)? else { continue };
        if !runs.is_empty() {
            // What is known of recordings that are being sent is of their latest slices, which stay.
            let mut dictionary = std::mem::take(store.dictionaries.of(series.build));
            read_more(&store.connection, series.build, &mut dictionary)
                .map_err(|source| store.failed(source))?
                .ok_or_else(|| store.damaged("a table of paths"))?;
            for run in runs {
                less += run.frames - 1;
                join(store, &dictionary, &run)?;
            }
            *store.dictionaries.of(series.build) = dictionary;
        }
        store.sessions.compacted.go_on(session, tier, next);
    }
    let gone = store.dictionaries.make_room();
    store.sessions.forget_builds(&gone);
    Ok(less)
}

/// Until when slices shorter than those of a tier ended that are more than so many bytes, the latest not counted.
pub fn beyond(store: &Sqlite, tier: Tier, bytes: u64) -> Result<Option<i64>, Error> {
    let failed = |source| store.failed(source);
    let latest =
        "SELECT ended, bytes FROM frame INDEXED BY frame_by_end WHERE ended - started < ?1 ORDER BY ended DESC";
    let mut latest = store.connection.prepare_cached(latest).map_err(failed)?;
    let mut slices = latest.query([tier.span_ns()]).map_err(failed)?;
    let mut taken: u64 = 0;
    while let Some(slice) = slices.next().map_err(failed)? {
        taken = taken.saturating_add(slice.get(1).map_err(failed)?);
        if taken > bytes {
            return slice.get(0).map(Some).map_err(failed);
        }
    }
    Ok(None)
}

/// What is more than one frame in a span of the tier, from a slice of a recording on; and where to go on next time. `None`: it has no
/// slices.
fn runs(store: &Sqlite, session: i64, tier: Tier, until: i64, from: u64) -> Result<Option<(Vec<Run>, GoOn)>, Error> {
    let failed = |source| store.failed(source);
    let Some(latest) = latest_end(&store.connection, session).map_err(failed)? else { return Ok(None) };
    let limit = until.min(latest - LATEST_NS);
    let slices = "SELECT sequence, started, ended FROM frame WHERE session = ?1 AND sequence >= ?2 ORDER BY sequence";
    let mut slices = store.connection.prepare_cached(slices).map_err(failed)?;
    let mut slices = slices.query(params![session, from]).map_err(failed)?;
    let span = |end: i64| (end - 1).div_euclid(tier.span_ns());
    let (mut runs, mut next): (Vec<Run>, _) = (Vec::new(), from);
    while let Some(slice) = slices.next().map_err(failed)? {
        let number = |at: usize| slice.get::<_, i64>(at).map_err(failed);
        let (sequence, start, end) = (slice.get::<_, u64>(0).map_err(failed)?, number(1)?, number(2)?);
        match runs.last_mut().filter(|run| span(run.end) == span(end)) {
            // The first of its span is where to go on if this is not to be looked at yet.
            Some(_) if end > limit => break,
            Some(run) => (run.last, run.end, run.frames) = (sequence, end, run.frames + 1),
            None => {
                next = sequence;
                if end > limit {
                    break;
                }
                runs.push(Run { session, first: sequence, last: sequence, start, end, frames: 1 });
            }
        }
    }
    runs.retain(|run| run.frames > 1);
    Ok(Some((runs, GoOn { slice: next, needs_more: limit < until })))
}

fn join(store: &mut Sqlite, dictionary: &Dictionary, run: &Run) -> Result<(), Error> {
    let mut sums = OfSeries::to_keep();
    read_slices(&mut sums, store, run.session, [run.first, run.last], dictionary)?;
    let Sums { hz, totals, rows, functions } =
        sums.sums(dictionary.entries()).ok_or_else(|| store.damaged("a frame"))?;
    let path_sums = blob::deflated(&codec::encode(&rows, |path| dictionary.parent(path)), LASTING);
    let function_sums = function_sums::column(&functions, hz, LASTING);
    let totals_bytes = postcard::to_stdvec(&totals).unwrap_or_default(); // into memory: it cannot fail
    let name = store.path.display().to_string();
    let failed = |source| Error::Sqlite { store: name.clone(), source };
    let transaction = store.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let which = params![run.session, run.first, run.last];
    let of = "WHERE session = ?1 AND sequence BETWEEN ?2 AND ?3";
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
    transaction.commit().map_err(failed)?;
    store.sessions.compacted.has_joined(run.session, [run.first, run.last]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use diytrace_profile::load::costs::Costs;
    use diytrace_profile::load::{Family, Summary};
    use diytrace_profile::merge::{By, PartKey, merge};
    use diytrace_profile::testing::{Call, arena, family, record};
    use proptest::prelude::*;

    use super::*;
    use crate::engine::Engine;
    use crate::{Frame, GroupBy, Labels, Query, Range};

    const SECOND: i64 = 1_000_000_000;

    fn store() -> (tempfile::TempDir, Sqlite) {
        let folder = tempfile::tempdir().unwrap();
        let store = Sqlite::open(&folder.path().join("store.db"), true).unwrap();
        (folder, store)
    }

    fn some_calls() -> Family {
        family(vec![arena(record(&[Call { function: 0x1000, own: 10, callees: Vec::new() }], Costs::default(), 3))])
    }

    /// A slice of a recording, by the seconds at which it began and ended.
    fn slice(recording: usize, sequence: u64, start: i64, end: i64) -> Frame {
        let family = some_calls();
        let mut labels = Labels::default();
        labels.set("service", "s".to_owned());
        Frame {
            labels,
            session: recording.to_string(),
            sequence,
            holds_later: sequence == 0,
            start: start * SECOND,
            end: end * SECOND,
            part: PartKey::of(&family),
            summary: Summary::of(&family),
            merged: merge(&[family], By::All, None),
        }
    }

    /// A recording's slices of ten seconds, from one number to another.
    fn slices(numbers: std::ops::Range<u64>) -> Vec<Frame> {
        numbers.map(|number| slice(1, number, number as i64 * 10, number as i64 * 10 + 10)).collect()
    }

    /// How many steps SQLite takes for something.
    fn steps(store: &mut Sqlite, act: impl FnOnce(&mut Sqlite)) -> u64 {
        let steps = Arc::new(AtomicU64::new(0));
        let count = steps.clone();
        let counted = move || count.fetch_add(1, Ordering::Relaxed) == u64::MAX;
        store.connection.progress_handler(1, Some(counted)).unwrap();
        act(store);
        store.connection.progress_handler(1, None::<fn() -> bool>).unwrap();
        steps.load(Ordering::Relaxed)
    }

    /// A service of a thousand agents that had sent for an hour looked at millions of slices each minute, and for each one that it
    /// joined at all that came after it.
    #[test]
    fn what_a_minute_more_takes_does_not_grow_with_the_recording() {
        let taken = |hours: u64| {
            let (_folder, mut store) = store();
            let there = hours * 360;
            store.put_all(&slices(0..there)).unwrap();
            let until = |slices: u64| slices as i64 * 10 * SECOND - 1800 * SECOND;
            store.compact(Tier::Minute, until(there)).unwrap();
            store.put_all(&slices(there..there + 6)).unwrap();
            let mut found = 0;
            let next = steps(&mut store, |store| found = store.compact(Tier::Minute, until(there + 6)).unwrap());
            assert_eq!(found, 5);
            let nothing = steps(&mut store, |store| found = store.compact(Tier::Minute, until(there + 6)).unwrap());
            assert_eq!(found, 0);
            let range = Range { since: 600 * SECOND, until: 900 * SECOND };
            let asked = steps(&mut store, |store| {
                store.select(&Query { range, ..Query::default() }, &GroupBy::All).unwrap();
                assert_eq!(store.frames(&Query { range, ..Query::default() }).unwrap().len(), 5);
            });
            [next, nothing, asked]
        };
        for (short, long) in taken(1).into_iter().zip(taken(10)) {
            assert!(long < short + short / 2, "{short} steps in an hour, {long} in ten");
        }
    }

    /// What is remembered of how far slices have been made coarser misses none: who opens the store anew finds nothing more to do.
    #[test]
    fn whatever_comes_meanwhile_is_made_coarser_too() {
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) };
        let happens = prop::collection::vec((0usize..2, 1i64..150, 0u8..8, any::<bool>(), 0i64..5000), 60);
        proptest!(config, |(happens in happens)| {
            let (folder, mut store) = store();
            let path = folder.path().join("store.db");
            let mut next = [(0u64, 0i64); 2];
            for (recording, seconds, what, is_hour, until) in happens {
                let (sequence, end) = next[recording];
                let mut new = slice(recording, sequence, end, end + seconds);
                if what == 0 {
                    // Its sender goes on from an earlier reading.
                    (new.sequence, new.start, new.holds_later) = (sequence / 2, 0, true);
                }
                let _ = store.put(&new); // where slices before it were joined, its time is theirs
                next[recording] = (new.sequence + 1, end + seconds);
                match what {
                    1 => drop(Sqlite::open(&path, true).unwrap().put(&slice(7, 0, 0, 10)).unwrap()),
                    2 => {
                        let range = Range { since: i64::MIN, until: until / 4 * SECOND };
                        let _ = store.delete(&Query { range, ..Query::default() });
                    }
                    3 => {
                        let _ = store.delete(&Query { session: Some(recording.to_string()), ..Query::default() });
                        next[recording] = (0, 0);
                    }
                    _ => {}
                }
                let tier = if is_hour { Tier::Hour } else { Tier::Minute };
                store.compact(tier, until * SECOND).unwrap();
                let left = Sqlite::open(&path, true).unwrap().compact(tier, until * SECOND).unwrap();
                prop_assert_eq!(left, 0);
            }
        });
    }
}
