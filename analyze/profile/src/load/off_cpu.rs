//! Of threads that are running: how long they have been waiting since their last hook.
//!
//! A thread that sleeps says nothing of it until it is awake. The kernel does, of whoever may be looked at.

use std::fs;

use super::family::Family;
use crate::process::State;

/// Asks after the threads of running processes in this PID namespace. What their recorder has left in the profile is the time up
/// to their last hook.
pub fn ask(family: &mut Family, own_namespace: u64) {
    let until = family.read_ticks;
    for arena in family.arenas.iter_mut().filter(|arena| arena.state == State::Running && !arena.is_unseen()) {
        ask_after(&mut arena.facts, until, own_namespace);
    }
}

/// Asks after one thread, which runs and is not unseen.
pub fn ask_after(facts: &mut diytrace_format::Arena, until: u64, own_namespace: u64) {
    if facts.pid_namespace == own_namespace
        && facts.away_ns != 0
        && let Some(ran_ns) = ran_ns(facts.pid, facts.tid)
    {
        (facts.end_away_ns, facts.end_until) = (raw_ns().saturating_sub(ran_ns), until);
    }
}

/// Processor time of a thread that waits. Of one that runs the kernel tells it too late, by up to a tick.
fn ran_ns(pid: u32, tid: u32) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/task/{tid}/{name}")).ok();
    let ran_ns = read("schedstat")?.split_whitespace().next()?.parse().ok()?;
    // The state follows the name, which is in brackets and may hold any character.
    let stat = read("stat")?;
    let state = stat.get(stat.rfind(')')? + 1..)?.trim_start().chars().next()?;
    matches!(state, 'S' | 'D' | 'T' | 't' | 'I').then_some(ran_ns)
}

/// The clock that the recorder's is.
fn raw_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
