//! The options of `report`.

use std::io::Write;

use clap::ValueEnum;
use diytrace_profile::error::Error;
use diytrace_views::report::{self, Detail, Filter, Options};
use diytrace_views::view;

use super::choice::choice;
use super::pager::Output;
use super::selection::{Selected, function, patterns};
use super::shown::Shown;
use super::tree::percent;

const EXAMPLES: &str = "\
Examples:
  diytrace report                               # functions by self time
  diytrace report --root eval_windowaggregates  # a function and what it calls
  diytrace report --by process --sort p99 --limit 10 /tmp/pg
  diytrace report --columns calls,self,p50,p99,p99.9,source --file 'nodeAgg.c'
  diytrace report --module 'libpq*' --min-time 1ms --histogram
  diytrace report --timeline --root handle  # when it ran, as a line of blocks
  diytrace report --timeline --format csv       # a row for each slice of time
  diytrace report --format json | jq '.reports[0].functions[0]'";

/// Show functions, or for roots what they call, with counts, times and percentiles
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    selected: Selected,

    /// Report this function and its callees: symbol or demangled name, * and ? (repeatable) [default: as recorded]
    #[arg(long = "root", value_name = "FUNCTION", value_parser = function)]
    roots: Vec<String>,

    /// Order of functions; the largest first [default: self, or total under a root]
    #[arg(long, value_enum, value_name = "COLUMN")]
    sort: Option<Sort>,

    /// Columns of the list of functions, separated by commas (--help tells which)
    #[arg(long, value_enum, value_name = "COLUMNS", value_delimiter = ',', conflicts_with = "roots")]
    columns: Vec<Column>,

    /// List only functions of these names: symbol or demangled name, * and ? (repeatable)
    #[arg(long = "function", value_name = "GLOB", value_parser = function)]
    functions: Vec<String>,

    /// List only functions of modules whose path, or the end of it, matches (repeatable)
    #[arg(long = "module", value_name = "GLOB")]
    modules: Vec<String>,

    /// List only functions in source files whose path, or the end of it, matches (repeatable)
    #[arg(long = "file", value_name = "GLOB")]
    files: Vec<String>,

    /// List only functions that took at least this long in all: 500ns, 1us, 2.5ms, 1s
    #[arg(long, value_name = "TIME", value_parser = nanoseconds)]
    min_time: Option<f64>,

    /// List only functions whose total is at least this share of all time
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    min_percent: Option<f64>,

    /// List only functions that are called at most N levels below where recording began; of roots 0 leaves out what they call
    #[arg(long, value_name = "N")]
    depth: Option<u32>,

    /// Show how the times of a function's calls are distributed
    #[arg(long)]
    histogram: bool,

    /// Show when roots ran, or else functions without a recorded caller: time in slices, at most 128 of each
    #[arg(long, conflicts_with_all = ["columns", "histogram"])]
    timeline: bool,

    /// Most functions to show
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,

    /// Do not merge functions of one name but several addresses
    #[arg(long)]
    by_address: bool,

    /// Leave out what functions call: JSON of many functions is a third as long
    #[arg(long, conflicts_with = "roots")]
    no_callees: bool,

    /// Write JSON with a row of numbers for each function (diytrace-functions/1): a tenth of the whole
    #[arg(long, conflicts_with_all = ["roots", "columns", "histogram", "timeline"])]
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
            let shown = (&report::Listed::of(&document), &document.warnings[..]);
            return self.shown.show(out, shown, |_| Ok(()), |_| Ok(()));
        }
        let shown = (&document, &document.warnings[..]);
        let csv = |out: &mut dyn Write| view::csv::write(&document, out);
        self.shown.show(out, shown, csv, |out| view::table::write(&document, &screen, out))
    }

    /// What it tells.
    pub fn document(&self) -> Result<report::Document, Error> {
        let (opened, names) = (self.selected.open()?, self.selected.names(self.shown.format()));
        let mut document = report::document(&self.options(), &opened)?;
        names.apply(&mut document);
        Ok(document)
    }

    /// What it tells, for a request.
    #[cfg(feature = "service")]
    pub fn json(&self) -> Result<Vec<u8>, Error> {
        let document = self.document()?;
        let mut bytes = Vec::new();
        match self.compact {
            true => serde_json::to_writer(&mut bytes, &report::Listed::of(&document)).map_err(std::io::Error::from)?,
            false => view::json::write(&document, &mut bytes)?,
        }
        Ok(bytes)
    }

    fn options(&self) -> Options {
        let Self { selected, roots, sort, columns, functions, modules, files, min_time, .. } = self.clone();
        let Self { min_percent, depth, histogram, timeline, limit, by_address, .. } = *self;
        let format = self.shown.format();
        let filter = Filter { functions: patterns(&functions), modules, files, min_ns: min_time, min_percent, depth };
        Options {
            roots: patterns(&roots),
            raw: selected.raw,
            filter,
            columns: match columns.is_empty() && roots.is_empty() && format == report::Format::Table {
                true => report::columns_beside(sort.map(Into::into)),
                false => columns.into_iter().map(Into::into).collect(),
            },
            histogram,
            timeline,
            sort: sort.map(Into::into),
            limit,
            spelling: selected.names(format).spelling(),
            format,
            by_address,
            detail: match () {
                () if self.compact => Detail::Numbers,
                () if self.no_callees => Detail::WithoutCallees,
                () => Detail::Whole,
            },
        }
    }
}

