//! Series as they stand in the store.

use diytrace_profile::load::timed::Timing;
use diytrace_profile::merge::PartKey;

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
    let failed = |source| store.failed(source);
    let all = "SELECT id, labels, program, boot, timing, build FROM series ORDER BY id";
    let mut all = store.connection.prepare_cached(all).map_err(failed)?;
    let rows = all.query_map([], |row| {
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
