//! The options of `tree`.

use std::io::Write;

use clap::ValueEnum;
use diytrace_profile::error::Error;
use diytrace_profile::spent;
use diytrace_views::tree::{self, Options, Recursion};
use diytrace_views::view;

use super::choice::choice;
use super::pager::Output;
use super::selection::{Selected, function, patterns};
use super::shown::Shown;

const EXAMPLES: &str = "\
Examples:
  diytrace tree            # down to what takes 0.5%
  diytrace tree --root ExecutorRun --min-percent 2
  diytrace tree --root handle_request --depth 3 --sites  # with lines
  diytrace tree --callers  # who calls what takes the most
  diytrace tree --callers --root malloc_wrapper
  diytrace tree --format json | jq '.trees[0].nodes[] | {name, share}'";

/// Show the call tree: who calls whom below whom, and where the time goes
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    selected: Selected,

    /// Begin at this function: symbol or demangled name, * and ? (repeatable) [default: where recording began]
    #[arg(long = "root", value_name = "FUNCTION", value_parser = function)]
    roots: Vec<String>,

    /// Show only branches that one of these functions is on: symbol or demangled name, * and ? (repeatable)
    #[arg(long = "function", value_name = "GLOB", value_parser = function)]
    functions: Vec<String>,

    /// Invert the tree: from functions to their callers; without --root, from those with the most self time
    #[arg(long)]
    callers: bool,

    /// Separate calls by call site, with their lines
    #[arg(long)]
    sites: bool,

    /// Leave out branches with a smaller share [default: 0.5; in JSON and CSV 0]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    min_percent: Option<f64>,

    /// Levels of calls to show [default: all; of callers 5]
    #[arg(long, value_name = "N")]
    depth: Option<u32>,

    /// Levels of a recursion to show before the others are folded into them [default: 1, or 4 through other functions]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    recursion: Option<u32>,

    /// Show the largest N branches
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,

    /// Which time to show: all that passed, what of it was spent on a processor, or waiting
    #[arg(long, value_enum, value_name = "KIND", default_value_t)]
    time: Kind,

    /// Order of branches; the largest first
    #[arg(long, value_enum, value_name = "COLUMN", default_value_t)]
    sort: Sort,

    /// Do not merge functions of one name but several addresses
    #[arg(long)]
    by_address: bool,

    /// Write JSON with a row of numbers for each branch (diytrace-paths/1): a tenth of the whole
    #[arg(long, conflicts_with = "sites")]
    compact: bool,

    #[command(flatten)]
    shown: Shown,
}

impl Arguments {
    /// Runs the command.
    pub fn run(self, out: &mut Output) -> Result<(), Error> {
        let (document, screen) = (self.document()?, self.shown.screen());
        if self.compact {
            self.shown.only_json("--compact")?;
            let shown = (&tree::Rows::of(&document), &document.warnings[..]);
            return self.shown.show(out, shown, |_| Ok(()), |_| Ok(()));
        }
        let shown = (&document, &document.warnings[..]);
        let csv = |out: &mut dyn Write| view::tree::csv(&document, out);
        self.shown.show(out, shown, csv, |out| view::tree::table(&document, &screen, out))
    }

    /// What it tells.
    pub fn document(&self) -> Result<tree::Document, Error> {
        let (opened, names) = (self.selected.open()?, self.selected.names(self.shown.format()));
        let mut document = tree::document(&self.options(), opened)?;
        names.apply(&mut document);
        Ok(document)
    }

    /// What it tells, for a request.
    #[cfg(feature = "service")]
    pub fn json(&self) -> Result<Vec<u8>, Error> {
        let document = self.document()?;
        let mut bytes = Vec::new();
        match self.compact {
            true => serde_json::to_writer(&mut bytes, &tree::Rows::of(&document)).map_err(std::io::Error::from)?,
            false => view::json::write(&document, &mut bytes)?,
        }
        Ok(bytes)
    }

    fn options(&self) -> Options {
        let Self { callers, sites, min_percent, depth, recursion, limit, sort, by_address, time, .. } = *self;
        let recursion = recursion.map(|levels| Recursion { direct: levels, through_others: levels });
        Options {
            roots: patterns(&self.roots),
            functions: patterns(&self.functions),
            inside: Vec::new(),
            callers,
            sites,
            by_address,
            recursion: recursion.unwrap_or_default(),
            min_percent,
            depth,
            limit,
            sort: sort.into(),
            raw: self.selected.raw,
            time: time.into(),
            spelling: self.selected.names(self.shown.format()).spelling(),
            format: self.shown.format(),
        }
    }
}

choice!(pub Kind for spent::Kind { Wall, Cpu, Wait });
choice!(pub Sort for tree::Sort { Total, Self_ = "self", Calls, Name });

pub fn percent(text: &str) -> Result<f64, &'static str> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse().ok();
    percent.filter(|percent| (0.0..=100.0).contains(percent)).ok_or("it must be a share in percent, from 0 to 100")
}
