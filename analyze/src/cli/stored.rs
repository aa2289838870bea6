//! Profiles out of a store, in place of files.

use diytrace_profile::error::Error;
use diytrace_profile::opened::Opened;
use diytrace_store::{self as store, Address, Query, Range};
use jiff::Zoned;

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
        Some(self.select(store, by).map_err(|error| Error::Elsewhere(error.into())))
    }

    fn select(&self, store: &str, by: Option<&str>) -> Result<Opened, store::Error> {
        let range = Range::parse(self.since.as_deref(), self.until.as_deref(), &Zoned::now())?;
        let query = Query::parse(&self.select, range)?;
        store::open_selection(store::open(&store.parse::<Address>()?, false)?, &query, by)
    }
}
