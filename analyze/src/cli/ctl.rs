//! The options of `ctl`.

use std::path::PathBuf;

use crate::ctl;
use clap::{Subcommand, ValueEnum};
use diytrace_views::report;

use super::choice::choice;
use super::target::Target;

const EXAMPLES: &str = "\
Examples:
  diytrace ctl status      # what is recorded here, and how far it is
  diytrace ctl pause 4711  # that process and its family count nothing
  diytrace ctl resume
  diytrace ctl reset       # forgets what was counted so far
  diytrace ctl snapshot -o before.diyt
  diytrace report before.diyt..after.diyt  # what happened between

A PID is looked for in the profiles of $DIYTRACE_OUT, or of diytrace.data here. Without PID or PROFILE it is the \
program that is running there. Exit status of `status`: 1 if nothing is running any more.";

/// Pause, resume, reset or copy a recording that is running, or show its status
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Count nothing until `resume`; calls that are open stay so, and their time goes on
    Pause(Target),
    /// Count again
    Resume(Target),
    /// Set all counters to zero: what was counted is gone for good; calls that are open stay so
    Reset(Target),
    /// Tell which processes are running, whether they are paused, their calls, and how full the file is
    Status {
        #[command(flatten)]
        target: Target,
        /// How it is written
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
        format: Format,
    },
    /// Write a copy of the profile as it is now, and its path to stdout
    Snapshot {
        #[command(flatten)]
        target: Target,
        /// The file to write [default: here, named after the profile and the moment]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

choice!(Format for report::Format { Table, Json });

impl Arguments {
    /// What to do, and to what.
    pub fn parts(self) -> (ctl::Action, ctl::Target) {
        let (action, target) = match self.action {
            Action::Pause(target) => (ctl::Action::Pause, target),
            Action::Resume(target) => (ctl::Action::Resume, target),
            Action::Reset(target) => (ctl::Action::Reset, target),
            Action::Status { target, format } => (ctl::Action::Status { format: format.into() }, target),
            Action::Snapshot { target, output } => (ctl::Action::Snapshot { output }, target),
        };
        (action, target.into())
    }
}
