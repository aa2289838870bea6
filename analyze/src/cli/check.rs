//! The options of `check`.

use std::ffi::OsString;

use crate::check::{self, Options};
use clap::ValueEnum;

use super::choice::{Colors, choice};
use super::pager::Paging;

const EXAMPLES: &str = "\
Examples:
  diytrace check ./server     # can it be recorded, and how much of it?
  diytrace check ./plugin.so  # a library that is loaded later
  diytrace check postgres && diytrace record postgres -D data
  diytrace check ./server --format json | jq '.modules[] | {path, functions}'

Exit status: 0 it can be recorded, at least in part; 1 it cannot; 2 there is no such program.";

/// Tell what of a program would be recorded, what would be missed, and what to do about it
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A program (looked for in PATH if it has no slash), a script, or a library by its path
    #[arg(value_name = "PROGRAM")]
    program: OsString,

    /// How the answer is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: Format,

    #[command(flatten)]
    colors: Colors,

    #[command(flatten)]
    pub paging: Paging,
}

impl From<Arguments> for Options {
    fn from(arguments: Arguments) -> Self {
        let Arguments { program, format, colors, .. } = arguments;
        Self { program, format: format.into(), color: colors.into() }
    }
}

choice!(Format for check::Format { Table, Json });
