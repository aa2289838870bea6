//! The store's tables. `docs/store.md` tells people of them.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::Error;

/// What marks a file as a store: "diyt".
const APPLICATION: i64 = 0x6469_7974;

/// Pages that whoever writes has in memory, in KiB.
const CACHE_KIB: i64 = 64 << 10;

/// Pages of the log, of 4 KiB, that are written to their places together.
const LOG_PAGES: i64 = 4096;

/// The version of the tables.
pub const VERSION: i64 = 5;

/// Before this, functions took more room; what is there is read as well.
const LARGE_FUNCTIONS: i64 = 4;

/// Before that, there was no [`SAMPLED`].
const WITHOUT_SAMPLED: i64 = 3;

/// Sampled profiles of others.
const SAMPLED: &str = "
CREATE TABLE sampled_series (
  id INTEGER PRIMARY KEY,
  labels TEXT NOT NULL UNIQUE             -- a JSON object
);
CREATE TABLE sampled (
  id INTEGER PRIMARY KEY,                 -- made of what it is
  series INTEGER NOT NULL REFERENCES sampled_series,
  started INTEGER NOT NULL,               -- ns since 1970
  ended INTEGER NOT NULL,
  types TEXT NOT NULL,                    -- a JSON array: type, unit and total of each
  samples INTEGER NOT NULL,               -- that differ in stack or labels
  bytes INTEGER NOT NULL                  -- of its messages
);
CREATE INDEX sampled_by_end ON sampled (ended);
CREATE INDEX sampled_of_series ON sampled (series, ended);
CREATE TABLE sampled_data (
  sampled INTEGER PRIMARY KEY REFERENCES sampled,
  messages BLOB NOT NULL,                 -- profile.proto, deflated
  checksum INTEGER NOT NULL               -- CRC-32 of it before that
);
";

/// Verdicts of comparisons. A store that was made before there were any gets it with the first: who knows nothing of them reads
/// it as before, so it needs no version of its own.
pub const VERDICT: &str = "
CREATE TABLE IF NOT EXISTS verdict (
  id INTEGER PRIMARY KEY,                 -- made of what it is
  kind TEXT NOT NULL,                     -- bench, diff or similar
  saved INTEGER NOT NULL,                 -- ns since 1970
  compared TEXT NOT NULL,                 -- a JSON object: both sides, their labels, and the time
  command TEXT NOT NULL,
  sentence TEXT NOT NULL,                 -- what came out
  status INTEGER NOT NULL,                -- the command's exit status
  bytes INTEGER NOT NULL,                 -- of its document
  document BLOB NOT NULL,                 -- the command's JSON, deflated
  checksum INTEGER NOT NULL               -- CRC-32 of it before that
);
CREATE INDEX IF NOT EXISTS verdict_by_time ON verdict (saved);
";

