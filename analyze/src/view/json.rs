//! JSON in the shape of [`Document`].

use std::io::{self, Write};

use crate::report::Document;

/// Writes a document as JSON.
pub fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    writeln!(out)
}
