//! The command `completions`: what a shell needs to complete our commands and options.

use std::io::Write;

use clap::{CommandFactory, ValueEnum};
use clap_complete::{Shell, generate};
use diytrace_profile::error::Error;

use super::Cli;
use super::choice::choice;

const EXAMPLES: &str = "\
Examples:
  diytrace completions bash >~/.local/share/bash-completion/completions/diytrace
  diytrace completions zsh > ~/.zfunc/_diytrace  # a folder of $fpath
  diytrace completions fish > ~/.config/fish/completions/diytrace.fish";

/// Write completions for a shell to stdout
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Name,
}

choice!(Name for Shell { Bash, Zsh, Fish });

/// Writes completions.
pub fn run(arguments: Arguments, out: &mut dyn Write) -> Result<(), Error> {
    let mut script = Vec::new(); // the generator panics where it cannot write, as into a closed pipe
    generate(Shell::from(arguments.shell), &mut Cli::command(), "diytrace", &mut script);
    out.write_all(&script)?;
    Ok(out.flush()?)
}
