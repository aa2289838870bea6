//! Which functions of a frame are told; the others are summed up.

use diytrace_format::pattern::{glob, matches_demangled};

use super::frame::{Frame, Row, Unlisted};

/// Which functions are told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// Patterns of names. Empty: all.
    pub functions: Vec<String>,
    /// Least share of all time in the interval that a function's total is, in percent.
    pub min_percent: f64,
}

impl Wanted {
    /// Leaves the others out of a frame, whose names are whole.
    pub fn keep(&self, frame: &mut Frame) {
        let all: f64 = frame.functions.iter().map(|row| row.self_ns_per_s).sum();
        let is_named = |row: &Row| {
            let is_like = |pattern: &String| glob(pattern, &row.name) || matches_demangled(pattern, &row.name);
            self.functions.is_empty() || self.functions.iter().any(is_like)
        };
        let is_wanted = |row: &Row| is_named(row) && row.total_ns_per_s * 100.0 >= all * self.min_percent;
        let (kept, left): (Vec<Row>, Vec<Row>) = std::mem::take(&mut frame.functions).into_iter().partition(is_wanted);
        frame.functions = kept;
        frame.unlisted = Unlisted {
            functions: left.len() as u64,
            calls_per_s: left.iter().map(|row| row.calls_per_s).sum(),
            self_ns_per_s: left.iter().map(|row| row.self_ns_per_s).sum(),
        };
        frame.others = left;
    }
}
