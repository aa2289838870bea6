//! What timing costs in the running program: the results of trials.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Most results that are kept of one arena. Where all calls are timed, two become one when there is no room for another;
/// else later ones take the place of the oldest.
pub const TRIALS: usize = 84;

/// The results of an arena's trials.
///
/// A trial is a stretch of calls that are only noted (see [`crate::ring`]), between others that are timed. Whatever the program
/// does is the same in both on the average, so the difference of their times is what timing costs, where and when the program
/// runs. The timed calls are all since the last trial; of a thread that has waited there, those just before this one.
///
/// Where only some calls are timed, a trial is a short stretch of counted calls, in which the clock is read before and after
/// each hook (what is in no cache takes them longer than a loop of the same calls), and the blanks since the last one: where a
/// call is about to be timed, now and then the exit hook is called beforehand, and what lies between two readings of the clock
/// then is nothing but what they add.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Trials {
    /// Results here; where only some calls are timed, trials so far.
    pub count: u64,
    /// Trials so far, where all calls are timed.
    pub made: u64,
    /// What a timed call took longer than a noted one, in 1/1024 ticks; where only some calls are timed, what a blank
    /// took longer than at the start: the result of trial `n` (from 0) lies at `n % TRIALS`.
    pub differences: [i32; TRIALS],
    /// How many calls a result stands for, in thousands: those since the one before. Where only some calls are timed: what the
    /// hooks of a counted call took longer, each by itself, than those of the loop at the start.
    pub others: [i32; TRIALS],
    /// How much longer a noted call took in the second third of its stretch than in the last, in 1/1024 ticks: what the hooks
    /// that time have pushed out of the caches was still coming back. The first third is warm-up, and `differences` are of the
    /// last. 0 where only some calls are timed.
    pub declines: [i32; TRIALS],
}

impl Trials {
    /// Adds a result that stands for so many thousand calls, where all calls are timed.
    pub fn add(&mut self, difference: i32, decline: i32, calls: i32) {
        let mut count = (self.count as usize).min(TRIALS);
        if count == TRIALS {
            count /= 2;
            for pair in 0..count {
                let weights = [0, 1].map(|n: usize| i64::from(self.others[pair * 2 + n]).max(1));
                let sum = weights[0] + weights[1];
                for results in [&mut self.differences, &mut self.declines] {
                    let of = |n: usize| i64::from(results[pair * 2 + n]) * weights[n];
                    results[pair] = ((of(0) + of(1)) / sum) as i32;
                }
                self.others[pair] = sum.min(i32::MAX.into()) as i32;
            }
        }
        (self.differences[count], self.others[count]) = (difference, calls);
        self.declines[count] = decline;
        self.count = count as u64 + 1;
    }
}

const _: () = assert!(size_of::<Trials>() == 1024);
