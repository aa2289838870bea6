//! Fills a store with series that vary a real recording, and asks it at random: for `benches/store.sh`.
//!
//! `fill PROFILE STORE SERIES FRAMES PATHS` puts in SERIES × FRAMES frames of PATHS paths each, ten seconds after each other, of
//! ten hosts a service; then it asks for fifty random selections of each kind. It prints a TSV: what, how many, and milliseconds
//! at the median and the 95th percentile.

use std::error::Error;
use std::time::Instant;

use diytrace_profile::correct::correct;
use diytrace_profile::load;
use diytrace_profile::merge::{By, Merged, Merging, PartKey};
use diytrace_profile::opened;
use diytrace_store::{Address, Frame, GroupBy, Labels, Query, Range, open, open_selection};

const SECOND: i64 = 1_000_000_000;
const HOSTS: usize = 10;
const START: i64 = 1_700_000_000 * SECOND;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [profile, store, series, frames, paths] = &arguments[..] else {
        return Err("fill PROFILE STORE SERIES FRAMES PATHS".into());
    };
    let (series, frames, paths) = (series.parse::<usize>()?, frames.parse::<i64>()?, paths.parse()?);
    let mut first = None;
    opened::read(&[profile.into()], &mut |_, family| {
        first.get_or_insert_with(|| {
            let mut merging = Merging::new(By::All, None);
            merging.add(family);
            (PartKey::of(family), load::Summary::of(family), merging.finish())
        });
    })?;
    let (part, summary, merged) = first.ok_or("no recording there")?;
    let address: Address = store.parse()?;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut rows = 0;
    let began = Instant::now();
    {
        let mut engine = open(&address, true)?;
        for number in 0..frames {
            for one in 0..series {
                let merged = vary(&merged, paths, &mut random);
                rows += merged.groups[0].tree.paths.len();
                let end = START + (number + 1) * 10 * SECOND;
                let (labels, session) = (labels(one), one.to_string());
                let sequence = number as u64 + 1;
                let (part, summary) = (part.clone(), summary.clone());
                engine.put(&Frame {
                    labels,
                    session,
                    sequence,
                    holds_later: false,
                    start: end - 10 * SECOND,
                    end,
                    part,
                    summary,
                    merged,
                })?;
            }
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("what\tnumber\tp50_ms\tp95_ms");
    println!("rows_put_in\t{rows}\t\t");
    println!("rows_per_second\t{:.0}\t\t", rows as f64 / seconds);
    // What ClickHouse takes, its own tables tell.
    if let Address::Sqlite(file) = &address {
        let size = std::fs::metadata(file)?.len();
        println!("bytes_per_row\t{:.2}\t\t", size as f64 / rows as f64);
    }
    ask(&address, series, frames, &mut random)
}

fn labels(number: usize) -> Labels {
    let mut labels = Labels::default();
    labels.set("service", format!("s{}", number / HOSTS));
    labels.set("host", format!("h{}", number % HOSTS));
    labels.set("build", format!("b{}", number % 3));
    labels
}

/// The first paths of what was recorded, all called so much more or less often.
fn vary(merged: &Merged, paths: usize, random: &mut Random) -> Merged {
    let mut merged = merged.clone();
    let group = &mut merged.groups[0];
    let paths = paths.min(group.tree.paths.len());
    group.tree.paths.truncate(paths);
    let factor = random.below(16) + 1;
    for path in &mut group.tree.paths {
        path.end = path.end.min(paths as u32);
        let counts = &mut path.counts;
        (counts.calls, counts.closed) = (counts.calls * factor, counts.closed * factor);
        counts.own = counts.own.times(factor);
        counts.inclusive = counts.inclusive.map(|time| time.times(factor));
        counts.closed_time = counts.closed_time.times(factor);
    }
    group.calls = group.tree.paths.iter().map(|path| path.counts.calls).sum();
    for (_, pairs) in group.parts.iter_mut().flat_map(|part| {
        part.paths.truncate(paths);
        &mut part.paths
    }) {
        let one = *pairs;
        (1..factor).for_each(|_| pairs.add(&one));
    }
    // Of the functions, those of roots and whoever is watched have histograms in every frame.
    let functions = std::mem::take(&mut group.functions);
    group.functions = functions.into_iter().take(20).collect();
    merged
}

/// Fifty random selections of each kind.
fn ask(address: &Address, series: usize, frames: i64, random: &mut Random) -> Result<(), Box<dyn Error>> {
    type Ask = fn(&Address, usize, Range) -> Result<usize, Box<dyn Error>>;
    let whole: Ask = |address, service, range| {
        let query = Query { labels: vec![("service".to_owned(), format!("s{service}"))], range, session: None };
        let opened = open_selection(open(address, false)?, &query, &GroupBy::All)?;
        Ok(opened.merged.groups.iter().map(|group| correct(group).corrected.len()).sum())
    };
    let one: Ask = |address, service, range| {
        let labels = [("service", format!("s{service}")), ("host", "h3".to_owned())];
        let labels = labels.map(|(name, value)| (name.to_owned(), value)).to_vec();
        let opened = open_selection(open(address, false)?, &Query { labels, range, session: None }, &GroupBy::All)?;
        Ok(opened.merged.groups.iter().map(|group| correct(group).corrected.len()).sum())
    };
    let by_build: Ask = |address, service, range| {
        let query = Query { labels: vec![("service".to_owned(), format!("s{service}"))], range, session: None };
        let opened = open_selection(open(address, false)?, &query, &GroupBy::Label("build".to_owned()))?;
        Ok(opened.merged.groups.iter().map(|group| correct(group).corrected.len()).sum())
    };
    let index: Ask = |address, _, _| Ok(open(address, false)?.series()?.len());
    let kinds: [(&str, Ask, i64); 5] = [
        ("one_profile", one, 1),
        ("one_host_all_time", one, frames),
        ("service_all_time", whole, frames),
        ("service_by_build", by_build, frames),
        ("index_of_series", index, 1),
    ];
    for (name, ask, length) in kinds {
        let mut taken = Vec::new();
        for _ in 0..50 {
            let service = random.below((series / HOSTS) as u64) as usize;
            let first = random.below((frames - length + 1) as u64) as i64;
            let since = START + first * 10 * SECOND;
            let range = Range { since, until: since + length * 10 * SECOND };
            let began = Instant::now();
            ask(address, service, range)?;
            taken.push(began.elapsed().as_secs_f64() * 1e3);
        }
        taken.sort_by(f64::total_cmp);
        println!("{name}\t{}\t{:.1}\t{:.1}", taken.len(), taken[25], taken[47]);
    }
    Ok(())
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}
