//! The options of `top`.

use std::io::Write;
use std::time::Duration;

use crate::top::{self, Options, Wanted};
use clap::ValueEnum;
use diytrace_profile::merge;
use diytrace_views::{names, report};

use super::choice::choice;
use super::selection::{function, patterns};
use super::shown::Format;
use super::target::Target;
use super::tree::percent;
use super::wanted::Selection;
use super::{Error, from_store};

const EXAMPLES: &str = "\
Examples:
  diytrace top                    # the program that is running here
  diytrace top 4711 --sort calls  # that of process 4711
  diytrace top --root handle_request  # what it calls
  diytrace top --store runs.db --select service=pg  # what came in last
  diytrace top --once             # one frame as text
  diytrace top --format json --frames 4 | jq '.functions[0]'

Rates are of the last interval, a second of time on the wall: a thread that is always in a function adds 1 s/s to \
its total. Mean and p99 are of the calls that returned in it. The program is neither stopped nor signalled. Of a store (--store) the interval is \
the longest of the newest slices: of each recording one ends in it.";

/// Show live what a running program does: calls, time, mean and p99 of each function
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,

    /// A profile store, in place of a program: its newest slices
    #[arg(long, value_name = "URL", conflicts_with_all = ["target", "run", "by"], help_heading = "From a profile store")]
    store: Option<String>,

    /// Labels of the series, with * and ?, a|b for either and !a for others: service=pg,host=db* [default: all]
    #[arg(
        long,
        value_name = "LABELS",
        requires = "store",
        default_value = "",
        hide_default_value = true,
        help_heading = "From a profile store"
    )]
    select: String,

    /// Begin at this function, and show what it calls: symbol or demangled name, * and ? (repeatable)
    #[arg(long = "root", value_name = "FUNCTION", value_parser = function)]
    roots: Vec<String>,

    /// Only functions of these names: symbol or demangled name, * and ? (repeatable)
    #[arg(long = "function", value_name = "GLOB", value_parser = function)]
    functions: Vec<String>,

    /// Only functions whose total in the interval is at least this share of all time
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value_t = 0.0)]
    min_percent: f64,

    /// Milliseconds between two readings [default: 250, or 1000 of a store]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(10..=3_600_000))]
    interval: Option<u64>,

    /// Write one frame, as text unless --format says otherwise
    #[arg(long, conflicts_with = "frames")]
    once: bool,

    /// Write N frames
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    frames: Option<u64>,

    /// How frames are written: as text, as JSON, one a line, or as CSV; by itself at a terminal it is live
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,

    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// What one list is about: all together, or each process
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    by: By,

    /// Order of functions; the largest first
    #[arg(long, value_enum, value_name = "COLUMN", default_value_t)]
    sort: Sort,

    /// How C++ functions are named [default: short, or full as JSON]
    #[arg(long, value_enum, value_name = "HOW")]
    names: Option<Names>,

    /// Most functions of a frame [default: 20 as text, all as JSON]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

choice!(By for merge::By { All, Process });
choice!(Names for names::Names {
    /// Demangled, with parameters and template arguments
    Full,
    /// Without them, as far as that tells functions apart
    Short
});
choice!(Sort for top::Sort { Self_ = "self", Total, Calls, Mean, P99, Name });

impl Arguments {
    /// Runs the command.
    pub fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let feed = match self.store.as_deref() {
            None => None,
            Some(store) => {
                let selection = Selection { store, labels: &self.select, since: None, until: None };
                Some(from_store::newest(&selection)?)
            }
        };
        Ok(top::run(&self.into(), feed, out)?)
    }
}

impl From<Arguments> for Options {
    fn from(arguments: Arguments) -> Self {
        let Arguments {
            target,
            store,
            roots,
            functions,
            min_percent,
            interval,
            once,
            frames,
            format,
            json,
            by,
            sort,
            names,
            limit,
            ..
        } = arguments;
        let format = if json { Some(report::Format::Json) } else { format.map(Into::into) };
        let is_for_programs = matches!(format, Some(report::Format::Json | report::Format::Csv));
        let frames = if once { Some(1) } else { frames };
        let interval = Duration::from_millis(interval.unwrap_or(if store.is_some() { 1000 } else { 250 }));
        let names = names.unwrap_or(if is_for_programs { Names::Full } else { Names::Short }).into();
        let (target, wanted) =
            (target.into(), Wanted { roots: patterns(&roots), functions: patterns(&functions), min_percent });
        Self { target, wanted, interval, frames, format, by: by.into(), sort: sort.into(), names, limit }
    }
}
