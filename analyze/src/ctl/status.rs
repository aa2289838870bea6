//! What is running, and how far it has got.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::target::Watched;
use diytrace_profile::human::{bytes, count, counted, moment};
use diytrace_profile::load::Arena;
use diytrace_profile::process::State;

/// Processes that the text tells one by one; JSON has them all.
const LISTED: usize = 20;

/// A family.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Its profile.
    pub profile: PathBuf,
    /// Its program.
    pub exe: String,
    /// Whether recording is paused.
    pub paused: bool,
    /// When the counters were last reset, in nanoseconds since 1970; 0 if they never were.
    pub reset_unix_ns: u64,
    /// Processes that are running, whether they have recorded anything or not.
    pub running: u64,
    /// Processes that have recorded.
    pub recorded: u64,
    /// Calls entered.
    pub calls: u64,
    /// Calls that no path has counted.
    pub lost_calls: u64,
    /// Bytes of the file in use.
    pub used_bytes: u64,
    /// Most bytes of it (`DIYTRACE_MEMORY`).
    pub capacity_bytes: u64,
    /// Its processes that are told apart, the running first.
    pub processes: Vec<Process>,
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Process {
    /// `running`, `exited` or `killed`; of a snapshot, what it was then.
    pub state: &'static str,
    /// Its number.
    pub pid: u32,
    /// Calls entered.
    pub calls: u64,
}

impl Status {
    /// Of a family.
    pub fn of(watched: &Watched) -> Self {
        let Watched { family, header, running, .. } = watched;
        let mut processes: BTreeMap<u32, (State, u32, u64)> = BTreeMap::new();
        let (mut calls, mut lost_calls) = (0u64, family.lost_calls);
        for arena in &family.arenas {
            let counted = calls_of(arena);
            calls = calls.saturating_add(counted);
            lost_calls = lost_calls.saturating_add(arena.facts.lost_calls);
            if !arena.is_merged() || arena.state == State::Running {
                let process = processes.entry(arena.facts.process).or_insert((arena.state, arena.facts.pid, 0));
                // What others have counted in an arena before is not this process's.
                process.2 = process.2.saturating_add(if arena.is_merged() { 0 } else { counted });
            }
        }
        let mut silent = running.clone();
        let mut list: Vec<(State, Process)> = Vec::new();
        for (state, pid, calls) in processes.into_values() {
            if state == State::Running {
                silent.remove(&pid);
            }
            list.push((state, Process { state: word(state), pid, calls }));
        }
        list.extend(silent.into_iter().map(|pid| (State::Running, Process { state: "running", pid, calls: 0 })));
        list.sort();
        Self {
            profile: family.path.clone(),
            exe: family.exe.clone(),
            paused: header.paused != 0,
            reset_unix_ns: header.reset_unix_ns,
            running: running.len() as u64,
            recorded: family.processes.into(),
            calls,
            lost_calls,
            used_bytes: header.used,
            capacity_bytes: header.capacity,
            processes: list.into_iter().map(|(_, process)| process).collect(),
        }
    }
}

fn calls_of(arena: &Arena) -> u64 {
    let timed = arena.nodes.iter().filter(|node| !node.is_untimed());
    timed.map(|node| node.calls_once()).fold(0, u64::saturating_add)
}

fn word(state: State) -> &'static str {
    match state {
        State::Running => "running",
        State::Exited => "exited",
        State::Killed => "killed",
    }
}

/// For programs.
pub fn write_json(all: &[Status], out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, all)?;
    writeln!(out)
}

/// For people.
pub fn write_text(all: &[Status], out: &mut dyn Write) -> io::Result<()> {
    for (index, status) in all.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let doing = match (status.running, status.paused) {
            (0, _) => "ended",
            (_, true) => "paused",
            (_, false) => "recording",
        };
        writeln!(out, "{}", status.profile.display())?;
        write!(out, "  {doing} · {} running", counted(status.running, "process", "processes"))?;
        write!(out, " of {} that recorded", count(status.recorded))?;
        writeln!(out, " · {} · {} lost", counted(status.calls, "call", "calls"), count(status.lost_calls))?;
        writeln!(out, "  {} of {} used", bytes(status.used_bytes), bytes(status.capacity_bytes))?;
        if status.reset_unix_ns > 0 {
            writeln!(out, "  counted from nothing since {}", moment(status.reset_unix_ns))?;
        }
        for process in status.processes.iter().take(LISTED) {
            let calls = counted(process.calls, "call", "calls");
            writeln!(out, "  {:>8}  {:<7}  {calls}", process.pid, process.state)?;
        }
        if let Some(more) = status.processes.len().checked_sub(LISTED).filter(|more| *more > 0) {
            writeln!(out, "  … and {} more (--format json has all)", count(more as u64))?;
        }
    }
    Ok(())
}
