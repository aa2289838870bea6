//! The options of `export`.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use diytrace_profile::error::Error;
use diytrace_views::export::{self, Options};

use super::choice::choice;
use super::pager::Output;
use super::selection::{Selected, function, patterns};
use super::shown::{warn, write_file};
use super::tree::{Kind, percent};

const EXAMPLES: &str = "\
Examples:
  diytrace export flamegraph -o pg.svg   # for a browser: click to zoom
  diytrace export html -o pg.html        # one page with everything
  diytrace export pprof -o pg.pb.gz && go tool pprof -http : pg.pb.gz
  diytrace export callgrind -o callgrind.out.pg && kcachegrind callgrind.out.pg
  diytrace export speedscope -o pg.json  # for www.speedscope.app
  diytrace export firefox -o pg.json     # for profiler.firefox.com
  diytrace export dot | dot -Tsvg > pg.svg
  diytrace export folded --root handle_request | inferno-flamegraph > pg.svg

Calls are exact. Times are whole nanoseconds, corrected for the profiler's overhead; the sum of all self times is \
the report's. Processes and threads that --by separates are each corrected on their own.";

/// Write a profile for another tool: flame graph, pprof, Callgrind, speedscope, Firefox Profiler, Graphviz, or a page
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// What to write
    #[arg(value_enum, value_name = "FORMAT")]
    format: Format,

    #[command(flatten)]
    selected: Selected,

    /// The file to write [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Only what happens inside this function: symbol or demangled name, * and ? (repeatable)
    #[arg(long = "root", value_name = "FUNCTION", value_parser = function)]
    roots: Vec<String>,

    /// Only call paths that one of these functions is on: symbol or demangled name, * and ? (repeatable)
    #[arg(long = "function", value_name = "GLOB", value_parser = function)]
    functions: Vec<String>,

    /// Which time to export: all that passed, what of it was spent on a processor, or waiting
    #[arg(long, value_enum, value_name = "KIND", default_value_t)]
    time: Kind,

    /// Leave out call paths with a smaller share of all time: below each path they are one frame with their calls and time
    /// [default: 0; where a browser is to open more than 50,000, the least of 0.001, 0.01, 0.1 and 1 that leaves fewer]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    min_percent: Option<f64>,

    /// Levels of calls to export [default: all]
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
}

impl Arguments {
    /// Runs the command.
    pub fn run(self, out: &mut Output) -> Result<(), Error> {
        let format = self.options().format;
        if format.is_binary() && self.output.is_none() && io::stdout().is_terminal() {
            return Err(Error::BinaryToTerminal);
        }
        let profile = self.profile()?;
        let written = export::bytes(format, &profile).and_then(|bytes| self.write(&bytes, out));
        warn(&profile.warnings);
        written
    }

    /// What it exports, as bytes.
    #[cfg(feature = "service")]
    pub fn bytes(&self) -> Result<Vec<u8>, Error> {
        export::bytes(self.options().format, &self.profile()?)
    }

    fn profile(&self) -> Result<export::Profile, Error> {
        let options = self.options();
        export::profile(&options, &self.selected.open_by(options.format.by())?)
    }

    fn write(&self, bytes: &[u8], out: &mut Output) -> Result<(), Error> {
        match &self.output {
            Some(path) => write_file(path, |file| file.write_all(bytes)),
            None => {
                out.write_all(bytes)?;
                Ok(out.flush()?)
            }
        }
    }

    fn options(&self) -> Options {
        Options {
            format: self.format.into(),
            roots: patterns(&self.roots),
            functions: patterns(&self.functions),
            min_percent: self.min_percent,
            depth: self.depth,
            names: self.selected.chosen_names(),
            raw: self.selected.raw,
            time: self.time.into(),
        }
    }
}

choice!(Format for export::Format { Flamegraph, Folded, Pprof, Callgrind, Speedscope, Firefox, Dot, Html });
