//! Random selections of each kind, and how long they take.

use std::error::Error;
use std::thread;
use std::time::Instant;

use diytrace_profile::correct::correct;
use diytrace_store::{Address, GroupBy, Query, Range, open, open_selection};

use crate::vary::Random;
use crate::{HOSTS, SECOND, START};

type Ask = fn(&Address, usize, Range) -> Result<usize, Box<dyn Error>>;

/// Fifty of each; each opens the store anew.
pub fn ask(address: &Address, series: usize, frames: i64, span: i64) -> Result<(), Box<dyn Error>> {
    let mut random = Random(7);
    let service: Ask = |address, service, range| selected(address, service, None, range, &GroupBy::All);
    let host: Ask = |address, service, range| selected(address, service, Some("h3"), range, &GroupBy::All);
    let by_build: Ask =
        |address, service, range| selected(address, service, None, range, &GroupBy::Label("build".to_owned()));
    let index: Ask = |address, _, _| Ok(open(address, false)?.series()?.len());
    let hour = (3600 * SECOND / span).clamp(1, frames);
    let kinds: [(&str, Ask, i64); 6] = [
        ("one_profile", host, 1),
        ("one_host_all_time", host, frames),
        ("service_hour", service, hour),
        ("service_all_time", service, frames),
        ("service_by_build", by_build, frames),
        ("index_of_series", index, 1),
    ];
    for (name, ask, length) in kinds {
        let mut taken = Vec::new();
        for _ in 0..50 {
            let service = random.below((series / HOSTS) as u64) as usize;
            let first = random.below((frames - length + 1) as u64) as i64;
            let since = START + first * span;
            let range = Range { since, until: since + length * span };
            let began = Instant::now();
            ask(address, service, range)?;
            let time = began.elapsed();
            taken.push(time.as_secs_f64() * 1e3);
            // Linux holds up for 50 ms who goes before all others and is not idle for a second.
            thread::sleep(time / 8);
        }
        taken.sort_by(f64::total_cmp);
        println!("{name}\t{}\t{:.1}\t{:.1}", taken.len(), taken[25], taken[47]);
    }
    Ok(())
}

/// How many paths there are in a service, or one host of it, when all is added up and corrected.
fn selected(
    address: &Address,
    service: usize,
    host: Option<&str>,
    range: Range,
    by: &GroupBy,
) -> Result<usize, Box<dyn Error>> {
    let mut labels = vec![("service".to_owned(), format!("s{service}"))];
    labels.extend(host.map(|host| ("host".to_owned(), host.to_owned())));
    let opened = open_selection(open(address, false)?, &Query { labels, range, session: None }, by)?;
    Ok(opened.merged.groups.iter().map(|group| correct(group).corrected.len()).sum())
}
