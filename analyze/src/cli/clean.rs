//! The options of `clean`.

use std::path::PathBuf;
use std::time::Duration;

use super::bench::duration;
use crate::clean::Options;

const EXAMPLES: &str = "\
Examples:
  diytrace clean --keep 10                 # all but the last ten runs go
  diytrace clean --older-than 7d
  diytrace clean --keep 1 --dry-run old/   # which would go?

Runs are those that `diytrace list` shows; one that is still recording stays. With both options, a run goes if both \
let it.";

/// Remove old runs from a folder
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES, group(clap::ArgGroup::new("which").required(true).multiple(true)))]
pub struct Arguments {
    /// A folder of profiles, or profiles [default: diytrace.data]
    #[arg(value_name = "PROFILE")]
    profiles: Vec<PathBuf>,

    /// How many runs stay: the last
    #[arg(long, value_name = "N", group = "which")]
    keep: Option<usize>,

    /// Only runs that began before so long: 90s, 5m, 2h, 7d
    #[arg(long, value_name = "TIME", value_parser = duration, group = "which")]
    older_than: Option<Duration>,

    /// Remove nothing, but tell which files would go
    #[arg(long)]
    dry_run: bool,
}

impl From<Arguments> for Options {
    fn from(Arguments { profiles, keep, older_than, dry_run }: Arguments) -> Self {
        Self { profiles, keep, older_than, dry_run }
    }
}
