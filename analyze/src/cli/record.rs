//! The options of `record`.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::record::{self, Options};
use clap::ValueEnum;

use super::choice::choice;
use super::selection::function;
use super::size::size;

choice!(Timing for record::Timing { All, Off });

const EXAMPLES: &str = "\
Examples:
  diytrace record ./server --port 8080
  diytrace record --root handle_request --depth 3 -- ./server
  diytrace record --root 'Parser::*' --exclude 'Parser::peek' ./compile big.txt
  sudo -u postgres diytrace record -o /tmp/pg postgres -D data  # as its user

The program must be compiled with -finstrument-functions (gcc or clang), at least the folder of interest. FUNCTION \
is a symbol or a demangled name, with or without parameters; * and ? match as in file names.";

/// What is recorded, and how.
#[derive(Debug, clap::Args)]
pub struct Recorder {
    /// Record only inside this function (several: repeat, or separate by commas)
    #[arg(long = "root", value_name = "FUNCTION", value_parser = function)]
    roots: Vec<String>,

    /// Record calls this deep below a root; 1 is its direct callees
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,

    /// Do not record this function, but what it calls (repeatable)
    #[arg(long = "exclude", value_name = "FUNCTION", value_parser = function)]
    excludes: Vec<String>,

    /// Most bytes that a program and its forks may write: 64M, 1G [default: 256M]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    memory: Option<u64>,

    /// Ended processes that stay distinguishable in the profile, before their space is reused [default: 64]
    #[arg(long, value_name = "N")]
    keep: Option<u32>,

    /// Which calls are timed: every one, or none [default: all]
    #[arg(long, value_enum, value_name = "WHICH")]
    timing: Option<Timing>,
}

/// Run a command and record the calls and times of its functions
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    recorder: Recorder,

    /// Folder for the profile [default: $DIYTRACE_OUT or diytrace.data]
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,

    /// What to call this run: `diytrace list` shows it, and --run takes it
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,

    /// Start paused
    #[arg(long)]
    paused: bool,

    /// The command and its arguments
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

impl From<Recorder> for Options {
    fn from(Recorder { roots, depth, excludes, memory, keep, timing }: Recorder) -> Self {
        let timing = timing.map(Into::into);
        Self { roots, depth, excludes, memory, keep, timing, ..Self::default() }
    }
}

impl From<Arguments> for Options {
    fn from(Arguments { recorder, out, label, paused, command }: Arguments) -> Self {
        Self { out, label, paused, command, ..recorder.into() }
    }
}

/// A size as `DIYTRACE_MEMORY` has it.
fn memory(text: &str) -> Result<u64, &'static str> {
    const ALLOWED: std::ops::RangeInclusive<u64> = 1 << 20..=1 << 37;
    const EXPECTED: &str = "it must be a size from 1M to 128G, such as 64M or 1G";
    size(text).filter(|bytes| ALLOWED.contains(bytes)).ok_or(EXPECTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, expected) in
            [("64M", Ok(64 << 20)), ("1g", Ok(1 << 30)), ("1048576", Ok(1 << 20)), ("2048k", Ok(2 << 20))]
        {
            assert_eq!(memory(text), expected, "{text}");
        }
        for text in ["", "M", "1MM", "64MB", "-1", "1", "99999999999G", "1.5G"] {
            assert!(memory(text).is_err(), "{text}");
        }
    }
}
