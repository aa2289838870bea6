//! The report: functions, or roots with what they call.
//!
//! ```text
//! [`Opened`] ──correct, symbolize──▶ [`build`] ──▶ [`Document`] ──▶ a view
//! ```
//!
//! The document is plain data; views only write it.

mod build;
mod column;
pub mod columns;
mod document;
mod filter;
mod listed;
mod options;
mod order;
mod spent;

pub use columns::Column;
use diytrace_profile::error::Error;
use diytrace_profile::opened::Opened;
use diytrace_profile::warnings;
pub use document::{Bar, Callee, Document, Function, InlinedInto, Layout, Report, Site};
pub use filter::Filter;
pub use listed::Listed;
pub use options::{By, Detail, Format, Options, Sort};
pub use order::columns_beside;
pub use spent::Spent;

/// The report as data.
pub fn document(options: &Options, opened: &Opened) -> Result<Document, Error> {
    let symbols = opened.symbols();
    let mut document = build::build(options, opened, &symbols)?;
    document.warnings = warnings::sentences(&warnings::all(&opened.loaded, &opened.merged, &symbols));
    Ok(document)
}
