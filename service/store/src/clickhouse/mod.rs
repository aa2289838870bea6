//! The store in a database that ClickHouse keeps, for what outgrows a machine: asked over HTTP.

mod binary;
mod client;
mod cluster;
mod compact;
mod delete;
mod dictionary;
mod failure;
mod labels;
mod literal;
mod native;
mod parts;
mod paths;
mod place;
mod put;
mod rows;
mod sampled;
mod schema;
mod select;
mod series;
mod sql;
mod store;
mod sums;
mod there;
mod told;
mod verdict;
mod write;

use diytrace_profile::module::ModuleKey;
use diytrace_profile::symbolize::Portable;

use crate::engine::{Cell, Deleted, Engine, FrameFacts, Put, Selected, SeriesFacts, Taken, Tier};
use crate::sampled::{Sampled, SampledFacts};
use crate::verdict::{Verdict, VerdictFacts};
use crate::{Error, Frame, GroupBy, Query, Range, Received};
pub use place::Place;
pub use store::ClickHouse;

impl Engine for ClickHouse {
    fn bound_memory(&mut self, bytes: usize) {
        self.most_bytes = bytes;
    }

    fn put(&mut self, frame: &Frame) -> Result<Put, Error> {
        let put = put::frames(self, std::slice::from_ref(frame))?;
        put.first().copied().ok_or_else(|| self.damaged("a frame"))
    }

    fn put_all(&mut self, frames: &[Frame]) -> Result<Vec<Put>, Error> {
        put::frames(self, frames)
    }

    fn put_received(&mut self, frames: &[Received]) -> Result<Vec<Taken>, Error> {
        put::received(self, frames)
    }

    fn next_sequences(&self, sessions: &[&str]) -> Result<Vec<u64>, Error> {
        there::next_sequences(self, sessions)
    }

    fn put_symbols(&mut self, module: &ModuleKey, symbols: Portable) -> Result<(), Error> {
        dictionary::put_symbols(self, module, symbols)
    }

    fn series(&self) -> Result<Vec<SeriesFacts>, Error> {
        series::facts(self)
    }

    fn frames(&self, query: &Query) -> Result<Vec<FrameFacts>, Error> {
        series::frames(self, query)
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
        dictionary::symbols(self, module)
    }

    fn put_sampled(&mut self, one: &Sampled) -> Result<Put, Error> {
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
