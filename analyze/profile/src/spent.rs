//! One kind of time alone: on a processor, or waiting.
//!
//! A path's own time becomes the part of it that is of that kind, and its inclusive time the sum of those below. So whatever is
//! made of times adds up as it does for all of them. What a call took on the average, and how calls are distributed, stays
//! what passed on the clock.

use crate::correct::{PathTimes, Times};
use crate::merge::{OffCpu, Split, Tree};
use crate::time::Time;

/// A kind of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// All that passed.
    #[default]
    Wall,
    /// On a processor.
    Cpu,
    /// Waiting.
    Wait,
}

impl Kind {
    /// As it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::Cpu => "cpu",
            Self::Wait => "wait",
        }
    }

    /// What of a time is of this kind, by its parts.
    fn of(self, Split { cpu, wait, .. }: Split) -> Time {
        if self == Self::Wait { wait } else { cpu }
    }

    /// Leaves this kind of time of all paths. False, and nothing is changed, if that is not known of all of them.
    pub fn keep(self, times: &mut Times, tree: &Tree) -> bool {
        if self == Self::Wall {
            return true;
        }
        let is_known = |off: OffCpu| off.unseen == Time::ZERO;
        if !tree.paths.iter().all(|path| is_known(path.counts.off)) {
            return false;
        }
        for times in [&mut times.corrected, &mut times.raw] {
            for (id, path) in tree.paths.iter().enumerate() {
                times.change(id, |times| {
                    times.own = path.counts.off.split(times.own).map_or(Time::ZERO, |split| self.of(split));
                    (times.inclusive, times.inside) = (times.own, Time::ZERO);
                    if self == Self::Wait {
                        // The kernel's own, but for what had to fit into a time that is not.
                        times.own_error = (path.counts.off.wait - times.own).at_least_zero();
                        times.error = times.own_error;
                    }
                });
            }
            for (id, path) in tree.paths.iter().enumerate().rev() {
                if let Some(parent) = path.key.parent {
                    let PathTimes { inclusive, error, .. } = times.get(id);
                    times.change(parent as usize, |above| {
                        above.inclusive += inclusive;
                        if self == Self::Wait {
                            above.error += error;
                        }
                    });
                }
            }
        }
        true
    }
}
