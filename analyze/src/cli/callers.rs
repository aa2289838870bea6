//! The options of `callers`.

use std::io::Write;

use diytrace_profile::error::Error;
use diytrace_views::tree::{self, Options, Recursion};
use diytrace_views::view;

use super::pager::Output;
use super::selection::{Selected, function, patterns};
use super::shown::Shown;
use super::tree::{Kind, Sort, percent};

const EXAMPLES: &str = "\
Examples:
  diytrace callers spool_tuples  # who, from which lines, how often and long
  diytrace callers 'palloc*' /tmp/pg --depth 3  # and who calls those
  diytrace callers spool_tuples --format csv

A caller's numbers are those of the calls it makes: of FUNCTION's calls, time and self time.";

/// Show who calls a function: from which file and line, how, how often and how long
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The function: symbol or demangled name, * and ?
    #[arg(value_name = "FUNCTION", value_parser = function)]
    function: String,

    #[command(flatten)]
    selected: Selected,

    /// Only calls inside this function: symbol or demangled name, * and ? (repeatable)
    #[arg(long = "root", value_name = "FUNCTION", value_parser = function)]
    roots: Vec<String>,

    /// Show only callers that one of these functions is among: symbol or demangled name, * and ? (repeatable)
    #[arg(long = "function", value_name = "GLOB", value_parser = function)]
    functions: Vec<String>,

    /// Leave out callers with a smaller share
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value_t = 0.0)]
    min_percent: f64,

    /// Levels of callers
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    depth: u32,

    /// Show the largest N callers
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,

    /// Which time to show: all that passed, what of it was spent on a processor, or waiting
    #[arg(long, value_enum, value_name = "KIND", default_value_t)]
    time: Kind,

    /// Order of callers; the largest first
    #[arg(long, value_enum, value_name = "COLUMN", default_value_t)]
    sort: Sort,

    /// Do not merge functions of one name but several addresses, nor calls of one line
    #[arg(long)]
    by_address: bool,

    #[command(flatten)]
    shown: Shown,
}

impl Arguments {
    /// Runs the command.
    pub fn run(self, out: &mut Output) -> Result<(), Error> {
        let (document, screen) = (self.document()?, self.shown.screen());
        let shown = (&document, &document.warnings[..]);
        let csv = |out: &mut dyn Write| view::tree::csv(&document, out);
        self.shown.show(out, shown, csv, |out| view::tree::callers(&document, &screen, out))
    }

    /// What it tells.
    pub fn document(&self) -> Result<tree::Document, Error> {
        let (opened, names) = (self.selected.open()?, self.selected.names(self.shown.format()));
        let mut document = tree::document(&self.options(), opened)?;
        names.apply(&mut document);
        Ok(document)
    }

    fn options(&self) -> Options {
        Options {
            roots: patterns(std::slice::from_ref(&self.function)),
            inside: patterns(&self.roots),
            functions: patterns(&self.functions),
            callers: true,
            sites: true,
            by_address: self.by_address,
            recursion: Recursion::default(),
            min_percent: Some(self.min_percent),
            depth: Some(self.depth),
            // The function itself is no caller.
            limit: self.limit.map(|limit| limit.saturating_add(1)),
            sort: self.sort.into(),
            raw: self.selected.raw,
            time: self.time.into(),
            spelling: self.selected.names(self.shown.format()).spelling(),
            format: self.shown.format(),
        }
    }
}
