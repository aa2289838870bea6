//! The options of `symbolize`.

use std::path::PathBuf;

use diytrace_profile::pack::Options;

const EXAMPLES: &str = "\
Examples:
  diytrace symbolize -o pg.diya              # diytrace.data here, and what explains it
  diytrace report pg.diya                    # the same report, on any machine
  diytrace symbolize /tmp/pg/postgres-812-*.diyt -o pg.diya
  unzip -l pg.diya                           # it is a ZIP file of profiles and symbols

Names, lines, forms of calls and the code of functions that call go with the profiles; sources do not
(annotate --source DIR). Every command that takes a PROFILE takes the archive. It is readable by its owner.";

/// Make profiles portable: an archive of them that reports the same on a machine without the programs
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A .diyt or .diya file or a folder of them [default: diytrace.data]
    #[arg(value_name = "PROFILE")]
    profiles: Vec<PathBuf>,

    /// The archive to write; its name should end in .diya
    #[arg(long, short, value_name = "ARCHIVE")]
    output: PathBuf,
}

impl From<Arguments> for Options {
    fn from(Arguments { profiles, output }: Arguments) -> Self {
        Self { profiles, output, symbols: true }
    }
}
