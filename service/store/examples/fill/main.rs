//! Fills a store with series that vary a real recording, and asks it at random: for `benches/store.sh`.
//!
//! | command | |
//! |---|---|
//! | `fill put STORE SERIES FRAMES SECONDS PROFILE PATHS` | SERIES × FRAMES frames of PATHS paths each, SECONDS after each other, of ten hosts a service |
//! | `fill plain …` | the same numbers as somebody would keep them by hand in SQLite, in `STORE.plain` |
//! | `fill coarser STORE minute\|hour` | makes slices of a tier of all but the latest |
//! | `fill ask STORE SERIES FRAMES SECONDS PROGRAM FUNCTION` | fifty random selections of each kind; PROGRAM is the command |
//! | `fill by-hand STORE SERIES FRAMES SECONDS` | the same by queries that are written by hand |
//!
//! They print a TSV: what, how many, and milliseconds at the median and the 95th percentile. Where `COLD` names a file or a folder,
//! the kernel forgets it before each selection; `WITHOUT` names kinds that are not asked.

mod ask;
mod by_hand;
mod cold;
mod kinds;
mod plain;
mod room;
mod vary;

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use diytrace_profile::load::{self, Loaded};
use diytrace_profile::merge::{By, Merged, Merging, PartKey};
use diytrace_profile::opened::{self, Opened};
use diytrace_profile::symbolize::gather;
use diytrace_store::{Address, Frame, Labels, Sampled, SampledFacts, Stored, Tier, TypeTotal, open};

use ask::Asking;
use vary::{Random, vary};

/// How many frames are put in together.
const AT_ONCE: usize = 250;

const SECOND: i64 = 1_000_000_000;
const HOSTS: usize = 10;
const START: i64 = 1_700_000_000 * SECOND;

/// What a store is filled with.
pub struct Filling {
    series: usize,
    frames: i64,
    span: i64,
    paths: usize,
}

impl Filling {
    /// When a frame ended.
    fn end(&self, number: i64) -> i64 {
        START + (number + 1) * self.span
    }

