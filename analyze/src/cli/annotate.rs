//! The options of `annotate`.

use std::io::Write;
use std::path::PathBuf;

use diytrace_profile::error::Error;
use diytrace_views::annotate::{self, Options};
use diytrace_views::view::{self, Screen};

use super::choice::{Colors, Naming};
use super::selection::{Format, Selected, patterns};
use super::shown::show;

const EXAMPLES: &str = "\
Examples:
  diytrace annotate eval_windowaggregates           # its source, with what each line calls
  diytrace annotate parse --context 2 --source ~/src/server-1.4
  diytrace annotate parse --assembly                # its machine code around the calls";

/// Show a function's source with what each line calls, how often and how long
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The function: symbol or demangled name, * and ?
    #[arg(value_name = "FUNCTION")]
    function: String,

    #[command(flatten)]
    selected: Selected,

    /// Where the sources are, if not where they were compiled: the longest end of a path that is there counts (repeatable)
    #[arg(long = "source", value_name = "DIR")]
    sources: Vec<PathBuf>,

    /// Lines (or instructions) to show around each that calls [default: all lines; 4 instructions]
    #[arg(long, value_name = "N")]
    context: Option<usize>,

    /// Show machine code although there is a source
    #[arg(long)]
    assembly: bool,

    /// Times as measured: do not subtract the profiler's overhead
    #[arg(long)]
    raw: bool,

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
        let mut document = annotate::document(&options)?;
        self.naming.of(options.format).apply(&mut document);
        let shown = (&document, &document.warnings[..]);
        show(
            out,
            options.format,
            shown,
            |out| view::annotate::csv(&document, out),
            |out| view::annotate::text(&document, &screen, out),
        )
    }
}

impl From<Arguments> for Options {
    fn from(arguments: Arguments) -> Self {
        let Arguments { function, selected, sources, context, assembly, raw, format, naming, .. } = arguments;
        Self {
            selection: selected.into(),
            functions: patterns(&[function]),
            sources,
            context,
            assembly,
            raw,
            spelling: naming.of(format.into()).spelling(),
            format: format.into(),
        }
    }
}
