//! What is known of recordings that send frame after frame: so that of each nothing is asked that the one before has told.
//!
//! It holds for as long as nobody else writes into the store ([`Sessions::are_of`]), and whoever changes frames here forgets it.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use rustc_hash::FxHashMap;

use super::compacted::Compacted;
use super::dictionaries::Dictionaries;
use super::rows;
use super::rows::{Slice, build_of, insert, read_more, series_of, write_more};
use crate::dictionary::{Dictionary, Numbers};
use crate::engine::Put;
use crate::kept::follows;
use crate::wire::{Received, Told};
use crate::{Error, Frame, blob, function_sums};

/// Most numbers of paths and places that are remembered, over all recordings, unless told: 64 MB. Then all are looked up once more.
const MOST_NUMBERS: usize = 16 << 20;

/// A recording that is there.
struct Session {
    id: i64,
    series: i64,
    build: i64,
    /// What its row tells of it, and whether it tells of costs.
    told: Option<(Arc<Told>, bool)>,
    /// What its own numbers are in the dictionary: those of this [`Received::lineage`].
    lineage: u64,
    numbers: Numbers,
    /// One more than the number of its last frame, and when that ended.
    next: u64,
    ended: i64,
}

/// Recordings that are there.
pub struct Sessions {
    known: FxHashMap<String, Session>,
    numbers: usize,
    version: i64,
    /// How far they have been made coarser.
    pub compacted: Compacted,
    /// See [`MOST_NUMBERS`].
    pub most_numbers: usize,
}

impl Default for Sessions {
    fn default() -> Self {
        let (known, numbers, version, compacted) = Default::default();
        Self { known, numbers, version, compacted, most_numbers: MOST_NUMBERS }
    }
}

/// Why a frame is not in: what a store says of it.
type Failed<'a> = &'a dyn Fn(rusqlite::Error) -> Error;

impl Sessions {
    /// Whether they are of the store as it is: with this version of it. If not, they are forgotten.
    pub fn are_of(&mut self, connection: &Connection) -> rusqlite::Result<bool> {
        let version = connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        let are_same = self.version == version;
        if !are_same {
            self.forget();
            self.compacted.forget();
            self.version = version;
        }
        Ok(are_same)
    }

    /// Forgets what is known of those that send.
    pub fn forget(&mut self) {
        self.known.clear();
        self.numbers = 0;
    }

    /// Forgets those of builds whose dictionaries are not at hand any more.
    pub fn forget_builds(&mut self, builds: &[i64]) {
        if !builds.is_empty() {
            self.known.retain(|_, session| !builds.contains(&session.build));
            self.numbers = self.known.values().map(|session| session.numbers.len()).sum();
        }
    }

    fn forget_one(&mut self, session: &str) {
        if let Some(session) = self.known.remove(session) {
            self.numbers -= session.numbers.len();
        }
    }

    /// Puts a frame in, and tells what became of it and which number its recording's next has.
    pub fn put(
        &mut self,
        transaction: &Transaction,
        dictionaries: &mut Dictionaries,
        name: &str,
        frame: &Received,
    ) -> Result<(Put, u64), Error> {
        let failed = |source| Error::Sqlite { store: name.to_owned(), source };
        if let Some(next) = self.put_next(transaction, dictionaries, &failed, frame)? {
            return Ok((Put::Added, next));
        }
        let put = self.put_any(transaction, dictionaries, name, &frame.frame()?)?;
        Ok((put, rows::next_sequence(transaction, &frame.session).map_err(failed)?))
    }

    /// Puts any frame in, and tells what became of it.
    pub fn put_any(
        &mut self,
        transaction: &Transaction,
        dictionaries: &mut Dictionaries,
        name: &str,
        frame: &Frame,
    ) -> Result<Put, Error> {
        self.forget_one(&frame.session);
        let put = rows::frame(transaction, dictionaries, name, frame)?;
        let number = rows::session_number(transaction, &frame.session);
        let number = number.map_err(|source| Error::Sqlite { store: name.to_owned(), source })?;
        number.inspect(|session| self.compacted.has_changed(*session, frame.sequence));
        Ok(put)
    }

