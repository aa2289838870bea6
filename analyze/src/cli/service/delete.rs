//! The command `delete`: what is old or not wanted goes out of a profile store.

use std::io::{self, Write};

use diytrace_profile::error::Error;
use diytrace_profile::human::{bytes, counted};
use diytrace_store::{self as store, Address, Deleted, Query, Range};
use jiff::Zoned;

use crate::cli::size::size;

const EXAMPLES: &str = "\
Examples:
  diytrace delete --store runs.db --select service=old
  diytrace delete --store runs.db --until 30d      # what is older
  diytrace delete --store runs.db --until now --down-to 2G

The names of functions that no recording needs any more go, too, and the file gets smaller. Without --select and \
--down-to verdicts that were saved in that time go as well.";

/// Delete recordings from a profile store: by labels, age or size
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(true).args(["select", "until"])))]
pub struct Arguments {
    /// The store
    #[arg(long, value_name = "URL")]
    store: String,

    /// Labels of the series, with * and ?, a|b for either and !a for others: service=pg,build=ab*
    #[arg(long, value_name = "LABELS")]
    select: Option<String>,

    /// What ended since then: an age such as 90s, 1h or 2d, or a moment such as 2026-11-20T14:00:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// And until then
    #[arg(long, value_name = "TIME")]
    until: Option<String>,

    /// Only the oldest of it, until the store takes no more than that
    #[arg(long, value_name = "SIZE", value_parser = bytes_of)]
    down_to: Option<u64>,

    /// Sampled profiles of others, not recordings; --down-to is then what those take
    #[arg(long)]
    sampled: bool,
}

impl Arguments {
    /// Runs the command.
    pub fn run(self) -> Result<(), Error> {
        let elsewhere = |error: store::Error| Error::Elsewhere(error.into());
        let address = self.store.parse::<Address>().map_err(elsewhere)?;
        if self.sampled {
            let deleted = self.delete_sampled(&address).map_err(elsewhere)?;
            let profiles = counted(deleted as u64, "sampled profile", "sampled profiles");
            let _ = writeln!(io::stderr(), "diytrace: {address}: {profiles} deleted");
            return Ok(());
        }
        let (Deleted { sessions, frames, bytes: freed }, verdicts) = self.delete(&address).map_err(elsewhere)?;
        let recordings = counted(sessions, "recording", "recordings");
        let frames = counted(frames, "span of time", "spans of time");
        let verdicts = match verdicts {
            0 => String::new(),
            some => format!(" and {}", counted(some, "verdict", "verdicts")),
        };
        // If nobody listens, it is deleted all the same.
        let _ = writeln!(
            io::stderr(),
            "diytrace: {address}: {recordings}{verdicts} deleted ({frames}), {} freed",
            bytes(freed)
        );
        Ok(())
    }

    fn query(&self) -> Result<Query, store::Error> {
        let range = Range::parse(self.since.as_deref(), self.until.as_deref(), &Zoned::now())?;
        Query::parse(self.select.as_deref().unwrap_or_default(), range)
    }

    fn delete_sampled(&self, address: &Address) -> Result<usize, store::Error> {
        let mut store = store::open(address, false)?;
        let found = store.sampled(&self.query()?, &address.to_string())?;
        let doomed = store::beyond_bytes(found, self.down_to.unwrap_or(0));
        store.delete_sampled(&doomed)?;
        Ok(doomed.len())
    }

    /// What was deleted, and how many verdicts: those are of a time, and of no series.
    fn delete(&self, address: &Address) -> Result<(Deleted, u64), store::Error> {
        let query = self.query()?;
        let mut store = store::open(address, false)?;
        if let Some(most) = self.down_to {
            return store.shrink(&query, most).map(|deleted| (deleted, 0));
        }
        let verdicts = if query.labels.is_empty() { store.delete_verdicts(query.range)? } else { 0 };
        match store.delete(&query) {
            Err(store::Error::Nothing { .. } | store::Error::Empty { .. }) if verdicts > 0 => {
                Ok((Deleted::default(), verdicts))
            }
            deleted => deleted.map(|deleted| (deleted, verdicts)),
        }
    }
}

fn bytes_of(text: &str) -> Result<u64, &'static str> {
    size(text).ok_or("it must be a size, such as 64M or 2G")
}
