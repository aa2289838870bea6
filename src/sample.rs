//! What is known of the calls of a path when not all of them are timed.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The timed calls of one path (`DIYTRACE_TIMING=sampled`).
///
/// Calls are taken in groups, one after the other; in each, one call chosen at random is timed and stands for all of
/// them. [`crate::Slot::ticks`] and [`crate::Slot::descendants`] are sums over timed calls, each taken as often as the
/// calls it stands for; so are the sums here.
#[derive(Clone, Copy, Debug, Default, PartialEq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Sample {
    /// Calls that the timed ones which have ended stand for, of each slot.
    pub calls: [u64; 2],
    /// Calls made inside that were counted without being timed, of each slot.
    pub counted: [u64; 2],
    /// Sum of the squares of the timed calls' corrected times, in ticks².
    pub squares: f64,
    /// Sum of `w × (w - 1)` over timed calls that stand for `w` calls.
    pub spread: f64,
    /// Calls in the present group.
    pub group: u32,
    /// Calls left of it after the one that is timed.
    pub left: u32,
    /// Calls in the next group.
    pub next_group: u32,
    /// Not used; zero.
    pub reserved: u32,
}

const _: () = assert!(size_of::<Sample>() == crate::UNIT);
