//! What became of the processes in a profile: this machine may still run them.
//!
//! Whoever said goodbye has exited, and whose profile nobody has mapped any more (`lease`) was killed. Of the
//! others, those are running that are seen to have it mapped ([`super::holders`]), by the number they have in their own
//! PID namespace; and those that cannot be seen from here, as long as somebody has it mapped: nobody is called killed
//! without evidence.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use diytrace_format::arena::flag;

use super::family::{Arena, Family};
use super::holders::{self, Holders, Identity};
use super::lease::{self, Held};
use super::off_cpu;
use super::reset;
use super::timed::Timing;
use crate::process::State;

/// Processes that were seen to have a profile mapped, and when: their maps are long, and of hundreds of processes too many
/// to read several times a second.
#[derive(Debug, Default)]
pub struct Seen(RefCell<HashMap<u32, Instant>>);

/// The kernel uses a number again much later than this; one that was killed may seem to run so much longer.
const STILL_THE_SAME: Duration = Duration::from_secs(3);

impl Seen {
    /// Whether a process has a profile mapped, or had a moment ago and is still there.
    pub(super) fn has_mapped(&self, pid: u32, profile: &Identity) -> bool {
        let mut seen = self.0.borrow_mut();
        if seen.get(&pid).is_some_and(|at| at.elapsed() < STILL_THE_SAME) && is_alive(pid) {
            return true;
        }
        let has_mapped = holders::has_mapped(pid, profile);
        match has_mapped {
            true => seen.insert(pid, Instant::now()),
            false => seen.remove(&pid),
        };
        has_mapped
    }
}

/// Whether there is such a process, even one that has ended and waits for its parent to see it.
pub(super) fn is_alive(pid: u32) -> bool {
    // SAFETY: no signal is sent.
    let asked = unsafe { libc::kill(pid as libc::pid_t, 0) };
    asked == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}

/// Fills in the states of a profile's processes; its bytes were read from that moment of `CLOCK_MONOTONIC` on.
pub fn determine(family: &mut Family, read_monotonic_ns: u64, seen: &Seen) {
    let silent = silent(family);
    let running = match is_of_this_boot(family) && !silent.is_empty() {
        true => running(&silent, &family.path, seen),
        false => BTreeSet::new(),
    };
    fill_in(family, |facts| running.contains(&facts.process));
    if family.arenas.iter().any(|arena| arena.state == State::Running) {
        family.read_ticks = family.clock.ticks_at(read_monotonic_ns);
        off_cpu::ask(family, holders::own_namespace());
    }
}

/// A process that has not said goodbye.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Silent {
    /// Which of its family it is.
    process: u32,
    /// Its number, as it saw itself.
    pid: u32,
    /// The PID namespace in which it has that; 0 if it has not told.
    namespace: u64,
}

/// Those of a family.
fn silent(family: &Family) -> BTreeSet<Silent> {
    let gone = gone(family);
    let others = family.arenas.iter().map(|arena| &arena.facts).filter(|facts| !gone.contains(&facts.process));
    others.map(|facts| Silent { process: facts.process, pid: facts.pid, namespace: facts.pid_namespace }).collect()
}

/// Which of them are running.
fn running(silent: &BTreeSet<Silent>, profile: &Path, seen: &Seen) -> BTreeSet<u32> {
    let held = lease::ask(profile);
    if held == Held::ByNobody {
        return BTreeSet::new();
    }
    let (profile, own) = (Identity::of(profile), holders::own_namespace());
    let is_here = |one: &&Silent| [0, own].contains(&one.namespace) && seen.has_mapped(one.pid, &profile);
    let here: BTreeSet<Silent> = silent.iter().filter(is_here).copied().collect();
    if here.len() == silent.len() {
        return here.iter().map(|one| one.process).collect();
    }
    let all = Holders::lately();
    let mut holders: BTreeSet<(u32, u64)> = all.of(&profile).map(|holder| (holder.pid, holder.namespace)).collect();
    holders.extend(here.iter().map(|one| (one.pid, own)));
    let view = View { held, holders, own, namespaces: &all.namespaces, is_all: holders::see_all() };
    silent.iter().filter(|one| view.is_running(one)).map(|one| one.process).collect()
}

/// What can be seen of a family from here.
struct View<'a> {
    held: Held,
    /// Numbers and namespaces of processes that have its profile mapped.
    holders: BTreeSet<(u32, u64)>,
    /// Our own PID namespace.
    own: u64,
    /// All that have processes which can be seen.
    namespaces: &'a BTreeSet<u64>,
    /// Whether there are no others.
    is_all: bool,
}

impl View<'_> {
    /// Whether a process runs, or nothing here says that it does not.
    fn is_running(&self, one: &Silent) -> bool {
        let is_it = |&(pid, namespace): &(u32, u64)| {
            pid == one.pid && (one.namespace == 0 || namespace == 0 || namespace == one.namespace)
        };
        if self.holders.iter().any(is_it) {
            return true;
        }
        match one.namespace {
            // It would be seen where others of its family are. If none is seen, but somebody has the profile mapped, they are
            // elsewhere. Where not even that is known, it is taken for one of our own namespace.
            0 => self.held == Held::BySomebody && self.holders.is_empty() && !self.is_all,
            namespace => namespace != self.own && !self.namespaces.contains(&namespace) && !self.is_all,
        }
    }
}

