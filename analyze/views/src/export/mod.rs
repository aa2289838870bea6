//! The command `export`: profiles for other tools.
//!
//! ```text
//! [`CallTrees`](crate::calltree::CallTrees) ──prepare──▶ [`Profile`] ──a format──▶ bytes ──▶ file or stdout
//! ```
//!
//! A format is a function from the profile, plain data, to bytes, in a file of its own. Calls are exact; times are
//! corrected (unless `--raw`) and whole nanoseconds, rounded so that sums stay right (`prepare` says how).

mod callgrind;
mod dot;
mod firefox;
mod flamegraph;
mod folded;
pub mod html;
mod options;
mod pprof;
mod prepare;
mod profile;
#[cfg(test)]
mod sample;
mod speedscope;
mod sums;

use std::fs;
use std::io::{IsTerminal, Write};

use crate::calltree::{self, Lines};
use diytrace_profile::error::Error;
use diytrace_profile::opened::{Opened, Selection};
pub use options::{Format, Options};
pub use profile::Profile;

/// Writes an export; warnings go to stderr.
pub fn run(options: &Options) -> Result<(), Error> {
    if options.format.is_binary() && options.output.is_none() && std::io::stdout().is_terminal() {
        return Err(Error::BinaryToTerminal);
    }
    let profile = profile(options)?;
    let bytes = bytes(options.format, &profile)?;
    match &options.output {
        Some(path) => fs::write(path, bytes).map_err(|source| Error::WriteTo { path: path.clone(), source })?,
        None => {
            let mut out = std::io::stdout().lock();
            out.write_all(&bytes)?;
            out.flush()?;
        }
    }
    for warning in &profile.warnings {
        eprintln!("warning: {warning}");
    }
    Ok(())
}

/// What is exported, as data.
pub fn profile(options: &Options) -> Result<Profile, Error> {
    let Options { profiles, pid, by, roots, raw, .. } = options;
    let by = by.unwrap_or(options.format.by());
    let opened = Opened::open(&Selection { profiles: profiles.clone(), pid: *pid, by })?;
    let symbols = opened.symbols();
    let names = options.names.unwrap_or(options.format.names());
    let wanted =
        calltree::Options { roots: roots.clone(), by_address: true, spelling: names.spelling(), lines: Lines::All };
    let mut trees = calltree::build(&opened, &symbols, &wanted)?;
    names.apply(&mut trees);
    let choice = prepare::Choice { is_raw: *raw, only_roots: !roots.is_empty() };
    let profile = prepare::prepare(&trees, choice);
    if profile.parts.is_empty() {
        profile.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
        return Err(Error::NothingToExport);
    }
    Ok(profile)
}

/// The profile in a format.
pub fn bytes(format: Format, profile: &Profile) -> Result<Vec<u8>, Error> {
    if format == Format::Flamegraph && profile.total_ns() == 0 {
        return Err(Error::NoTimeToDraw);
    }
    Ok(match format {
        Format::Flamegraph => flamegraph::write(profile)?,
        Format::Folded => folded::write(profile),
        Format::Pprof => pprof::write(profile)?,
        Format::Callgrind => callgrind::write(profile),
        Format::Speedscope => speedscope::write(profile)?,
        Format::Firefox => firefox::write(profile)?,
        Format::Dot => dot::write(profile),
        Format::Html => html::write(profile)?,
    })
}
