//! How commands show a document: it goes to stdout, and what its reader should know to stderr.

use std::io::{BufWriter, Write};

use diytrace_profile::error::Error;

/// Writes a document and then its warnings.
pub fn show<E: From<Error>>(
    out: &mut dyn Write,
    warnings: &[String],
    write: impl FnOnce(&mut dyn Write) -> Result<(), Error>,
) -> Result<(), E> {
    let mut out = BufWriter::new(out); // standard output itself writes line by line
    write(&mut out)?;
    out.flush().map_err(Error::from)?;
    warn(warnings);
    Ok(())
}

/// Writes warnings to stderr.
pub fn warn(warnings: &[String]) {
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
}
