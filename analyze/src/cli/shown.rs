//! How commands show a document: it goes to stdout, and what its reader should know to stderr.

use std::io::{self, BufWriter, Write};

use clap::ValueEnum;
use diytrace_profile::error::Error;
use diytrace_views::report;
use diytrace_views::view::{self, Screen};
use serde::Serialize;

use super::choice::{Colors, choice};
use super::pager::{Output, Paging};

choice!(pub Format for report::Format { Table, Json, Csv });

/// How an answer is written.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Shown {
    /// How it is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: Format,

    #[command(flatten)]
    colors: Colors,

    #[command(flatten)]
    paging: Paging,
}

impl Shown {
    /// The format.
    pub fn format(self) -> report::Format {
        self.format.into()
    }

    /// What tables are written to.
    pub fn screen(self) -> Screen {
        Screen::of(self.colors.into())
    }

    /// Writes a document in the format, of which JSON is the same for all, and then its warnings.
    pub fn show<E: From<Error>>(
        self,
        out: &mut Output,
        (document, warnings): (&impl Serialize, &[String]),
        csv: impl FnOnce(&mut dyn Write) -> io::Result<()>,
        table: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), E> {
        let mut out = BufWriter::new(self.paging.of(out)); // standard output itself writes line by line
        let written = match self.format() {
            report::Format::Json => view::json::write(document, &mut out),
            report::Format::Csv => csv(&mut out),
            report::Format::Table => table(&mut out),
        };
        written.and_then(|()| out.flush()).map_err(Error::from)?;
        warn(warnings);
        Ok(())
    }
}

/// Writes warnings to stderr. If nobody listens there, the answer is worth no less.
pub fn warn(warnings: &[String]) {
    for warning in warnings {
        let _ = writeln!(io::stderr(), "warning: {warning}");
    }
}
