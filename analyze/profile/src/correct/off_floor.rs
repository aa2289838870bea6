//! What times are at least, whatever is taken off for hooks: the time off the processor is the kernel's, and no hook's cost.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::merge::{OffCpu, PathId, Tree};
use crate::time::Time;

/// Of each path what of its time was off the processor.
#[derive(Default)]
pub struct OffFloors {
    /// Those of which some was: few of many.
    known: FxHashMap<usize, OffFloor>,
}

/// Of a path.
#[derive(Clone, Copy, Debug, Default)]
pub struct OffFloor {
    /// Of its own time.
    pub own: Time,
    /// Of that, and of all below it.
    pub all: Time,
}

impl OffFloors {
    /// Of one; nothing of most.
    #[inline]
    pub fn of(&self, path: usize) -> OffFloor {
        if self.known.is_empty() {
            return OffFloor::default(); // nearly always
        }
        self.known.get(&path).copied().unwrap_or_default()
    }

    /// Notes that of one, of which `below` is that of all paths below it. Returns it.
    #[inline]
    pub fn note(&mut self, tree: &Tree, path: PathId, below: Time) -> OffFloor {
        let OffCpu { wait, preempted, .. } = tree.paths.off(path);
        let off = wait.at_least_zero() + preempted.at_least_zero();
        if off == Time::ZERO && below == Time::ZERO {
            return OffFloor::default(); // nearly always
        }
        let (measured, _, _) = tree.paths.times(path);
        let own = off.min(measured.at_least_zero());
        let floor = OffFloor { own, all: own + below };
        if floor.all > Time::ZERO {
            self.known.insert(path as usize, floor);
        }
        floor
    }

    /// Forgets those of paths whose time is told elsewhere.
    pub fn forget(&mut self, paths: Range<PathId>) {
        if !self.known.is_empty() {
            self.known.retain(|path, _| !paths.contains(&(*path as PathId)));
        }
    }
}