/// Fills in the states, given which of the processes that have not said goodbye are running.
pub fn fill_in(family: &mut Family, is_running: impl Fn(&diytrace_format::Arena) -> bool) {
    let mut states: HashMap<u32, State> = gone(family).into_iter().map(|process| (process, State::Exited)).collect();
    let has_moments = family.timing == Timing::All; // without, nothing tells that a call which fails came back
    let left = family.arenas.iter().filter(|arena| has_moments && has_left(arena));
    let left: BTreeSet<u32> = left.map(|arena| arena.facts.process).collect();
    for arena in &mut family.arenas {
        let facts = &arena.facts;
        arena.state = *states.entry(facts.process).or_insert_with(|| match left.contains(&facts.process) {
            _ if is_running(facts) => State::Running,
            true => State::Exited,
            false => State::Killed,
        });
    }
    reset::settle(family);
}

/// Whether an arena's owner has become another program, or ended where nobody saw it: it was about to, and has noted nothing since.
fn has_left(arena: &Arena) -> bool {
    let left_at = arena.facts.left_at;
    left_at != 0 && arena.last_mark() <= left_at
}

/// The processes of a family that have said goodbye: any of their threads has seen them do so.
fn gone(family: &Family) -> BTreeSet<u32> {
    let has_ended = |arena: &&Arena| {
        arena.facts.flags & flag::EXITED != 0 || (arena.is_merged() && arena.facts.flags & flag::ENDED != 0)
    };
    family.arenas.iter().filter(has_ended).map(|arena| arena.facts.process).collect()
}

/// Whether the machine has not been started anew since the profile was.
pub fn is_of_this_boot(family: &Family) -> bool {
    boot_id() == Some(family.boot_id)
}

/// Now, by the clock that anchors are on.
pub fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the structure it is given, and to nothing else.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn boot_id() -> Option<[u8; 16]> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    u128::from_str_radix(&digits, 16).ok().map(u128::to_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: u64 = 100;
    const OTHER: u64 = 200;

    fn running(held: Held, holders: &[(u32, u64)], visible: &[u64], namespaces: &[u64]) -> Vec<bool> {
        let holders = holders.iter().copied().collect();
        let visible = visible.iter().copied().collect();
        let view = View { held, holders, own: OWN, namespaces: &visible, is_all: false };
        let silent = (1..).zip(namespaces).map(|(pid, &namespace)| Silent { process: pid, pid, namespace });
        silent.map(|one| view.is_running(&one)).collect()
    }

    #[test]
    fn who_is_seen_with_the_profile_runs() {
        for namespace in [0, OTHER] {
            let seen = running(Held::Unknown, &[(1, OTHER)], &[OWN, OTHER], &[namespace, namespace]);
            assert_eq!(seen, [true, false], "from outside, the second is not there");
        }
    }

    #[test]
    fn nobody_is_called_killed_without_evidence() {
        // From a sibling container, or from inside: there is no telling them apart.
        assert_eq!(running(Held::BySomebody, &[], &[OWN], &[OTHER, OTHER]), [true, true]);
        assert_eq!(running(Held::Unknown, &[], &[OWN], &[OTHER]), [true]);
        assert_eq!(running(Held::BySomebody, &[], &[OWN], &[0]), [true]);
    }

    #[test]
    fn who_would_be_seen_and_is_not_was_killed() {
        assert_eq!(running(Held::BySomebody, &[], &[OWN], &[OWN]), [false], "here, another has the profile");
        assert_eq!(running(Held::BySomebody, &[(7, OTHER)], &[OWN, OTHER], &[OTHER]), [false]);
        assert_eq!(running(Held::BySomebody, &[(7, OWN)], &[OWN], &[0]), [false], "the others of its family are here");
        // Of an older recorder, which tells no namespaces, on a file system that does not count mappings.
        assert_eq!(running(Held::Unknown, &[], &[OWN], &[0]), [false]);
    }

    #[test]
    fn who_was_about_to_leave_has_left_if_nothing_was_noted_later() {
        use crate::testing::{arena, family, node, slot};
        let state = |timing: Timing, mark: u64, runs: bool| {
            let mut open = node(0x1000, None, slot(1, 0, 0));
            open.slots[0].mark = mark << 2;
            let mut arena = arena(vec![open]);
            (arena.facts.flags, arena.facts.left_at) = (0, 100 << 2);
            let mut family = Family { timing, ..family(vec![arena]) };
            fill_in(&mut family, |_| runs);
            family.arenas[0].state
        };
        assert_eq!(state(Timing::All, 90, false), State::Exited);
        assert_eq!(state(Timing::All, 110, false), State::Killed, "what it called came back");
        assert_eq!(state(Timing::All, 90, true), State::Running, "it has not come back yet");
        assert_eq!(state(Timing::Off, 0, false), State::Killed, "nobody knows");
    }
}
