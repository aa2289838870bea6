//! The sums of paths, which ClickHouse adds up, and what the first and last frames of recordings know of open calls.

use std::thread;

use rustc_hash::{FxHashMap, FxHashSet};

use super::binary::Reader;
use super::failure::Failure;
use super::schema::NUMBERS;
use super::series::{AT_ONCE, Row, filed};
use super::store::ClickHouse;
use crate::{Error, codec};

/// How many numbers of a path are sums; the others are of open calls.
pub const SUMS: usize = diytrace_profile::merge::Row::SUMS;

/// A bit for each of these.
const OF_SUMS: u32 = (1 << SUMS) - 1;

/// A question: columns of numbers, and what to ask.
struct Question {
    columns: Vec<usize>,
    query: String,
    /// Whether numbers fit 64 bits.
    is_small: bool,
}

/// What was asked, answered.
pub struct Answer {
    question: Question,
    bytes: Vec<u8>,
}

/// Asks for both, for frames that are added up by themselves in so many lists, and does something else meanwhile.
pub fn ask<T>(
    store: &ClickHouse,
    units: &[Vec<Row>],
    meanwhile: impl FnOnce() -> Result<T, Failure>,
) -> Result<([Vec<Answer>; 2], T), Failure> {
    let answer = |question: Question| store.client.rows(&question.query, &[]).map(|bytes| Answer { question, bytes });
    let questions = [sums(units), open(units)];
    // Adding up takes most of the time.
    thread::scope(|scope| {
        let asked = questions.map(|questions| {
            scope.spawn(move || questions.into_iter().map(answer).collect::<Result<Vec<Answer>, Error>>())
        });
        let done = meanwhile();
        let answers = asked.map(|asked| asked.join().unwrap_or_else(|_| Err(store.damaged("a frame"))));
        let [sums, open] = answers;
        Ok(([sums?, open?], done?))
    })
}

/// The columns of the table of paths that bits stand for.
fn columns(bits: u32) -> Vec<usize> {
    (0..NUMBERS.len()).filter(|at| bits >> at & 1 != 0).collect()
}

/// Rows with the numbers of their units.
type Rows<'a> = [(usize, &'a Row)];

/// The sums over all frames, by unit and path; of so many frames each.
fn sums(units: &[Vec<Row>]) -> Vec<Question> {
    let rows: Vec<(usize, &Row)> =
        units.iter().enumerate().flat_map(|(at, rows)| rows.iter().map(move |row| (at, row))).collect();
    rows.chunks(AT_ONCE).map(sums_of).collect()
}

fn sums_of(rows: &Rows) -> Question {
    let columns = columns(rows.iter().fold(0, |all, (_, row)| all | row.columns) & OF_SUMS);
    // Of each path a frame has one row: so no sum is larger than that of the largest numbers of all.
    let is_small = rows.iter().map(|(_, row)| u128::from(row.largest)).sum::<u128>() <= i64::MAX as u128;
    let number = if is_small { "" } else { "::Int128" };
    let condition = filed(rows.iter().map(|(_, row)| *row), rows.iter().map(|(_, row)| row.id));
    let (count, sum, group) = match are_apart(rows) {
        true => ("1::UInt64", "", ""),
        false => ("count()", "sum", " GROUP BY unit, path"),
    };
    let totals: String = columns.iter().map(|at| format!(", {sum}({}{number})", NUMBERS[*at])).collect();
    let query =
        format!("SELECT {} AS unit, path, {count}{totals} FROM path_sum PREWHERE {condition}{group}", unit_of(rows));
    Question { columns, query, is_small }
}

/// Whether most units have one frame, as short slices of a time have: then there is nothing for ClickHouse to add up, and it takes longer
/// to find that out than to answer the rows as they are.
fn are_apart(rows: &Rows) -> bool {
    let units: FxHashSet<usize> = rows.iter().map(|(unit, _)| *unit).collect();
    2 * rows.len() <= 3 * units.len()
}

