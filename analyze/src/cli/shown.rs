//! How commands show a document: it goes to stdout, and what its reader should know to stderr.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use diytrace_profile::error::Error;
use diytrace_profile::new_file::{NewFile, irreplaceable};
use diytrace_views::report;
use diytrace_views::view::{self, Screen};
use serde::Serialize;

use super::choice::{Colors, choice};
use super::pager::{Output, Paging};

choice!(pub Format for report::Format { Table, Json, Csv });

/// How an answer is written.
#[derive(Clone, Debug, clap::Args)]
pub struct Shown {
    /// How it is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: Format,

    /// The file to write it to [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    colors: Colors,

    #[command(flatten)]
    paging: Paging,
}

impl Shown {
    /// The file that was named.
    #[cfg(feature = "service")]
    pub fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// The format.
    pub fn format(&self) -> report::Format {
        self.format.into()
    }

    /// That an option is of JSON alone.
    pub fn only_json(&self, option: &str) -> Result<(), Error> {
        match self.format() {
            report::Format::Json => Ok(()),
            _ => Err(Error::Usage(format!("{option}: only JSON can be (--format json)"))),
        }
    }

    /// What tables are written to. A file is as wide as it takes.
    pub fn screen(&self) -> Screen {
        match self.output {
            Some(_) => Screen::of_file(self.colors.into()),
            None => Screen::of(self.colors.into()),
        }
    }

    /// Writes a document in the format, of which JSON is the same for all, and then its warnings.
    pub fn show<E: From<Error>>(
        &self,
        out: &mut Output,
        (document, warnings): (&impl Serialize, &[String]),
        csv: impl FnOnce(&mut dyn Write) -> io::Result<()>,
        table: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), E> {
        let write = |out: &mut dyn Write| {
            let mut out = BufWriter::new(out); // standard output itself writes line by line
            match self.format() {
                report::Format::Json => view::json::write(document, &mut out)?,
                report::Format::Csv => csv(&mut out)?,
                report::Format::Table => table(&mut out)?,
            }
            out.flush()
        };
        match &self.output {
            Some(path) => write_file(path, |file| write(file))?,
            None => write(self.paging.of(out)).map_err(Error::from)?,
        }
        warn(warnings);
        Ok(())
    }
}

/// Writes a file that somebody has named. A new one, or one that is plainly the user's own, appears whole or not at all; any other is
/// written to where it is.
pub fn write_file(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), Error> {
    if let Some(what) = irreplaceable(path) {
        return Err(Error::Irreplaceable { path: path.to_owned(), what });
    }
    let new = if may_be_replaced(path) { NewFile::for_all_beside(path).ok() } else { None };
    let written = match new {
        Some((new, mut file)) => write(&mut file).and_then(|()| {
            if let Ok(before) = fs::metadata(path) {
                file.set_permissions(before.permissions())?;
            }
            // What is mounted there can be replaced by nothing.
            new.appear(&file, path).or_else(|_| {
                file.rewind()?;
                io::copy(&mut file, &mut File::create(path)?).map(drop)
            })
        }),
        None => File::create(path).and_then(|mut file| write(&mut file)),
    };
    written.map_err(|source| Error::WriteTo { path: path.to_owned(), source })
}

/// Whether another file may take a path, so that nobody sees a difference: it is free, or the user's own file, and has no other name.
fn may_be_replaced(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Err(error) => error.kind() == io::ErrorKind::NotFound,
        Ok(facts) => {
            // SAFETY: both always succeed.
            let is_own = unsafe { (facts.uid(), facts.gid()) == (libc::geteuid(), libc::getegid()) };
            facts.is_file() && facts.nlink() == 1 && is_own && OpenOptions::new().write(true).open(path).is_ok()
        }
    }
}

/// Writes warnings to stderr. If nobody listens there, the answer is worth no less.
pub fn warn(warnings: &[String]) {
    for warning in warnings {
        let _ = writeln!(io::stderr(), "warning: {warning}");
    }
}
