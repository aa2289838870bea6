//! Until when calls that have not returned are known to have lasted.

use std::collections::BTreeMap;

use diytrace_format::arena::flag;
use serde::{Deserialize, Serialize};

use crate::load::{Arena, Family};
use crate::process::State;

/// What the time of calls that have not returned goes up to; the least certain last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Bound {
    /// The moment at which the profile was read, as their process was running.
    #[serde(rename = "running")]
    Running,
    /// Their process's or thread's end, of which it gave notice, or the last that it recorded before.
    #[serde(rename = "exited")]
    Exited,
    /// The moment at which somebody saw that their process had ended.
    #[serde(rename = "seen ended")]
    SeenEnded,
    /// The last sign of life of a process that ended without a word: it may have gone on for longer.
    #[serde(rename = "last sign of life")]
    LastSign,
}

/// The latest moment of an arena's open calls, in ticks, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latest {
    pub ticks: u64,
    pub bound: Bound,
}

/// Until when the open calls of each arena have lasted.
pub fn latest(family: &Family) -> Vec<Latest> {
    let mut of_process: BTreeMap<u32, u64> = BTreeMap::new();
    for arena in &family.arenas {
        let latest = of_process.entry(arena.facts.process).or_default();
        let begun = arena.facts.started.max(arena.facts.process_started);
        *latest = arena.last_mark().max(arena.facts.left_at).max(arena.facts.told_at).max(begun).max(*latest);
    }
    if let [process] = &mut of_process.values_mut().collect::<Vec<_>>()[..] {
        // The header has the family's last sign of life; of several processes it could be any one's.
        if family.processes <= 1 {
            **process = family.last_anchor_ticks.max(**process);
        }
    }
    let latest = |arena: &Arena| {
        let of_process = of_process[&arena.facts.process];
        let (ticks, bound) = match (arena.facts.flags & (flag::ENDED | flag::EXITED), arena.state) {
            (flag::ENDED, _) => (arena.last_mark().max(arena.facts.told_at), Bound::Exited), // the thread ended before its process
            (_, State::Running) => (of_process.max(family.read_ticks), Bound::Running),
            (_, State::Exited) => (of_process, Bound::Exited),
            (_, State::Killed) if arena.facts.pid == family.pid && family.end_ticks > 0 => {
                (of_process.max(family.end_ticks), Bound::SeenEnded)
            }
            (_, State::Killed) => (of_process, Bound::LastSign),
        };
        Latest { ticks, bound }
    };
    family.arenas.iter().map(latest).collect()
}

#[cfg(test)]
mod tests {
    use diytrace_format::node::mark;

    use super::*;
    use crate::load::Nodes;
    use crate::testing::{arena, family, node, slot};

    /// A thread whose only call began at 100.
    fn thread(process: u32, flags: u32, state: State) -> Arena {
        let mut open = node(0x1000, None, slot(1, 0, 0));
        open.slots[0].mark = 100 | mark::OPEN;
        let mut arena = arena(vec![open]);
        (arena.facts.process, arena.facts.pid) = (process, 99 + process);
        (arena.facts.flags, arena.state) = (flags, state);
        arena
    }

    fn of(family: &Family) -> Vec<(u64, Bound)> {
        latest(family).iter().map(|latest| (latest.ticks, latest.bound)).collect()
    }

    #[test]
    fn a_process_that_ended_without_a_word_lived_until_its_last_sign() {
        let killed = || family(vec![thread(1, 0, State::Killed)]);
        assert_eq!(of(&killed()), [(100, Bound::LastSign)]);
        // Of all its threads, and of the header.
        let mut late = thread(1, 0, State::Killed);
        (late.nodes, late.facts.started) = (Nodes::default(), 300);
        let two = || family(vec![thread(1, 0, State::Killed), late.clone()]);
        assert_eq!(of(&two()), [(300, Bound::LastSign); 2]);
        assert_eq!(of(&Family { last_anchor_ticks: 500, ..two() }), [(500, Bound::LastSign); 2]);
        // That of another process of the family is none of its own.
        let others = family(vec![thread(1, 0, State::Killed), thread(2, flag::EXITED, State::Exited)]);
        let others = Family { processes: 2, last_anchor_ticks: 500, ..others };
        assert_eq!(of(&others), [(100, Bound::LastSign), (100, Bound::Exited)]);
    }

    #[test]
    fn whoever_saw_the_end_of_the_first_process_knows_better() {
        let arenas =
            vec![thread(1, 0, State::Killed), thread(1, flag::ENDED, State::Killed), thread(2, 0, State::Killed)];
        let family = Family { processes: 2, end_ticks: 4700, ..family(arenas) };
        assert_eq!(of(&family), [(4700, Bound::SeenEnded), (100, Bound::Exited), (100, Bound::LastSign)]);
    }
}
