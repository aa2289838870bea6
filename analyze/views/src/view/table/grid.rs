//! Rows and columns as text: numbers to the right, names to the left and last, one light rule.

use comfy_table::{Attribute, Cell, CellAlignment, LineStyle, Table, TableStyle};

use crate::view::Screen;
use diytrace_profile::human::shorten;

/// What most tables leave for names.
pub const LEAST_NAME: usize = 28;

/// What they leave beside a remark: enough to tell most names.
const SHORTEST_NAME: usize = 10;

/// Where lines go on as far as they take, the rule need not.
const LONGEST_RULE: usize = 100;

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
    /// Whether it stays although no row has anything in it: somebody has asked for it.
    pub is_chosen: bool,
}

impl<'a> Column<'a> {
    /// A column of numbers.
    pub const fn number(title: &'a str, dispensable: u8) -> Self {
        Self { title, dispensable, is_text: false, is_chosen: false }
    }

    /// A column of words.
    pub const fn text(title: &'a str, dispensable: u8) -> Self {
        Self { title, dispensable, is_text: true, is_chosen: false }
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
    /// What is said beside the name; it stays whole as long as there is room for a short name.
    pub remark: String,
    /// What goes on after the remark where there is room for it.
    pub detail: String,
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
        let mut lines: Vec<String> = table.lines().map(|line| format!("{INDENT}{}", line.trim_end())).collect();
        if screen.width.is_none() {
            let rule: String = lines[1].chars().take(LONGEST_RULE.max(taken + LEAST_NAME)).collect();
            lines[1] = rule;
        }
        lines
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
        // A column in which no row has anything says nothing, unless that is the answer.
        let has_any = |index: usize| self.rows.iter().any(|row| !row.numbers[index].is_empty());
        shown.retain(|&index| self.columns[index].is_chosen || has_any(index));
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
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(self.prefix.chars().count()));
        let name = self.name.chars().count();
        let whole = format!("{}{}", self.remark, self.detail);
        let fits = whole.chars().count() + GAP + name.min(LEAST_NAME) <= room;
        let remark = if fits { &whole } else { &self.remark };
        // A line that is longer than the screen goes on in the next one, under other columns.
        let remark = shorten(remark, room.saturating_sub(GAP + name.min(SHORTEST_NAME)));
        let taken = if remark.is_empty() { 0 } else { remark.chars().count() + GAP };
        let name = shorten(&self.name, room.saturating_sub(taken).max(SHORTEST_NAME));
        let named = format!("{}{name}", self.prefix);
        if remark.is_empty() { named } else { format!("{named}  {remark}") }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_ends_where_the_longest_names_go_on() {
        let row = Row { numbers: vec!["1".into()], name: "x".repeat(1000), ..Row::default() };
        let grid = Grid {
            columns: vec![Column::number("calls", 0)],
            name_title: "function",
            least_name: LEAST_NAME,
            rows: vec![row],
        };
        let lines = grid.lines(&Screen::default());
        assert_eq!((lines[1].chars().count(), lines[2].chars().count() > 1000), (LONGEST_RULE, true));
    }

    #[test]
    fn no_line_is_longer_than_the_screen() {
        let row = |name: &str, remark: &str, detail: &str| Row {
            numbers: vec!["1,000,000".into(), "< 19.2 ms".into()],
            name: name.into(),
            remark: remark.into(),
            detail: detail.into(),
            ..Row::default()
        };
        let rows = vec![
            row("MemoryContextSwitchTo", "×10 · inlined", " into spool_tuples +36"),
            row("std::vector<int, std::allocator<int> >::operator[](unsigned long)", "inlined", " into f"),
            row("f", "0x1234 · libsomething.so.5 · ×4 · 1,234,567 open · 12.3% inlined", ""),
        ];
        let columns = vec![Column::number("calls", 0), Column::number("self", 1)];
        let grid = Grid { columns, name_title: "function", least_name: LEAST_NAME, rows };
        for width in 40..120 {
            for line in grid.lines(&Screen { width: Some(width), color: false }) {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
        let lines = |width| grid.lines(&Screen { width: Some(width), color: false }).join("\n");
        assert!(lines(82).contains("MemoryContextSwitchTo  ×10 · inlined into spool_tuples +36"), "{}", lines(82));
        assert!(lines(60).contains("MemoryContextSwitchTo  ×10 · inlined\n"), "{}", lines(60));
    }
}
