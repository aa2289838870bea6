//! The command `check`: tells, before anything is run, what of a program would be recorded, what would be missed, and
//! what to do about it.
//!
//! ```text
//! path ──▶ [`subject`]: the program and its libraries ──▶ [`findings`] ──▶ [`verdict`] ──▶ [`Checkup`] ──▶ [`view`]
//!             │                                           rules            a sentence      plain data
//!             └── each [`module`] ─┬▶ [`bodies`]: functions by address
//!                                  ├▶ [`hooks`]: ways to the hooks ──▶ [`sites`]: calls of them, with [`registers`]
//!                                  └▶ [`units`]: source files by debug information, with [`producer`]: its [`origin`]
//! ```

mod bodies;
mod checkup;
mod error;
mod findings;
mod hooks;
mod memory;
mod module;
mod options;
mod origin;
mod producer;
mod registers;
mod sites;
mod subject;
mod units;
mod verdict;
mod view;

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::record;
pub use checkup::Checkup;
use diytrace_profile::elf;
use diytrace_views::view::Screen;
pub use error::Error;
use memory::Memory;
pub use options::{Format, Options};
use subject::Subject;

/// Writes a checkup, and gives the exit status: 1 if nothing can be recorded.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<u8, Error> {
    let checkup = checkup(&options.program)?;
    match options.format {
        Format::Json => view::json::write(&checkup, out)?,
        Format::Table => view::text::write(&checkup, &Screen::of(options.color), out)?,
    }
    out.flush()?;
    Ok(u8::from(!checkup.works))
}

/// The checkup as data.
pub fn checkup(program: &OsStr) -> Result<Checkup, Error> {
    let subject = Subject::look_into(&resolve(program)?);
    let memory = Memory::of(subject.recorded().map(|module| module.enters.sites as u64).sum());
    let findings = findings::all(&subject, &memory);
    let (works, verdict, next) = verdict::of(&subject, &findings, &memory);
    Ok(Checkup {
        schema: checkup::SCHEMA,
        program: subject.path(),
        script: subject.program.script.as_ref().map(|script| script.display().to_string()),
        works,
        verdict,
        next,
        memory: works.then_some(memory),
        findings,
        missing_libraries: subject.program.libraries.missing,
        modules: subject.modules,
    })
}

/// As a shell finds a program. A library need not be executable.
fn resolve(name: &OsStr) -> Result<PathBuf, Error> {
    let path = PathBuf::from(name);
    if name.as_bytes().contains(&b'/') && elf::has_magic(&path).unwrap_or(false) {
        return Ok(path);
    }
    record::program::resolve(name).map_err(|error| match error {
        record::Error::NotFound { name, reason } | record::Error::NotExecutable { name, reason } => {
            Error::NotFound { name, reason }
        }
        error => Error::NotFound { name: name.to_string_lossy().into_owned(), reason: error.to_string() },
    })
}
