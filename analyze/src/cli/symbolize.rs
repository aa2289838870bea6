//! The options of `symbolize`.

use std::path::PathBuf;

use diytrace_profile::error::Error;
use diytrace_profile::pack::{self, Options};

use super::shown::warn;
use super::source::Source;

const EXAMPLES: &str = "\
Examples:
  diytrace symbolize -o pg.diya  # diytrace.data, and what explains it
  diytrace report pg.diya        # the same report, on any machine
  diytrace symbolize /tmp/pg/postgres-812-*.diyt -o pg.diya
  unzip -l pg.diya               # a ZIP file

Names, lines, forms of calls and the code of functions that call go with the profiles; sources do not (annotate \
--source DIR). Every command that takes a PROFILE takes the archive. It is readable by its owner.";

/// Make profiles portable: an archive of them that reports the same on a machine without the programs
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,

    /// The archive to write; its name should end in .diya
    #[arg(long, short, value_name = "ARCHIVE")]
    output: PathBuf,
}

impl Arguments {
    /// Runs the command.
    pub fn run(self) -> Result<(), Error> {
        warn(&pack::run(&Options { profiles: self.source.paths()?, output: self.output, symbols: true })?);
        Ok(())
    }
}
