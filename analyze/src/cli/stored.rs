//! Profiles out of a store, in place of files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use diytrace_compare::diff::Set;
use diytrace_compare::runs::{Elsewhere, Run, Runs};
use diytrace_profile::error::Error;
use diytrace_profile::opened::Opened;
use diytrace_store::{self as store, Address, GroupBy, Query, Range};
use jiff::Zoned;

use super::choice::choice;

/// What of a store stands in place of PROFILE.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "From a profile store")]
pub struct Stored {
    /// The store: a file that `push` has made
    #[arg(long, value_name = "URL", conflicts_with = "profiles")]
    store: Option<String>,

    /// Labels of the series, with * and ?: service=pg,build=ab* [default: all]
    #[arg(long, value_name = "LABELS", requires = "store", default_value = "", hide_default_value = true)]
    select: String,

    /// What was recorded since then: an age such as 90s, 1h or 2d, or a moment such as 2026-11-20T14:00:00Z
    #[arg(long, value_name = "TIME", requires = "store")]
    since: Option<String>,

    /// And until then
    #[arg(long, value_name = "TIME", requires = "store")]
    until: Option<String>,
}

impl Stored {
    /// Whether a store is asked.
    pub fn is_asked(&self) -> bool {
        self.store.is_some()
    }

    /// What is asked for, apart by a label's values if one is named; `None` if no store is.
    pub fn open(&self, by: Option<&str>) -> Option<Result<Opened, Error>> {
        let store = self.store.as_ref()?;
        Some(
            self.select(store, by.map_or(GroupBy::All, |by| GroupBy::Label(by.to_owned())))
                .map_err(|error| Error::Elsewhere(error.into())),
        )
    }

    fn select(&self, store: &str, by: GroupBy) -> Result<Opened, store::Error> {
        let range = Range::parse(self.since.as_deref(), self.until.as_deref(), &Zoned::now())?;
        let query = Query::parse(&self.select, range)?;
        store::open_selection(store::open(&store.parse::<Address>()?, false)?, &query, &by)
    }
}

/// Both sides of a comparison out of a store.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "From a profile store")]
pub struct Compared {
    /// The store: a file that `push` has made
    #[arg(long, value_name = "URL", conflicts_with = "confirm")]
    store: Option<String>,

    /// What is one run of a side
    #[arg(long, value_enum, value_name = "WHAT", requires = "store", default_value_t)]
    replicate: Replicate,

    /// What was recorded since then: an age such as 90s, 1h or 2d, or a moment such as 2026-11-20T14:00:00Z
    #[arg(long, value_name = "TIME", requires = "store")]
    since: Option<String>,

    /// And until then
    #[arg(long, value_name = "TIME", requires = "store")]
    until: Option<String>,
}

choice!(Replicate for store::Replicate {
    /// A recording
    Run,
    /// All that a host has
    Host,
    /// What was counted between two moments
    Slice
});

impl Compared {
    /// A side: a selection of the store, or if none is asked, where its set is.
    pub fn set(&self, side: PathBuf) -> Result<Set, Error> {
        match &self.store {
            None => Ok(Set::At(side)),
            Some(store) => self.of_store(store, &side).map_err(|error| Error::Elsewhere(error.into())),
        }
    }

    fn of_store(&self, store: &str, side: &Path) -> Result<Set, store::Error> {
        let range = Range::parse(self.since.as_deref(), self.until.as_deref(), &Zoned::now())?;
        let (select, address) = (side.to_string_lossy().into_owned(), store.parse::<Address>()?);
        let query = Query::parse(&select, range)?;
        let runs = store::replicates(&*store::open(&address, false)?, &query, self.replicate.into())?;
        let run = |(number, (started, query)): (u32, (i64, Query))| {
            let address = address.clone();
            let read = move || {
                let opened = store::open(&address, false);
                let opened = opened.and_then(|store| store::open_selection(store, &query, &GroupBy::All));
                opened.map_err(|error| Error::Elsewhere(error.into()))
            };
            let elsewhere = Some(Elsewhere(Arc::new(read)));
            Run { number, started_unix_ns: u64::try_from(started).ok(), elsewhere, ..Run::default() }
        };
        let runs = (1..).zip(runs).map(run).collect();
        Ok(Set::Of(Runs { name: select, runs, folder: store.into(), ..Runs::default() }))
    }
}
