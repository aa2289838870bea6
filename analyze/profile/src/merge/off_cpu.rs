//! Time that calls were not on a processor.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::time::Time;

/// What of a time was not spent on a processor, as far as that is known. Sums, like the time itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OffCpu {
    /// Waiting: the thread gave the processor up.
    pub wait: Time,
    /// Others had the processor.
    pub preempted: Time,
    /// Since a thread's last sign, up to what calls that have not returned are told to have lasted: who knows.
    pub unknown: Time,
    /// Time in threads of which nothing is known: the kernel could not be asked.
    pub unseen: Time,
}

/// A time by where it was spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// On a processor.
    pub cpu: Time,
    /// Waiting.
    pub wait: Time,
    /// While others had the processor.
    pub preempted: Time,
}

impl OffCpu {
    /// What has come since an earlier sum.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            wait: self.wait - earlier.wait,
            preempted: self.preempted - earlier.preempted,
            unknown: self.unknown - earlier.unknown,
            unseen: self.unseen - earlier.unseen,
        }
    }

    /// Adds others, of which nearly all are nothing.
    #[inline]
    pub fn add_any(&mut self, other: Self) {
        if other != Self::default() {
            *self += other;
        }
    }

    /// How a time divides that has this in it. None if it has some of which nothing is known. The parts are never more than
    /// the whole: what recording cost is taken off that, and not off the time that was waited.
    pub fn split(self, time: Time) -> Option<Split> {
        if self.unseen != Time::ZERO {
            return None;
        }
        let wait = self.wait.at_least_zero().min(time.at_least_zero());
        let preempted = self.preempted.at_least_zero().min(time.at_least_zero() - wait);
        Some(Split { cpu: (time - wait - preempted - self.unknown.at_least_zero()).at_least_zero(), wait, preempted })
    }
}

impl AddAssign for OffCpu {
    fn add_assign(&mut self, other: Self) {
        self.wait += other.wait;
        self.preempted += other.preempted;
        self.unknown += other.unknown;
        self.unseen += other.unseen;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_never_more_than_the_whole() {
        let ns = |ns: f64| Time::from_ns(ns);
        let off = OffCpu { wait: ns(60.0), preempted: ns(30.0), unknown: ns(5.0), unseen: ns(0.0) };
        let parts =
            |time: f64| off.split(ns(time)).map(|split| [split.cpu.ns(), split.wait.ns(), split.preempted.ns()]);
        assert_eq!(parts(100.0), Some([5.0, 60.0, 30.0]));
        assert_eq!(parts(80.0), Some([0.0, 60.0, 20.0]));
        assert_eq!(parts(10.0), Some([0.0, 10.0, 0.0]));
        assert_eq!(OffCpu { unseen: ns(1.0), ..off }.split(ns(100.0)), None);
    }
}
