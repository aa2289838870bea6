//! What timing costs in the running program: the results of trials.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Most results that are kept of one arena; later ones take the place of the oldest.
pub const TRIALS: usize = 126;

/// The results of an arena's trials.
///
/// A trial is two stretches of the same number of calls, one after the other: in one of them, chosen at random, every
/// call is timed, in the other they are counted only. Whatever the program does is the same in both on the average, so
/// the difference of their times is what timing costs, where and when the program runs. In a third, short one the clock is
/// read before and after each hook of counted calls: what is in no cache takes them longer than a loop of the same calls.
///
/// Where only some calls are timed, a trial is that third stretch and the blanks since the last one: where a call is about to
/// be timed, now and then the exit hook is called beforehand, and what lies between two readings of the clock then is
/// nothing but what they add.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Trials {
    /// Trials so far.
    pub count: u64,
    /// Not used; zero.
    pub reserved: u64,
    /// What a timed call took longer than a counted one, in 1/1024 ticks; where only some calls are timed, what a blank
    /// took longer than at the start. The result of trial `n` (from 0) lies at `n % TRIALS`.
    pub differences: [i32; TRIALS],
    /// What the hooks of a counted call took longer, each by itself, than those of the loop at the start.
    pub excesses: [i32; TRIALS],
}

const _: () = assert!(size_of::<Trials>() == 1024);
