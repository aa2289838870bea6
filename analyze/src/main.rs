//! The command `diytrace`.
//!
//! ```text
//! cli      the command line: options, and which of the below they run
//! record   runs a program under the recorder
//! check    tells what of a program can be recorded
//! advise   tells what of a recording is better left out
//! list     tells which runs there are, and clean removes old ones
//! ctl      steers recorders that are running: pause, reset, snapshots
//! top      shows what they count, live
//! bench    runs two versions in turn, for a comparison
//! ```
//!
//! What profiles say is in `profile/`, how it is shown in `views/`, and how it is compared in `compare/`.

mod advise;
mod bench;
mod check;
mod clean;
mod cli;
mod ctl;
mod list;
mod record;
mod signals;
mod top;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match cli::Cli::parse().run() {
        Ok(code) => code.into(),
        Err(error) => {
            let _ = writeln!(io::stderr(), "diytrace: {error}");
            error.exit_code().into()
        }
    }
}
