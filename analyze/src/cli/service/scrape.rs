//! The command `scrape`: takes sampled profiles from endpoints of others.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use diytrace_profile::error::Error as Whole;
use diytrace_sampled::{Endpoint, Scraper};
use diytrace_store::Put;

use super::destination::{Destination, Error};
use super::log;
use crate::signals::Signals;

const EXAMPLES: &str = "\
Examples:
  diytrace scrape 127.0.0.1:6060 --store runs.db --seconds 10
  diytrace scrape 127.0.0.1:6060/debug/pprof/heap --store runs.db
  diytrace scrape db1:6060/debug/pprof/mutex --store runs.db --every 10s
  diytrace samples --store runs.db --since 1h

Asked again and again (--every), what only grows in a Go program (alloc_space, alloc_objects, contentions, delay) counts \
from the reading before; the first one is where it begins. An endpoint that does not answer is asked again at the next time.";

/// Take sampled profiles from a pprof endpoint into a store or a service, once or again and again
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The endpoint: http://HOST:PORT/PATH; without a path, /debug/pprof/profile
    #[arg(value_name = "URL")]
    endpoint: String,

    /// How long the endpoint is to sample, in seconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: Option<u64>,

    /// Ask again and again, until SIGTERM: 10s, 1m
    #[arg(long, value_name = "TIME", value_parser = super::agent::duration)]
    every: Option<Duration>,

    #[command(flatten)]
    destination: Destination,
}

impl Arguments {
    /// Runs the command.
    pub fn run(self) -> Result<(), Whole> {
        self.scrape().map_err(Whole::Elsewhere)
    }

    fn scrape(self) -> Result<(), Error> {
        let endpoint = Endpoint::parse(&self.endpoint, self.seconds)?;
        let labels = self.destination.labels()?;
        let mut target = self.destination.open()?;
        let name = target.name().to_owned();
        let mut scraper = Scraper::new(endpoint, labels, self.seconds, self.every.is_some());
        let Some(every) = self.every else {
            let Some(sampled) = scraper.scrape()? else { return Ok(()) };
            let put = target.put_sampled(&sampled)?;
            let what = if put == Put::Known { "there already" } else { "put in" };
            let types: Vec<&str> = sampled.facts.types.iter().map(|of| of.name.as_str()).collect();
            let _ = writeln!(io::stderr(), "diytrace: {name}: 1 sampled profile {what} ({})", types.join(", "));
            return Ok(());
        };
        log::to_stderr();
        let signals = Signals::block(&[libc::SIGTERM, libc::SIGINT]);
        tracing::info!("scrapes {} into {name}", self.endpoint);
        let mut next = Instant::now();
        loop {
            match scraper.scrape() {
                Ok(Some(sampled)) => match target.put_sampled(&sampled) {
                    Ok(_) => scraper.taken(),
                    Err(error) => tracing::warn!("not put in, and told with the next: {error}"),
                },
                Ok(None) => {}
                Err(error) => tracing::warn!("{error}"),
            }
            // At the times that were planned, however long one takes.
            next = (next + every).max(Instant::now());
            let is_to_end = |signal: libc::siginfo_t| [libc::SIGTERM, libc::SIGINT].contains(&signal.si_signo);
            if signals.wait_until(Some(next)).is_some_and(is_to_end) {
                return Ok(());
            }
        }
    }
}
