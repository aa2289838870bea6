//! Questions of people, in SQL.

use serde_json::Value;

use super::binary::Reader;
use super::client::{Failure, reason};
use super::store::ClickHouse;
use crate::Error;
use crate::engine::Cell;

/// Asks: first the names of columns, then rows, until `take` has had enough.
pub fn ask(store: &ClickHouse, query: &str, take: &mut dyn FnMut(&[Cell]) -> bool) -> Result<(), Error> {
    let format = ("default_format", "JSONCompactEachRowWithNames");
    // Who may only read may not say so.
    let rows = store.client.rows("SELECT toUInt64(getSetting('readonly'))", &[])?;
    let may_write = Reader::of(&rows).u64().ok_or_else(|| store.damaged("what this user may do"))? == 0;
    let options: &[_] = if may_write { &[format, ("readonly", "2")] } else { &[format] };
    let rows = store.client.ask(true, options, query.as_bytes()).map_err(|failure| match failure {
        Failure::Said { reason, why } if !reason::DENIED.contains(&reason) => Error::Sql { why },
        failure => store.client.failed(failure),
    })?;
    for row in rows.split(|byte| *byte == b'\n').filter(|row| !row.is_empty()) {
        let Ok(cells) = serde_json::from_slice::<Vec<Value>>(row) else {
            return Err(Error::Sql { why: "it has a FORMAT of its own: leave it out".to_owned() });
        };
        if !take(&cells.into_iter().map(cell).collect::<Vec<_>>()) {
            break;
        }
    }
    Ok(())
}

fn cell(value: Value) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::Bool(is) => Cell::Whole(i64::from(is)),
        Value::Number(number) => match (number.as_i64(), number.is_u64()) {
            (Some(number), _) => Cell::Whole(number),
            (None, true) => Cell::Text(number.to_string()),
            (None, false) => number.as_f64().map_or(Cell::Null, Cell::Real),
        },
        Value::String(text) => Cell::Text(text),
        Value::Array(_) | Value::Object(_) => Cell::Text(value.to_string()),
    }
}
