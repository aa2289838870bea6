//! The options of `bench`.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use crate::bench::{self, Amount, Layouts, Options, Plan, Subject};
use diytrace_compare::diff;
use diytrace_compare::statistics::Looks;

use super::diff::Comparing;
use super::record::Recorder;
use super::wanted::Kept;
use super::{Error, from_store};

const EXAMPLES: &str = "\
Examples:
  diytrace bench --a './old sort.lua' --b './new sort.lua'
  diytrace bench --a ./old --b ./new --root 'Parser::*' --prepare 'rm -r cache'
  diytrace bench --a ./old --b ./new --precision 1 --time-limit 5m
  diytrace bench --a ./old --save main  # one side, for later comparisons
  diytrace bench --a ./old --b ./new --store runs.db  # and keep it there
  diytrace bench servers.toml           # two servers, and queries for both

A run is a fresh process under the recorder, and the sides take turns: A B B A. Commands run in a shell and see \
DIYTRACE_SIDE (left or right). Ctrl-C ends it with what is complete. After 10, 14 and 20 runs of each it looks \
whether more may decide something, and each look has its part of the level. What looks changed is run again, as often, \
in fresh processes, and must be confirmed. DIR/left and DIR/right are sets of runs, for `diff` and `similar`; \
DIR/report is what `diff -o` writes. Of an earlier bench, DIR is kept as DIR.old.

