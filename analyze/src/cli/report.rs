//! The options of `report`.

use std::path::PathBuf;

use clap::ValueEnum;
use diytrace_analyze::report::{self, Options};

use super::choice::{Colors, choice};

const EXAMPLES: &str = "\
Examples:
  diytrace report                               # diytrace.data here, functions by self time
  diytrace report --root eval_windowaggregates  # a function and what it calls
  diytrace report --by process --sort p99 --limit 10 /tmp/pg
  diytrace report --format json | jq '.reports[0].functions[0]'";

/// Show functions, or for roots what they call, with counts, times and percentiles
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A .diyt file or a folder of them [default: diytrace.data]
    #[arg(value_name = "PROFILE")]
    profiles: Vec<PathBuf>,

    /// Report this function and its callees: symbol or demangled name, * and ? (repeatable) [default: as recorded]
    #[arg(long = "root", value_name = "FUNCTION")]
    roots: Vec<String>,

    /// Only this process, as it saw its own number
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,

    /// What is reported together
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    by: By,

    /// Times as measured: do not subtract what measuring costs
    #[arg(long)]
    raw: bool,

    /// Order of functions; the largest first [default: self, or total under a root]
    #[arg(long, value_enum, value_name = "COLUMN")]
    sort: Option<Sort>,

    /// Most functions to show
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Keep functions of one name but several addresses apart
    #[arg(long)]
    by_address: bool,

    /// How the report is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: Format,

    #[command(flatten)]
    colors: Colors,
}

impl From<Arguments> for Options {
    fn from(arguments: Arguments) -> Self {
        let Arguments { profiles, roots, pid, by, raw, sort, limit, by_address, format, colors } = arguments;
        let roots = roots.iter().flat_map(|list| diytrace::pattern::split(list)).map(str::to_owned).collect();
        Self {
            profiles,
            roots,
            pid,
            by: by.into(),
            raw,
            sort: sort.map(Into::into),
            limit,
            format: format.into(),
            color: colors.into(),
            by_address,
        }
    }
}

choice!(By for report::By { All, Process, Thread });
choice!(Format for report::Format { Table, Json, Csv });
choice!(Sort for report::Sort { Calls, Total, Self_ = "self", Mean, P50, P90, P99, Max, Name });
