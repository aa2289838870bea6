//! Questions of people, in SQL.

use rusqlite::types::ValueRef;

use super::file::Sqlite;
use crate::Error;
use crate::engine::Cell;

/// What people ask about, for whom the tables themselves are too fine.
const VIEW: &str = "
CREATE TEMP VIEW IF NOT EXISTS slices AS SELECT
  labels ->> 'service' AS service, labels ->> 'host' AS host, labels ->> 'build' AS build, labels,
  session.key AS recording, sequence,
  strftime('%Y-%m-%dT%H:%M:%fZ', started / 1e9, 'unixepoch') AS started,
  strftime('%Y-%m-%dT%H:%M:%fZ', ended / 1e9, 'unixepoch') AS ended,
  (ended - started) / 1e9 AS seconds, calls, raw_ns, paths, bytes
FROM frame JOIN session ON session.id = frame.session JOIN series ON series.id = session.series";

/// Asks: first the names of columns, then rows, until `take` has had enough.
pub fn ask(store: &Sqlite, query: &str, take: &mut dyn FnMut(&[Cell]) -> bool) -> Result<(), Error> {
    let wrong = |error: rusqlite::Error| Error::Sql { why: error.to_string() };
    store.connection.execute_batch(VIEW).map_err(wrong)?;
    store.connection.pragma_update(None, "query_only", true).map_err(wrong)?;
    let mut statement = store.connection.prepare(query).map_err(wrong)?;
    if !statement.readonly() {
        return Err(Error::Sql { why: "it would change the store".to_owned() });
    }
    let names: Vec<Cell> = statement.column_names().map(|name| Cell::Text(name.to_owned())).collect();
    let columns = names.len();
    let mut goes_on = take(&names);
    let mut rows = statement.query([]).map_err(wrong)?;
    while goes_on && let Some(row) = rows.next().map_err(wrong)? {
        let cell = |at| row.get_ref(at).map(cell);
        let cells = (0..columns).map(cell).collect::<Result<Vec<Cell>, _>>().map_err(wrong)?;
        goes_on = take(&cells);
    }
    Ok(())
}

fn cell(value: ValueRef) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Whole(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
    }
}