const TABLES: &str = "
CREATE TABLE build (
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL UNIQUE                -- of the program's module
);
CREATE TABLE series (
  id INTEGER PRIMARY KEY,
  labels TEXT NOT NULL,                   -- a JSON object
  program TEXT NOT NULL,                  -- path of the program's file
  boot BLOB NOT NULL,                     -- of the machine
  timing TEXT NOT NULL,                   -- which calls are timed: all or off
  build INTEGER NOT NULL REFERENCES build,
  UNIQUE (labels, program, boot, timing, build)
);
CREATE TABLE session (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,               -- the recording, wherever it is read
  series INTEGER NOT NULL REFERENCES series,
  head BLOB NOT NULL                      -- what is told of it as a whole
);
CREATE INDEX session_of_series ON session (series);
CREATE TABLE frame (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session,
  sequence INTEGER NOT NULL,
  started INTEGER NOT NULL,               -- ns since 1970
  ended INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  raw_ns INTEGER NOT NULL,                -- self times of all calls as they were measured
  paths INTEGER NOT NULL,                 -- that changed in it
  bytes INTEGER NOT NULL,                 -- that its sums take
  UNIQUE (session, sequence)
);
CREATE INDEX frame_by_end ON frame (ended, session);
CREATE TABLE frame_data (
  frame INTEGER PRIMARY KEY REFERENCES frame,
  totals BLOB NOT NULL,
  path_sums BLOB NOT NULL,
  function_sums BLOB NOT NULL,
  checksum INTEGER NOT NULL               -- CRC-32 of the three, one after the other
);
CREATE TABLE module (
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL UNIQUE,
  build_id TEXT NOT NULL,                 -- in hexadecimal digits, empty if it has none
  path TEXT NOT NULL,
  symbols BLOB                            -- names, lines and code
);
CREATE TABLE place (
  build INTEGER NOT NULL, id INTEGER NOT NULL,
  module INTEGER REFERENCES module,       -- of a place in none: null
  address INTEGER NOT NULL,               -- ELF virtual address in it, 64 bits
  PRIMARY KEY (build, id)
) WITHOUT ROWID;
CREATE TABLE path (
  build INTEGER NOT NULL, id INTEGER NOT NULL,
  parent INTEGER,                         -- lower than its own number
  function INTEGER NOT NULL,              -- places
  site INTEGER NOT NULL,
  hook INTEGER NOT NULL,
  flags INTEGER NOT NULL,
  folded_into INTEGER,
  target INTEGER,
  PRIMARY KEY (build, id)
) WITHOUT ROWID;
";

/// Makes the tables of a new file, and refuses what is no store, or a later one.
pub fn make(connection: &mut Connection, path: &Path, create: bool) -> Result<(), Error> {
    let failed = |source: rusqlite::Error| match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => Error::Foreign { path: path.to_owned() },
        _ => Error::Sqlite { store: path.display().to_string(), source },
    };
    let number = |connection: &Connection, what: &str| {
        connection.pragma_query_value(None, what, |row| row.get::<_, i64>(0)).map_err(failed)
    };
    let is_empty = |connection: &Connection| number(connection, "schema_version").map(|version| version == 0);
    if is_empty(connection)? && create {
        // What is deleted gives its room back.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(failed)?;
        connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
        // Two programs may come to a new file at once.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        if is_empty(&transaction)? {
            transaction.execute_batch(TABLES).map_err(failed)?;
            transaction.execute_batch(SAMPLED).map_err(failed)?;
            transaction.execute_batch(VERDICT).map_err(failed)?;
            transaction.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
            transaction.pragma_update(None, "user_version", VERSION).map_err(failed)?;
        }
        transaction.commit().map_err(failed)?;
    }
    if number(connection, "application_id")? != APPLICATION {
        return Err(Error::Foreign { path: path.to_owned() });
    }
    if create && (WITHOUT_SAMPLED..VERSION).contains(&number(connection, "user_version")?) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let version = number(&transaction, "user_version")?;
        if version == WITHOUT_SAMPLED {
            transaction.execute_batch(SAMPLED).map_err(failed)?;
        }
        if (WITHOUT_SAMPLED..=LARGE_FUNCTIONS).contains(&version) {
            transaction.pragma_update(None, "user_version", VERSION).map_err(failed)?;
        }
        transaction.commit().map_err(failed)?;
    }
    match number(connection, "user_version")? {
        WITHOUT_SAMPLED..=VERSION => {}
        version if version < VERSION => return Err(Error::Older { path: path.to_owned(), version }),
        version => return Err(Error::Newer { path: path.to_owned(), version, known: VERSION }),
    }
    if !create {
        return Ok(());
    }
    // Each recording's latest rows lie elsewhere, and of a thousand that send they are all to be at hand.
    connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(failed)?;
    // Many frames change the same pages one after the other.
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES).map_err(failed)?;
    // A commit that a crash of the machine undoes is put in again: it is known by its number.
    connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
    Ok(())
}
