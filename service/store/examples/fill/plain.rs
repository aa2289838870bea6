//! What somebody would make by hand who has SQLite and wants this of it: one table of rows, in the order in which it is read.

use std::error::Error;
use std::path::Path;

use diytrace_profile::merge::Merged;
use rusqlite::{Connection, params};

use crate::vary::vary;
use crate::{Filling, HOSTS};

/// Its tables.
const TABLES: &str = "
PRAGMA journal_mode = OFF;
CREATE TABLE series (id INTEGER PRIMARY KEY, service TEXT, host TEXT, build TEXT);
CREATE TABLE path (id INTEGER PRIMARY KEY, parent INTEGER, function INTEGER);
CREATE INDEX path_of_function ON path (function);
CREATE TABLE frame (series INTEGER, ended INTEGER, started INTEGER, calls INTEGER, PRIMARY KEY (series, ended)) WITHOUT ROWID;
CREATE TABLE row (series INTEGER, ended INTEGER, path INTEGER, calls INTEGER, own INTEGER, PRIMARY KEY (series, ended, path)) WITHOUT ROWID;
CREATE TABLE profile (series INTEGER, ended INTEGER, types TEXT);
";

/// Makes it, of the same numbers as the store.
pub fn make(file: &Path, merged: &Merged, filling: &Filling) -> Result<(), Box<dyn Error>> {
    let mut connection = Connection::open(file)?;
    connection.execute_batch(TABLES)?;
    let transaction = connection.transaction()?;
    {
        let mut series = transaction.prepare("INSERT INTO series VALUES (?1, ?2, ?3, ?4)")?;
        let mut profile = transaction.prepare("INSERT INTO profile VALUES (?1, ?2, ?3)")?;
        for one in 0..filling.series {
            let [service, host, build] = [("s", one / HOSTS), ("h", one % HOSTS), ("b", one % 3)]
                .map(|(letter, number)| format!("{letter}{number}"));
            series.execute(params![one, service, host, build])?;
            profile.execute(params![one, filling.end(0), "cpu,samples"])?;
        }
        let mut path = transaction.prepare("INSERT INTO path VALUES (?1, ?2, ?3)")?;
        for (number, one) in (0i64..).zip(merged.groups[0].tree.paths.iter().take(filling.paths)) {
            path.execute(params![number, one.key.parent, one.key.function])?;
        }
        let mut frame = transaction.prepare("INSERT INTO frame VALUES (?1, ?2, ?3, ?4)")?;
        let mut row = transaction.prepare("INSERT INTO row VALUES (?1, ?2, ?3, ?4, ?5)")?;
        // Series by series, as the table is: whoever makes it by hand knows what it will be asked.
        for one in 0..filling.series {
            for number in 0..filling.frames {
                let merged = vary(merged, filling.paths, &mut filling.random(number, one));
                let end = filling.end(number);
                frame.execute(params![one, end, end - filling.span, merged.groups[0].calls as i64])?;
                for (number, one_path) in (0i64..).zip(&merged.groups[0].tree.paths) {
                    let (calls, own) = (one_path.counts.calls as i64, one_path.counts.own.ns() as i64);
                    row.execute(params![one, end, number, calls, own])?;
                }
            }
        }
    }
    transaction.commit()?;
    Ok(())
}
