//! What an archive tells of a profile beside its bytes.

use std::os::unix::ffi::OsStrExt;

use super::reset;
use crate::archive::Kept;
use crate::load::Family;
use crate::process::State;

impl Kept {
    /// How a profile was found.
    pub fn of(family: &Family) -> Self {
        let mut states: Vec<_> = family.arenas.iter().map(|arena| (arena.facts.process, arena.state)).collect();
        states.sort_unstable();
        states.dedup();
        let moment = if is_any_running(&states) { family.read_ticks } else { family.end_ticks };
        Self { path: family.path.as_os_str().as_bytes().to_vec(), states, moment }
    }

    /// Makes a profile's bytes again what they were found as.
    pub(super) fn restore(&self, family: &mut Family) {
        family.path = self.path();
        match is_any_running(&self.states) {
            true => family.read_ticks = self.moment,
            false => family.end_ticks = self.moment,
        }
        for arena in &mut family.arenas {
            let known = self.states.binary_search_by_key(&arena.facts.process, |(process, _)| *process);
            arena.state = known.map_or(State::Killed, |at| self.states[at].1);
        }
        reset::settle(family);
    }
}

fn is_any_running(states: &[(u32, State)]) -> bool {
    states.iter().any(|(_, state)| *state == State::Running)
}
