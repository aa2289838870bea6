//! Whose calls are told together, and by which clock.

use std::collections::BTreeMap;

use super::document::{Clock, Overhead, Process, Subject, Thread};
use crate::load::clock::Source;
use crate::load::timed::Timing;
use crate::load::{Loaded, State};
use crate::merge::{self, Group};
use crate::time::Time;

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
    let mean = |sum: Time| if group.calls == 0 { 0.0 } else { sum.ns() / group.calls as f64 };
    let overhead = group.overhead();
    Subject {
        process: group.process.as_ref().map(process),
        thread: group.thread.as_ref().map(|thread| Thread { tid: thread.tid, name: thread.name.clone() }),
        processes: group.processes,
        programs: group.programs.iter().cloned().collect(),
        calls: group.calls,
        lost_calls: group.lost_calls,
        folded_calls: group.folded_calls,
        unwound: group.unwound,
        untimed_calls: group.left_out,
        timing: timing(group),
        open_bounds: group.tree.paths.iter().filter_map(|path| path.counts.bound).collect(),
        overhead: Overhead {
            inner_ns: mean(overhead.inner),
            outer_ns: mean(overhead.outer),
            error_ns: mean(overhead.error),
            trials: overhead.trials,
        },
    }
}

/// Which calls were timed.
fn timing(group: &Group) -> &'static str {
    let mut kinds = group.timing.iter().map(|timing| match timing {
        Timing::All => "all",
        Timing::Sampled => "sampled",
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
