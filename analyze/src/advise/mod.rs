//! The command `advise`: which functions a recording does better without, and what that would save.
//!
//! ```text
//! report of all functions ──[choose]──▶ those that cost more to record than they take themselves
//!                                          ├──[flags]──▶ how to tell the compiler, and what else that would leave out
//! call paths ──[paths]──▶ how many are left ┴──▶ [`Document`] ──▶ [view]
//!                                          └──[verify]──▶ what runs with it come to
//! ```

mod choose;
pub mod flags;
mod paths;
mod verify;
pub mod view;

use std::collections::BTreeSet;

use diytrace_profile::error::Error;
use diytrace_profile::functions::Spelling;
use diytrace_profile::opened::Opened;
use diytrace_profile::units::nanoseconds;
use diytrace_views::report::{self, Filter, Format};
use serde::Serialize;

pub use choose::Advised;
pub use flags::Flag;
pub use verify::{Measured, Options as Verifying, Spread, Verified, verify};

/// What can be left out, in the shape of its JSON. Fields may be added, none changed.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// The name of the shape: `diytrace-advise/1`.
    pub schema: &'static str,
    /// What the reader should know.
    pub warnings: Vec<String>,
    /// How many runs are added up.
    pub runs: usize,
    /// What recording a call costs, in nanoseconds, as the report subtracts it.
    #[serde(serialize_with = "nanoseconds")]
    pub call_ns: f64,
    /// Its standard error.
    #[serde(serialize_with = "nanoseconds")]
    pub call_error_ns: f64,
    /// What there is now.
    pub now: Size,
    /// What would be left without these functions; an estimate, but for the calls and call paths of the same run.
    pub left: Size,
    /// The functions, the most expensive to record first.
    pub functions: Vec<Advised>,
    /// All of them for `--exclude` and `DIYTRACE_EXCLUDE`.
    pub exclude: String,
    /// The same for gcc.
    pub flags: Vec<Flag>,
    /// Functions that cannot be named to gcc.
    pub unnamed: Vec<String>,
    /// What runs with and without the advice came to, if that was asked for.
    pub verified: Option<Verified>,
}

/// How much is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Size {
    /// Calls.
    pub calls: u64,
    /// Call paths, which a profile's size follows.
    pub paths: u64,
    /// What recording takes, in nanoseconds.
    #[serde(serialize_with = "nanoseconds")]
    pub recording_ns: f64,
}

/// Looks for what can be left out: functions with at least that share of all that recording costs.
pub fn document(opened: &Opened, min_percent: f64) -> Result<Document, Error> {
    let report = report::document(&options(), opened)?;
    let Some(whole) = report.reports.first() else { return Err(nothing()) };
    if whole.subject.timing != "all" {
        return Err(Error::Usage(format!(
            "advise compares times with what recording costs, and the timing of this recording is `{}`: record with --timing all",
            whole.subject.timing
        )));
    }
    let overhead = whole.subject.overhead;
    let call_ns = overhead.inner_ns + overhead.outer_ns;
    let all_calls: u64 = whole.functions.iter().map(|function| function.calls).sum();
    let least_ns = all_calls as f64 * call_ns * min_percent / 100.0;
    let functions = choose::choose(&whole.functions, call_ns, least_ns);

    let symbols: BTreeSet<&str> = functions.iter().map(|function| &*function.symbol).collect();
    let names = opened.symbols();
    let (paths, left) = paths::count(&opened.merged, &names, &symbols);
    let size = |calls: u64, paths| Size { calls, paths, recording_ns: calls as f64 * call_ns };
    let without = all_calls - functions.iter().map(|function| function.calls).sum::<u64>();
    let (flags, unnamed) = flags::flags(&functions, &whole.functions);
    Ok(Document {
        schema: "diytrace-advise/1",
        warnings: report.warnings,
        runs: report.runs,
        call_ns,
        call_error_ns: overhead.error_ns,
        now: size(all_calls, paths),
        left: size(without, left),
        exclude: functions.iter().map(|function| &*function.symbol).collect::<Vec<_>>().join(","),
        functions,
        flags,
        unnamed,
        verified: None,
    })
}

/// All functions, each at its address, with all that is known of them.
fn options() -> report::Options {
    report::Options {
        roots: Vec::new(),
        raw: false,
        filter: Filter::default(),
        columns: Vec::new(),
        histogram: false,
        timeline: false,
        sort: None,
        limit: None,
        format: Format::Json,
        spelling: Spelling::Demangled,
        by_address: true,
        detail: report::Detail::Whole,
    }
}

fn nothing() -> Error {
    Error::Usage("no calls are recorded here".to_owned())
}
