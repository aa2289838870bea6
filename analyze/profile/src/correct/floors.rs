//! What times are at least, whatever is taken off for hooks: the time off the processor is the kernel's, and no hook's cost; and of calls
//! that take much longer than hooks do, most is theirs. What is above them takes as long.

use std::ops::Range;

use crate::merge::{OffCpu, PathId, Tree};
use crate::time::Time;

/// Of each path what its times are at least.
pub struct Floors {
    /// Of own times; empty as long as there is nothing to tell of any.
    own: Vec<i64>,
    /// Of inclusive times.
    all: Vec<i64>,
}

/// What a path's times are at least.
#[derive(Clone, Copy, Debug, Default)]
pub struct Floor {
    /// Of its own time.
    pub own: Time,
    /// Of that, and of all below it.
    pub all: Time,
}

impl Floors {
    /// Of so many paths; nothing yet.
    pub fn new(paths: usize) -> Self {
        Self { own: Vec::new(), all: vec![0; paths] }
    }

    /// Of the inclusive time of one.
    #[inline]
    pub fn all(&self, path: usize) -> Time {
        Time::from_units(self.all[path].into())
    }

    /// Of the own time of one; nothing of most.
    #[inline]
    pub fn own(&self, path: usize) -> Time {
        Time::from_units(self.own.get(path).copied().unwrap_or_default().into())
    }

    /// Notes that of one, which takes at least so long, with what it calls and by itself, and of which `below` is that of all paths below
    /// it. Returns it.
    #[inline]
    pub fn note(&mut self, tree: &Tree, path: PathId, [least, least_own]: [Time; 2], below: Time) -> Floor {
        let OffCpu { wait, preempted, .. } = tree.paths.off(path);
        let off = wait.at_least_zero() + preempted.at_least_zero();
        let mut own = Time::ZERO;
        if off > Time::ZERO || least_own > Time::ZERO {
            let (measured, _, _) = tree.paths.times(path);
            own = off.max(least_own).min(measured.at_least_zero());
            if own > Time::ZERO {
                if self.own.is_empty() {
                    self.own = vec![0; self.all.len()];
                }
                self.own[path as usize] = i64::try_from(own.units()).unwrap_or(i64::MAX);
            }
        }
        let all = (own + below).max(least);
        self.all[path as usize] = i64::try_from(all.units()).unwrap_or(i64::MAX);
        Floor { own, all }
    }

    /// Forgets those of paths whose time is told elsewhere.
    pub fn forget(&mut self, paths: Range<PathId>) {
        if !self.own.is_empty() {
            self.own[paths.start as usize..paths.end as usize].fill(0);
        }
        self.all[paths.start as usize..paths.end as usize].fill(0);
    }
}