    /// What varies a frame: the same in whatever order they are made.
    fn random(&self, number: i64, series: usize) -> Random {
        Random(0x9e37_79b9_7f4a_7c15 ^ ((number as u64) << 32 | series as u64).wrapping_mul(0xff51_afd7_ed55_8ccd))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let filling = |series: &str, frames: &str, seconds: &str, paths: &str| -> Result<Filling, Box<dyn Error>> {
        let span = seconds.parse::<i64>()? * SECOND;
        Ok(Filling { series: series.parse()?, frames: frames.parse()?, span, paths: paths.parse()? })
    };
    match words[..] {
        ["put", store, series, frames, seconds, profile, paths] => {
            put(&store.parse()?, &filling(series, frames, seconds, paths)?, &Recording::read(profile)?)
        }
        ["plain", store, series, frames, seconds, profile, paths] => {
            let merged = Recording::read(profile)?.merged;
            plain::make(&by_hand::beside(Path::new(store)), &merged, &filling(series, frames, seconds, paths)?)
        }
        ["coarser", store, tier] => {
            let tier = if tier == "hour" { Tier::Hour } else { Tier::Minute };
            println!("slices_less\t{}\t\t", open(&store.parse()?, true)?.compact(tier, i64::MAX)?);
            Ok(())
        }
        ["ask", store, series, frames, seconds, program, function] => {
            let address = store.parse()?;
            ask::ask(
                &address,
                &asking(&filling(series, frames, seconds, "0")?),
                kinds::kinds(&address, program, function),
            )?;
            println!("reader_mb\t{}\t\t", room::peak_mb()?);
            Ok(())
        }
        ["by-hand", store, series, frames, seconds] => {
            let address = store.parse()?;
            ask::ask(&address, &asking(&filling(series, frames, seconds, "0")?), by_hand::kinds(&address))
        }
        _ => Err("fill put|plain|coarser|ask|by-hand STORE …: see the head of its source".into()),
    }
}

fn asking(filling: &Filling) -> Asking {
    let Filling { series, frames, span, .. } = *filling;
    let cold = std::env::var_os("COLD").filter(|path| !path.is_empty()).map(Into::into);
    let without = std::env::var("WITHOUT").unwrap_or_default();
    Asking { series, frames, span, cold, without: without.split(',').map(str::to_owned).collect() }
}

/// The recording that is varied.
struct Recording {
    part: PartKey,
    summary: load::Summary,
    merged: Merged,
}

impl Recording {
    fn read(profile: &str) -> Result<Self, Box<dyn Error>> {
        let mut first = None;
        opened::read(&[profile.into()], &mut |_, family| {
            first.get_or_insert_with(|| {
                let mut merging = Merging::new(By::All, None);
                merging.add(family);
                Self { part: PartKey::of(family), summary: load::Summary::of(family), merged: merging.finish() }
            });
        })?;
        first.ok_or_else(|| "no recording there".into())
    }
}

/// Puts frames in, what is known of their modules, and of each service a sampled profile.
fn put(address: &Address, filling: &Filling, recording: &Recording) -> Result<(), Box<dyn Error>> {
    let (mut rows, mut taken) = (0, Duration::ZERO);
    {
        let mut engine = open(address, true)?;
        let mut some = Vec::with_capacity(AT_ONCE);
        for number in 0..filling.frames {
            for one in 0..filling.series {
                let merged = vary(&recording.merged, filling.paths, &mut filling.random(number, one));
                rows += merged.groups[0].tree.paths.len();
                let end = filling.end(number);
                // Each host is a machine of its own.
                let mut part = recording.part.clone();
                part.boot_id[0] = (one % HOSTS) as u8;
                let frame = Frame {
                    labels: labels(one),
                    session: one.to_string(),
                    sequence: number as u64,
                    holds_later: false,
                    start: end - filling.span,
                    end,
                    part,
                    summary: recording.summary.clone(),
                    merged,
                };
                some.push(frame);
                if some.len() == AT_ONCE || one + 1 == filling.series {
                    let began = Instant::now();
                    engine.put_all(&some)?;
                    taken += began.elapsed();
                    some.clear();
                }
            }
        }
        put_names(&mut engine, &recording.merged)?;
        for service in 0..filling.series / HOSTS {
            engine.put_sampled(&sampled(service, filling))?;
        }
    }
    println!("what\tnumber\tp50_ms\tp95_ms");
    println!("rows_put_in\t{rows}\t\t");
    println!("rows_per_second\t{:.0}\t\t", rows as f64 / taken.as_secs_f64());
    println!("writer_mb\t{}\t\t", room::peak_mb()?);
    room::tell(address, rows)
}

fn put_names(engine: &mut Stored, merged: &Merged) -> Result<(), Box<dyn Error>> {
    let opened = Opened::of(Loaded::default(), merged.clone());
    let symbols = opened.symbols();
    for (module, portable) in gather(&opened.merged, &symbols) {
        if let Some(key) = opened.merged.modules[module as usize].key() {
            engine.put_symbols(&key, portable)?;
        }
    }
    Ok(())
}

fn labels(number: usize) -> Labels {
    let mut labels = Labels::default();
    labels.set("service", format!("s{}", number / HOSTS));
    labels.set("host", format!("h{}", number % HOSTS));
    labels.set("build", format!("b{}", number % 3));
    labels
}

/// A sampled profile: of it only what is told beside it is asked for.
fn sampled(service: usize, filling: &Filling) -> Sampled {
    let of = |name: &str, unit: &str| TypeTotal { name: name.to_owned(), unit: unit.to_owned(), total: 1 };
    let facts = SampledFacts {
        id: String::new(),
        labels: labels(service * HOSTS),
        started: filling.end(0) - filling.span,
        ended: filling.end(0),
        types: vec![of("cpu", "nanoseconds"), of("samples", "count")],
        samples: 1,
        bytes: 0,
    };
    Sampled { facts, messages: Vec::new() }
}
