//! A comparison as data, in the shape of its JSON (`diytrace-diff/1`). Fields may be added, none changed.
//!
//! Times are nanoseconds of a run. `difference` and what is measured by it are parts of the left side's median; `null` where
//! that is nothing.

use serde::Serialize;

use super::Options;
use super::overlay::Overlay;
use crate::observed::code::CodeState;

/// The name of the shape.
pub(super) const SCHEMA: &str = "diytrace-diff/1";

/// Two sets of runs, compared.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The name of the shape: `diytrace-diff/1`.
    pub schema: &'static str,
    /// The set before.
    pub left: Side,
    /// The set after.
    pub right: Side,
    /// From when on a difference is a change.
    pub options: Options,
    /// Fresh runs that changes had to repeat in, if there were any.
    pub confirmation: Option<Confirmation>,
    /// Query by query.
    pub queries: Vec<Query>,
    /// Runs and queries that were left out, and why.
    pub errors: Vec<String>,
    /// What the reader should know.
    pub warnings: Vec<String>,
}

/// One side.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// What it is called.
    pub name: String,
    /// What was run; empty if that is not known.
    pub command: String,
    /// Where the set is.
    pub folder: String,
    /// What ran it.
    pub machine: serde_json::Value,
}

/// The runs of a second comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Confirmation {
    /// Where the set before is.
    pub left: String,
    /// Where the set after is.
    pub right: String,
}

/// The runs of one query; or all, where there are no queries.
#[derive(Clone, Debug, Serialize)]
pub struct Query {
    /// Its name.
    pub query: Option<String>,
    /// Runs of each side that count.
    pub left_runs: usize,
    /// The same.
    pub right_runs: usize,
    /// Functions whose times were tested: p-values are adjusted for that many.
    pub tests: usize,
    /// The level of the tests: all of the options', or what of it belongs to the look at so many runs.
    pub level: f64,
    /// The smallest p-value that so many runs can reach.
    pub smallest_p: f64,
    /// Whether T comes from all splits of the runs, or from some drawn by chance.
    pub all_splits: bool,
    /// What was subtracted for the hooks on the left.
    pub left_overhead: Vec<Overhead>,
    /// The same.
    pub right_overhead: Vec<Overhead>,
    /// Whether both sides ran the same builds: then no code can be the cause of anything.
    pub is_one_build: bool,
    /// Whether self times leave out when others had the processor: all runs of both sides know.
    pub without_preempted: bool,
    /// Self time of all functions together.
    pub total: Total,
    /// What of its difference the functions explain that are named.
    pub explained: Explained,
    /// Cost that only moved between functions.
    pub moved: Vec<Moved>,
    /// Functions between which cost moved, and whose sum changed: only that sum is told to take longer or shorter.
    pub together: Vec<Moved>,
    /// Functions, those that changed the most first.
    pub functions: Vec<Function>,
    /// Calls of one function by another, in the functions' order.
    pub edges: Vec<Edge>,
    /// What was measured of whole runs.
    pub metrics: Vec<Metric>,
    /// Call paths, `outermost;…;function left right`, with the own time of the mean run of each side, for flame graphs.
    #[serde(skip)]
    pub folded: Vec<String>,
}

/// What was subtracted for a pair of hooks, from all runs together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overhead {
    /// In which program: its file's name.
    pub program: String,
    /// Of the function's own time, in nanoseconds.
    pub inner_ns: f64,
    /// Of its caller's.
    pub outer_ns: f64,
    /// How far off the sum may be.
    pub error_ns: f64,
    /// Calibration windows it comes from; 0 if a loop at the start had to do.
    #[serde(rename = "trials")]
    pub windows: u64,
}

/// All functions together.
#[derive(Clone, Debug, Serialize)]
pub struct Total {
    /// What it says.
    pub verdict: Verdict,
    /// Smallest change of it that matters.
    pub min_change: f64,
    /// Self time.
    pub self_ns: Test,
}

