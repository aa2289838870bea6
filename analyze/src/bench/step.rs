//! Commands that prepare and clean up: not recorded, and expected to succeed.

use std::ffi::OsString;
use std::process::ExitStatus;

use super::interrupts::Interrupts;
use super::plan::Side;
use super::shell::{Ended, Output, Shell};
use super::{Error, Stop};

/// Variables for a command.
pub type Environment = Vec<(String, OsString)>;

/// What all commands of a side see.
pub fn environment(side: &Side) -> Environment {
    let own = side.environment.iter().map(|(name, value)| (name.clone(), OsString::from(value)));
    own.chain([("DIYTRACE_SIDE".to_owned(), side.name.into())]).collect()
}

/// Runs a command to its end and gives that.
pub fn end_of(
    (what, command): (&str, &str),
    environment: &Environment,
    shows: bool,
    interrupts: &Interrupts,
) -> Result<Ended, Stop> {
    let output = if shows { Output::Shown } else { Output::Discarded };
    let shell = Shell::start(command, environment, output, interrupts);
    let mut shell = shell.map_err(|source| Error::NoShell { what: what.to_owned(), source })?;
    loop {
        if let Some(ended) = shell.wait(interrupts, None)? {
            return Ok(ended);
        }
    }
}

/// Runs a side's command that has to succeed.
pub fn run(side: &Side, what: &str, command: &str, shows: bool, interrupts: &Interrupts) -> Result<(), Stop> {
    let what = format!("{what} of {}", side.name);
    let ended = end_of((&what, command), &environment(side), shows, interrupts)?;
    if ended.status.success() { Ok(()) } else { Err(failed(what, ended.status, command, shows).into()) }
}

/// That a command failed.
pub fn failed(what: String, status: ExitStatus, command: &str, shows: bool) -> Error {
    let hint = if shows { "" } else { " (--show-output shows what it says)" };
    Error::Failed { what, how: how(status), command: command.to_owned(), hint }
}

/// How a command ended, in words.
pub fn how(status: ExitStatus) -> String {
    status.to_string().replacen(": ", " ", 1)
}
