//! The options of `advise`.

use std::ffi::OsString;

use diytrace_profile::error::Error;
use diytrace_profile::merge::By;

use super::pager::Output;
use super::shown::Shown;
use super::source::Source;
use super::tree::percent;
use crate::advise::{self, Verifying, view};

const EXAMPLES: &str = "\
Examples:
  diytrace advise                    # what the next run can leave out
  diytrace advise --format json | jq -r .exclude    # for record --exclude
  diytrace advise --verify           # and what the next run gains by it
  diytrace advise --verify -- ./server --once  # which is run like this
  diytrace advise --min-percent 0.1 --format json | jq -r '.flags[].option'

Advised are functions whose calls take longer to record than by themselves. Left out by the compiler, they cost nothing, \
and their time is their callers' own; what they call is recorded as before. gcc's lists match parts of names: what else \
they would leave out is told as far as it was met. clang has no such lists, but \
__attribute__((no_instrument_function)).";

/// Tell which functions cost more to record than they tell: for the recorder's and the compiler's exclude lists
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,

    /// Leave out functions with a smaller share of what all recording costs
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value_t = 1.0)]
    min_percent: f64,

    #[command(flatten)]
    shown: Shown,

    /// Run the program with the advice and without it, by turns, and tell how much faster and smaller that is
    #[arg(long)]
    verify: bool,

    /// With --verify: runs of each kind
    #[arg(long, value_name = "N", requires = "verify", default_value_t = 5,
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// With --verify: what to run [default: what the latest run was of]
    #[arg(last = true, value_name = "COMMAND", requires = "verify")]
    command: Vec<OsString>,
}

impl Arguments {
    /// Runs the command.
    pub fn run(self, out: &mut Output) -> Result<(), Error> {
        let opened = self.source.open(By::All, None)?;
        let mut document = advise::document(&opened, self.min_percent)?;
        if self.verify && !document.functions.is_empty() {
            let verifying = Verifying { command: self.command.clone(), runs: self.rounds };
            let profiles = &opened.loaded.profiles;
            document.verified = Some(advise::verify(&verifying, &document, &self.source.paths()?, profiles)?);
        }
        let screen = self.shown.screen();
        self.shown.show(
            out,
            (&document, &document.warnings[..]),
            |out| view::csv(&document, out),
            |out| view::table(&document, &screen, out),
        )
    }
}
