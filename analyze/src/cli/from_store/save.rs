//! Keeps what a comparison concluded in a profile store.

use std::env;
use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use diytrace_profile::error::Error;
use diytrace_store::{self as store, Address, Compared, Put, Range, Stored, Verdict, VerdictFacts, VerdictKind};

use super::query::query;
use crate::cli::wanted::{Concluded, Kind, Selection};

/// Options that say where, or how it is written, and nothing of what was compared; the first of them have a value.
const BESIDE: [&str; 8] = ["--store", "--format", "--color", "--output", "-o", "--limit", "--save", "--no-pager"];
const WITH_VALUE: usize = 6;

/// Digits of a verdict's number that people are shown: as many as tell it from others.
pub const SHOWN_DIGITS: usize = 8;

/// Keeps it.
pub fn save(concluded: &Concluded) -> Result<(), Error> {
    let address: Address = concluded.sides[0].store.parse().map_err(elsewhere)?;
    let mut stored = store::open(&address, true).map_err(elsewhere)?;
    put(&mut stored, &address, concluded).map_err(elsewhere)
}

/// Keeps it in a store that is open.
pub fn put(stored: &mut Stored, address: &Address, concluded: &Concluded) -> Result<(), store::Error> {
    let compared = compared(stored, concluded)?;
    let saved = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let facts = VerdictFacts {
        id: String::new(),
        kind: match concluded.kind {
            Kind::Bench => VerdictKind::Bench,
            Kind::Diff => VerdictKind::Diff,
            Kind::Similar => VerdictKind::Similar,
        },
        saved: i64::try_from(saved).unwrap_or(i64::MAX),
        compared,
        command: command(env::args()),
        sentence: concluded.sentence.clone(),
        status: concluded.status,
        bytes: concluded.document.len() as u64,
    };
    let verdict = Verdict { facts, document: concluded.document.clone() };
    let put = stored.put_verdict(&verdict)?;
    let (id, was) = (verdict.id(), if put == Put::Known { "was there already" } else { "saved" });
    let id = &id[..SHOWN_DIGITS];
    // If nobody listens, it is saved all the same.
    let _ = writeln!(
        io::stderr(),
        "diytrace: {address}: verdict {id} {was}: `diytrace verdicts {id} --store {address}` shows it"
    );
    Ok(())
}

/// Both sides, in the time that what was compared is of: so they select the same later, when more has come.
fn compared(stored: &Stored, concluded: &Concluded) -> Result<Compared, store::Error> {
    let [left, right] = &concluded.sides;
    let ended = |side: &Selection| -> Result<Vec<i64>, store::Error> {
        let query = query(side)?;
        Ok(match concluded.are_samples {
            true => stored.sampled(&query, side.store)?.iter().map(|facts| facts.ended).collect(),
            false => stored.frames(&query)?.iter().map(|frame| frame.ended).collect(),
        })
    };
    let ends = [ended(left)?, ended(right)?].concat();
    let range = Range {
        since: ends.iter().min().map_or(i64::MIN, |first| first.saturating_sub(1)),
        until: ends.iter().max().copied().unwrap_or(i64::MAX),
    };
    let (since, until) = store::written_range(range);
    let name = |number: usize, side: &Selection| {
        let name = concluded.names.map_or(side.labels, |names| names[number]);
        if name.is_empty() { "all".to_owned() } else { name.to_owned() }
    };
    let replicate = concluded.replicate.to_possible_value();
    Ok(Compared {
        left: name(0, left),
        right: name(1, right),
        left_select: left.labels.to_owned(),
        right_select: right.labels.to_owned(),
        since,
        until,
        replicate: replicate.map(|value| value.get_name().to_owned()).unwrap_or_default(),
    })
}

/// The command line, as a shell takes it, without what says where the answer goes: a store's URL may have a password in it.
fn command(words: impl Iterator<Item = String>) -> String {
    let mut kept = vec!["diytrace".to_owned()];
    let mut words = words.skip(1);
    while let Some(word) = words.next() {
        let (name, has_value) = word.split_once('=').map_or((&*word, false), |(name, _)| (name, true));
        match BESIDE.iter().position(|beside| *beside == name) {
            Some(number) if number < WITH_VALUE && !has_value => drop(words.next()),
            Some(_) => {}
            None => kept.push(quoted(&word)),
        }
    }
    kept.join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_=,./:@+%".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

fn elsewhere(error: store::Error) -> Error {
    Error::Elsewhere(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_command_what_was_compared_is_kept_and_no_secret() {
        let words = "diytrace diff --store clickhouse://me:secret@db:8123/runs a=b c=* --save --format json -o dir --level 0.01";
        assert_eq!(command(words.split(' ').map(str::to_owned)), "diytrace diff a=b 'c=*' --level 0.01");
        let words = ["diytrace", "bench", "--a", "./old it's.lua", "--store=s.db"];
        assert_eq!(command(words.into_iter().map(str::to_owned)), r"diytrace bench --a './old it'\''s.lua'");
    }
}
