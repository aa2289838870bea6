//! Fills a store with series that vary a real recording, and asks it at random: for `benches/store.sh`.
//!
//! `fill put STORE SERIES FRAMES SECONDS PROFILE PATHS` puts in SERIES × FRAMES frames of PATHS paths each, SECONDS after each
//! other, of ten hosts a service; `fill ask STORE SERIES FRAMES SECONDS` asks for fifty random selections of each kind. They print
//! a TSV: what, how many, and milliseconds at the median and the 95th percentile.

mod ask;
mod room;
mod vary;

use std::error::Error;
use std::time::{Duration, Instant};

use diytrace_profile::load;
use diytrace_profile::merge::{By, Merging, PartKey};
use diytrace_profile::opened;
use diytrace_store::{Address, Frame, Labels, open};

use vary::{Random, vary};

/// How many frames are put in together.
const AT_ONCE: usize = 50;

const SECOND: i64 = 1_000_000_000;
const HOSTS: usize = 10;
const START: i64 = 1_700_000_000 * SECOND;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "fill put STORE SERIES FRAMES SECONDS PROFILE PATHS, fill ask STORE SERIES FRAMES SECONDS";
    let [what, store, series, frames, seconds, rest @ ..] = &arguments[..] else { return Err(usage.into()) };
    let address: Address = store.parse()?;
    let (series, frames) = (series.parse::<usize>()?, frames.parse::<i64>()?);
    let span = seconds.parse::<i64>()? * SECOND;
    match (what.as_str(), rest) {
        ("put", [profile, paths]) => put(&address, series, frames, span, profile, paths.parse()?),
        ("ask", []) => {
            ask::ask(&address, series, frames, span)?;
            println!("reader_mb\t{}\t\t", room::peak_mb()?);
            Ok(())
        }
        _ => Err(usage.into()),
    }
}

/// Puts them in.
fn put(
    address: &Address,
    series: usize,
    frames: i64,
    span: i64,
    profile: &str,
    paths: usize,
) -> Result<(), Box<dyn Error>> {
    let mut first = None;
    opened::read(&[profile.into()], &mut |_, family| {
        first.get_or_insert_with(|| {
            let mut merging = Merging::new(By::All, None);
            merging.add(family);
            (PartKey::of(family), load::Summary::of(family), merging.finish())
        });
    })?;
    let (part, summary, merged) = first.ok_or("no recording there")?;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut rows, mut taken) = (0, Duration::ZERO);
    {
        let mut engine = open(address, true)?;
        let mut some = Vec::with_capacity(AT_ONCE);
        for number in 0..frames {
            for one in 0..series {
                let merged = vary(&merged, paths, &mut random);
                rows += merged.groups[0].tree.paths.len();
                let end = START + (number + 1) * span;
                // Each host is a machine of its own.
                let mut part = part.clone();
                part.boot_id[0] = (one % HOSTS) as u8;
                let frame = Frame {
                    labels: labels(one),
                    session: one.to_string(),
                    sequence: number as u64 + 1,
                    holds_later: false,
                    start: end - span,
                    end,
                    part,
                    summary: summary.clone(),
                    merged,
                };
                some.push(frame);
                if some.len() == AT_ONCE || one + 1 == series {
                    let began = Instant::now();
                    engine.put_all(&some)?;
                    taken += began.elapsed();
                    some.clear();
                }
            }
        }
    }
    println!("what\tnumber\tp50_ms\tp95_ms");
    println!("rows_put_in\t{rows}\t\t");
    println!("rows_per_second\t{:.0}\t\t", rows as f64 / taken.as_secs_f64());
    println!("writer_mb\t{}\t\t", room::peak_mb()?);
    room::tell(address, rows)
}

fn labels(number: usize) -> Labels {
    let mut labels = Labels::default();
    labels.set("service", format!("s{}", number / HOSTS));
    labels.set("host", format!("h{}", number % HOSTS));
    labels.set("build", format!("b{}", number % 3));
    labels
}
