//! What is told of a profile as a whole, once its calls are merged with others'.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::doubt::Doubt;
use super::family::{Family, Root};
use super::timed::Timing;

/// What is told of a profile as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The profile's file.
    pub path: PathBuf,
    /// How its ticks became nanoseconds.
    pub clock: Clock,
    /// Which of its calls were timed.
    pub timing: Timing,
    /// Numbers of its processes that were kept apart.
    pub pids: Vec<u32>,
    /// What `DIYTRACE_ROOT` asked for.
    pub roots: Vec<Root>,
    /// Whether any of its modules refers to the hooks.
    pub is_instrumented: bool,
    /// Whether any function was called.
    pub has_calls: bool,
    /// What the recorder had to say, and what is wrong with the file.
    pub warnings: Vec<Doubt>,
}

impl Summary {
    /// That of a profile.
    pub fn of(family: &Family) -> Self {
        let apart = family.arenas.iter().filter(|arena| !arena.is_merged());
        let mut pids: Vec<u32> = apart.map(|arena| arena.facts.pid).collect();
        pids.sort_unstable();
        pids.dedup();
        Self {
            pids,
            is_instrumented: family.modules.iter().any(|module| module.is_instrumented),
            has_calls: family.lost_calls > 0 || family.arenas.iter().any(|arena| !arena.nodes.is_empty()),
            path: family.path.clone(),
            clock: family.clock,
            timing: family.timing,
            roots: family.roots.clone(),
            warnings: family.warnings.clone(),
        }
    }
}

impl From<Family> for Summary {
    fn from(family: Family) -> Self {
        Self::of(&family)
    }
}
