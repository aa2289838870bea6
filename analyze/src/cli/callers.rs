//! The options of `callers`.

use std::io::Write;

use diytrace_profile::error::Error;
use diytrace_views::tree::{self, Options, Recursion};
use diytrace_views::view::{self, Screen};

use super::choice::{Colors, Naming};
use super::selection::{Format, Selected, patterns};
use super::shown::show;
use super::tree::Sort;

const EXAMPLES: &str = "\
Examples:
  diytrace callers spool_tuples                # who calls it, from which lines, how often and how long
  diytrace callers 'palloc*' /tmp/pg --depth 3  # and who calls those
  diytrace callers spool_tuples --format csv

A caller's numbers are those of the calls it makes: of FUNCTION's calls, time and self time.";

/// Show who calls a function: from which file and line, how, how often and how long
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The function: symbol or demangled name, * and ?
    #[arg(value_name = "FUNCTION")]
    function: String,

    #[command(flatten)]
    selected: Selected,

    /// Levels of callers
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    depth: u32,

    /// Show the largest N callers
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Order of callers; the largest first
    #[arg(long, value_enum, value_name = "COLUMN", default_value_t)]
    sort: Sort,

    /// Times as measured: do not subtract the profiler's overhead
    #[arg(long)]
    raw: bool,

    /// Do not merge functions of one name but several addresses, nor calls of one line
    #[arg(long)]
    by_address: bool,

    /// How it is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: Format,

    #[command(flatten)]
    naming: Naming,

    #[command(flatten)]
    colors: Colors,
}

impl Arguments {
    /// Runs the command.
    pub fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let (options, screen) = (Options::from(self.clone()), Screen::of(self.colors.into()));
        let mut document = tree::document(&options)?;
        self.naming.of(options.format).apply(&mut document);
        let shown = (&document, &document.warnings[..]);
        show(
            out,
            options.format,
            shown,
            |out| view::tree::csv(&document, out),
            |out| view::tree::callers(&document, &screen, out),
        )
    }
}

impl From<Arguments> for Options {
    fn from(arguments: Arguments) -> Self {
        let Arguments { function, selected, depth, limit, sort, raw, by_address, format, naming, .. } = arguments;
        Self {
            selection: selected.into(),
            roots: patterns(&[function]),
            callers: true,
            sites: true,
            by_address,
            recursion: Recursion::default(),
            min_percent: Some(0.0),
            depth: Some(depth),
            // The function itself is no caller.
            limit: limit.map(|limit| limit.saturating_add(1)),
            sort: sort.into(),
            raw,
            spelling: naming.of(format.into()).spelling(),
            format: format.into(),
        }
    }
}