/// An expression for the number of the unit that a row of the table of paths is in.
fn unit_of(rows: &Rows) -> String {
    let mut of_series: FxHashMap<u64, usize> = FxHashMap::default();
    // Series are few. But a recording may have gone from one to another, while what it has is filed where it was.
    let are_told = rows.iter().all(|(at, row)| *of_series.entry(row.own_series).or_insert(*at) == *at);
    let (column, pairs): (_, Vec<(u64, usize)>) = match are_told {
        true => ("series", of_series.into_iter().collect()),
        false => ("frame", rows.iter().map(|(at, row)| (row.id, *at)).collect()),
    };
    if let [(_, first), others @ ..] = &pairs[..]
        && others.iter().all(|(_, at)| at == first)
    {
        return format!("{first}::UInt64");
    }
    let ids = pairs.iter().map(|(id, _)| id.to_string()).collect::<Vec<_>>().join(",");
    let numbers = pairs.iter().map(|(_, at)| at.to_string()).collect::<Vec<_>>().join(",");
    format!("transform({column}, [{ids}]::Array(UInt64), [{numbers}]::Array(UInt64), 0::UInt64)")
}

/// What is known of open calls by the first and last frames of recordings, if they know any.
fn open(units: &[Vec<Row>]) -> Vec<Question> {
    let open: Vec<&Row> = units.iter().flat_map(|rows| edges(rows)).filter(|row| row.columns & !OF_SUMS != 0).collect();
    open.chunks(AT_ONCE).map(open_of).collect()
}

fn open_of(rows: &[&Row]) -> Question {
    let columns = columns(rows.iter().fold(0, |all, row| all | row.columns) & !OF_SUMS);
    let names: String = columns.iter().map(|at| format!(", {}", NUMBERS[*at])).collect();
    let are_some = columns.iter().map(|at| format!("{} != 0", NUMBERS[*at])).collect::<Vec<_>>().join(" OR ");
    let condition = filed(rows.iter().copied(), rows.iter().map(|row| row.id));
    let query = format!("SELECT frame, path{names} FROM path_sum PREWHERE {condition} WHERE {are_some}");
    Question { columns, query, is_small: true }
}

/// The first and last rows of each recording.
fn edges(rows: &[Row]) -> impl Iterator<Item = &Row> {
    let recordings = rows.chunk_by(|a, b| a.session == b.session);
    recordings.flat_map(|rows| match rows {
        [first, .., last] => vec![first, last],
        rows => rows.iter().collect(),
    })
}

impl Answer {
    /// Its rows, of so many numbers that tell which each is, and those of its path.
    pub fn rows(&self, store: &ClickHouse, keys: usize) -> Result<impl Iterator<Item = Numbered<'_>>, Error> {
        let Question { columns, is_small, .. } = &self.question;
        let rows = self.bytes.chunks_exact(8 * keys + columns.len() * if *is_small { 8 } else { 16 });
        let is_whole = rows.remainder().is_empty();
        let row = |bytes| Numbered { question: &self.question, bytes };
        if is_whole { Ok(rows.map(row)) } else { Err(store.damaged("a frame")) }
    }
}

/// A row of an answer.
pub struct Numbered<'a> {
    question: &'a Question,
    bytes: &'a [u8],
}

impl Numbered<'_> {
    /// The numbers that tell which it is, and those of its path. `None` if it has not so many.
    pub fn read<const KEYS: usize>(&self) -> Option<([u64; KEYS], codec::Numbers)> {
        let mut numbers: codec::Numbers = [0; codec::NUMBERS];
        self.read_to::<KEYS>(&mut numbers)?;
        Some((self.keys()?, numbers))
    }

    /// The numbers of its path, behind those that tell which it is, to where there are zeros.
    pub fn read_to<const KEYS: usize>(&self, numbers: &mut codec::Numbers) -> Option<()> {
        let mut row = Reader::of(self.bytes.get(8 * KEYS..)?);
        for at in &self.question.columns {
            numbers[*at] = if self.question.is_small { i128::from(row.i64()?) } else { row.i128()? };
        }
        Some(())
    }

    /// Those that tell which it is.
    pub fn keys<const KEYS: usize>(&self) -> Option<[u64; KEYS]> {
        let mut row = Reader::of(self.bytes);
        let mut keys = [0; KEYS];
        for key in &mut keys {
            *key = row.u64()?;
        }
        Some(keys)
    }
}
