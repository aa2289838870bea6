//! The command `record`: runs a command with the recorder preloaded, and says where the profile is, or why there is none.
//!
//! ```text
//! [`Options`] ─┬▶ [`library`]: libdiytrace.so          ┐
//!              ├▶ [`program`]: what the command starts ├▶ [`child`]: runs it ──▶ [`outcome`]: what came of it
//!              ├▶ [`roots`]: do the names match?       │                            ▲
//!              └▶ [`folder`]: what lies there before   ┘── and after ───────────────┘
//!                                                                    └──▶ [`ending`]: when it was killed
//! ```

mod child;
mod ending;
mod error;
mod folder;
pub(crate) mod library;
mod outcome;
pub(crate) mod program;
mod roots;
mod variables;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub(crate) use child::exit_code;
pub use error::Error;
use folder::Folder;
use program::Program;

/// What to run and what to record of it. What is not set here is as the environment has it.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Patterns of functions to record inside of (`DIYTRACE_ROOT`).
    pub roots: Vec<String>,
    /// Deepest recorded call below a root (`DIYTRACE_DEPTH`).
    pub depth: Option<u32>,
    /// Patterns of functions not to record (`DIYTRACE_EXCLUDE`).
    pub excludes: Vec<String>,
    /// Folder for the profile (`DIYTRACE_OUT`).
    pub out: Option<PathBuf>,
    /// What the run is called.
    pub label: Option<String>,
    /// Most bytes of a family's file (`DIYTRACE_MEMORY`).
    pub memory: Option<u64>,
    /// Ended processes kept apart (`DIYTRACE_KEEP`).
    pub keep: Option<u32>,
    /// Start paused (`DIYTRACE_PAUSED`).
    pub paused: bool,
    /// Which calls are timed (`DIYTRACE_TIMING`).
    pub timing: Option<Timing>,
    /// The command and its arguments.
    pub command: Vec<OsString>,
}

/// Which calls are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// Every one.
    All,
    /// None: calls are counted only.
    Off,
}

impl Timing {
    /// What the variable says.
    fn variable(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Off => "off",
        }
    }
}

/// Runs the command and gives its exit status, as a shell does: 128 and the signal's number if it was killed.
pub fn run(options: &Options) -> Result<u8, Error> {
    let (name, arguments) = options.command.split_first().ok_or(Error::NoCommand)?;
    let library = library::find()?;
    let path = program::resolve(name)?;
    let program = Program::look_into(&path);
    if let Some(reason) = program.foreign() {
        return Err(Error::NotExecutable { name: path.display().to_string(), reason });
    }
    let folder = Folder::open(&variables::out(options))?;
    for warning in roots::warnings(options, &program) {
        say(&format!("warning: {warning}"));
    }
    let ended = child::run(name, &path, arguments, variables::all(options, &library, &folder))
        .map_err(|source| program::not_started(&path, source))?;
    ending::note(&folder, &ended);
    folder.note_run(options.label.as_deref());
    say(&outcome::sentence(&path, &program, &library, &folder, ended.status));
    folder.save_names();
    Ok(child::exit_code(ended.status))
}

/// The environment in which a command is recorded that somebody else starts; makes the folder for its profile.
pub(crate) fn environment(options: &Options) -> Result<Vec<(&'static str, OsString)>, Error> {
    let library = library::find()?;
    let folder = Folder::open(&variables::out(options))?;
    Ok(variables::all(options, &library, &folder))
}

/// Everything but data goes to stderr; if nobody listens there, the command's exit status still counts.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "diytrace: {text}");
}

/// A path as one can type it into a shell.
pub(crate) fn typed(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,=@%:~".contains(c) || !c.is_ascii();
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
