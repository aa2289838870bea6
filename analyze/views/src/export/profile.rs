//! What is exported, as plain data: call trees whose times are whole nanoseconds.

use diytrace_profile::time::Time;
use diytrace_profile::timeline::Timeline;

use crate::subject;

/// Profiles on their way to another tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// What this is of: the programs' names, and the roots that were asked for.
    pub title: String,
    /// Whether times are as measured; else the hooks' cost is taken off.
    pub is_raw: bool,
    /// Whether only what happened inside some roots is here; `Spread` tells of all calls nevertheless.
    pub is_part: bool,
    /// Whether it is known of all calls what they waited, and times are all that passed.
    pub has_waits: bool,
    /// What the reader should know.
    pub warnings: Vec<String>,
    /// Programs and libraries, the programs first.
    pub modules: Vec<Module>,
    /// Functions that were called.
    pub functions: Vec<Function>,
    /// Where they were called from.
    pub sites: Vec<Site>,
    /// One, or one for each process or thread.
    pub parts: Vec<Part>,
}

/// A program or library.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// Its file, as it was when it was recorded.
    pub path: String,
    /// Build ID in hexadecimal digits; empty if it has none.
    pub build_id: String,
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    /// Its name as people write it.
    pub name: String,
    /// Its name, with its module where functions of several modules have that name or it has none.
    pub label: String,
    /// Its name as the linker knows it.
    pub symbol: Option<String>,
    /// Its module.
    pub module: Option<usize>,
    /// ELF virtual address.
    pub address: u64,
    /// Where it begins.
    pub line: Option<Line>,
}

/// A line of source.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line {
    /// The source file.
    pub file: String,
    /// The line in it, from 1.
    pub number: u32,
}

/// Where and how a call was made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Site {
    /// The module of the code that calls.
    pub module: Option<usize>,
    /// Return address of the call; of an inlined body, of its enter hook.
    pub address: u64,
    /// Where the call is written.
    pub line: Option<Line>,
    /// Whether there was no call: the body is a part of its caller's code.
    pub is_inlined: bool,
    /// Code without hooks between caller and callee.
    pub via: Option<String>,
}

/// The calls of everything, a process or a thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// How it is told from the others.
    pub name: String,
    /// Process number, as the process saw it, if all is of one.
    pub pid: Option<u32>,
    /// Thread number and name, if all is of one.
    pub thread: Option<(u32, String)>,
    /// When it began, in nanoseconds since 1970, if all is of one process.
    pub started_unix_ns: Option<u64>,
    /// How many processes are in here.
    pub processes: u64,
    /// Calls entered.
    pub calls: u64,
    /// How far off the sum of all times may be, in nanoseconds.
    pub error_ns: u64,
    /// How far off the time of a single call that calls nothing may be, in nanoseconds.
    pub call_error_ns: f64,
    /// Whether every call was timed; else those that were stand for others in timelines.
    pub is_all_timed: bool,
    /// Call paths in preorder: each directly before all below it.
    pub frames: Vec<Frame>,
    /// Sums by function, by [`Profile::functions`]; recursion is counted once.
    pub sums: Vec<Sums>,
}

/// A call path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// The path above.
    pub parent: Option<usize>,
    /// Where the paths below it end.
    pub end: usize,
    /// The function.
    pub function: usize,
    /// Where it was called from.
    pub site: usize,
    /// Calls entered.
    pub calls: u64,
    /// Time without callees, in nanoseconds.
    pub self_ns: u64,
    /// Time with them: the sum of `self_ns` here and below.
    pub total_ns: u64,
    /// How far off that may be, in nanoseconds.
    pub error_ns: u64,
    /// How far off `self_ns` may be.
    pub self_error_ns: u64,
    /// What of `self_ns` was waited, if [`Profile::has_waits`].
    pub self_wait_ns: u64,
}

/// Sums over the calls of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums {
    /// Calls entered.
    pub calls: u64,
    /// Time without callees, in nanoseconds.
    pub self_ns: u64,
    /// Time of outermost calls, with callees, in nanoseconds.
    pub total_ns: u64,
    /// How far off that may be, in nanoseconds.
    pub error_ns: u64,
    /// How far off `self_ns` may be.
    pub self_error_ns: u64,
    /// The distribution of its calls' times, if any returned.
    pub spread: Option<Spread>,
    /// When its outermost calls ran, wherever they were made, if that was recorded.
    pub timeline: Option<Timeline>,
    /// What it called.
    pub callees: Vec<Edge>,
}

/// Times of a function's calls, in nanoseconds: of all calls that returned, wherever they were made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Shortest.
    pub min: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Longest.
    pub max: f64,
}

/// Calls of one function by another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// The function that was called.
    pub callee: usize,
    /// Calls entered.
    pub calls: u64,
    /// Their time with callees, in nanoseconds; of calls inside each other, the outermost.
    pub total_ns: u64,
    /// How far off that may be, in nanoseconds.
    pub error_ns: u64,
}

impl Profile {
    /// Sum of all times, in nanoseconds.
    pub fn total_ns(&self) -> u64 {
        self.parts.iter().map(Part::total_ns).sum()
    }

    /// Calls entered.
    pub fn calls(&self) -> u64 {
        self.parts.iter().map(|part| part.calls).fold(0, u64::saturating_add)
    }

    /// The last part of a module's path.
    pub fn short_name(&self, module: usize) -> &str {
        let path = &self.modules[module].path;
        path.rsplit('/').next().unwrap_or(path)
    }

    /// What was done to the times: for titles.
    pub fn kind_of_time(&self) -> &'static str {
        if self.is_raw { "as measured" } else { "profiling cost taken off" }
    }
}

impl Part {
    /// Sum of all times, in nanoseconds.
    pub fn total_ns(&self) -> u64 {
        self.frames.iter().filter(|frame| frame.parent.is_none()).map(|frame| frame.total_ns).sum()
    }

    /// How far off the time of a single call of a function may be, in nanoseconds.
    pub fn error_of_call(&self, sums: &Sums) -> f64 {
        subject::error_of_call(self.call_error_ns, sums.error_ns as f64, sums.calls)
    }

    /// The frames on the way to one, itself first.
    pub fn stack(&self, frame: usize) -> impl Iterator<Item = &Frame> {
        std::iter::successors(self.frames.get(frame), |frame| self.frames.get(frame.parent?))
    }
}

/// In whole nanoseconds.
pub(super) fn whole(time: Time) -> u64 {
    time.at_least_zero().ns().round() as u64
}
