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
mod limit;
mod options;
mod pprof;
mod prepare;
mod profile;
mod prune;
#[cfg(test)]
mod sample;
mod speedscope;
mod sums;

use crate::calltree::{self, Lines};
use diytrace_profile::error::Error;
use diytrace_profile::opened::Opened;
pub use flamegraph::{Drawing, draw};
pub use options::{Format, Options};
pub use profile::Profile;
pub use prune::Wanted;

/// What is exported, as data. Without parts, nothing was called that was asked for.
pub fn profile(options: &Options, opened: &Opened) -> Result<Profile, Error> {
    let Options { roots, raw, .. } = options;
    let symbols = opened.symbols();
    let names = options.names.unwrap_or(options.format.names());
    let tree_options = calltree::Options {
        roots: roots.clone(),
        functions: options.functions.clone(),
        by_address: true,
        spelling: names.spelling(),
        lines: Lines::All,
        time: options.time,
        ..calltree::Options::default()
    };
    let mut trees = calltree::build(opened, &symbols, &tree_options)?;
    names.apply(&mut trees);
    Ok(prepare::prepare(
        &trees,
        prepare::Choice { is_raw: *raw, only_roots: !roots.is_empty(), wanted: options.wanted(), most: options.most() },
    ))
}

/// The profile in a format.
pub fn bytes(format: Format, profile: &Profile) -> Result<Vec<u8>, Error> {
    if profile.parts.is_empty() {
        return Err(Error::NothingToExport);
    }
    // They hold nothing but time.
    if matches!(format, Format::Flamegraph | Format::Folded) && profile.total_ns() == 0 {
        if profile.parts.iter().all(|part| !part.is_all_timed) {
            return Err(Error::OnlyCounted);
        }
        if format == Format::Flamegraph {
            return Err(Error::NoTimeToDraw);
        }
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
