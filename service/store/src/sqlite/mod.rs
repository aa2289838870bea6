//! The store in a file that SQLite keeps: one writer at a time, readers beside it.

mod add_up;
mod compact;
mod compacted;
mod delete;
mod dictionaries;
mod file;
mod names;
mod put;
mod read;
mod reading;
mod rows;
mod sampled;
mod schema;
mod select;
mod series;
mod sessions;
mod slices;
mod sql;
#[cfg(test)]
mod tests;
mod verdict;

use diytrace_profile::module::ModuleKey;
use diytrace_profile::symbolize::Portable;

use crate::engine::{Cell, Deleted, Engine, FrameFacts, Put, Selected, SeriesFacts, Taken, Tier};
use crate::sampled::{Sampled, SampledFacts};
use crate::verdict::{Verdict, VerdictFacts};
use crate::{Error, Frame, GroupBy, Query, Range, Received};
pub use file::Sqlite;

impl Engine for Sqlite {
    fn bound_memory(&mut self, bytes: usize) {
        (self.dictionaries.most, self.sessions.most_numbers) = (bytes / 5 * 4, bytes / 5 / size_of::<u32>());
    }

    fn put(&mut self, frame: &Frame) -> Result<Put, Error> {
        let put = self.put_all(std::slice::from_ref(frame))?;
        Ok(put.into_iter().next().unwrap_or(Put::Known)) // one for each
    }

    fn put_all(&mut self, frames: &[Frame]) -> Result<Vec<Put>, Error> {
        self.check_place()?;
        put::frames(self, frames)
    }

    fn put_received(&mut self, frames: &[Received]) -> Result<Vec<Taken>, Error> {
        self.check_place()?;
        put::received(self, frames)
    }

    fn next_sequences(&self, sessions: &[&str]) -> Result<Vec<u64>, Error> {
        let next = |session: &&str| rows::next_sequence(&self.connection, session);
        sessions.iter().map(next).collect::<Result<_, _>>().map_err(|source| self.failed(source))
    }

    fn put_symbols(&mut self, module: &ModuleKey, symbols: Portable) -> Result<(), Error> {
        self.check_place()?;
        names::put(self, module, symbols)
    }

    fn series(&self) -> Result<Vec<SeriesFacts>, Error> {
        select::series(self)
    }

    fn version(&self) -> Result<Option<u64>, Error> {
        let version = self.connection.query_row("PRAGMA data_version", [], |row| row.get(0));
        version.map(Some).map_err(|source| self.failed(source))
    }

    fn frames(&self, query: &Query) -> Result<Vec<FrameFacts>, Error> {
        select::frames(self, query)
    }

    fn select(&self, query: &Query, by: &GroupBy) -> Result<Selected, Error> {
        select::select(self, query, by)
    }

    fn select_each(&self, queries: &[Query]) -> Result<Vec<Option<Selected>>, Error> {
        select::each(self, queries)
    }

    fn delete(&mut self, query: &Query) -> Result<Deleted, Error> {
        delete::delete(self, query)
    }

    fn shrink(&mut self, query: &Query, bytes: u64) -> Result<Deleted, Error> {
        delete::shrink(self, query, bytes)
    }

    fn compact(&mut self, tier: Tier, until: i64) -> Result<u64, Error> {
        compact::compact(self, tier, until)
    }

    fn compact_next(&mut self, tier: Tier, until: i64, after: Option<i64>) -> Result<Option<i64>, Error> {
        compact::next(self, tier, until, after)
    }

    fn beyond(&self, tier: Tier, bytes: u64) -> Result<Option<i64>, Error> {
        compact::beyond(self, tier, bytes)
    }

    fn sql(&self, query: &str, take: &mut dyn FnMut(&[Cell]) -> bool) -> Result<(), Error> {
        sql::ask(self, query, take)
    }

    fn symbols(&self, module: &ModuleKey) -> Result<Option<Portable>, Error> {
        names::get(self, module)
    }

    fn put_sampled(&mut self, one: &Sampled) -> Result<Put, Error> {
        self.check_place()?;
        sampled::put(self, one)
    }

    fn all_sampled(&self, range: Range) -> Result<Vec<SampledFacts>, Error> {
        sampled::all(self, range)
    }

    fn one_sampled(&self, id: &str) -> Result<Option<Sampled>, Error> {
        sampled::one(self, id)
    }

    fn delete_sampled(&mut self, ids: &[String]) -> Result<(), Error> {
        sampled::delete(self, ids)
    }

    fn put_verdict(&mut self, one: &Verdict) -> Result<Put, Error> {
        self.check_place()?;
        verdict::put(self, one)
    }

    fn verdicts(&self, range: Range) -> Result<Vec<VerdictFacts>, Error> {
        verdict::all(self, range)
    }

    fn one_verdict(&self, id: &str) -> Result<Option<Verdict>, Error> {
        verdict::one(self, id)
    }

    fn delete_verdicts(&mut self, range: Range) -> Result<u64, Error> {
        verdict::delete(self, range)
    }
}
