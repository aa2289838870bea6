//! The command `man`: manual pages of all commands, from the same definition as `--help`.

use std::fs;
use std::path::PathBuf;

use clap::CommandFactory;
use diytrace_profile::error::Error;

use super::Cli;

const EXAMPLES: &str = "\
Examples:
  diytrace man ~/.local/share/man/man1  # then: man diytrace-report
  diytrace man debian/tmp/usr/share/man/man1";

/// Write manual pages of all commands into a folder
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The folder; it is made if it is missing
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes the pages.
pub fn run(arguments: Arguments) -> Result<(), Error> {
    let folder = arguments.folder;
    let written = fs::create_dir_all(&folder).and_then(|()| clap_mangen::generate_to(Cli::command(), &folder));
    written.map_err(|source| Error::WriteTo { path: folder, source })
}
