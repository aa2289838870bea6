//! The command `history`: functions over builds, commits or time, in recordings or in sampled profiles.

use std::io::Write;

use diytrace_compare::history::{self as over, Document, Options, view};
use diytrace_profile::error::Error;
use diytrace_sampled::{self as sampled, Asked, History};
use diytrace_store::{self as store, Address, GroupBy, Over, Query, Range, Stored};
use jiff::Zoned;
use serde::Serialize;

use crate::cli::pager::Output;
use crate::cli::selection::patterns;
use crate::cli::shown::Shown;

const EXAMPLES: &str = "\
Examples:
  diytrace history handle --store runs.db                # by build
  diytrace history handle --store runs.db --over commit  # by another label
  diytrace history handle --store runs.db --over time --since 1h
  diytrace history --regressions --store runs.db --over commit
  diytrace history parse --store runs.db --type cpu      # in sampled profiles

A step is a change between two builds, or two slices of time, that stays: the medians of up to 11 recordings before and \
after differ by 5% or more, by more than recordings that follow each other usually do, and by more than the error of the \
correction. Where both builds were run side by side, as `bench` does, those runs must show at least 0.7 of it. With \
--regressions the exit status is 1 if there is a rise. Of sampled profiles (pprof), values a second of one type of samples \
are looked at so, profile by profile.";

/// Show functions over builds, commits or time, and where they became slower or faster for good
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Functions: symbol or demangled name, * and ?
    #[arg(value_name = "FUNCTION", required_unless_present = "regressions")]
    functions: Vec<String>,

    /// All functions that take longer, or are called more often, since some build or moment
    #[arg(long, conflicts_with = "functions")]
    regressions: bool,

    /// The store
    #[arg(long, value_name = "URL")]
    store: String,

    /// Labels of the series, with * and ?, a|b for either and !a for others: service=pg,host=db* [default: all]
    #[arg(long, value_name = "LABELS", default_value = "", hide_default_value = true)]
    select: String,

    /// What was recorded since then: an age such as 90s, 1h or 2d, or a moment such as 2026-11-20T14:00:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// And until then
    #[arg(long, value_name = "TIME")]
    until: Option<String>,

    /// What comes one after the other: build, commit or another label, its values in the order of their first recordings; or time
    #[arg(long, value_name = "WHAT", default_value = "build")]
    over: String,

    /// Most slices of time; they are of 250 ms, or a power of two times that
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    slices: u16,

    /// Tell how the times of calls are distributed (JSON)
    #[arg(long, conflicts_with_all = ["regressions", "of", "shares"])]
    histogram: bool,

    /// Of sampled profiles: the type of samples, such as cpu or alloc_space [default: what they show first, if there are no recordings]
    #[arg(long = "type", value_name = "TYPE")]
    of: Option<String>,

    /// Of sampled profiles: values as parts of each
    #[arg(long)]
    shares: bool,

    #[command(flatten)]
    shown: Shown,
}

/// What a history tells.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Told {
    /// Of recordings.
    Counted(Document),
    /// Of sampled profiles.
    Sampled(History),
}

impl Told {
    fn warnings(&self) -> &[String] {
        match self {
            Self::Counted(document) => &document.warnings,
            Self::Sampled(history) => &history.warnings,
        }
    }

    fn has_functions(&self) -> bool {
        match self {
            Self::Counted(document) => !document.functions.is_empty(),
            Self::Sampled(history) => !history.functions.is_empty(),
        }
    }
}

impl Arguments {
    /// Runs the command. The answer is "no" if rises were looked for, and there are some.
    pub fn run(self, out: &mut Output) -> Result<u8, Error> {
        let (told, screen) = (self.document()?, self.shown.screen());
        let table = |out: &mut dyn Write| match (&told, self.regressions) {
            (Told::Counted(document), true) => view::regressions(document, &screen, out),
            (Told::Counted(document), false) => view::table(document, &screen, out),
            (Told::Sampled(history), true) => sampled::write_regressions(history, &screen, out),
            (Told::Sampled(history), false) => sampled::write_histories(history, &screen, out),
        };
        let csv = |out: &mut dyn Write| match &told {
            Told::Counted(document) => view::csv(document, out),
            Told::Sampled(history) => sampled::write_histories_csv(history, out),
        };
        self.shown.show::<Error>(out, (&told, told.warnings()), csv, table)?;
        Ok(u8::from(self.regressions && told.has_functions()))
    }

    /// What it tells: of recordings, if there are any and nothing says that sampled profiles are meant.
    pub fn document(&self) -> Result<Told, Error> {
        let failed = |error: store::Error| Error::Elsewhere(error.into());
        let range = Range::parse(self.since.as_deref(), self.until.as_deref(), &Zoned::now()).map_err(failed)?;
        let query = Query::parse(&self.select, range).map_err(failed)?;
        let address = self.store.parse::<Address>().map_err(failed)?;
        let stored = store::open(&address, false).map_err(failed)?;
        let apart = match &*self.over {
            "time" => Over::Time { most: self.slices.into() },
            label => Over::Label(label.to_owned()),
        };
        let are_samples_meant = self.of.is_some() || self.shares;
        let counted = if are_samples_meant { None } else { Some(store::over(&*stored, &query, &apart)) };
        match counted {
            Some(Ok(apart)) => self.counted(stored, &query, apart).map(Told::Counted),
            Some(Err(error)) if !error.is_missing() => Err(failed(error)),
            missing => {
                let profiles = stored.sampled(&query, &address.to_string()).map_err(|none| match missing {
                    // Without sampled profiles, what is wrong with the recordings is the answer.
                    Some(Err(error)) => failed(error),
                    _ => failed(none),
                })?;
                let asked = Asked {
                    of: self.of.clone(),
                    are_shares: self.shares,
                    functions: patterns(&self.functions),
                    over: self.over.clone(),
                    apart,
                };
                let told = sampled::history(&*stored, profiles, &query, &asked);
                told.map(Told::Sampled).map_err(|error| match error {
                    sampled::Error::Store(error) => failed(error),
                    error => Error::Elsewhere(error.into()),
                })
            }
        }
    }

    fn counted(
        &self,
        stored: Stored,
        query: &Query,
        store::Apart { parts, slice: slice_ns, coarse }: store::Apart,
    ) -> Result<Document, Error> {
        // Groups come in the order of their names.
        let name = |number: usize| format!("{number:010}");
        let groups = parts.iter().enumerate().map(|(number, part)| (name(number), part.query.clone()));
        let by = GroupBy::Parts(groups.collect());
        let opened =
            store::open_selection(stored, query, &by).map_err(|error: store::Error| Error::Elsewhere(error.into()))?;
        let part = |(number, part): (usize, store::Part)| over::Part {
            group: name(number),
            value: part.value,
            started: part.started,
            ended: part.ended,
            inside: part.inside,
        };
        let parts: Vec<over::Part> = parts.into_iter().enumerate().map(part).collect();
        let late = |range: Range| over::Coarse { started_unix_ns: range.since, ended_unix_ns: range.until };
        let options = Options {
            functions: patterns(&self.functions),
            over: self.over.clone(),
            slice_ns,
            coarse: coarse.into_iter().map(late).collect(),
            histogram: self.histogram,
        };
        over::history(&opened, &parts, &options)
    }
}
