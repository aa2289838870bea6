//! What is known of modules.

use diytrace_profile::module::ModuleKey;
use diytrace_profile::symbolize::Portable;
use rusqlite::{OptionalExtension, TransactionBehavior, params};

use super::file::Sqlite;
use super::rows::number_of;
use crate::kept::{bytes_of, path_of};
use crate::{Error, blob};

/// Adds what is known of a module to what is there.
pub fn put(store: &mut Sqlite, key: &ModuleKey, symbols: Portable) -> Result<(), Error> {
    let known = get(store, key)?;
    let all = match known {
        Some(known) if known == symbols => return Ok(()),
        Some(known) => known.and(symbols),
        None => symbols,
    };
    let bytes = blob::write(&all, blob::LASTING);
    let failed = |source| Error::Sqlite { store: store.path.display().to_string(), source };
    let transaction = store.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let id = number_of(&transaction, key, path_of(key)).map_err(failed)?;
    transaction.execute("UPDATE module SET symbols = ?2 WHERE id = ?1", params![id, bytes]).map_err(failed)?;
    transaction.commit().map_err(failed)
}

/// What is known of a module.
pub fn get(store: &Sqlite, key: &ModuleKey) -> Result<Option<Portable>, Error> {
    let select = "SELECT symbols FROM module WHERE key = ?1";
    let bytes: Option<Option<Vec<u8>>> = (store.connection)
        .query_row(select, [bytes_of(key)], |row| row.get(0))
        .optional()
        .map_err(|source| store.failed(source))?;
    let Some(Some(bytes)) = bytes else { return Ok(None) };
    blob::read(&bytes).map(Some).ok_or_else(|| store.damaged("what it knows of a module"))
}
