//! The command `report`: from options to a written report.
//!
//! ```text
//! [`Options`] ──load, merge──▶ [`Merged`] ──correct, symbolize──▶ [`build`] ──▶ [`Document`] ──▶ a view
//! ```
//!
//! The document is plain data; views only write it.

mod build;
mod calls;
mod document;
mod names;
mod options;
mod order;
mod roots;
mod warnings;

use std::io::Write;

use crate::error::Error;
use crate::merge::Merging;
use crate::symbolize::{Files, Symbols};
use crate::{load, view};
pub use calls::CallKind;
pub use document::{Address, Callee, Clock, Document, Function, Overhead, Process, Report, Site, Thread};
pub use options::{By, Color, Format, Options, Sort};

/// Writes a report; warnings go to stderr.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    let document = document(options)?;
    match options.format {
        Format::Json => view::json::write(&document, out)?,
        Format::Csv => view::csv::write(&document, out)?,
        Format::Table => view::table::write(&document, &view::Screen::of(options.color), out)?,
    }
    out.flush()?;
    for warning in &document.warnings {
        eprintln!("warning: {warning}");
    }
    Ok(())
}

/// The report as data.
pub fn document(options: &Options) -> Result<Document, Error> {
    let mut merging = Merging::new(options.by, options.pid);
    let loaded = load::load(&options.profiles, |family| merging.add(family))?;
    let merged = merging.finish();
    if let Some(pid) = options.pid.filter(|_| merged.groups.is_empty()) {
        return Err(Error::UnknownProcess { pid, known: pids(&loaded) });
    }
    let files = Files::new(merged.modules.len());
    let symbols = Symbols::new(&merged.modules, &files);
    let mut document = build::build(options, &loaded, &merged, &symbols)?;
    document.warnings = warnings::all(&loaded, &merged, &symbols);
    Ok(document)
}

fn pids(loaded: &load::Loaded) -> Vec<u32> {
    let mut pids: Vec<u32> = loaded.profiles.iter().flat_map(|profile| profile.pids.iter().copied()).collect();
    pids.sort_unstable();
    pids.dedup();
    pids
}
