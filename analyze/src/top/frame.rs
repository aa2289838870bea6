//! What happened between two readings of a profile, as rates.

use diytrace_views::names::Named;
use std::path::PathBuf;

use serde::Serialize;

use diytrace_profile::timeline::Timeline;

/// The form of frames as JSON.
pub const SCHEMA: &str = "diytrace-top/1";

/// Rates between two readings. Times are nanoseconds; `…_per_s` are of a second of the clock on the wall, so that a
/// thread that is always in a function adds 1e9 to its total.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Frame {
    /// The form of this as JSON.
    pub schema: &'static str,
    /// The profile.
    pub profile: PathBuf,
    /// The program's file.
    pub exe: String,
    /// The later reading, in nanoseconds since 1970.
    pub at_unix_ns: u64,
    /// Between the readings.
    pub interval_ns: u64,
    /// Whether recording is paused.
    pub paused: bool,
    /// Processes that have recorded and are running.
    pub running: u64,
    /// Processes that have recorded so far.
    pub recorded: u64,
    /// Of a store, what of it this is: then nothing is told of processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest: Option<Newest>,
    /// Calls entered in a second.
    pub calls_per_s: f64,
    /// Calls lost between the readings.
    pub lost_calls: u64,
    /// Functions in which anything happened.
    pub functions: Vec<Row>,
    /// Those of them that were not asked for, and are not among these.
    pub unlisted: Unlisted,
    /// The same one by one: somebody may go there from a function that calls them.
    #[serde(skip)]
    pub others: Vec<Row>,
}

/// What came into a store last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Newest {
    /// Recordings that have counted in this time.
    pub recordings: u64,
    /// What was selected.
    pub of: String,
    /// How long ago that was, in nanoseconds.
    pub age_ns: u64,
}

/// Functions that were not asked for, together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Unlisted {
    /// How many.
    pub functions: u64,
    /// Their calls in a second.
    pub calls_per_s: f64,
    /// Their time without callees, in a second.
    pub self_ns_per_s: f64,
}

/// A function, or one as another calls it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// The process, if they are told apart; `null` for those that share memory in the file.
    pub pid: Option<u32>,
    /// Name, as people write it.
    pub name: String,
    /// Path of its module.
    pub module: String,
    /// Calls entered between the readings.
    pub calls: u64,
    /// The same in a second.
    pub calls_per_s: f64,
    /// Time without callees, in a second.
    pub self_ns_per_s: f64,
    /// Time with callees, in a second; of a recursion the outermost call's.
    pub total_ns_per_s: f64,
    /// Of a callee of a function that calls itself: time with callees in calls by other than its outermost calls, in a second.
    /// It is in the total of the function that called first.
    #[serde(skip_serializing_if = "is_none")]
    pub nested_ns_per_s: f64,
    /// How far off the total may be.
    pub error_ns_per_s: f64,
    /// Of the time without callees, what was spent on a processor, in a second; `null` where it is not known.
    pub self_cpu_ns_per_s: Option<f64>,
    /// The same of what was spent waiting.
    pub self_wait_ns_per_s: Option<f64>,
    /// Mean of the calls that returned between the readings.
    pub mean_ns: Option<f64>,
    /// 99% of them took at most this.
    pub p99_ns: Option<f64>,
    /// Calls that are open now.
    pub open: u64,
    /// When it ran since the beginning of the profile, in times as measured, if it is a root or nothing that is recorded
    /// calls it. Of several frames as JSON it would be most, so only a single one has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// What it called; empty where this is a callee itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub callees: Vec<Row>,
}

impl Frame {
    /// A function in which anything happened, whether it was asked for or not.
    pub fn function(&self, id: &Id) -> Option<&Row> {
        self.functions.iter().chain(&self.others).find(|row| row.is(id))
    }
}

impl Named for Frame {
    fn names(&mut self) -> Vec<&mut String> {
        let rows = self.functions.iter_mut().chain(&mut self.others);
        rows.flat_map(|row| std::iter::once(&mut row.name).chain(row.callees.iter_mut().map(|callee| &mut callee.name)))
            .collect()
    }
}

impl Row {
    /// Its time with callees in a second, if most of it is in nested calls of its caller, so that the total does not tell.
    pub fn nested(&self) -> Option<f64> {
        let is_nested = self.nested_ns_per_s > 0.0 && self.self_ns_per_s > self.total_ns_per_s;
        is_nested.then_some(self.total_ns_per_s + self.nested_ns_per_s)
    }

    /// What it is, whatever its numbers are.
    pub fn id(&self) -> Id {
        (self.pid, self.module.clone(), self.name.clone())
    }

    /// Whether it is that.
    pub fn is(&self, id: &Id) -> bool {
        (self.pid, &self.module, &self.name) == (id.0, &id.1, &id.2)
    }
}

fn is_none(time: &f64) -> bool {
    *time == 0.0
}

/// A function in a process.
pub type Id = (Option<u32>, String, String);
