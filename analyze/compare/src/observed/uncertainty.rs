//! How far off a time may be, and a difference of two such times.
//!
//! What the hooks cost is known to a tenth or a fifth, and a function whose hooks cost as much as it does itself is known no
//! better. But whatever makes the estimate wrong (what the hooks push out of the caches, how they go with the function's own
//! code) is there on both sides: of two runs with the same calls it moves both times, and not the difference. What is left
//! is how much a pair of hooks may cost more on one side than on the other, and the calls that only one of them has. Where hooks were
//! found to cost something else on each side, as on a machine that did something else meanwhile, each estimate may be off by its own.

/// How much more a pair of hooks may cost in a function of one side than of the other, as a fraction, beyond what was
/// measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Code {
    /// Both run the same build.
    Same,
    /// Both run several builds that differ in where code lies (`bench --layouts`): what that does is in how their runs vary.
    Spread,
    /// They run two builds. Where code lies in memory moves what hooks cost by up to ten nanoseconds: see benches/README.md.
    Another,
}

impl Code {
    fn unlikeness(self) -> f64 {
        match self {
            Self::Same | Self::Spread => 0.05,
            Self::Another => 0.5,
        }
    }
}

/// What was taken off for a pair on both sides comes from one estimate if it differs by no more: by how many calls were timed.
const ONE: f64 = 0.02;

/// What was taken off a time for the hooks inside it, and how far off that may be. Sums of times have sums of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Uncertainty {
    /// Pairs of hooks.
    pub pairs: f64,
    /// Taken off for them, in nanoseconds.
    pub taken: f64,
    /// How far off that may be, in nanoseconds: on any side that is measured alike.
    pub shared: f64,
    /// How far off the time may be beside that, in nanoseconds, in this run alone.
    pub own: f64,
}

impl Uncertainty {
    /// Adds that of another time.
    pub fn add(&mut self, other: &Self) {
        self.pairs += other.pairs;
        self.taken += other.taken;
        self.shared += other.shared;
        self.own += other.own;
    }

    /// That of a part of the time.
    pub fn part(&self, part: f64) -> Self {
        Self { pairs: self.pairs * part, taken: self.taken * part, shared: self.shared * part, own: self.own * part }
    }

    /// How far off the time may be, in nanoseconds.
    pub fn error(&self) -> f64 {
        self.shared + self.own
    }
}

/// How far off the difference of two times may be, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OfDifference {
    /// For the calls that only one side has: the same for each call.
    calls: f64,
    /// For the code of one function, and by chance.
    own: f64,
}

impl OfDifference {
    /// Of a function's times.
    pub fn of(left: &Uncertainty, right: &Uncertainty, code: Code) -> Self {
        let of_pair = |sum: fn(&Uncertainty) -> f64| {
            [left, right].map(|side| if side.pairs > 0.0 { sum(side) / side.pairs } else { 0.0 })
        };
        let [costs, errors] = [of_pair(|side| side.taken), of_pair(|side| side.shared)];
        // What was found to cost more on one side may be found wrongly.
        let apart = (costs[0] - costs[1]).abs();
        let estimates = if apart > ONE * costs[0].max(costs[1]) { errors[0].hypot(errors[1]) } else { 0.0 };
        let of_both = apart + estimates + code.unlikeness() * costs[0].max(costs[1]);
        let both_have = left.pairs.min(right.pairs) * of_both;
        Self {
            calls: (left.pairs - right.pairs).abs() * errors[0].max(errors[1]),
            own: both_have.hypot(left.own).hypot(right.own),
        }
    }

    /// Of the sum of the times of several functions, each off by its own.
    pub fn sum(all: impl Iterator<Item = Self>) -> Self {
        all.fold(Self::default(), |sum, one| Self { calls: sum.calls + one.calls, own: sum.own.hypot(one.own) })
    }

    /// All of it.
    pub fn ns(&self) -> f64 {
        self.calls + self.own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLS: Uncertainty = Uncertainty { pairs: 1000.0, taken: 20_000.0, shared: 4000.0, own: 0.0 };

    fn difference(left: &Uncertainty, right: &Uncertainty) -> f64 {
        OfDifference::of(left, right, Code::Same).ns()
    }

    #[test]
    fn what_both_sides_are_off_by_is_in_no_difference() {
        assert_eq!(difference(&CALLS, &CALLS), 1000.0, "a twentieth of what was taken off");
        assert_eq!(CALLS.error(), 4000.0);
    }

    #[test]
    fn in_another_build_hooks_cost_something_else_in_each_function() {
        let one = OfDifference::of(&CALLS, &CALLS, Code::Another);
        assert_eq!(one.ns(), 10_000.0);
        assert_eq!(OfDifference::sum([one; 4].into_iter()).ns(), 20_000.0, "which averages out over functions");
    }

    #[test]
    fn calls_of_one_side_are_as_uncertain_as_they_are_alone() {
        assert_eq!(difference(&CALLS, &Uncertainty::default()), 4000.0);
        assert_eq!(difference(&CALLS, &CALLS.part(1.5)), 2000.0 + 1000.0);
        let one = OfDifference::of(&CALLS, &Uncertainty::default(), Code::Another);
        assert_eq!(OfDifference::sum([one; 4].into_iter()).ns(), 16_000.0);
    }

    #[test]
    fn where_hooks_seem_to_cost_more_on_one_side_that_is_no_difference_of_the_program() {
        let dearer = Uncertainty { taken: 23_000.0, ..CALLS };
        // Each estimate is off by its own, then.
        assert_eq!(difference(&CALLS, &dearer).round(), (3000.0 + 1150.0 + 4000.0f64.hypot(4000.0)).round());
        let timed_a_little_more = Uncertainty { taken: 20_200.0, ..CALLS };
        assert_eq!(difference(&CALLS, &timed_a_little_more).round(), 200.0 + 1010.0);
    }

    #[test]
    fn what_a_run_is_off_by_alone_is_in_every_difference() {
        let sampled = |ns: f64| Uncertainty { own: ns, ..Uncertainty::default() };
        assert_eq!(difference(&sampled(30.0), &sampled(40.0)), 50.0);
    }
}
