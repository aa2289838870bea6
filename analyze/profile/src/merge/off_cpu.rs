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

impl Split {
    /// The same, as a part of a time that divides so: within that one's error it is on a processor for no longer. Where calls wait on
    /// coroutines' stacks, others' time is in more of them than can be taken off.
    pub fn within(self, whole: Self, error: Time) -> Self {
        let excess = (self.cpu - whole.cpu - error).at_least_zero();
        let preempted = excess.min((whole.preempted - self.preempted).at_least_zero());
        let wait = (excess - preempted).min((whole.wait - self.wait).at_least_zero());
        Self { cpu: self.cpu - preempted - wait, wait: self.wait + wait, preempted: self.preempted + preempted }
    }
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
    fn a_part_is_on_a_processor_for_no_longer_than_the_whole() {
        let split = |[cpu, wait, preempted]: [f64; 3]| Split {
            cpu: Time::from_ns(cpu),
            wait: Time::from_ns(wait),
            preempted: Time::from_ns(preempted),
        };
        let within = |own, whole| split(own).within(split(whole), Time::from_ns(4.0));
        assert_eq!(within([50.0, 0.0, 0.0], [52.0, 19.0, 135.0]), split([50.0, 0.0, 0.0]));
        assert_eq!(within([56.0, 0.0, 0.0], [52.0, 19.0, 135.0]), split([56.0, 0.0, 0.0]), "that is its error");
        assert_eq!(within([96.0, 1.0, 2.0], [52.0, 19.0, 135.0]), split([56.0, 1.0, 42.0]));
        assert_eq!(within([201.0, 0.0, 0.0], [52.0, 19.0, 135.0]), split([56.0, 10.0, 135.0]));
        assert_eq!(within([9.0, 0.0, 0.0], [0.0, 0.0, 0.0]), split([9.0, 0.0, 0.0]), "nothing else is known of it");
    }

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
