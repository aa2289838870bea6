//! The options of `list`.

use std::path::PathBuf;

use super::pager::Output;
use super::shown::Shown;
use crate::list::{self, view};
use diytrace_profile::error::Error;

const EXAMPLES: &str = "\
Examples:
  diytrace list                 # what lies in diytrace.data, the oldest first
  diytrace report --run latest  # the last of them alone; or the third: --run 3
  diytrace list --format json | jq '.runs[-1].profiles'

A run is what one `diytrace record` left, or a program that was started with the preload; an archive is one, too. Its \
time is that from its beginning to the last that is known of it.";

/// List the runs in a folder: when, which program, processes, calls, time, size, state
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A folder of profiles, or profiles [default: diytrace.data]
    #[arg(value_name = "PROFILE")]
    profiles: Vec<PathBuf>,

    /// Only this run: the latest, the Nth, or those whose label or program is like PATTERN (repeatable)
    #[arg(long = "run", value_name = "latest|N|PATTERN")]
    runs: Vec<String>,

    /// Most runs to show: the last of them
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,

    #[command(flatten)]
    shown: Shown,
}

impl Arguments {
    /// Runs the command.
    pub fn run(self, out: &mut Output) -> Result<(), Error> {
        let document = list::document(&self.profiles, &self.runs, self.limit)?;
        let screen = self.shown.screen();
        self.shown.show(
            out,
            (&document, &document.warnings[..]),
            |out| view::csv(&document, out),
            |out| view::table(&document, &screen, out),
        )
    }
}