/// How much of the difference of all functions together those explain that are named, in nanoseconds of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Explained {
    /// The difference of all together.
    pub difference_ns: f64,
    /// Of functions that are called changed, called more or less often, or on one side only, and of those that follow them.
    pub changed_ns: f64,
    /// Of functions whose code is the same, and whose cost is not.
    pub same_code_ns: f64,
    /// Of functions between which cost moved.
    pub moved_ns: f64,
    /// What is left.
    pub rest_ns: f64,
    /// The difference of the runs' wall times, where they were measured.
    pub wall_ns: Option<f64>,
}

/// Cost that moved between functions: some rise, others fall.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moved {
    /// Which of them calls the others, or who calls them; `null` where that is nobody.
    pub parent: Option<String>,
    /// Places in [`Query::functions`] of all that take part; the verdict of those that would be called changed is `moved`.
    pub functions: Vec<usize>,
    /// How much moved, in nanoseconds of a run.
    pub moved_ns: f64,
    /// The sum of their own times, and of the parent's where its code changed.
    pub sum_ns: Test,
    /// What that says: `not-significant` where it is what it was, `unresolved` where it is another beyond chance, and less than what is
    /// not known of it; of those together `changed`, or `unconfirmed` by fresh runs.
    pub verdict: Verdict,
}

/// A function on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct Function {
    /// Its name as people write it, without what compilers add to copies.
    pub name: String,
    /// File name of its module.
    pub module: String,
    /// The source file, where that tells it from others of its name.
    pub file: Option<String>,
    /// Where it is.
    pub on: On,
    /// What the comparison says.
    pub verdict: Verdict,
    /// Its part of all self time, over both sides.
    pub share: f64,
    /// Smallest change of it that matters.
    pub min_change: f64,
    /// Calls entered.
    pub calls: Counts,
    /// Time without callees.
    pub self_ns: Test,
    /// Time with them; of a recursion the outermost calls.
    pub total_ns: Test,
    /// Self time of a call.
    pub cost_ns: Test,
    /// Whether its machine code is the same, with what is inlined into it.
    pub code: CodeState,
    /// Whether its code lies at another place of a page of memory.
    pub is_moved: bool,
    /// What of its self time it waited, where recordings tell: medians of both sides.
    pub wait_ns: Option<(f64, f64)>,
    /// Why it changed: of what is called changed in any way.
    pub cause: Option<Cause>,
    /// Whether all runs of one side are beyond all of the other, and yet it is not called changed: its verdict says why.
    pub is_candidate: bool,
    /// What of the difference in self time comes from calls, and what from their cost.
    pub split: Split,
    /// Callers whose own change explains all there is: each of their calls still makes as many of these.
    pub follows: Vec<String>,
    /// What a function that is on one side only may be called on the other.
    pub perhaps: Option<String>,
    /// Of what was called changed: what fresh runs say.
    pub repeat: Option<Repeat>,
    /// Percentiles of its calls' times, over all runs of a side.
    pub percentiles: Vec<Percentile>,
    /// When it ran: of roots, and of what nothing recorded has called.
    pub timeline: Option<Overlay>,
}

/// Why a function changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cause {
    /// What kind of cause.
    pub kind: CauseKind,
    /// Whose doing it is.
    pub by: Vec<String>,
    /// What they are to it, where that is not clear.
    pub relation: Option<Relation>,
}

/// What makes a function take longer or shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CauseKind {
    /// Its machine code, or what is inlined into it.
    Code,
    /// Its code: `by` are in its code on one side, and called on the other.
    Inlining,
    /// Each call of a caller makes more or fewer calls of it.
    Calls,
    /// Its callers are called more or less often.
    Callers,
    /// Its cost is that of `by` on the other side: under their parent the sum is what it was.
    Moved,
    /// The same code is asked for more or less: each of its calls makes more or fewer calls of `by`.
    AskedForMore,
    /// The same code waits longer or shorter.
    Waits,
    /// The same code finds memory in another state: `by` run near it, and changed.
    Memory,
    /// The same code lies elsewhere.
    Layout,
    /// The same code, and the same build: what runs it, or what it is given.
    Surroundings,
    /// Nobody can tell.
    Unknown,
}

