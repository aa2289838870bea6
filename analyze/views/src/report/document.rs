//! A report as data, in the shape of its JSON (`diytrace-report/1`). Fields may be added, none changed.

use serde::Serialize;

use super::Format;
use super::column::Column;
use super::spent::Spent;
use crate::subject::{Clock, Subject};
use diytrace_profile::functions::{CallKind, Kinds};
use diytrace_profile::merge::Bound;
use diytrace_profile::time::Time;
use diytrace_profile::timeline::Timeline;
use diytrace_profile::units::{Address, nanoseconds, optional_nanoseconds};

/// The name of the shape.
pub(super) const SCHEMA: &str = "diytrace-report/1";

/// All reports of some profiles.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// The name of the shape: `diytrace-report/1`.
    pub schema: &'static str,
    /// The recorder's clock.
    pub clock: Clock,
    /// What the reader should know.
    pub warnings: Vec<String>,
    /// How many runs are added up.
    pub runs: usize,
    /// Patterns that select the functions, or the roots of the recording; empty: there are none.
    pub roots: Vec<String>,
    /// Whether times are as measured.
    pub raw: bool,
    /// One, or one for each process or thread.
    pub reports: Vec<Report>,
    /// Most rows that a table may have.
    #[serde(skip)]
    pub limit: Option<usize>,
    /// How tables and CSV are laid out.
    #[serde(skip)]
    pub layout: Layout,
    /// What it is written as.
    #[serde(skip)]
    pub format: Format,
}

/// How tables and CSV are laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Functions, with these columns; none: the usual ones.
    Functions(Vec<Column>),
    /// Roots, each with what it calls.
    Roots,
    /// When functions ran.
    Timelines,
}

/// What is reported together, and its functions.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Whose calls these are.
    #[serde(flatten)]
    pub subject: Subject,
    /// Self time of all functions, listed or not.
    #[serde(serialize_with = "nanoseconds")]
    pub all_self_ns: f64,
    /// What of that was spent on a processor, and waiting; `None` where nobody knows.
    #[serde(skip)]
    pub all_self_spent_ns: Option<[f64; 2]>,
    /// Functions that were called, but not asked for.
    pub unlisted: u64,
    /// Their calls.
    pub unlisted_calls: u64,
    /// Their self time.
    #[serde(serialize_with = "nanoseconds")]
    pub unlisted_self_ns: f64,
    /// Roots that were called, and that filters leave out.
    #[serde(skip)]
    pub unlisted_roots: usize,
    /// Functions, or roots.
    pub functions: Vec<Function>,
}

impl Report {
    /// Functions in which anything happened.
    pub fn called(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| function.is_called())
    }
}

/// A function.
#[derive(Clone, Debug, Serialize)]
pub struct Function {
    /// Its name as people write it; its address where it has none.
    pub name: String,
    /// Its name as the linker knows it.
    pub symbol: Option<String>,
    /// Path of its module.
    pub module: String,
    /// The beginning of that one's build ID, where another module here has a file of the same name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// ELF virtual address; of several the first.
    pub address: Address,
    /// Where it is written.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u32>,
    /// Whether it is one of the document's roots.
    pub root: bool,
    /// Calls entered.
    pub calls: u64,
    /// Whether nothing is known of them but how many there are: they were counted by function only.
    #[serde(skip)]
    pub are_only_counted: bool,
    /// Calls not yet returned.
    pub open: u64,
    /// What the total has, at most, of calls not yet returned.
    #[serde(serialize_with = "nanoseconds")]
    pub open_ns: f64,
    /// What the time of these goes up to: `running`, the moment of this report; `exited`, their process's end, of which it gave
    /// notice, or the last that it recorded before; `seen ended`, when `diytrace record` saw that their process had ended; or
    /// `last sign of life`, the last that is known of a process that ended without a word. Of several, the last of these.
    pub open_bound: Option<Bound>,
    /// Where it has time and no call of its own here, what came between: `fork`, and the process that has forked has the call;
    /// `reset` of the counters; or the first of two readings (`interval`).
    pub entered_before: Option<&'static str>,
    /// Calls left without an exit.
    pub unwound: u64,
    /// Calls of bodies that are inlined in other functions.
    pub inlined_calls: u64,
    /// Inclusive time of outermost calls.
    #[serde(serialize_with = "nanoseconds")]
    pub total_ns: f64,
    /// Time without callees.
    #[serde(serialize_with = "nanoseconds")]
    pub self_ns: f64,
    /// How far off the total may be.
    #[serde(serialize_with = "nanoseconds")]
    pub total_error_ns: f64,
    /// How far off the self time may be.
    #[serde(serialize_with = "nanoseconds")]
    pub self_error_ns: f64,
    /// Where total and self time were spent.
    #[serde(flatten)]
    pub spent: Spent,
    /// Inclusive time as measured.
    #[serde(serialize_with = "nanoseconds")]
    pub total_raw_ns: f64,
    /// Time without callees as measured.
    #[serde(serialize_with = "nanoseconds")]
    pub self_raw_ns: f64,
    /// Mean time of a call that returned.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub mean_ns: Option<f64>,
    /// Shortest call.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub min_ns: Option<f64>,
    /// Median.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p50_ns: Option<f64>,
    /// 75th percentile.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p75_ns: Option<f64>,
    /// 90th percentile.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p90_ns: Option<f64>,
    /// 95th percentile.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p95_ns: Option<f64>,
    /// 99th percentile.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p99_ns: Option<f64>,
    /// 99.9th percentile.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p999_ns: Option<f64>,
    /// Longest call.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub max_ns: Option<f64>,
    /// Processes that called it; those that share a place in the profile count as one.
    pub processes: u64,
    /// Addresses that are shown as this one function.
    pub addresses: usize,
    /// How its calls were made: looked up for JSON, or if it is asked for.
    pub kinds: Kinds,
    /// The functions whose code its inlined bodies have become parts of, those with the most calls first.
    pub inlined_into: Vec<InlinedInto>,
    /// The distribution of its calls, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Vec<Bar>>,
    /// When its outermost calls ran, if it is a root or is called by nothing that is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// What it called.
    pub callees: Vec<Callee>,
}