/// A time with its unit.
fn nanoseconds(text: &str) -> Result<f64, &'static str> {
    let digits = text.trim_end_matches(|letter: char| letter.is_alphabetic());
    let factor = match &text[digits.len()..] {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return Err("it must have a unit, such as 500ns, 1us, 2.5ms or 1s"),
    };
    let number = digits.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.map(|number| number * factor).ok_or("it must be a time, such as 500ns, 1us, 2.5ms or 1s")
}

choice!(Sort for report::Sort {
    Calls, Total, Self_ = "self", Mean, P50, P90, P99, Max, Name, Min, P75, P95, P999 = "p99.9", Open, Unwound, Inlined, Error,
    TotalRaw, SelfRaw, Processes, Cpu, Wait, Preempted, SelfCpu, SelfWait, SelfPreempted
});
choice!(Column for report::Column {
    /// Calls entered
    Calls,
    /// Calls not yet returned
    Open,
    /// Calls left without an exit
    Unwound,
    /// Calls of bodies that are inlined in other functions
    Inlined,
    /// Inclusive time; of a recursion the outermost call's
    Total,
    /// Its share of all time
    TotalShare = "total%",
    /// Exclusive time, without callees
    Self_ = "self",
    /// Its share of all time
    SelfShare = "self%",
    /// The part of the total on a processor
    Cpu,
    /// The part waiting
    Wait,
    /// The part while others had the processor
    Preempted,
    /// The part of the self time on a processor
    SelfCpu,
    /// The part waiting
    SelfWait,
    /// The part while others had the processor
    SelfPreempted,
    /// Uncertainty of the total
    Error,
    /// Total as measured, with the profiler's overhead
    TotalRaw,
    /// Self time as measured
    SelfRaw,
    /// Mean time of a call
    Mean,
    /// Shortest call
    Min,
    /// Median
    P50,
    /// 75% of the calls took at most this
    P75,
    /// 90%
    P90,
    /// 95%
    P95,
    /// 99%
    P99,
    /// 99.9%
    P999 = "p99.9",
    /// Longest call
    Max,
    /// Processes that called it
    Processes,
    /// How most of its calls were made: direct, plt, indirect, inlined
    Call,
    /// Where it starts in its module, as nm prints it
    Address,
    /// Program or library
    Module,
    /// File and line
    Source,
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, expected) in [("500ns", 500.0), ("1us", 1e3), ("1µs", 1e3), ("2.5ms", 2.5e6), ("1 s", 1e9)] {
            assert_eq!(nanoseconds(text), Ok(expected), "{text}");
        }
        for text in ["", "1", "us", "-1us", "1h", "1.2.3s", "infs", "nans"] {
            assert!(nanoseconds(text).is_err(), "{text}");
        }
    }
}
