//! The options of `merge`.

use std::path::PathBuf;

use diytrace_profile::error::Error;
use diytrace_profile::pack::{self, Options};

use super::shown::warn;
use super::source::Source;

const EXAMPLES: &str = "\
Examples:
  diytrace merge -o all.diya                      # all of diytrace.data
  diytrace merge web1.diya web2.diya -o web.diya  # archives of two machines
  diytrace merge old/ new/ -o all.diya && diytrace report --by process all.diya

The file reports as its parts do together, on this machine. For another, use `diytrace symbolize`.";

/// Put many profiles into one file, which reports as they do together
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,

    /// The archive to write; its name should end in .diya
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

impl Arguments {
    /// Runs the command.
    pub fn run(self) -> Result<(), Error> {
        warn(&pack::run(&Options { profiles: self.source.paths()?, output: self.output, symbols: false })?);
        Ok(())
    }
}
