//! The options of `annotate`.

use std::io::Write;
use std::path::PathBuf;

use diytrace_profile::error::Error;
use diytrace_views::annotate::{self, Options};
use diytrace_views::view;

use super::pager::Output;
use super::selection::{Selected, function, patterns};
use super::shown::Shown;
use super::tree::percent;

const EXAMPLES: &str = "\
Examples:
  diytrace annotate handle_request   # its source, with what each line calls
  diytrace annotate parse --context 2 --source ~/src/server-1.4
  diytrace annotate parse --assembly       # its machine code around calls";

/// Show a function's source with what each line calls, how often and how long
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

    /// Where the sources are, if not where they were compiled: the longest end of a path that is there counts (repeatable)
    #[arg(long = "source", value_name = "DIR")]
    sources: Vec<PathBuf>,

    /// Lines (or instructions) to show around each that calls [default: all lines; 4 instructions]
    #[arg(long, value_name = "N")]
    context: Option<usize>,

    /// Leave out calls with a smaller share of the function's time
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value_t = 0.0)]
    min_percent: f64,

    /// Show machine code although there is a source
    #[arg(long)]
    assembly: bool,

    #[command(flatten)]
    shown: Shown,
}

impl Arguments {
    /// Runs the command.
    pub fn run(self, out: &mut Output) -> Result<(), Error> {
        let (document, screen) = (self.document()?, self.shown.screen());
        let shown = (&document, &document.warnings[..]);
        let csv = |out: &mut dyn Write| view::annotate::csv(&document, out);
        self.shown.show(out, shown, csv, |out| view::annotate::text(&document, &screen, out))
    }

    /// What it tells.
    pub fn document(&self) -> Result<annotate::Document, Error> {
        let (opened, names) = (self.selected.open()?, self.selected.names(self.shown.format()));
        let mut document = annotate::document(&self.options(), &opened)?;
        names.apply(&mut document);
        Ok(document)
    }

    fn options(&self) -> Options {
        Options {
            functions: patterns(std::slice::from_ref(&self.function)),
            inside: patterns(&self.roots),
            sources: self.sources.clone(),
            context: self.context,
            min_percent: self.min_percent,
            assembly: self.assembly,
            raw: self.selected.raw,
            spelling: self.selected.names(self.shown.format()).spelling(),
            format: self.shown.format(),
        }
    }
}
