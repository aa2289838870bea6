//! How commands show a document: it goes to stdout, and what its reader should know to stderr.

use std::io::{self, BufWriter, Write};

use diytrace_profile::error::Error;
use diytrace_views::report::Format;
use diytrace_views::view;
use serde::Serialize;

/// Writes a document in a format, of which JSON is the same for all, and then its warnings.
pub fn show<E: From<Error>>(
    out: &mut dyn Write,
    format: Format,
    (document, warnings): (&impl Serialize, &[String]),
    csv: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    table: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), E> {
    let mut out = BufWriter::new(out); // standard output itself writes line by line
    let written = match format {
        Format::Json => view::json::write(document, &mut out),
        Format::Csv => csv(&mut out),
        Format::Table => table(&mut out),
    };
    written.and_then(|()| out.flush()).map_err(Error::from)?;
    warn(warnings);
    Ok(())
}

/// Writes warnings to stderr.
fn warn(warnings: &[String]) {
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
}
