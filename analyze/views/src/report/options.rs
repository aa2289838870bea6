//! What to report and how.

use diytrace_profile::functions::Spelling;

use super::{Column, Filter};
pub use diytrace_profile::merge::By;

/// What to report and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Patterns of the functions to report. Empty: those it was recorded with, or all.
    pub roots: Vec<String>,
    /// Times as measured, without correction.
    pub raw: bool,
    /// Which functions are listed.
    pub filter: Filter,
    /// Columns of the list. Empty: the usual ones.
    pub columns: Vec<Column>,
    /// Whether distributions are shown.
    pub histogram: bool,
    /// Whether timelines are shown, and nothing else.
    pub timeline: bool,
    /// Order of functions.
    pub sort: Option<Sort>,
    /// Most functions to show of each report.
    pub limit: Option<usize>,
    /// How it is written.
    pub format: Format,
    /// How names are written.
    pub spelling: Spelling,
    /// Keep functions of one name but several addresses apart in tables, too.
    pub by_address: bool,
    /// What is told of each function.
    pub detail: Detail,
}

/// What is told of each function: what is not wanted is not looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Everything.
    #[default]
    Whole,
    /// All but what it calls.
    WithoutCallees,
    /// Its name and numbers.
    Numbers,
}

/// Order of functions: by name, or the largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are the columns of the report")]
pub enum Sort {
    Calls,
    Total,
    Self_,
    Mean,
    P50,
    P90,
    P99,
    Max,
    Name,
    Min,
    P75,
    P95,
    P999,
    Open,
    Unwound,
    Inlined,
    Error,
    TotalRaw,
    SelfRaw,
    Processes,
    Cpu,
    Wait,
    Preempted,
    SelfCpu,
    SelfWait,
    SelfPreempted,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// For programs: everything there is.
    Json,
    /// For spreadsheets: one row for each function, or for each root and callee.
    Csv,
}
