//! JSON in the shape of [`Checkup`].

use std::io::{self, Write};

use crate::check::Checkup;

/// Writes a checkup as JSON.
pub fn write(checkup: &Checkup, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, checkup)?;
    writeln!(out)
}
