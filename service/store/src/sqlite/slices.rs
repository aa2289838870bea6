//! A recording's slices by their time. They end in the order of their numbers, by which there is an index: so a time is found by
//! halving, and of a recording of weeks nobody reads more than was asked for.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::Range;

/// A slice: its number, and when it ended.
#[derive(Clone, Copy)]
struct End {
    number: u64,
    ended: i64,
}

/// The numbers of the first and the last slice of a recording that ended in a range; `None` if none did.
pub fn within(connection: &Connection, session: i64, range: Range) -> rusqlite::Result<Option<[u64; 2]>> {
    let (Some(oldest), Some(latest)) = (first_from(connection, session, 0)?, latest(connection, session)?) else {
        return Ok(None);
    };
    if latest.ended <= range.since || oldest.ended > range.until {
        return Ok(None);
    }
    let first = match oldest.ended > range.since {
        true => oldest.number,
        false => first_after(connection, session, range.since, [oldest, latest])?,
    };
    let last = match latest.ended <= range.until {
        true => Some(latest.number),
        false => {
            let beyond = first_after(connection, session, range.until, [oldest, latest])?;
            before(connection, session, beyond)?
        }
    };
    Ok(last.filter(|last| *last >= first).map(|last| [first, last]))
}

/// When the latest slice of a recording ended.
pub fn latest_end(connection: &Connection, session: i64) -> rusqlite::Result<Option<i64>> {
    Ok(latest(connection, session)?.map(|latest| latest.ended))
}

/// The first slice that ended after a moment, of some of which the first did not, and the last did.
fn first_after(
    connection: &Connection,
    session: i64,
    moment: i64,
    [oldest, latest]: [End; 2],
) -> rusqlite::Result<u64> {
    let (mut not, mut from, mut found) = (oldest.number, latest.number, latest.number);
    // `found` is the first slice whose number is at least `from`.
    while from - not > 1 {
        let middle = not + (from - not) / 2;
        match first_from(connection, session, middle)? {
            Some(slice) if slice.ended <= moment => not = slice.number,
            Some(slice) => (from, found) = (middle, slice.number),
            None => from = middle,
        }
    }
    Ok(found)
}

fn first_from(connection: &Connection, session: i64, number: u64) -> rusqlite::Result<Option<End>> {
    let first = "SELECT sequence, ended FROM frame WHERE session = ?1 AND sequence >= ?2 ORDER BY sequence LIMIT 1";
    connection.prepare_cached(first)?.query_row(params![session, number], end).optional()
}

fn latest(connection: &Connection, session: i64) -> rusqlite::Result<Option<End>> {
    let latest = "SELECT sequence, ended FROM frame WHERE session = ?1 ORDER BY sequence DESC LIMIT 1";
    connection.prepare_cached(latest)?.query_row([session], end).optional()
}

fn before(connection: &Connection, session: i64, number: u64) -> rusqlite::Result<Option<u64>> {
    let before = "SELECT sequence FROM frame WHERE session = ?1 AND sequence < ?2 ORDER BY sequence DESC LIMIT 1";
    connection.prepare_cached(before)?.query_row(params![session, number], |row| row.get(0)).optional()
}

fn end(row: &Row) -> rusqlite::Result<End> {
    Ok(End { number: row.get(0)?, ended: row.get(1)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slices of a recording, and of two whose numbers lie beside its own.
    fn recordings(ends: &[(u64, i64)]) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE frame (session, sequence, ended, UNIQUE (session, sequence))").unwrap();
        let add = |session: i64, (number, ended): (u64, i64)| {
            let row = params![session, number, ended];
            connection.execute("INSERT INTO frame VALUES (?1, ?2, ?3)", row).unwrap();
        };
        for &end in ends {
            add(7, end);
        }
        (0..50).for_each(|number| {
            add(6, (number, 25));
            add(8, (number, 25));
        });
        connection
    }

    #[test]
    fn what_ended_in_a_range_is_found_by_halving_as_by_looking_at_all() {
        let gaps: Vec<(u64, i64)> = (0..40).map(|n| (n * n + u64::from(n > 20) * 1000, n as i64 * 3)).collect();
        let equal: Vec<(u64, i64)> = (3..30).map(|n| (n, n as i64 / 4)).collect();
        for slices in [gaps, equal, vec![(5, 10)], vec![]] {
            let connection = recordings(&slices);
            for since in -2..130 {
                for until in since..130 {
                    let mut wanted = slices.iter().filter(|(_, ended)| *ended > since && *ended <= until);
                    let first = wanted.next().map(|(number, _)| *number);
                    let wanted = first.map(|first| [first, wanted.next_back().map_or(first, |(number, _)| *number)]);
                    assert_eq!(within(&connection, 7, Range { since, until }).unwrap(), wanted, "{since}..{until}");
                }
            }
        }
    }
}
