//! The options of `diff`.

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use diytrace_compare::diff::{self, Command, How, Options};
use diytrace_compare::statistics;
use diytrace_views::view;

use diytrace_profile::error::Error;

use super::choice::{Colors, choice};
use super::from_store;
use super::pager::{Output, Paging};
use super::shown::Format;
use super::sides::Sides;
use super::stored::Compared;
use super::wanted::{Drawn, Kind, SampledSides};

const EXAMPLES: &str = "\
Examples:
  diytrace diff before after  # folders with a file or folder each run
  diytrace diff --run 'main*' --run 'fix*'  # of diytrace.data, by label
  diytrace diff before after -o report  # report.html, .json, and tables
  diytrace diff before after --confirm before2 after2  # in fresh runs, too
  diytrace diff before after --against main            # what usually varies
  diytrace diff before after --fail-on changed --min-change 2 --correction holm
  diytrace diff --store runs.db commit=ab12 commit=cd34 --save
  diytrace diff --store runs.db build=a build=b --type cpu  # sampled profiles
  diytrace diff before after --format json | jq '.queries[].functions[].verdict'

A set is a folder with runs.json, as `diytrace bench` writes it, or one whose subfolders (or files) are a run's \
profiles each. Self times of functions are tested, and counts compared exactly. A change of time is significant at \
1% in a randomisation test, at least 1%, above the uncertainty of the correction, and significant when adjusted for \
all functions tested. Of sampled profiles (pprof), values a second of one type of samples are tested so, each profile \
as a run; where there are too few, the error of sampling is told.

Exit status: 0 nothing slower, 1 a function or all together take longer (--fail-on chooses), 2 bad use or input.";

/// Tell what changed between two sets of runs, function by function, and whether by calls or by cost
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The set before; with --store its labels: service=pg,build=ab*
    #[arg(value_name = "BEFORE", required_unless_present = "runs")]
    left: Option<PathBuf>,

    /// The set after; with --store its labels
    #[arg(value_name = "AFTER", required_unless_present = "runs")]
    right: Option<PathBuf>,

    #[command(flatten)]
    sides: Sides,

    #[command(flatten)]
    stored: Compared,

    /// What was recorded since then: an age such as 90s, 1h or 2d, or a moment such as 2026-11-20T14:00:00Z
    #[arg(long, value_name = "TIME", requires = "store", help_heading = "From a profile store")]
    since: Option<String>,

    /// Fresh runs of both: a change that they do not confirm is not called one
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"], conflicts_with = "store")]
    confirm: Option<Vec<PathBuf>>,

    /// Write report.html, report.json, and the numbers behind them as tables to this folder
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,

    #[command(flatten)]
    samples: Samples,

    #[command(flatten)]
    how: Comparing,

    #[command(flatten)]
    paging: Paging,
}

/// What of sampled profiles is compared.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Of sampled profiles (pprof)")]
pub struct Samples {
    /// The type of samples, such as cpu or alloc_space [default: what the profiles show first, if no side has recordings]
    #[arg(long = "type", value_name = "TYPE", requires = "store")]
    of: Option<String>,

    /// Values as parts of each profile: for sides that did unlike amounts of work
    #[arg(long, requires = "store")]
    shares: bool,

    /// Write the stacks of both sides alone: with the values before, as if they were of as much, and after
    #[arg(long = "as", value_enum, value_name = "FORMAT", requires = "store", conflicts_with_all = ["format", "output", "save"])]
    drawn: Option<Drawn>,
}

impl Samples {
    fn are_meant(&self) -> bool {
        self.of.is_some() || self.shares || self.drawn.is_some()
    }
}

/// How sets are compared, and how that is told.
#[derive(Clone, Debug, clap::Args)]
pub struct Comparing {
    /// Saved sets: a change must be one and a half times what usually varies between them
    #[arg(long, value_name = "NAME")]
    against: Option<String>,

    /// Folder of the saved sets [default: $DIYTRACE_HISTORY, or diytrace.history]
    #[arg(long, value_name = "DIR")]
    history: Option<PathBuf>,

    /// What makes the exit status 1
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    fail_on: FailOn,

    /// Smallest change that matters, however sure [default: of a function's time 1; 5 of counts that vary, metrics, samples, and
    /// of all functions together of two builds]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    min_change: Option<f64>,

    /// Largest minimum detectable effect; above it a function is unstable
    #[arg(long, value_name = "PERCENT", default_value = "10", value_parser = percent)]
    max_spread: f64,

    /// Smallest share of all self time that is tested
    #[arg(long, value_name = "PERCENT", default_value = "0.1", value_parser = share)]
    min_share: f64,

    /// Largest p-value of a change, adjusted for the number of functions
    #[arg(long, value_name = "P", default_value = "0.05", value_parser = probability)]
    level: f64,

    /// How p-values are adjusted for multiple testing
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    correction: Correction,

    /// Splits of the runs to draw, where there are too many to look at all (from eleven runs a side on)
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    splits: u64,

    /// Most functions to list in each section
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    limit: usize,

    /// How the result is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: Format,

    #[command(flatten)]
    colors: Colors,
}

