//! Deletes frames, and sweeps away what nothing refers to any more.

use rustc_hash::FxHashSet;

use super::binary::Reader;
use super::literal::listed;
use super::schema;
use super::series::{self, Row};
use super::store::ClickHouse;
use crate::engine::Deleted;
use crate::{Error, Query};

/// How old what nobody refers to must be, in seconds, to be taken for what a writer that was killed has left. Far longer than
/// [`super::store::TRUST`].
const LEFT_SECONDS: u32 = 3600;

/// How many are deleted at once.
const AT_ONCE: usize = 10_000;

/// Deletes what is asked for.
pub fn delete(store: &mut ClickHouse, query: &Query) -> Result<Deleted, Error> {
    let (_, rows) = series::asked(store, query)?;
    let deleted = remove(store, &rows)?;
    sweep(store)?;
    Ok(deleted)
}

/// Deletes the oldest of what is asked for until the store takes no more than so many bytes.
pub fn shrink(store: &mut ClickHouse, query: &Query, bytes: u64) -> Result<Deleted, Error> {
    let (_, mut rows) = series::asked(store, query)?;
    sweep(store)?;
    let sampled = size_of(store, Some("sampled"))?;
    if sampled > bytes {
        return Err(Error::SampledTake { store: store.client.place.to_string(), sampled, most: bytes });
    }
    rows.sort_by_key(|row| row.ended);
    let mut all = Deleted::default();
    let mut rest = &rows[..];
    while !rest.is_empty() {
        let size = size_of(store, None)?;
        if size <= bytes {
            break;
        }
        let part = ((size - bytes) as f64 / size as f64 * rest.len() as f64).ceil() as usize;
        let (oldest, others) = rest.split_at(part.clamp(1, rest.len()));
        let Deleted { sessions, frames, bytes } = remove(store, oldest)?;
        (all.sessions, all.frames, all.bytes) = (all.sessions + sessions, all.frames + frames, all.bytes + bytes);
        rest = others;
    }
    Ok(all)
}

fn remove(store: &mut ClickHouse, rows: &[Row]) -> Result<Deleted, Error> {
    let size = size_of(store, None)?;
    // What these replaced goes first, for nothing of it may come back.
    replaced(store)?;
    let before = sessions(store)?;
    for some in rows.chunks(AT_ONCE) {
        let ids: Vec<u64> = some.iter().map(|row| row.id).collect();
        erase(store, "frame", "id", &ids)?;
        erase(store, "frame_data", "frame", &ids)?;
        erase(store, "path_sum", "frame", &ids)?;
    }
    let sessions = before.saturating_sub(sessions(store)?);
    let bytes = size.saturating_sub(size_of(store, None)?);
    Ok(Deleted { sessions, frames: rows.len() as u64, bytes })
}

/// Rows whose column has one of these numbers, and the room that they take.
pub fn erase(store: &ClickHouse, table: &str, column: &str, ids: &[u64]) -> Result<(), Error> {
    for some in ids.chunks(AT_ONCE) {
        let ids = listed(some.iter().copied());
        let table = store.on_shard(table);
        for shard in store.shards()? {
            shard.run(&format!("ALTER TABLE {table} DELETE WHERE {column} IN {ids} SETTINGS mutations_sync = 1"))?;
        }
    }
    Ok(())
}

/// Erases frames that others have taken the place of.
fn replaced(store: &ClickHouse) -> Result<(), Error> {
    schema::make_replaced(&store.client)?;
    // Those whose rows ClickHouse has dropped already.
    let dropped = ids(store, "SELECT frame FROM replaced WHERE frame GLOBAL NOT IN (SELECT id FROM frame)")?;
    erase(store, "frame_data", "frame", &dropped)?;
    erase(store, "path_sum", "frame", &dropped)?;
    erase(store, "replaced", "frame", &dropped)?;
    let frames = schema::frames("1");
    let mut ids = ids(store, &format!("SELECT id FROM frame WHERE id GLOBAL NOT IN (SELECT id FROM {frames})"))?;
    if ids.is_empty() {
        return Ok(());
    }
    // A query reads a table twice at two moments, and a frame may have come in between. What does not count now never will.
    let listed = listed(ids.iter().copied());
    let counting: FxHashSet<u64> =
        self::ids(store, &format!("SELECT id FROM {frames} WHERE id IN {listed}"))?.into_iter().collect();
    ids.retain(|id| !counting.contains(id));
    erase(store, "frame", "id", &ids)?;
    erase(store, "frame_data", "frame", &ids)?;
    erase(store, "path_sum", "frame", &ids)
}

