//! When a root ran: its outermost calls over the run's time.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Slices of a timeline.
pub const SLICES: usize = 128;

/// Width of a slice when a timeline begins, as a power of two: about half a millisecond of a time stamp counter.
pub const FIRST_WIDTH: u32 = 20;

/// The outermost calls of one root in one arena, by time.
///
/// All timelines of a family begin at its [`crate::Header::first_anchor`], and a slice is a power of two ticks wide. When
/// the run comes to the end of the last slice, each two become one. So those of many arenas can be added exactly, once they
/// are as wide as the widest.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Timeline {
    /// A slice is two to this power of ticks wide.
    pub width: u32,
    /// Not used; zero.
    pub reserved: [u32; 15],
    /// The slices, from the first.
    pub slices: [Slice; SLICES],
}

/// A slice of a timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Slice {
    /// Calls that ended in it.
    pub calls: u64,
    /// How much of the calls' raw time lies in it, in ticks.
    pub ticks: u64,
}

const _: () = assert!(size_of::<Timeline>().is_multiple_of(crate::UNIT));

/// The slices of a width that a call from `start` to `end` (ticks since the beginning of timelines) ran in, each with the
/// part of its time.
pub fn parts(width: u32, start: u64, end: u64) -> impl Iterator<Item = (usize, u64)> {
    let width = width.min(u64::BITS - 1);
    let (first, last) = ((start >> width) as usize, (end >> width) as usize);
    (first..=last).map(move |slice| {
        let from = (slice as u64) << width;
        let to = if slice == last { end } else { from + (1 << width) };
        (slice, to.saturating_sub(start.max(from)))
    })
}

/// The least width, from one on, with which a moment lies in one of the slices.
pub fn width_for(least: u32, moment: u64) -> u32 {
    let bits = u64::BITS - moment.leading_zeros();
    least.max(bits.saturating_sub(SLICES.trailing_zeros()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_divided_among_the_slices_it_ran_in() {
        for (start, end) in [(0, 0), (5, 9), (5, 16), (15, 49), (16, 32)] {
            let all: u64 = parts(4, start, end).map(|(_, ticks)| ticks).sum();
            assert_eq!(all, end - start);
        }
        let mut divided = parts(4, 15, 49);
        assert_eq!([(); 4].map(|()| divided.next()), [Some((0, 1)), Some((1, 16)), Some((2, 16)), Some((3, 1))]);
        assert_eq!(divided.next(), None);
    }

    #[test]
    fn slices_are_as_wide_as_they_must_be() {
        for (moment, width) in [(0, 4), ((SLICES as u64 * 16) - 1, 4), (SLICES as u64 * 16, 5), (u64::MAX, 57)] {
            assert_eq!(width_for(4, moment), width, "{moment}");
            assert!((moment >> width) < SLICES as u64);
        }
    }
}