impl CauseKind {
    /// What it is called, in JSON and elsewhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Inlining => "inlining",
            Self::Calls => "calls",
            Self::Callers => "callers",
            Self::Moved => "moved",
            Self::AskedForMore => "asked-for-more",
            Self::Waits => "waits",
            Self::Memory => "memory",
            Self::Layout => "layout",
            Self::Surroundings => "surroundings",
            Self::Unknown => "unknown",
        }
    }
}

/// What a function is to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// It calls it.
    Caller,
    /// It is called by it.
    Callee,
    /// Both are called by one.
    Sibling,
    /// It runs above, below or beside its path.
    Path,
}

impl Relation {
    /// What it is called, in JSON and elsewhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Callee => "callee",
            Self::Sibling => "sibling",
            Self::Path => "path",
        }
    }
}

/// Calls of one function by another.
#[derive(Clone, Debug, Serialize)]
pub struct Edge {
    /// Who calls.
    pub caller: String,
    /// Who is called.
    pub callee: String,
    /// Places in [`Query::functions`] of both.
    pub ends: (usize, usize),
    /// Where it is.
    pub on: On,
    /// What the comparison says.
    pub verdict: Verdict,
    /// Calls entered.
    pub calls: Counts,
    /// Calls for each call of the caller: medians of the left and right side.
    pub per_call: (f64, f64),
    /// Whether that differs by more than the runs of a side do.
    pub is_per_call_changed: bool,
    /// Time of these calls without callees.
    pub self_ns: Test,
    /// Time of these calls, as a part of the caller's.
    pub total_ns: Test,
}

/// What was measured of whole runs.
#[derive(Clone, Debug, Serialize)]
pub struct Metric {
    /// Its name, which ends with its unit.
    pub name: String,
    /// What the comparison says.
    pub verdict: Verdict,
    /// The values; called nanoseconds whatever they are.
    pub values: Test,
}

/// Where something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum On {
    /// On both sides.
    Both,
    /// Only before.
    Left,
    /// Only after.
    Right,
}

/// What a comparison says of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It takes longer or shorter, and that is not by chance.
    Changed,
    /// It is called more or less often; in time, nothing is called changed.
    Calls,
    /// It is called more or less often because its callers are.
    Follows,
    /// It takes longer or shorter, and its code is the same: its cause says why.
    SameCode,
    /// Others take as much less or more: its cost came from there, or went there.
    Moved,
    /// It looked changed, and fresh runs do not say so.
    Unconfirmed,
    /// It is on one side only.
    OneSided,
    /// It looks changed, but with so few runs no function among so many could be called so.
    Underpowered,
    /// Its time varies so much that a change would not be seen.
    Unstable,
    /// The difference is such as chance makes.
    NotSignificant,
    /// Not by chance, but too small to matter.
    TooSmall,
    /// The difference is less than what the times may be off by.
    Unresolved,
    /// It takes too little of all time to be tested.
    Skipped,
}

impl Verdict {
    /// What it is called, in JSON and elsewhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Calls => "calls",
            Self::Follows => "follows",
            Self::SameCode => "same-code",
            Self::Moved => "moved",
            Self::Unconfirmed => "unconfirmed",
            Self::OneSided => "one-sided",
            Self::Underpowered => "underpowered",
            Self::Unstable => "unstable",
            Self::NotSignificant => "not-significant",
            Self::TooSmall => "too-small",
            Self::Unresolved => "unresolved",
            Self::Skipped => "skipped",
        }
    }
}

