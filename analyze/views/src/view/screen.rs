//! What a table is written to.

use std::io::IsTerminal;

/// Whether tables have colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// At a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Yes.
    Always,
    /// No.
    Never,
}

/// How wide and how colourful output may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// Columns; `None` for a file or a pipe, which have as many as it takes.
    pub width: Option<usize>,
    /// Whether to use colours.
    pub color: bool,
}

impl Screen {
    /// A file: as wide as it takes, and without colours unless they are asked for.
    pub fn of_file(color: Color) -> Self {
        Self { width: None, color: color == Color::Always }
    }

    /// Standard output.
    pub fn of(color: Color) -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let is_wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let width = if is_terminal { comfy_table::Table::new().width().map(usize::from) } else { None };
        Self {
            width: width.or(columns).filter(|&width| width > 0),
            color: match color {
                Color::Auto => is_terminal && is_wanted,
                Color::Always => true,
                Color::Never => false,
            },
        }
    }
}
