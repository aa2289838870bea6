//! The service's clock, as a worker knows it: what the two differ by, from how long questions and answers take.
//!
//! Both clocks count from whenever they began, so what people call the time plays no part. A question leaves at `asked` and is there at
//! `received`, its answer leaves at `answered` and is here at `heard`: the way there and back takes what is between the outer two less what
//! is between the inner, and the clocks differ by the middle of that, give or take half of it.

use std::collections::VecDeque;

/// So many answers are remembered.
const REMEMBERED: usize = 64;

/// Clocks go apart by no more than this share of a time: 100 millionths.
const DRIFT: u64 = 10_000;

/// What a clock is behind another.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    answers: VecDeque<Answer>,
}

#[derive(Clone, Copy, Debug)]
struct Answer {
    heard_ns: u64,
    /// What is added to ours for the other's.
    offset_ns: i64,
    /// By how much that may be off.
    error_ns: u64,
}

impl Clock {
    /// Learns from an answer; both pairs are nanoseconds, one of our clock, one of the other's.
    pub fn learn(&mut self, (asked_ns, heard_ns): (u64, u64), (received_ns, answered_ns): (u64, u64)) {
        let (Some(here), Some(there)) = (heard_ns.checked_sub(asked_ns), answered_ns.checked_sub(received_ns)) else {
            return; // no clock runs backwards
        };
        let middle = |from: u64, to: u64| (i128::from(from) + i128::from(to)) / 2;
        let Ok(offset_ns) = i64::try_from(middle(received_ns, answered_ns) - middle(asked_ns, heard_ns)) else {
            return;
        };
        if self.answers.len() == REMEMBERED {
            self.answers.pop_front();
        }
        self.answers.push_back(Answer { heard_ns, offset_ns, error_ns: here.saturating_sub(there) / 2 + 1 });
    }

    /// What is added to our clock's time for the other's, and by how much that may be off.
    pub fn offset(&self, now_ns: u64) -> Option<(i64, u64)> {
        let error = |answer: &Answer| answer.error_ns + now_ns.saturating_sub(answer.heard_ns) / DRIFT;
        let best = self.answers.iter().min_by_key(|answer| error(answer))?;
        Some((best.offset_ns, error(best)))
    }

    /// A moment of the other clock by ours.
    pub fn here(&self, there_ns: u64, now_ns: u64) -> Option<u64> {
        let (offset, _) = self.offset(now_ns)?;
        Some(there_ns.saturating_add_signed(offset.checked_neg()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000_000_000;

    /// What a clock knows of another that is so far ahead, after answers that took these times there and back.
    fn of(offset: i64, ways: &[(u64, u64)]) -> Clock {
        let mut clock = Clock::default();
        for (number, (there, back)) in ways.iter().enumerate() {
            let asked = 10_000_000_000_000 + number as u64 * 250_000_000;
            // The service lets an answer wait for something to say.
            let (received, held) = ((asked + there).saturating_add_signed(offset), 200_000_000);
            clock.learn((asked, asked + there + held + back), (received, received + held));
        }
        clock
    }

    #[test]
    fn clocks_an_hour_apart_agree_to_half_of_the_shortest_way() {
        let ways = [(40_000_000, 1_000_000), (300_000, 200_000), (2_000_000, 90_000_000)];
        for offset in [HOUR, -HOUR, 0] {
            let clock = of(offset, &ways);
            let now = 10_001_000_000_000;
            let (found, error) = clock.offset(10_000_800_000_000).unwrap();
            assert!(found.abs_diff(offset) <= error && error < 400_000, "{offset}: {found} ± {error}");
            let here = clock.here(now, 10_000_800_000_000).unwrap();
            assert!(here.abs_diff(now.saturating_add_signed(-offset)) <= error);
        }
    }

    #[test]
    fn workers_begin_together_whatever_their_clocks_say() {
        // The service says when, by its clock; each worker begins at that by its own. In true time that is:
        let begins = 50_000_000_000_000u64;
        let offsets = [HOUR, -HOUR, 17, 0];
        let began = offsets.map(|offset| {
            let clock = of(offset, &[(500_000, 900_000), (5_000_000, 100_000)]);
            clock.here(begins, 10_000_500_000_000).unwrap().saturating_add_signed(offset)
        });
        assert!(began.iter().all(|moment| moment.abs_diff(begins) < 1_000_000), "{began:?}");
    }

    #[test]
    fn what_cannot_be_is_not_learnt() {
        let mut clock = Clock::default();
        assert_eq!(clock.offset(5), None);
        clock.learn((5, 4), (1, 1));
        clock.learn((1, 9), (2, 1));
        clock.learn((1, 2), (u64::MAX, u64::MAX));
        assert_eq!((clock.offset(5), clock.here(1, 5)), (None, None));
        // An old answer says less than a new one, however quick it was.
        clock.learn((0, 10), (100, 100));
        assert_eq!(clock.offset(10), Some((95, 6)));
        clock.learn((1_000_000_000_000, 1_000_000_001_000), (1_000_000_000_900, 1_000_000_000_900));
        assert_eq!(clock.offset(1_000_000_002_000), Some((400, 501)));
    }
}
