//! The options of `export`.

use std::path::PathBuf;

use clap::ValueEnum;
use diytrace_views::export::{self, Options};
use diytrace_views::report;

use super::choice::{Naming, choice};

const EXAMPLES: &str = "\
Examples:
  diytrace export flamegraph -o pg.svg          # open it in a browser: click to zoom, Ctrl-F to search
  diytrace export html -o pg.html               # table, flame graph, tree and percentiles in one page
  diytrace export pprof -o pg.pb.gz && go tool pprof -http : pg.pb.gz
  diytrace export callgrind -o callgrind.out.pg && kcachegrind callgrind.out.pg
  diytrace export speedscope -o pg.json         # drop it on https://www.speedscope.app
  diytrace export firefox -o pg.json            # drop it on https://profiler.firefox.com
  diytrace export dot | dot -Tsvg > pg.svg
  diytrace export folded --root eval_windowaggregates | inferno-flamegraph > pg.svg

Calls are exact. Times are whole nanoseconds, corrected for the profiler's overhead; the sum of
all self times is the report's. Processes and threads that --by separates are each corrected on their own.";

/// Write a profile for another tool: flame graph, pprof, Callgrind, speedscope, Firefox Profiler, Graphviz, or a page
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// What to write
    #[arg(value_enum, value_name = "FORMAT")]
    format: Format,

    /// A .diyt or .diya file, a folder of them, or A..B of two snapshots [default: diytrace.data]
    #[arg(value_name = "PROFILE")]
    profiles: Vec<PathBuf>,

    /// The file to write [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Only what happens inside this function: symbol or demangled name, * and ? (repeatable)
    #[arg(long = "root", value_name = "FUNCTION")]
    roots: Vec<String>,

    /// Only this process, as it saw its own number
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,

    /// What is separated [default: all together; pprof: thread, as labels]
    #[arg(long, value_enum, value_name = "WHAT")]
    by: Option<By>,

    #[command(flatten)]
    naming: Naming,

    /// Times as measured: do not subtract the profiler's overhead
    #[arg(long)]
    raw: bool,
}

impl From<Arguments> for Options {
    fn from(arguments: Arguments) -> Self {
        let Arguments { format, profiles, output, roots, pid, by, naming, raw } = arguments;
        let roots = roots.iter().flat_map(|list| diytrace_format::pattern::split(list)).map(str::to_owned).collect();
        Self {
            format: format.into(),
            profiles,
            roots,
            pid,
            by: by.map(Into::into),
            names: naming.chosen(),
            raw,
            output,
        }
    }
}

choice!(By for report::By { All, Process, Thread });
choice!(Format for export::Format { Flamegraph, Folded, Pprof, Callgrind, Speedscope, Firefox, Dot, Html });
