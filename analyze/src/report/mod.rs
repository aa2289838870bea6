//! The command `report`: from options to a written report.
//!
//! ```text
//! [`Options`] ──load, merge──▶ [`Merged`] ──correct, symbolize──▶ [`build`] ──▶ [`Document`] ──▶ a view
//! ```
//!
//! The document is plain data; views only write it.

mod build;
pub(crate) mod calls;
pub mod columns;
pub(crate) mod document;
mod filter;
pub(crate) mod names;
mod options;
mod order;
pub(crate) mod roots;
pub(crate) mod subject;
pub(crate) mod warnings;

use std::io::{BufWriter, Write};

use crate::error::Error;
use crate::opened::{Opened, Selection};
use crate::view;
pub(crate) use calls::Calls;
pub use calls::{CallKind, Kinds};
pub use columns::Column;
pub use document::{
    Address, Bar, Callee, Clock, Document, Function, InlinedInto, Layout, Overhead, Process, Report, Site, Subject,
    Thread,
};
pub use filter::Filter;
pub use options::{By, Color, Format, Options, Sort};

/// Writes a report; warnings go to stderr.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    let document = document(options)?;
    let mut out = BufWriter::new(out); // standard output itself writes line by line
    match options.format {
        Format::Json => view::json::write(&document, &mut out)?,
        Format::Csv => view::csv::write(&document, &mut out)?,
        Format::Table => view::table::write(&document, &view::Screen::of(options.color), &mut out)?,
    }
    out.flush()?;
    for warning in &document.warnings {
        eprintln!("warning: {warning}");
    }
    Ok(())
}

/// The report as data.
pub fn document(options: &Options) -> Result<Document, Error> {
    let Options { profiles, pid, by, .. } = options;
    let opened = Opened::open(&Selection { profiles: profiles.clone(), pid: *pid, by: *by })?;
    let symbols = opened.symbols();
    let mut document = build::build(options, &opened.loaded, &opened.merged, &symbols)?;
    document.warnings = warnings::all(&opened.loaded, &opened.merged, &symbols);
    Ok(document)
}
