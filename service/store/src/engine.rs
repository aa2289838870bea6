//! What a store can do, whichever engine keeps it.

use diytrace_profile::load::Loaded;
use diytrace_profile::merge::Merged;
use diytrace_profile::module::ModuleKey;
use diytrace_profile::symbolize::Portable;

use crate::sampled::{self, Sampled, SampledFacts};
use crate::verdict::{Verdict, VerdictFacts};
use crate::{Error, Frame, GroupBy, Labels, Query, Range, Received};

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// It is new.
    Added,
    /// It has more than it had when it was put in last, and stands in its place.
    Grown,
    /// It was there, or something later of the same recording that has it.
    Known,
    /// It was there with other labels: its recording has these now.
    Relabelled,
}

/// What became of a frame, and one more than the number of its recording's last one; or why it alone is not in.
pub type Taken = Result<(Put, u64), Error>;

/// A series, and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesFacts {
    /// Its labels.
    pub labels: Labels,
    /// Recordings.
    pub sessions: u64,
    /// Frames of those.
    pub frames: u64,
    /// When the first began, in nanoseconds since 1970.
    pub first: i64,
    /// When the last ended.
    pub last: i64,
    /// Calls in them.
    pub calls: u64,
    /// Bytes that they take.
    pub bytes: u64,
}

/// What was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// Recordings of which nothing is left.
    pub sessions: u64,
    /// Frames.
    pub frames: u64,
    /// Bytes that the store is smaller by.
    pub bytes: u64,
}

/// A frame that there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameFacts {
    /// Its series.
    pub labels: Labels,
    /// Its recording.
    pub session: String,
    /// When it began, in nanoseconds since 1970.
    pub started: i64,
    /// When it ended.
    pub ended: i64,
    /// Calls in it.
    pub calls: u64,
    /// Self times of those as they were measured, in nanoseconds.
    pub raw_ns: i64,
}

/// A value in a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// None.
    Null,
    /// A whole number.
    Whole(i64),
    /// Another.
    Real(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Cell {
    /// As text; bytes in hexadecimal digits.
    pub fn text(&self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Whole(number) => number.to_string(),
            Self::Real(number) => number.to_string(),
            Self::Text(text) => text.clone(),
            Self::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }
}

/// How long slices are that were made of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// A minute.
    Minute,
    /// An hour.
    Hour,
}

impl Tier {
    /// All there are.
    pub const ALL: [Self; 2] = [Self::Minute, Self::Hour];

    /// Its slices' length, in nanoseconds.
    pub fn span_ns(self) -> i64 {
        match self {
            Self::Minute => 60_000_000_000,
            Self::Hour => 3_600_000_000_000,
        }
    }

    /// When the last of its spans ended that a moment does not cut: what it cuts is left for later, so that each slice is made once.
    pub fn last_end(self, moment: i64) -> i64 {
        moment.saturating_sub(moment.rem_euclid(self.span_ns()))
    }
}

/// What was selected, as if its recordings had been read from files.
#[derive(Debug)]
pub struct Selected {
    /// What is told of the recordings.
    pub loaded: Loaded,
    /// What they counted.
    pub merged: Merged,
}

/// A store.
pub trait Engine {
    /// Remembers at most so many bytes, or a little more while all of it is asked for, of what it knows of builds and recordings that are sent
    /// to it: beyond that it is read once more.
    fn bound_memory(&mut self, bytes: usize);

    /// Puts a frame in; one that is there already counts once. What comes late, after something newer of the same recording,
    /// changes nothing.
    fn put(&mut self, frame: &Frame) -> Result<Put, Error>;

    /// Puts many frames in, in this order: what is faster than one after the other is done at once. After an error some of them are
    /// in, each as a whole; all can be put in again.
    fn put_all(&mut self, frames: &[Frame]) -> Result<Vec<Put>, Error> {
        frames.iter().map(|frame| self.put(frame)).collect()
    }

    /// Puts frames in as they were sent: one that is refused keeps no other out. After an error that is not of one of them none is known
    /// to be in, and all can be put in again.
    fn put_received(&mut self, frames: &[Received]) -> Result<Vec<Taken>, Error>;

