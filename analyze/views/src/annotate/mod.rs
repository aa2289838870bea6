//! The command `annotate`: a function's source, or its machine code, with what each line calls and what that takes.
//!
//! ```text
//! [`CallTrees`](crate::calltree::CallTrees) ──[edges]──▶ calls by site ─┬─[source]──▶ lines ───────┬─▶ [`Document`] ──▶ a view
//!                                                                └─[code]────▶ instructions ┘
//! ```

mod build;
mod code;
mod document;
mod edges;
mod source;

use std::path::PathBuf;

use crate::report::Format;
use diytrace_profile::error::Error;
use diytrace_profile::functions::Spelling;
use diytrace_profile::opened::Opened;
pub use document::{Call, Document, Function, Hidden, Instruction, Line, Report};

/// What to annotate and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Patterns of the functions.
    pub functions: Vec<String>,
    /// Patterns of functions: only calls inside these. Empty: all.
    pub inside: Vec<String>,
    /// Where sources are, if not where they were compiled.
    pub sources: Vec<PathBuf>,
    /// Lines, or instructions, to show around each that calls. By default all lines, and a few instructions.
    pub context: Option<usize>,
    /// Least share of a function's time that a call has, in percent.
    pub min_percent: f64,
    /// Whether to show machine code although there is a source.
    pub assembly: bool,
    /// How names are written.
    pub spelling: Spelling,
    /// Times as measured, without correction.
    pub raw: bool,
    /// How it is written.
    pub format: Format,
}

/// Annotated functions as data.
pub fn document(options: &Options, opened: &Opened) -> Result<Document, Error> {
    build::document(options, opened, &opened.symbols())
}