/// Sweeps away what nothing refers to: frames that were replaced, what writers that were killed have left, and series, paths
/// and names of what was deleted. A writer's own rows come before what refers to them, so what is new is left alone.
pub fn sweep(store: &ClickHouse) -> Result<(), Error> {
    replaced(store)?;
    let old = format!("now() - {LEFT_SECONDS}");
    // What is told of a frame is put in first: so nothing of its paths is there without it.
    let query = format!(
        "SELECT DISTINCT frame FROM frame_data WHERE put < {old} AND frame GLOBAL NOT IN (SELECT id FROM frame)"
    );
    let left = ids(store, &query)?;
    erase(store, "path_sum", "frame", &left)?;
    erase(store, "frame_data", "frame", &left)?;
    let is_used = format!(
        "(id GLOBAL IN (SELECT series FROM frame) OR id GLOBAL IN (SELECT series FROM in_use WHERE at > {old}))"
    );
    let unused = ids(store, &format!("SELECT DISTINCT id FROM series WHERE NOT {is_used}"))?;
    if unused.is_empty() {
        return Ok(());
    }
    erase(store, "series", "id", &unused)?;
    erase(store, "in_use", "series", &unused)?;
    let builds = ids(store, "SELECT DISTINCT build FROM path WHERE build GLOBAL NOT IN (SELECT build FROM series)")?;
    erase(store, "path", "build", &builds)?;
    let builds = ids(store, "SELECT DISTINCT build FROM place WHERE build GLOBAL NOT IN (SELECT build FROM series)")?;
    erase(store, "place", "build", &builds)?;
    // A module is put in before the places in it.
    let is_new = format!("(SELECT count() FROM in_use WHERE at > {old}) > 0");
    let modules =
        format!("SELECT DISTINCT id FROM module WHERE id GLOBAL NOT IN (SELECT module FROM place) AND NOT ({is_new})");
    erase(store, "module", "id", &ids(store, &modules)?)
}

fn ids(store: &ClickHouse, query: &str) -> Result<Vec<u64>, Error> {
    let rows = store.client.rows(query, &[])?;
    let mut rows = Reader::of(&rows);
    let mut ids = FxHashSet::default();
    while !rows.is_at_end() {
        ids.insert(rows.u64().ok_or_else(|| store.damaged("its frames"))?);
    }
    Ok(ids.into_iter().collect())
}

fn sessions(store: &ClickHouse) -> Result<u64, Error> {
    number(store, "SELECT toUInt64(uniqExact(session)) FROM frame")
}

/// What the store takes, or a table of it; what ClickHouse keeps of it for some minutes more is not counted.
fn size_of(store: &ClickHouse, table: Option<&str>) -> Result<u64, Error> {
    let of_table = table.map(|table| format!(" AND table = '{}'", store.on_shard(table))).unwrap_or_default();
    let query =
        format!("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = currentDatabase(){of_table}");
    let mut all = 0;
    for shard in store.shards()? {
        let rows = shard.rows(&query, &[])?;
        all += Reader::of(&rows).u64().ok_or_else(|| store.damaged("its tables"))?;
    }
    Ok(all)
}

fn number(store: &ClickHouse, query: &str) -> Result<u64, Error> {
    let rows = store.client.rows(query, &[])?;
    Reader::of(&rows).u64().ok_or_else(|| store.damaged("its frames"))
}
