//! Which functions of a frame are told; the others are summed up.

use diytrace_format::pattern::{glob, matches_demangled};

use super::frame::{Frame, Row, Unlisted};

/// Which functions are told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// Patterns of functions to begin at. Empty: all are listed.
    pub roots: Vec<String>,
    /// Patterns of names. Empty: all.
    pub functions: Vec<String>,
    /// Least share of all time in the interval that a function's total is, in percent.
    pub min_percent: f64,
}

impl Wanted {
    /// Leaves the others out of a frame, whose names are whole.
    pub fn keep(&self, frame: &mut Frame) {
        let all: f64 = frame.functions.iter().map(|row| row.self_ns_per_s).sum();
        let is_like = |patterns: &[String], row: &Row| {
            patterns.is_empty()
                || patterns.iter().any(|pattern| glob(pattern, &row.name) || matches_demangled(pattern, &row.name))
        };
        let is_wanted =
            |row: &Row| is_like(&self.functions, row) && row.total_ns_per_s * 100.0 >= all * self.min_percent;
        let has_roots = !self.roots.is_empty();
        let is_kept = |row: &Row| if has_roots { is_like(&self.roots, row) } else { is_wanted(row) };
        let (kept, left): (Vec<Row>, Vec<Row>) = std::mem::take(&mut frame.functions).into_iter().partition(is_kept);
        frame.functions = kept;
        if has_roots {
            frame.functions.iter_mut().for_each(|root| root.callees.retain(is_wanted));
        } else {
            frame.unlisted = Unlisted {
                functions: left.len() as u64,
                calls_per_s: left.iter().map(|row| row.calls_per_s).sum(),
                self_ns_per_s: left.iter().map(|row| row.self_ns_per_s).sum(),
            };
        }
        frame.others = left;
    }
}
