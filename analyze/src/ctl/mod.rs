//! The command `ctl`: what runs, and its control word.
//!
//! ```text
//! PID, file or folder ──[target]──▶ [`Watched`] ──┬─[word]──▶ pause, resume, reset
//!                                                 ├─[status]──▶ who is running, and how far it has got
//!                                                 └─[snapshot]──▶ a file of this moment
//! ```
//!
//! Nothing is asked of the program: it maps the same file. Only `word` writes to it, and only control words.

mod error;
pub(crate) mod snapshot;
mod status;
pub(crate) mod target;
mod word;

use std::io::Write;
use std::path::PathBuf;

pub use error::Error;
pub use status::Status;
pub use target::{Target, Watched};

use diytrace_views::report::Format;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Stop counting.
    Pause,
    /// Go on counting.
    Resume,
    /// Count from nothing.
    Reset,
    /// Tell what is running.
    Status {
        /// How: a table or JSON.
        format: Format,
    },
    /// Write a copy.
    Snapshot {
        /// Where to. `None`: here, named after the profile and the moment.
        output: Option<PathBuf>,
    },
}

/// Does it to what a PID, a profile or a folder of them names, and gives the exit status.
pub fn run(action: &Action, target: &Target, out: &mut dyn Write) -> Result<u8, Error> {
    match action {
        Action::Pause | Action::Resume => {
            let watched = Watched::one(target)?;
            let done = word::set(&watched, *action == Action::Pause)?;
            writeln!(out, "{done}")?;
        }
        Action::Reset => {
            let done = word::reset(&Watched::one(target)?)?;
            writeln!(out, "{done}")?;
        }
        Action::Status { format } => {
            let all: Vec<Status> = Watched::all(target)?.iter().map(Status::of).collect();
            match format {
                Format::Json => status::write_json(&all, out)?,
                _ => status::write_text(&all, out)?,
            }
            out.flush()?;
            return Ok(u8::from(all.iter().all(|status| status.running == 0)));
        }
        Action::Snapshot { output } => {
            let path = snapshot::take(&Watched::one(target)?, output.as_deref())?;
            writeln!(out, "{}", path.display())?;
        }
    }
    out.flush()?;
    Ok(0)
}