A scenario:
  restart_after = 1              # rounds until both servers start afresh
  [left]                         # and [right]
  start = \"old/server\"          # or command, without queries; or neither
  ready = \"ping $PORT\"          # repeated until it succeeds
  stop = \"old/stop\"             # else it is sent SIGTERM
  settle = 2                     # most seconds to wait until it counts no more
  env = { PORT = \"5001\" }       # for all commands of this side
  [[query]]
  name = \"sort\"
  command = \"client $PORT sort\" # the difference of two snapshots is its profile
  [record]
  root = [\"handle_*\"]           # depth and exclude, too

What one start of a server is like may be shared by all that it does; warm-ups follow each start. Without start and \
command, the queries are the programs. `ready` has time_limit seconds [60]. A side may have setup and cleanup, a query \
prepare.

Exit status: 0 nothing slower, 1 a function or all together take longer (--fail-on chooses), 2 bad use, or a run \
that failed.";

/// Run two sides in turn, and tell which functions changed
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// What to run, from a TOML file
    #[arg(value_name = "SCENARIO", required_unless_present = "a", conflicts_with_all = ["a", "b", "setup", "prepare", "cleanup"])]
    scenario: Option<PathBuf>,

    /// The left side's command, for the shell
    #[arg(long, value_name = "COMMAND", value_parser = command)]
    a: Option<String>,

    /// The right side's; without it, one side is run
    #[arg(long, value_name = "COMMAND", value_parser = command, requires = "a")]
    b: Option<String>,

    /// A command before everything else, for each side
    #[arg(long, value_name = "COMMAND")]
    setup: Option<String>,

    /// A command before each run
    #[arg(long, value_name = "COMMAND")]
    prepare: Option<String>,

    /// A command after everything else, for each side
    #[arg(long, value_name = "COMMAND")]
    cleanup: Option<String>,

    /// Runs of each side [default: 10]
    #[arg(long, short = 'r', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: Option<u32>,

    /// Add runs where they may decide, up to so many of each side [default: 20 without --runs, else none are added]
    #[arg(long, value_name = "N", conflicts_with = "precision", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    most_runs: Option<u32>,

    /// Run until the 95% confidence intervals of both medians of the run time are within so many percent (six runs or more)
    #[arg(long, value_name = "PERCENT", conflicts_with = "runs", value_parser = percent)]
    precision: Option<f64>,

    /// Begin no run after this time: 90s, 5m, 2h [default with --precision: 10m]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time_limit: Option<Duration>,

    /// Spread each side's runs over so many layouts of its code, which --link makes and all commands see as DIYTRACE_LAYOUT
    #[arg(long, value_name = "N", requires = "link", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    layouts: Option<u32>,

    /// The command that links a side in one layout: with lld, -Wl,--shuffle-sections='*'=$DIYTRACE_LAYOUT
    #[arg(long, value_name = "COMMAND", value_parser = command, requires = "layouts")]
    link: Option<String>,

    /// Runs of each side before those that count
    #[arg(long, value_name = "N", default_value_t = 1)]
    warmup: u32,

    /// The folder for the sets of runs
    #[arg(long, short, value_name = "DIR", default_value = "diytrace.bench")]
    output: PathBuf,

    /// Show what the commands write (on stderr)
    #[arg(long)]
    show_output: bool,

    /// Keep runs that fail as any others
    #[arg(long)]
    ignore_failure: bool,

    /// Keep the left side's runs by this name, for later comparisons (`diff --against NAME`)
    #[arg(long, value_name = "NAME", value_parser = history_name)]
    save: Option<String>,

    /// Do not confirm in fresh runs what looks changed
    #[arg(long)]
    no_confirm: bool,

    #[command(flatten)]
    kept: Kept,

    #[command(flatten)]
    comparing: Comparing,

    #[command(flatten)]
    recorder: Recorder,
}

impl Arguments {
    /// Runs the command and gives its exit status.
    pub fn run(self, out: &mut dyn Write) -> Result<u8, Error> {
        if let (Some(runs), Some(most)) = (self.runs, self.most_runs)
            && most < runs
        {
            return Err(bench::Error::MostRuns { runs, most }.into());
        }
        // What is wrong with the store is better said before the runs.
        let keeper = from_store::keeper(&self.kept)?;
        Ok(bench::run(&self.into(), keeper, out)?)
    }
}

/// Runs of each side, and up to how many are added, if nobody says otherwise.
const RUNS: u32 = 10;
const MOST_RUNS: u32 = 20;

impl Arguments {
    fn amount(&self) -> Amount {
        if let Some(percent) = self.precision {
            return Amount::Precision(percent / 100.0);
        }
        let most = self.most_runs.unwrap_or(self.runs.unwrap_or(MOST_RUNS));
        let runs = self.runs.unwrap_or(RUNS.min(most));
        let has_two_sides = self.b.is_some() || self.scenario.is_some();
        match has_two_sides && most > runs {
            true => Amount::Decided(Looks { first: runs as usize, most: most as usize }),
            false => Amount::Runs(runs),
        }
    }
}

const PRECISION_LIMIT: Duration = Duration::from_secs(600);

impl From<Arguments> for Options {
    fn from(arguments: Arguments) -> Self {
        let amount = arguments.amount();
        let Arguments { scenario, a, b, setup, prepare, cleanup, precision, time_limit, layouts, link, .. } = arguments;
        let Arguments { warmup, output, show_output, ignore_failure, save, no_confirm, comparing, recorder, .. } =
            arguments;
        let subject = match scenario {
            Some(path) => Subject::Scenario(path),
            None => Subject::Plan(Plan::commands(a.into_iter().chain(b).collect(), prepare, setup, cleanup)),
        };
        let time_limit = time_limit.or(precision.map(|_| PRECISION_LIMIT));
        let (how, confirms) = (comparing.into(), !no_confirm);
        let record = recorder.into();
        let layouts = layouts.zip(link).map(|(count, link)| Layouts { count, link });
        Self {
            subject,
            amount,
            time_limit,
            warmup,
            output,
            show_output,
            ignore_failure,
            record,
            save,
            how,
            confirms,
            layouts,
        }
    }
}

fn command(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() { Err("it is empty") } else { Ok(text.to_owned()) }
}

fn history_name(text: &str) -> Result<String, &'static str> {
    if diff::is_history_name(text) { Ok(text.to_owned()) } else { Err("it must be the name of a folder") }
}

fn percent(text: &str) -> Result<f64, &'static str> {
    let number = text.trim_end_matches('%').parse().ok();
    number.filter(|percent| (0.01..=100.0).contains(percent)).ok_or("it must be a number of percent, from 0.01 to 100")
}

/// A time with its unit.
pub fn duration(text: &str) -> Result<Duration, &'static str> {
    const EXPECTED: &str = "it must be a time such as 90s, 5m, 2h or 7d";
    let digits = text.trim_end_matches(|letter: char| letter.is_alphabetic());
    let factor = match &text[digits.len()..] {
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(EXPECTED),
    };
    let number = digits.trim().parse().ok().filter(|number: &f64| *number > 0.0);
    number.and_then(|number| Duration::try_from_secs_f64(number * factor).ok()).ok_or(EXPECTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_units_and_precisions_are_percent() {
        for (text, expected) in [("90s", 90), ("5m", 300), ("1.5h", 5400), ("2d", 172_800)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(expected)), "{text}");
        }
        for text in ["", "90", "s", "-1s", "0s", "1y", "infs", "nans", "1e300h"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!((percent("2"), percent("0.5%")), (Ok(2.0), Ok(0.5)));
        for text in ["", "0", "-1", "nan", "1000"] {
            assert!(percent(text).is_err(), "{text}");
        }
    }
}
