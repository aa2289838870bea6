//! Rows and columns as text: numbers to the right, names to the left and last, one light rule.

use comfy_table::{Attribute, Cell, CellAlignment, LineStyle, Table, TableStyle};

use crate::view::Screen;
use crate::view::human::shorten;

/// What most tables leave for names.
pub const LEAST_NAME: usize = 28;

/// Space before the table.
const INDENT: &str = "  ";

/// Space between columns.
const GAP: usize = 2;

/// A column; the last one, of names, is none of these.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// What is above it.
    pub title: &'a str,
    /// Of the columns that do not fit, the highest number goes first; 0 stays.
    pub dispensable: u8,
    /// Whether it has words, which stand to the left.
    pub is_text: bool,
}

impl<'a> Column<'a> {
    /// A column of numbers.
    pub const fn number(title: &'a str, dispensable: u8) -> Self {
        Self { title, dispensable, is_text: false }
    }

    /// A column of words.
    pub const fn text(title: &'a str, dispensable: u8) -> Self {
        Self { title, dispensable, is_text: true }
    }
}

/// How a text stands out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// It does not.
    #[default]
    Plain,
    /// What matters most.
    Strong,
    /// What matters least.
    Dim,
}

/// One row.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// One text for each column.
    pub numbers: Vec<String>,
    /// What stands before the name and is never shortened.
    pub prefix: String,
    /// The name.
    pub name: String,
    /// What is said beside the name and never shortened.
    pub remark: String,
    /// How the row stands out.
    pub style: Style,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Grid<'a> {
    /// All but the last column.
    pub columns: Vec<Column<'a>>,
    /// Title of the last column.
    pub name_title: &'static str,
    /// A name has at least this many columns, if it is that long, before others are left out.
    pub least_name: usize,
    /// The rows.
    pub rows: Vec<Row>,
}

impl Grid<'_> {
    /// The table's lines.
    pub fn lines(&self, screen: &Screen) -> Vec<String> {
        let widths = self.widths();
        let shown = self.shown(&widths, screen.width);
        let taken = INDENT.len() + shown.iter().map(|&index| widths[index] + GAP).sum::<usize>();
        let name_width = screen.width.map(|width| width.saturating_sub(taken).max(LEAST_NAME / 2));

        let mut table = Table::new();
        table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─')));
        if screen.color {
            table.enforce_styling()
        } else {
            table.force_no_tty()
        };
        let header = shown.iter().map(|&index| self.columns[index].title).chain([self.name_title]);
        table.set_header(header.map(|title| styled(title.to_owned(), Style::Dim)));
        for row in &self.rows {
            let numbers = shown.iter().map(|&index| row.numbers[index].clone());
            table.add_row(numbers.chain([row.named(name_width)]).map(|text| styled(text, row.style)));
        }
        let last = shown.len();
        for (index, column) in table.column_iter_mut().enumerate() {
            let is_last = index == last;
            column.set_padding((0, if is_last { 0 } else { GAP as u16 }));
            let is_left = is_last || self.columns[shown[index]].is_text;
            column.set_cell_alignment(if is_left { CellAlignment::Left } else { CellAlignment::Right });
        }
        table.lines().map(|line| format!("{INDENT}{}", line.trim_end())).collect()
    }

    fn widths(&self) -> Vec<usize> {
        let width = |index: usize| {
            let texts = self.rows.iter().map(|row| row.numbers[index].as_str());
            texts.chain([self.columns[index].title]).map(|text| text.chars().count()).max().unwrap_or(0)
        };
        (0..self.columns.len()).map(width).collect()
    }

    /// The columns that fit.
    fn shown(&self, widths: &[usize], screen_width: Option<usize>) -> Vec<usize> {
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        // A column in which no row has anything says nothing.
        shown.retain(|&index| self.rows.iter().any(|row| !row.numbers[index].is_empty()));
        let names = self.rows.iter().map(|row| row.named(None).chars().count()).max().unwrap_or(0).min(self.least_name);
        while let Some(width) = screen_width {
            let needed = INDENT.len() + shown.iter().map(|&index| widths[index] + GAP).sum::<usize>() + names;
            let most = shown.iter().copied().max_by_key(|&index| self.columns[index].dispensable);
            match most.filter(|&index| needed > width && self.columns[index].dispensable > 0) {
                Some(most) => shown.retain(|&index| index != most),
                None => break,
            }
        }
        shown
    }
}

impl Row {
    fn named(&self, width: Option<usize>) -> String {
        let remark = if self.remark.is_empty() { 0 } else { self.remark.chars().count() + GAP };
        let taken = remark + self.prefix.chars().count();
        let name = match width {
            Some(width) => shorten(&self.name, width.saturating_sub(taken).max(LEAST_NAME / 2)),
            None => self.name.clone(),
        };
        let named = format!("{}{name}", self.prefix);
        if self.remark.is_empty() { named } else { format!("{named}  {}", self.remark) }
    }
}

fn styled(text: String, style: Style) -> Cell {
    let cell = Cell::new(text);
    match style {
        Style::Plain => cell,
        Style::Strong => cell.add_attribute(Attribute::Bold),
        Style::Dim => cell.add_attribute(Attribute::Dim),
    }
}
