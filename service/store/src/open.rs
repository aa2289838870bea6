//! Opens stores: the one place that knows which engine keeps which.

use crate::clickhouse::ClickHouse;
use crate::engine::Stored;
use crate::sqlite::Sqlite;
use crate::{Address, Error};

/// Opens a store; makes it where there is none and `create` is asked for.
pub fn open(address: &Address, create: bool) -> Result<Stored, Error> {
    Ok(match address {
        Address::Sqlite(path) => Box::new(Sqlite::open(path, create)?),
        Address::ClickHouse(place) => Box::new(ClickHouse::open(place, create)?),
    })
}