    /// The usual: it is the next of its recording, and goes in as it is. `None`, and it is not in, if that is not so.
    fn put_next(
        &mut self,
        transaction: &Transaction,
        dictionaries: &mut Dictionaries,
        failed: Failed,
        frame: &Received,
    ) -> Result<Option<u64>, Error> {
        if frame.holds_later || !frame.is_usual() {
            return Ok(None);
        }
        let is_of_series =
            |known: &Session| known.told.as_ref().is_some_and(|(told, _)| told.is_of_series(&frame.told));
        if !self.known.get(&frame.session).is_some_and(is_of_series) {
            self.forget_one(&frame.session);
            let Some(session) = begun(transaction, dictionaries, failed, frame)? else { return Ok(None) };
            self.known.insert(frame.session.clone(), session);
        }
        let Some(session) = self.known.get_mut(&frame.session) else { return Ok(None) };
        if frame.sequence != session.next || !follows(session.ended, frame.start) {
            return Ok(None);
        }
        self.numbers -= session.numbers.len();
        session.number(transaction, dictionaries.of(session.build), frame).map_err(failed)?;
        self.numbers += session.numbers.len();
        let Some([paths, functions]) = frame.renumbered(&session.numbers) else { return Ok(None) };
        session.tell(transaction, frame).map_err(failed)?;
        session.add(transaction, frame, [&paths, &functions]).map_err(failed)?;
        let next = session.next;
        self.compacted.has_changed(session.id, frame.sequence);
        if self.numbers > self.most_numbers {
            self.forget();
        }
        Ok(Some(next))
    }
}

/// A recording of which something is there.
fn begun(
    transaction: &Transaction,
    dictionaries: &mut Dictionaries,
    failed: Failed,
    frame: &Received,
) -> Result<Option<Session>, Error> {
    let latest = "SELECT session.id, sequence, ended FROM session JOIN frame ON session = session.id WHERE key = ?1 \
                  ORDER BY sequence DESC LIMIT 1";
    let latest = transaction.prepare_cached(latest).and_then(|mut latest| {
        let row = latest.query_row([&frame.session], |row| Ok((row.get(0)?, row.get::<_, u64>(1)?, row.get(2)?)));
        row.optional()
    });
    let Some((id, sequence, ended)) = latest.map_err(failed)? else { return Ok(None) };
    let build = build_of(transaction, &frame.build()).map_err(failed)?;
    let fixed = frame.fixed();
    // Whether there is room for one more is said of a frame as a whole.
    let Some(series) = series_of(transaction, &fixed.labels, &fixed.part, build).map_err(failed)? else {
        return Ok(None);
    };
    let dictionary = dictionaries.of(build);
    if read_more(transaction, build, dictionary).map_err(failed)?.is_none() {
        return Ok(None); // likewise
    }
    let (told, lineage, numbers) = Default::default();
    Ok(Some(Session { id, series, build, told, lineage, numbers, next: sequence + 1, ended }))
}

impl Session {
    /// Finds the numbers of what is new, which is written if nobody else has brought it.
    fn number(
        &mut self,
        transaction: &Transaction,
        dictionary: &mut Dictionary,
        frame: &Received,
    ) -> rusqlite::Result<()> {
        let entries = &frame.entries;
        if self.lineage != frame.lineage {
            // Its sender was started anew, or we were.
            self.numbers = Numbers::default();
            self.lineage = frame.lineage;
        }
        if (self.numbers.places.len(), self.numbers.paths.len()) == (entries.places().len(), entries.paths().len()) {
            return Ok(());
        }
        let mut modules = Vec::new();
        for module in &frame.fixed().modules {
            modules.push(match module.key() {
                Some(key) => rows::number_of(transaction, &key, module.path())?,
                None => 0,
            });
        }
        let before = (dictionary.places().len(), dictionary.paths().len());
        dictionary.number_entries(entries, &modules, &mut self.numbers);
        write_more(transaction, self.build, dictionary, before.0, before.1)
    }

    /// Writes what is told of the recording as a whole, if that is another.
    fn tell(&mut self, transaction: &Transaction, frame: &Received) -> rusqlite::Result<()> {
        let has_costs = frame.totals.part_calls.is_some();
        if self.told.as_ref().is_some_and(|(told, had)| Arc::ptr_eq(told, &frame.told) && *had == has_costs) {
            return Ok(());
        }
        let before = "SELECT series FROM session WHERE id = ?1";
        let before: i64 = transaction.prepare_cached(before)?.query_row([self.id], |row| row.get(0))?;
        let tell = "UPDATE session SET series = ?2, head = ?3 WHERE id = ?1";
        transaction.prepare_cached(tell)?.execute(params![self.id, self.series, frame.head()])?;
        if before != self.series {
            rows::left(transaction, before)?;
        }
        self.told = Some((frame.told.clone(), has_costs));
        Ok(())
    }

    fn add(&mut self, transaction: &Transaction, frame: &Received, sums: [&[u8]; 2]) -> rusqlite::Result<()> {
        let [paths, functions] = sums;
        let totals = postcard::to_stdvec(&frame.totals).unwrap_or_default(); // into memory: it cannot fail
        let paths = blob::deflated(paths, frame.level());
        let functions = function_sums::deflated(functions, frame.level());
        let slice = Slice { session: self.id, number: frame.sequence, start: frame.start, end: frame.end };
        insert(transaction, &slice, &frame.totals, frame.own, frame.paths(), [&totals, &paths, &functions])?;
        self.next = frame.sequence + 1;
        self.ended = frame.end;
        Ok(())
    }
}
