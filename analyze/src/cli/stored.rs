//! Profiles out of a store, in place of files.

use std::io;
use std::path::Path;

use diytrace_compare::diff::Set;
use diytrace_compare::runs::Runs;
use diytrace_profile::error::Error;
use diytrace_profile::opened::Opened;

use super::from_store;
use super::sides::Side;
use super::wanted::{Concluded, Kind, Replicate, Selection};

/// What of a store stands in place of PROFILE.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "From a profile store")]
pub struct Stored {
    /// The store: a file that `push` has made
    #[arg(long, value_name = "URL", conflicts_with_all = ["profiles", "runs"])]
    store: Option<String>,

    /// Labels of the series, with * and ?, a|b for either and !a for others: service=pg,build=ab* [default: all]
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
        let (store, labels) = (self.store.as_deref()?, &*self.select);
        let selection = Selection { store, labels, since: self.since.as_deref(), until: self.until.as_deref() };
        Some(from_store::opened(&selection, by))
    }
}

/// Both sides of a comparison out of a store.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "From a profile store")]
pub struct Compared {
    /// The store: a file that `push` has made
    #[arg(long, value_name = "URL", conflicts_with = "runs")]
    store: Option<String>,

    /// What is one run of a side
    #[arg(long, value_enum, value_name = "WHAT", requires = "store", default_value_t)]
    replicate: Replicate,

    /// What was recorded until then: an age such as 90s, 1h or 2d, or a moment such as 2026-11-20T14:00:00Z
    #[arg(long, value_name = "TIME", requires = "store")]
    until: Option<String>,

    /// Keep the verdict in the store: `diytrace verdicts` and the service's page show it
    #[arg(long, requires = "store")]
    save: bool,
}

impl Compared {
    /// Whether a store is asked.
    pub fn is_asked(&self) -> bool {
        self.store.is_some()
    }

    /// Sides that are selections of the store.
    pub fn runs(&self, sides: [&Path; 2], since: Option<&str>) -> Result<[Runs; 2], Error> {
        let [left, right] = sides.map(|labels| self.selection(labels.to_str().unwrap_or_default(), since));
        from_store::runs([&left, &right], self.replicate)
    }

    /// Sides: selections of the store, or if none is asked, where their sets are.
    pub fn sets(&self, sides: [Side; 2], since: Option<&str>) -> Result<[Set; 2], Error> {
        if self.is_asked() {
            return Ok(self.runs(sides.each_ref().map(|(labels, _)| labels.as_path()), since)?.map(Set::Of));
        }
        let set = |(side, run): Side| match run {
            None => Ok(Set::At(side)),
            Some(wanted) => Runs::chosen(&side, &wanted).map(Set::Of).map_err(|error| Error::Elsewhere(error.into())),
        };
        let [left, right] = sides.map(set);
        Ok([left?, right?])
    }

    /// Keeps what both sides were compared to, if that is asked for.
    pub fn save(
        &self,
        (kind, since): (Kind, Option<&str>),
        sides: [&Path; 2],
        conclude: impl FnOnce() -> io::Result<(String, u8, Vec<u8>)>,
    ) -> Result<(), Error> {
        if !self.save {
            return Ok(());
        }
        let (sentence, status, document) = conclude()?;
        let sides = sides.map(|labels| self.selection(labels.to_str().unwrap_or_default(), since));
        from_store::save(&Concluded {
            kind,
            sides,
            names: None,
            replicate: self.replicate,
            are_samples: false,
            sentence,
            status,
            document,
        })
    }

    /// What is one run of a side, and whether the verdict is kept.
    pub fn how(&self) -> (Replicate, bool) {
        (self.replicate, self.save)
    }

    /// A side, as it was written.
    pub fn selection<'a>(&'a self, labels: &'a str, since: Option<&'a str>) -> Selection<'a> {
        let (store, until) = (self.store.as_deref().unwrap_or_default(), self.until.as_deref());
        Selection { store, labels, since, until }
    }
}
