//! What to check and how to tell.

use std::ffi::OsString;

pub use diytrace_views::view::Color;

/// What to check and how to tell.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program or library, as a shell would be given it.
    pub program: OsString,
    /// How it is told.
    pub format: Format,
    /// Whether text has colours.
    pub color: Color,
}

/// How a checkup is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// For programs: everything there is.
    Json,
}
