//! The command `history`: functions over builds, commits or time.

use std::io::Write;

use diytrace_compare::history::{self as over, Document, Options, view};
use diytrace_profile::error::Error;
use diytrace_store::{self as store, Address, GroupBy, Over, Query, Range};
use jiff::Zoned;

use crate::cli::pager::Output;
use crate::cli::selection::patterns;
use crate::cli::shown::Shown;

const EXAMPLES: &str = "\
Examples:
  diytrace history handle --store runs.db                # by build
  diytrace history handle --store runs.db --over commit  # by another label
  diytrace history handle --store runs.db --over time --since 1h
  diytrace history --regressions --store runs.db --over commit

A step is a change between two builds, or two slices of time, that stays: the medians of up to 11 recordings before and \
after differ by 5% or more, by more than recordings that follow each other usually do, and by more than the error of the \
correction. Where both builds were run side by side, as `bench` does, those runs must show at least 0.7 of it. With \
--regressions the exit status is 1 if there is a rise.";

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

    /// Labels of the series, with * and ?: service=pg,host=db* [default: all]
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
    #[arg(long, conflicts_with = "regressions")]
    histogram: bool,

    #[command(flatten)]
    shown: Shown,
}

impl Arguments {
    /// Runs the command. The answer is "no" if rises were looked for, and there are some.
    pub fn run(self, out: &mut Output) -> Result<u8, Error> {
        let (document, screen) = (self.document()?, self.shown.screen());
        let table = |out: &mut dyn Write| match self.regressions {
            true => view::regressions(&document, &screen, out),
            false => view::table(&document, &screen, out),
        };
        let csv = |out: &mut dyn Write| view::csv(&document, out);
        self.shown.show::<Error>(out, (&document, &document.warnings), csv, table)?;
        Ok(u8::from(self.regressions && !document.functions.is_empty()))
    }

    /// What it tells.
    pub fn document(&self) -> Result<Document, Error> {
        let failed = |error: store::Error| Error::Elsewhere(error.into());
        let range = Range::parse(self.since.as_deref(), self.until.as_deref(), &Zoned::now()).map_err(failed)?;
        let query = Query::parse(&self.select, range).map_err(failed)?;
        let stored = store::open(&self.store.parse::<Address>().map_err(failed)?, false).map_err(failed)?;
        let apart = match &*self.over {
            "time" => Over::Time { most: self.slices.into() },
            label => Over::Label(label.to_owned()),
        };
        let (parts, slice_ns) = store::over(&*stored, &query, &apart).map_err(failed)?;
        // Groups come in the order of their names.
        let name = |number: usize| format!("{number:010}");
        let groups = parts.iter().enumerate().map(|(number, part)| (name(number), part.query.clone()));
        let by = GroupBy::Parts(groups.collect());
        let opened = store::open_selection(stored, &query, &by).map_err(failed)?;
        let part = |(number, part): (usize, store::Part)| over::Part {
            group: name(number),
            value: part.value,
            started: part.started,
            ended: part.ended,
        };
        let parts: Vec<over::Part> = parts.into_iter().enumerate().map(part).collect();
        let options = Options {
            functions: patterns(&self.functions),
            over: self.over.clone(),
            slice_ns,
            histogram: self.histogram,
        };
        over::history(&opened, &parts, &options)
    }
}