/// Counts of both sides, compared exactly.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Counts {
    /// Of each run.
    pub left: Vec<u64>,
    /// The same.
    pub right: Vec<u64>,
    /// Medians.
    pub left_median: f64,
    /// The same.
    pub right_median: f64,
    /// Right less left, as a part of left.
    pub difference: Option<f64>,
    /// What they say.
    pub verdict: CountVerdict,
    /// Of counts that vary within a side: the adjusted p-value of the difference.
    pub p_adjusted: Option<f64>,
}

/// What counts say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountVerdict {
    /// The same in every run.
    #[default]
    Equal,
    /// The same in every run of a side, and not those of the other.
    Changed,
    /// They differ, but with fewer than three runs a side nobody knows whether they vary.
    Undecided,
    /// They vary within a side; the sides do not differ by more.
    Varies,
    /// They vary within a side, and the sides differ by more than that.
    VariesChanged,
}

impl CountVerdict {
    /// Whether the function is called more or less often.
    pub fn is_changed(self) -> bool {
        matches!(self, Self::Changed | Self::VariesChanged)
    }
}

/// Values of both sides, tested.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Test {
    /// Of each run.
    pub left: Vec<f64>,
    /// The same.
    pub right: Vec<f64>,
    /// Medians.
    pub left_median: f64,
    /// The same.
    pub right_median: f64,
    /// D: right less left, as a part of left.
    pub difference: Option<f64>,
    /// T: what 99% of all splits of the runs do not exceed.
    pub threshold: Option<f64>,
    /// What T would be if the medians were the same: how much chance moves them.
    pub spread: Option<f64>,
    /// An interval that holds the difference.
    pub interval: Option<Interval>,
    /// How far off D may be: as far as the interval goes on its longer side, and what the correction may be off by. `null`
    /// with fewer than three runs a side.
    pub plus_minus: Option<f64>,
    /// How far off the left times may be as they were corrected, in nanoseconds.
    pub left_error_ns: f64,
    /// The same.
    pub right_error_ns: f64,
    /// How far off the difference may be for that, in nanoseconds: less, as both sides are off alike.
    pub error_ns: f64,
    /// Chance of medians so far apart if nothing has changed.
    pub p_medians: f64,
    /// Chance of ranks so far apart if nothing has changed (exact rank-sum test).
    pub p: f64,
    /// The same, adjusted for all tests; `null` if it was not one of them.
    pub p_adjusted: Option<f64>,
}

impl Test {
    /// Right less left, in nanoseconds.
    pub fn difference_ns(&self) -> f64 {
        self.right_median - self.left_median
    }
}

/// An interval of a difference, as parts of the left median.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// The chance that it holds the difference.
    pub level: f64,
}

/// A difference in time, split: `calls_ns + cost_ns` is right less left of `calls × cost of one`, to the last bit but
/// rounding. Each factor's change counts at the mean of the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Split {
    /// Difference in calls × mean cost.
    pub calls_ns: f64,
    /// Mean calls × difference in cost.
    pub cost_ns: f64,
    /// What changed.
    pub why: Why,
}

/// Why a time changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// Each call costs more or less.
    #[default]
    Cost,
    /// There are more or fewer calls.
    Calls,
    /// Both.
    Both,
}

impl Why {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cost => "cost",
            Self::Calls => "calls",
            Self::Both => "both",
        }
    }
}

/// What fresh runs say of a change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Repeat {
    /// Whether the change is there again, in sign and size.
    pub is_confirmed: bool,
    /// D of the fresh runs; of counts, if it was those that changed.
    pub difference: Option<f64>,
    /// Their p-value.
    pub p: f64,
}

/// A percentile of calls' times, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Percentile {
    /// Which: 0.99, say.
    pub share: f64,
    /// Before; `null` if no call returned.
    pub left_ns: Option<f64>,
    /// After.
    pub right_ns: Option<f64>,
}
