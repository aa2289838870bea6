//! What of a frame is shown, and how keys change it.

use std::cmp::Ordering;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::frame::{Frame, Id, Row};
use diytrace_profile::merge::By;

/// Order of functions; the largest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Time without callees.
    #[default]
    Self_,
    /// Time with callees.
    Total,
    /// Calls entered.
    Calls,
    /// Mean time of a call.
    Mean,
    /// 99th percentile.
    P99,
    /// By name.
    Name,
}

/// Puts rows in order; what is equal by its name.
pub fn sort(rows: &mut [&Row], by: Sort) {
    rows.sort_by(|a, b| order(a, b, by));
}

/// Which of two rows comes first.
pub fn order(a: &Row, b: &Row, by: Sort) -> Ordering {
    let number = |row: &Row| match by {
        Sort::Self_ => row.self_ns_per_s,
        Sort::Total => row.nested().unwrap_or(row.total_ns_per_s),
        Sort::Calls => row.calls_per_s,
        Sort::Mean => row.mean_ns.unwrap_or(-1.0),
        Sort::P99 => row.p99_ns.unwrap_or(-1.0),
        Sort::Name => 0.0,
    };
    let names = || (&a.name, &a.module, a.pid).cmp(&(&b.name, &b.module, b.pid));
    number(b).partial_cmp(&number(a)).unwrap_or(Ordering::Equal).then_with(names)
}

/// What of a frame is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Order.
    pub sort: Sort,
    /// What is told together.
    pub by: By,
    /// Part of the names that are shown.
    pub search: String,
    /// Whether keys go into `search`.
    pub is_searching: bool,
    /// Whether keys and columns are explained in place of rows.
    pub is_explaining: bool,
    /// Whether the display stands still.
    pub is_held: bool,
    /// Whether rates are since a moment that was chosen, not of the last interval.
    pub has_baseline: bool,
    /// The function whose callees are shown, below those that led to it.
    pub inside: Vec<Id>,
    /// The row the cursor is on.
    pub selected: Option<Id>,
}

/// What a key asks for beyond the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// To leave.
    Quit,
    /// Rates since now.
    Rebase,
    /// Rates of intervals.
    Intervals,
}

impl View {
    /// The rows that are shown, in their order.
    pub fn rows<'a>(&self, frame: &'a Frame) -> Vec<&'a Row> {
        let all = match self.inside.last() {
            Some(id) => frame.function(id).map_or(&[][..], |row| &row.callees),
            None => &frame.functions,
        };
        let search = self.search.to_lowercase();
        let is_found = |row: &&Row| search.is_empty() || row.name.to_lowercase().contains(&search);
        let mut rows: Vec<&Row> = all.iter().filter(is_found).collect();
        sort(&mut rows, self.sort);
        rows
    }

    /// Where the cursor is among these rows.
    pub fn cursor(&self, rows: &[&Row]) -> usize {
        let selected = self.selected.as_ref();
        selected.and_then(|id| rows.iter().position(|row| row.is(id))).unwrap_or(0)
    }

    /// Takes a key.
    pub fn press(&mut self, key: KeyEvent, frame: Option<&Frame>) -> Option<Wish> {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return (key.code == KeyCode::Char('c')).then_some(Wish::Quit);
        }
        if self.is_searching {
            match key.code {
                KeyCode::Char(letter) => self.search.push(letter),
                KeyCode::Backspace => _ = self.search.pop(),
                KeyCode::Enter => self.is_searching = false,
                KeyCode::Esc => (self.is_searching, self.search) = (false, String::new()),
                _ => {}
            }
            return None;
        }
        if std::mem::take(&mut self.is_explaining) {
            return (key.code == KeyCode::Char('q')).then_some(Wish::Quit); // any other key leads back
        }
        let rows = frame.map_or_else(Vec::new, |frame| self.rows(frame));
        let cursor = self.cursor(&rows);
        let id = |index: usize| rows.get(index.min(rows.len().saturating_sub(1))).map(|row| row.id());
        match key.code {
            KeyCode::Char('q') => return Some(Wish::Quit),
            KeyCode::Char('r') => (self.has_baseline, self.is_held) = (true, false),
            KeyCode::Char('i') => (self.has_baseline, self.is_held) = (false, false),
            KeyCode::Char(' ') => self.is_held = !self.is_held,
            KeyCode::Char('/') => self.is_searching = true,
            KeyCode::Char('?') | KeyCode::Char('h') => self.is_explaining = true,
            KeyCode::Char('p') => {
                self.by = if self.by == By::All { By::Process } else { By::All };
                (self.inside, self.selected) = (Vec::new(), None);
            }
            KeyCode::Char('s') => self.sort = Sort::Self_,
            KeyCode::Char('t') => self.sort = Sort::Total,
            KeyCode::Char('c') => self.sort = Sort::Calls,
            KeyCode::Char('m') => self.sort = Sort::Mean,
            KeyCode::Char('9') => self.sort = Sort::P99,
            KeyCode::Char('n') => self.sort = Sort::Name,
            KeyCode::Up | KeyCode::Char('k') => self.selected = id(cursor.saturating_sub(1)),
            KeyCode::Down | KeyCode::Char('j') => self.selected = id(cursor + 1),
            KeyCode::PageUp => self.selected = id(cursor.saturating_sub(10)),
            KeyCode::PageDown => self.selected = id(cursor + 10),
            KeyCode::Home => self.selected = id(0),
            KeyCode::End => self.selected = id(usize::MAX),
            KeyCode::Enter | KeyCode::Right => {
                if let Some(id) = id(cursor) {
                    self.inside.push(id);
                    (self.selected, self.search) = (None, String::new());
                }
            }
            KeyCode::Esc if !self.search.is_empty() => self.search.clear(),
            KeyCode::Esc | KeyCode::Backspace | KeyCode::Left => self.selected = self.inside.pop(),
            _ => {}
        }
        match key.code {
            KeyCode::Char('r') => Some(Wish::Rebase),
            KeyCode::Char('i') => Some(Wish::Intervals),
            _ => None,
        }
    }
}
