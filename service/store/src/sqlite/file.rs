//! The file, opened: made where there is none, refused where it is no store.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::dictionaries::Dictionaries;
use super::schema;
use super::sessions::Sessions;
use crate::Error;

/// How long a writer waits for another.
const PATIENCE: Duration = Duration::from_secs(30);

/// Statements that are prepared once: more than there are, so that none is prepared anew for each frame.
const STATEMENTS: usize = 64;

/// A store in a file.
pub struct Sqlite {
    pub path: PathBuf,
    /// Which file is there: its device and number.
    file: Option<(u64, u64)>,
    pub connection: Connection,
    /// What was read of dictionaries: they only grow.
    pub dictionaries: Dictionaries,
    /// What is known of recordings that are being sent.
    pub sessions: Sessions,
}

impl Sqlite {
    /// Opens a store; makes it if there is none and `create` is asked for.
    pub fn open(path: &Path, create: bool) -> Result<Self, Error> {
        if !create && !path.exists() {
            return Err(Error::Missing { path: path.to_owned() });
        }
        let failed = |source| Error::Sqlite { store: path.display().to_string(), source };
        let flags = if create {
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
        } else {
            OpenFlags::SQLITE_OPEN_READ_WRITE // a reader takes part in the log, where it may
        };
        let mut connection =
            Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        // Statements are planned once, not for each value that they are asked with.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(failed)?;
        match schema::make(&mut connection, path, create) {
            Err(Error::Sqlite { source, .. }) if !create && needs_to_write(&source) && !has_log(path) => {
                // Readers of a log want to write beside the file. Where there is none, nobody writes.
                connection =
                    Connection::open_with_flags(as_it_is(path), flags | OpenFlags::SQLITE_OPEN_URI).map_err(failed)?;
                schema::make(&mut connection, path, create)?;
            }
            made => made?,
        }
        Ok(Self {
            path: path.to_owned(),
            file: file_at(path),
            connection,
            dictionaries: Dictionaries::default(),
            sessions: Sessions::default(),
        })
    }

    /// Fails where the file that is open has gone from its place: what is put into it would be lost.
    pub fn check_place(&self) -> Result<(), Error> {
        match file_at(&self.path) {
            found if found.is_some() && found == self.file => Ok(()),
            _ => Err(Error::Gone { path: self.path.clone() }),
        }
    }

    /// What SQLite says, of this store.
    pub fn failed(&self, source: rusqlite::Error) -> Error {
        Error::Sqlite { store: self.path.display().to_string(), source }
    }

    /// That something in this store is damaged.
    pub fn damaged(&self, what: impl Into<String>) -> Error {
        Error::Damaged { store: self.path.display().to_string(), what: what.into() }
    }
}

/// The file at a place, by its device and number; of one that was emptied there is nothing left.
fn file_at(path: &Path) -> Option<(u64, u64)> {
    let facts = fs::metadata(path).ok().filter(|facts| facts.len() > 0)?;
    Some((facts.dev(), facts.ino()))
}

fn needs_to_write(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

/// Whether a store has a log of what is not yet in its file.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(log).is_ok_and(|facts| facts.len() > 0)
}

/// A file that nobody writes, as SQLite names it.
fn as_it_is(path: &Path) -> OsString {
    let mut name = OsString::from("file:");
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'%' | b'?' | b'#' => name.push(format!("%{byte:02x}")),
            byte => name.push(OsStr::from_bytes(&[byte])),
        }
    }
    name.push("?immutable=1");
    name
}
