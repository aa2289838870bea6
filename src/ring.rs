//! Rings: calls that were noted in the order in which they came, and are counted later.
//!
//! In a part of a trial (see [`crate::Trials`]) the hooks look nothing up: they note the call here and go on. When that part ends,
//! the recorder counts what is noted, each call on its path, and empties the ring. If its process is killed before that, the
//! reader does: it finds as many notes as there are slots before the first empty one, of which [`Ring::done`] are counted.

use crate::Ref;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Slots of a ring.
pub const SLOTS: usize = 8192;

/// The first words of a ring, which begins a block of [`crate::kind::RING`] behind the block's header; its slots follow.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Ring {
    /// How many slots, from the first on, hold what is counted already.
    pub done: u64,
    /// The call that is counted now, so that whoever finds it half done knows whether it is: its slot, and one; 0 = none.
    pub counting: u64,
    /// The calls of its path with it, …
    pub calls: u64,
    /// … its path, …
    pub node: Ref,
    /// … and which of its counters.
    pub own: u32,
    /// How often the ring has been filled and emptied: odd while something may be in it.
    pub sequence: u64,
    /// Not used; zero.
    pub reserved: [u64; 3],
}

/// Bytes of a ring's block.
pub const BLOCK_SIZE: usize =
    (crate::UNIT + size_of::<Ring>() + SLOTS * size_of::<RingSlot>()).next_multiple_of(crate::GRANULE);

const _: () = assert!(size_of::<Ring>() == crate::UNIT);

/// What is noted: two words, of which the second is written first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct RingSlot {
    /// What it is, in its low bits; 0 = nothing, or nothing yet.
    pub first: u64,
    /// The rest.
    pub second: u64,
}

const _: () = assert!(size_of::<RingSlot>() == 16);

/// Addresses below this are taken for tags.
const LEAST_ADDRESS: u64 = 4096;
/// Bits of an address of user space.
const ADDRESS_BITS: u32 = 47;
const ADDRESS: u64 = (1 << ADDRESS_BITS) - 1;
/// In a call's second word: the hook is told by how far it lies from the call site, and not from the function.
const FROM_SITE: u64 = 1 << ADDRESS_BITS;

const EXIT: u64 = 1;
const BASE: u64 = 2;
const TAG: u64 = 7;
/// Where the bits that go with a tag begin: all below [`LEAST_ADDRESS`].
const BITS: u32 = 3;

/// A call that was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered {
    /// Its function.
    pub function: u64,
    /// The call site.
    pub site: u64,
    /// Return address of the enter hook.
    pub hook: u64,
}

/// Where calls are made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The call's node; 0 if it has none.
    pub node: Ref,
    /// The node its calls are made from: see [`crate::Node::position`].
    pub position: Ref,
    /// The slot that its calls count in.
    pub inside: u8,
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// Nothing.
    Nothing,
    /// A call was entered.
    Enter(Entered),
    /// The latest call has returned.
    Exit,
    /// The latest call is this one now, however it came to be.
    Base(Place),
}

/// The words of a call that is entered; `None` if there is no room for such addresses.
#[inline(always)]
pub fn enter(function: usize, site: usize, hook: usize) -> Option<RingSlot> {
    let (function, site, hook) = (function as u64, site as u64, hook as u64);
    if (function | site) >> ADDRESS_BITS != 0 || function < LEAST_ADDRESS {
        return None;
    }
    let words = |offset: u64, flag: u64| RingSlot {
        first: function | offset << 48,
        second: site | flag | (offset >> 16) << 48,
    };
    let is_near = |offset: u64| offset as i32 as i64 == offset as i64;
    let offset = hook.wrapping_sub(function);
    if is_near(offset) {
        return Some(words(offset, 0));
    }
    // A body whose function has its address in another library (C++ templates).
    let offset = hook.wrapping_sub(site);
    is_near(offset).then(|| words(offset, FROM_SITE))
}

impl RingSlot {
    /// The latest call returns.
    pub const EXIT: Self = Self { first: EXIT, second: 0 };

    /// The latest call is this one now.
    #[inline(always)]
    pub fn base(place: Place) -> Self {
        Self {
            first: BASE | u64::from(place.inside & 1) << BITS,
            second: u64::from(place.position) << 32 | u64::from(place.node),
        }
    }

    /// What it holds.
    pub fn note(&self) -> Note {
        let Self { first, second } = *self;
        let address = first & ADDRESS;
        if address >= LEAST_ADDRESS {
            let offset = (first >> 48 | (second >> 48) << 16) as u32 as i32;
            let site = second & ADDRESS;
            let near = if second & FROM_SITE == 0 { address } else { site };
            let hook = near.wrapping_add_signed(offset.into());
            return Note::Enter(Entered { function: address, site, hook });
        }
        match first & TAG {
            EXIT => Note::Exit,
            BASE => Note::Base(Place {
                node: second as Ref,
                position: (second >> 32) as Ref,
                inside: (first >> BITS) as u8 & 1,
            }),
            _ => Note::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_noted_whole_wherever_its_hook_lies() {
        for (function, site, hook) in [
            (0x5555_0000_1000, 0x5555_0000_2000, 0x5555_0000_1010),
            (0x7fff_f7d4_1af0, 0x5555_55e1_b4ed, 0x5555_55e1_b1e3),
            (0x7fff_ffff_f000, 0x1000, 0x7fff_8000_0001),
            (0x40_1000, 0x40_2000, 0x40_0fff),
        ] {
            let slot = enter(function, site, hook).unwrap();
            let [function, site, hook] = [function, site, hook].map(|address| address as u64);
            assert_eq!(slot.note(), Note::Enter(Entered { function, site, hook }));
        }
        assert_eq!(enter(0x1000_0000_0000, 0x2000_0000_0000, 0x7000_0000_0000), None);
        assert_eq!(enter(1, 0x40_0000, 0x40_0000), None);
        assert_eq!(enter(1 << 47, 0x40_0000, 0x40_0000), None);
    }

    #[test]
    fn what_is_no_call_is_none() {
        let place = Place { node: 7, position: Ref::MAX - 1, inside: 1 };
        assert_eq!(RingSlot::base(place).note(), Note::Base(place));
        assert_eq!((RingSlot::EXIT.note(), RingSlot::default().note()), (Note::Exit, Note::Nothing));
    }
}
