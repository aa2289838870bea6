//! Series as they stand in the store.

use diytrace_profile::load::timed::Timing;
use diytrace_profile::merge::PartKey;
use rusqlite::Params;

use super::file::Sqlite;
use crate::kept::timing_name;
use crate::{Error, Labels};

/// A series as it stands in the store.
pub struct Series {
    pub id: i64,
    pub labels: Labels,
    pub part: PartKey,
    pub build: i64,
}

/// All of them.
pub fn all_series(store: &Sqlite) -> Result<Vec<Series>, Error> {
    some(store, "ORDER BY id", [])
}

/// The first behind one, by their numbers; of all, if that is none.
pub fn next_series(store: &Sqlite, after: Option<i64>) -> Result<Option<Series>, Error> {
    let next = some(store, "WHERE id > ?1 ORDER BY id LIMIT 1", [after.unwrap_or(i64::MIN)])?;
    Ok(next.into_iter().next())
}

fn some(store: &Sqlite, which: &str, of: impl Params) -> Result<Vec<Series>, Error> {
    let failed = |source| store.failed(source);
    let some = format!("SELECT id, labels, program, boot, timing, build FROM series {which}");
    let mut some = store.connection.prepare_cached(&some).map_err(failed)?;
    let rows = some.query_map(of, |row| {
        let (labels, boot, timing): (String, Vec<u8>, String) = (row.get(1)?, row.get(3)?, row.get(4)?);
        Ok((row.get(0)?, labels, row.get(2)?, boot, timing, row.get(5)?))
    });
    let series = rows.map_err(failed)?.map(|row| {
        let (id, labels, program, boot, timing, build) = row.map_err(failed)?;
        let timing = [Timing::All, Timing::Off].into_iter().find(|known| timing_name(*known) == timing);
        match (Labels::of_json(&labels), <[u8; 16]>::try_from(&boot[..]), timing) {
            (Some(labels), Ok(boot_id), Some(timing)) => {
                Ok(Series { id, labels, part: PartKey { program, boot_id, timing }, build })
            }
            _ => Err(store.damaged("a series")),
        }
    });
    series.collect()
}