impl Function {
    /// Whether anything happened in it.
    pub fn is_called(&self) -> bool {
        self.calls > 0 || self.open > 0 || self.total_ns > 0.0
    }

    /// Makes all times unknown, as nothing was timed.
    pub(super) fn forget_times(&mut self) {
        let sums = [&mut self.total_ns, &mut self.self_ns, &mut self.total_error_ns, &mut self.self_error_ns];
        let raw = [&mut self.total_raw_ns, &mut self.self_raw_ns, &mut self.open_ns];
        sums.into_iter().chain(raw).for_each(|ns| *ns = f64::NAN);
        (self.mean_ns, self.spent) = (None, Spent::default());
        for callee in &mut self.callees {
            callee.spent = Spent::default();
            let sums = [&mut callee.total_ns, &mut callee.self_ns, &mut callee.total_raw_ns];
            let others = [&mut callee.total_error_ns, &mut callee.self_error_ns, &mut callee.nested_ns];
            sums.into_iter().chain(others).for_each(|ns| *ns = f64::NAN);
        }
    }
}

/// A function whose code has inlined bodies of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InlinedInto {
    /// Its name.
    pub name: String,
    /// Calls of those bodies.
    pub calls: u64,
}

/// Calls that took a time between two.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bar {
    /// The shorter.
    #[serde(serialize_with = "nanoseconds")]
    pub from_ns: f64,
    /// The longer.
    #[serde(serialize_with = "nanoseconds")]
    pub to_ns: f64,
    /// How many.
    pub calls: u64,
}

impl From<(Time, Time, u64)> for Bar {
    fn from((from, to, calls): (Time, Time, u64)) -> Self {
        Self { from_ns: from.ns(), to_ns: to.ns(), calls }
    }
}

/// A function as one caller called it.
#[derive(Clone, Debug, Serialize)]
pub struct Callee {
    /// Its name.
    pub name: String,
    /// Path of its module.
    pub module: String,
    /// The beginning of that one's build ID, where another module here has a file of the same name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// ELF virtual address.
    pub address: Address,
    /// How most of the calls were made.
    pub call: CallKind,
    /// Code without hooks between caller and callee, for most of the calls.
    pub via: Option<String>,
    /// Where the calls were made.
    pub sites: Vec<Site>,
    /// Calls entered.
    pub calls: u64,
    /// Inclusive time, as a part of the caller's.
    #[serde(serialize_with = "nanoseconds")]
    pub total_ns: f64,
    /// Time without callees.
    #[serde(serialize_with = "nanoseconds")]
    pub self_ns: f64,
    /// Where total and self time were spent.
    #[serde(flatten)]
    pub spent: Spent,
    /// Inclusive time as measured.
    #[serde(serialize_with = "nanoseconds")]
    pub total_raw_ns: f64,
    /// How far off the total may be.
    #[serde(serialize_with = "nanoseconds")]
    pub total_error_ns: f64,
    /// How far off the self time may be.
    #[serde(serialize_with = "nanoseconds")]
    pub self_error_ns: f64,
    /// Inclusive time of calls by nested calls of a recursive caller: already part of another callee's total.
    #[serde(serialize_with = "nanoseconds")]
    pub nested_ns: f64,
}

/// A place from where calls were made.
#[derive(Clone, Debug, Serialize)]
pub struct Site {
    /// Return address of the call; of an inlined one, of its enter hook.
    pub address: Address,
    /// Where the call is written.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u32>,
    /// Calls entered.
    pub calls: u64,
    /// How they were made.
    pub call: CallKind,
    /// Code without hooks between caller and callee.
    pub via: Option<String>,
}