    /// Of each of these recordings one more than the number of its last frame.
    fn next_sequences(&self, sessions: &[&str]) -> Result<Vec<u64>, Error>;

    /// Adds what is known of a module.
    fn put_symbols(&mut self, module: &ModuleKey, symbols: Portable) -> Result<(), Error>;

    /// Its series.
    fn series(&self) -> Result<Vec<SeriesFacts>, Error>;

    /// A number that differs from the one before, of the same opened store, if anybody else has written in between. `None`: the
    /// engine cannot tell.
    fn version(&self) -> Result<Option<u64>, Error> {
        Ok(None)
    }

    /// The frames of what is asked for.
    fn frames(&self, query: &Query) -> Result<Vec<FrameFacts>, Error>;

    /// The sums of what is asked for, in groups.
    fn select(&self, query: &Query, by: &GroupBy) -> Result<Selected, Error>;

    /// The sums of each of these by itself, as [`Self::select`] gives them; `None` where nothing was counted.
    fn select_each(&self, queries: &[Query]) -> Result<Vec<Option<Selected>>, Error>;

    /// Deletes what is asked for, and what nothing needs then.
    fn delete(&mut self, query: &Query) -> Result<Deleted, Error>;

    /// Deletes the oldest frames of what is asked for until the store takes no more than so many bytes.
    fn shrink(&mut self, query: &Query, bytes: u64) -> Result<Deleted, Error>;

    /// Makes slices of a tier of what ended before a moment, in nanoseconds since 1970. How many slices there are less.
    fn compact(&mut self, tier: Tier, until: i64) -> Result<u64, Error>;

    /// The same of some of them, so that others need not wait for all: of those after what `after` says, which is at first nothing, and
    /// then what was returned last. `None`: these were the last.
    fn compact_next(&mut self, tier: Tier, until: i64, after: Option<i64>) -> Result<Option<i64>, Error>;

    /// Of slices shorter than those of a tier: until when they ended that are more than so many bytes, the latest not counted.
    fn beyond(&self, tier: Tier, bytes: u64) -> Result<Option<i64>, Error>;

    /// Asks in the store's own language: first the names of columns, then rows, until `take` has had enough. Nothing changes.
    fn sql(&self, query: &str, take: &mut dyn FnMut(&[Cell]) -> bool) -> Result<(), Error>;

    /// What is known of a module.
    fn symbols(&self, module: &ModuleKey) -> Result<Option<Portable>, Error>;

    /// Puts a sampled profile in; one that is there already counts once.
    fn put_sampled(&mut self, sampled: &Sampled) -> Result<Put, Error>;

    /// Sampled profiles that ended in a time, and of each series one more at least, if it has any.
    fn all_sampled(&self, range: Range) -> Result<Vec<SampledFacts>, Error>;

    /// The sampled profiles of what is asked for, by the moments at which they ended; `store` is how people name it.
    fn sampled(&self, query: &Query, store: &str) -> Result<Vec<SampledFacts>, Error> {
        sampled::chosen(self.all_sampled(query.range)?, query, store)
    }

    /// A sampled profile.
    fn one_sampled(&self, id: &str) -> Result<Option<Sampled>, Error>;

    /// Deletes sampled profiles.
    fn delete_sampled(&mut self, ids: &[String]) -> Result<(), Error>;

    /// Puts a verdict in; one that is there already counts once, and stays of the moment at which it came first.
    fn put_verdict(&mut self, verdict: &Verdict) -> Result<Put, Error>;

    /// The verdicts that were put in in a time, the latest first.
    fn verdicts(&self, range: Range) -> Result<Vec<VerdictFacts>, Error>;

    /// A verdict.
    fn one_verdict(&self, id: &str) -> Result<Option<Verdict>, Error>;

    /// Deletes the verdicts that were put in in a time. How many there were.
    fn delete_verdicts(&mut self, range: Range) -> Result<u64, Error>;
}

/// A store where something was.
pub type Stored = Box<dyn Engine + Send>;