impl Arguments {
    /// Runs the command and gives its exit status.
    pub fn run(self, out: &mut Output) -> Result<u8, super::Error> {
        let command = match self.counted_or_sampled(self.paging.of(out))? {
            Ok(command) => command,
            Err(status) => return Ok(status),
        };
        let comparison = command.comparison()?;
        let status = command.how.tell(&comparison, command.output.as_deref(), self.paging.of(out))?;
        let named = self.named();
        self.stored.save((Kind::Diff, self.since.as_deref()), named.each_ref().map(PathBuf::as_path), || {
            let mut document = Vec::new();
            view::json::write(&comparison, &mut document)?;
            Ok((diff::report::sentence(&comparison), status, document))
        })?;
        Ok(status)
    }

    /// The same for a request: no verdict is kept.
    #[cfg(feature = "service")]
    pub fn answer(self, out: &mut dyn Write) -> Result<(), Error> {
        match self.counted_or_sampled(out)? {
            Err(_) => Ok(()),
            Ok(command) => diff::run(&command, out).map(|_| ()).map_err(|error| Error::Elsewhere(error.into())),
        }
    }

    /// The comparison of recordings that they ask for; or if sampled profiles are what both sides have, or what is meant, these are
    /// compared, and the exit status is given.
    fn counted_or_sampled(&self, out: &mut dyn Write) -> Result<Result<Command, u8>, Error> {
        let counted = if self.samples.are_meant() { None } else { Some(self.clone().command()) };
        match counted {
            Some(Ok(command)) => Ok(Ok(command)),
            Some(Err(error)) if !self.stored.is_asked() => Err(error),
            // Without sampled profiles, what is wrong with the recordings is the answer.
            Some(Err(error)) => self.sampled(out)?.map(Err).ok_or(error),
            None => self.sampled(out)?.map(Err).ok_or_else(|| Error::Usage("there are no sampled profiles".to_owned())),
        }
    }

    fn sampled(&self, out: &mut dyn Write) -> Result<Option<u8>, Error> {
        let (replicate, is_saved) = self.stored.how();
        let [left, right] = self.named();
        let side = |labels| self.stored.selection(labels, self.since.as_deref());
        let mut how = How::from(self.how.clone());
        how.options.min_change = how.options.whole_min_change;
        let sides = [&left, &right].map(|labels| side(labels.to_str().unwrap_or_default()));
        from_store::sampled(
            &SampledSides {
                sides,
                of: self.samples.of.as_deref(),
                are_shares: self.samples.shares,
                replicate,
                drawn: self.samples.drawn,
                is_meant: self.samples.are_meant(),
                folder: self.output.as_deref(),
                how: &how,
                is_saved,
            },
            out,
        )
    }

    fn named(&self) -> [PathBuf; 2] {
        [&self.left, &self.right].map(|side| side.clone().unwrap_or_default())
    }

    /// The command that they ask for.
    pub fn command(self) -> Result<Command, Error> {
        let Self { left, right, sides, stored, since, confirm, output, how, .. } = self;
        let [left, right] = stored.sets(sides.of(left, right)?, since.as_deref())?;
        let pair = |sets: Vec<PathBuf>| <[PathBuf; 2]>::try_from(sets).ok().map(|[left, right]| (left, right));
        Ok(Command { left, right, confirm: confirm.and_then(pair), output, how: how.into() })
    }
}

impl From<Comparing> for How {
    fn from(comparing: Comparing) -> Self {
        let Comparing { against, history, fail_on, min_change, max_spread, min_share, level, .. } = comparing;
        let Comparing { correction, splits, limit, format, colors, .. } = comparing;
        let correction = correction.into();
        let usual = Options::default();
        let whole_min_change = min_change.unwrap_or(usual.whole_min_change);
        let min_change = min_change.unwrap_or(usual.min_change);
        let options =
            Options { min_change, whole_min_change, max_spread, min_share, level, correction, splits, ..usual };
        let (format, color, fail_on) = (format.into(), colors.into(), fail_on.into());
        Self { against, history, options, format, color, limit, fail_on }
    }
}

/// Percent, as a part of one.
fn percent(text: &str) -> Result<f64, &'static str> {
    let number = text.trim_end_matches('%').trim().parse().ok();
    let number = number.filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.map(|number| number / 100.0).ok_or("it must be a number of percent, such as 5 or 2.5")
}

fn share(text: &str) -> Result<f64, &'static str> {
    percent(text)
        .and_then(|share| if share <= 1.0 { Ok(share) } else { Err("it must be a share in percent, from 0 to 100") })
}

fn probability(text: &str) -> Result<f64, &'static str> {
    let number = text.trim().parse().ok().filter(|number: &f64| *number > 0.0 && *number < 1.0);
    number.ok_or("it must lie between 0 and 1, such as 0.05")
}

choice!(Correction for statistics::Correction {
    /// Benjamini-Hochberg: controls the false discovery rate
    Bh,
    /// Holm: controls the family-wise error rate
    Holm,
    /// No adjustment: each function for itself
    None
});
choice!(FailOn for diff::FailOn {
    /// A function, or all of them together, take longer
    Slower,
    /// The same, or the cost of a function whose code is the same
    SameCode,
    /// Anything changed: times, counts, functions that are there
    Changed,
    /// Nothing
    Never
});
