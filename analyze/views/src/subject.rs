//! Whose calls are told together, and by which clock: as documents have it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use diytrace_profile::load::Loaded;
use diytrace_profile::load::clock::Source;
use diytrace_profile::load::timed::Timing;
use diytrace_profile::merge::{self, Bound, Group, PathId};
use diytrace_profile::process::State;
use diytrace_profile::time::Time;
use diytrace_profile::units::{nanoseconds, optional_nanoseconds};

/// The recorder's clock.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Clock {
    /// `tsc` or `clock_gettime`.
    pub source: &'static str,
    /// Ticks per second.
    pub hz: f64,
}

/// What is reported together: everything, a process or a thread.
#[derive(Clone, Debug, Serialize)]
pub struct Subject {
    /// What sets it apart from others in a store: a label and its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The process, if it is one.
    pub process: Option<Process>,
    /// The thread, if it is one.
    pub thread: Option<Thread>,
    /// How many processes are in here.
    pub processes: u64,
    /// Their programs' files.
    pub programs: Vec<String>,
    /// Calls entered.
    pub calls: u64,
    /// Calls that were seen but counted nowhere.
    pub lost_calls: u64,
    /// Calls counted by function, but on paths that stand for several.
    pub folded_calls: u64,
    /// Calls left without an exit.
    pub unwound: u64,
    /// Calls that were counted but not timed, for windows of what timing costs; times are scaled up to them.
    pub untimed_calls: u64,
    /// Whether the recorder has not told all levels of a recursion apart: totals of functions in there are then at least so long.
    pub has_folded_recursion: bool,
    /// Which calls were timed: `all`, `sampled`, `off`, or `mixed` over several profiles. Times are null if it is `off`.
    pub timing: &'static str,
    /// What the times of open calls go up to.
    #[serde(skip)]
    pub open_bounds: BTreeSet<Bound>,
    /// Of one call.
    pub overhead: Overhead,
    /// What of all calls' time others had the processor for; `None` where nobody knows.
    #[serde(rename = "all_self_preempted_ns", serialize_with = "optional_nanoseconds")]
    pub preempted_ns: Option<f64>,
    /// As a share of that time, as it is shown: see [`Subject::compare_with`].
    #[serde(skip)]
    pub preempted_share: f64,
}

/// A process.
#[derive(Clone, Debug, Serialize)]
pub struct Process {
    /// Its number, as it saw it.
    pub pid: u32,
    /// Its parent's.
    pub ppid: u32,
    /// Its program.
    pub exe: String,
    /// Its arguments.
    pub cmdline: Vec<String>,
    /// When it began to record, in nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// `running`, `exited` or `killed`: ended without a word, by a signal, by executing another program, or inside libc's
    /// `daemon`.
    pub state: &'static str,
}

/// A thread.
#[derive(Clone, Debug, Serialize)]
pub struct Thread {
    /// Its number.
    pub tid: u32,
    /// Its name.
    pub name: String,
}

/// What a call's hooks cost, in nanoseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Overhead {
    /// Inside the time that they measure.
    #[serde(serialize_with = "nanoseconds")]
    pub inner_ns: f64,
    /// For the caller beside that.
    #[serde(serialize_with = "nanoseconds")]
    pub outer_ns: f64,
    /// Standard error of the sum of both.
    #[serde(serialize_with = "nanoseconds")]
    pub error_ns: f64,
    /// Calibration windows while the programs ran that this comes from; 0 if only a loop at their start tells it.
    #[serde(rename = "trials")]
    pub windows: u64,
}

/// What the correction of a single call may be off by, in nanoseconds: for its own hooks, or for those of the calls inside it, as so many calls
/// have them on the average.
pub fn error_of_call(of_hooks: f64, of_all: f64, calls: u64) -> f64 {
    of_hooks.max(of_all / calls.max(1) as f64)
}

/// The clock of most of the profiles.
pub fn clock(loaded: &Loaded) -> Clock {
    let mut clocks: BTreeMap<Source, Vec<f64>> = BTreeMap::new();
    for profile in &loaded.profiles {
        clocks.entry(profile.clock.source).or_default().push(profile.clock.hz);
    }
    let (source, mut rates) =
        clocks.into_iter().max_by_key(|(_, rates)| rates.len()).unwrap_or((Source::Tsc, vec![1e9]));
    rates.sort_by(f64::total_cmp);
    let source = match source {
        Source::Tsc => "tsc",
        Source::ClockGettime => "clock_gettime",
    };
    Clock { source, hz: rates[rates.len() / 2].round() }
}

/// Whose calls a group has.
pub fn subject(group: &Group) -> Subject {
    let overhead = group.overhead();
    let mean = |sum: Time| if overhead.calls == 0 { 0.0 } else { sum.ns() / overhead.calls as f64 };
    let preempted = preempted(group);
    Subject {
        label: group.label.clone(),
        process: group.process.as_ref().map(process),
        thread: group.thread.as_ref().map(|thread| Thread { tid: thread.tid, name: thread.name.clone() }),
        processes: group.processes,
        programs: group.programs.iter().cloned().collect(),
        calls: group.calls,
        lost_calls: group.lost_calls,
        folded_calls: group.folded_calls,
        unwound: group.unwound,
        untimed_calls: group.left_out,
        has_folded_recursion: (0..group.tree.paths.len())
            .any(|path| group.tree.paths.folded_into(path as PathId).is_some()),
        timing: timing(group),
        open_bounds: group.tree.paths.all_unusual().filter_map(|counts| counts.bound).collect(),
        overhead: Overhead {
            inner_ns: mean(overhead.inner),
            outer_ns: mean(overhead.outer),
            error_ns: mean(overhead.error),
            windows: overhead.windows,
        },
        preempted_ns: preempted.map(Time::ns),
        preempted_share: 0.0,
    }
}

/// What of all calls' time others had the processor for; `None` where it is not known of all of it.
fn preempted(group: &Group) -> Option<Time> {
    let paths = &group.tree.paths;
    let mut preempted = Time::ZERO;
    // Edges are sums of what other paths have, too.
    for id in (0..paths.len() as PathId).filter(|id| !paths.is_edge(*id)) {
        let off = paths.off(id);
        if off.unseen != Time::ZERO {
            return None;
        }
        preempted += off.preempted;
    }
    Some(preempted)
}

impl Subject {
    /// Has it tell what share of all self times, as they are shown, others had the processor for.
    pub fn compare_with(&mut self, all_self_ns: f64) {
        let Some(preempted_ns) = self.preempted_ns.filter(|_| all_self_ns > 0.0) else { return };
        self.preempted_share = (preempted_ns / all_self_ns).min(1.0);
    }
}

/// Which calls were timed.
fn timing(group: &Group) -> &'static str {
    let mut kinds = group.timing.iter().map(|timing| match timing {
        Timing::All => "all",
        Timing::Off => "off",
    });
    match (kinds.next(), kinds.next()) {
        (one, None) => one.unwrap_or("all"),
        _ => "mixed",
    }
}

fn process(process: &merge::Process) -> Process {
    Process {
        pid: process.pid,
        ppid: process.ppid,
        exe: process.exe.clone(),
        cmdline: process.cmdline.clone(),
        started_unix_ns: process.started_unix_ns,
        state: match process.state {
            State::Running => "running",
            State::Exited => "exited",
            State::Killed => "killed",
        },
    }
}
