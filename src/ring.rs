//! Rings: calls that were noted in the order in which they came, and are counted later.
//!
//! In a part of a trial (see [`crate::Trials`]) the hooks look nothing up: they note the call here and go on. When that part ends,
//! the recorder counts what is noted, each call on its path. If its process is killed before that, the reader does.

use crate::Ref;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Slots of a ring.
pub const SLOTS: usize = 8192;

/// The first words of a ring, which begins a block of [`crate::kind::RING`] behind the block's header; its slots follow.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Ring {
    /// How often the ring was begun and ended: odd while there may be something in it that is not counted yet.
    pub sequence: u64,
    /// Not used; zero.
    pub reserved: [u64; 7],
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
/// In a call's first word: its exit lies in the ring, too.
const CLOSED: u64 = 1 << ADDRESS_BITS;

/// In a call's second word: the hook is told by how far it lies from the call site, and not from the function.
const FROM_SITE: u64 = 1 << ADDRESS_BITS;

const EXIT: u64 = 1;
const BASE: u64 = 2;
const DEAD: u64 = 3;
const COUNTING: u64 = 4;
const COUNTED: u64 = 5;
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
    /// Whether its exit lies in the ring, as far as it has been looked for.
    pub is_closed: bool,
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

/// A call that has been counted, or is being.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Its node; 0 if it was counted by its function.
    pub node: Ref,
    /// The slot of that node.
    pub own: u8,
    /// The slot that the calls it makes count in.
    pub inside: u8,
    /// It is one below `DIYTRACE_DEPTH`: nothing but roots is recorded below it.
    pub is_skipped: bool,
    /// It has not ended.
    pub is_open: bool,
    /// It was left without an exit.
    pub is_left: bool,
    /// See [`Entered::is_closed`].
    pub is_closed: bool,
    /// The call around it, by its slot in the ring; 0 = the one that was latest when the ring, or the [`Note::Base`] before it,
    /// was begun.
    pub below: u16,
    /// The low bits of how many calls of that slot of the node there are with this one.
    pub calls: u32,
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
    /// A call whose path is known, and which is counted by now or not, as the number of calls tells.
    Counting(Counted),
    /// A call that has been counted.
    Counted(Counted),
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
    /// What was to be noted here never was.
    pub const DEAD: Self = Self { first: DEAD, second: 0 };

    /// The latest call is this one now.
    #[inline(always)]
    pub fn base(place: Place) -> Self {
        Self {
            first: BASE | u64::from(place.inside & 1) << BITS,
            second: u64::from(place.position) << 32 | u64::from(place.node),
        }
    }

    /// A call whose path is known.
    pub fn counting(call: &Counted) -> Self {
        Self { first: COUNTING, ..Self::counted(call) }.with_bits(call)
    }

    /// A call that is counted.
    pub fn counted(call: &Counted) -> Self {
        Self { first: COUNTED, second: u64::from(call.calls) << 32 | u64::from(call.node) }.with_bits(call)
    }

    fn with_bits(mut self, call: &Counted) -> Self {
        let Counted { own, inside, is_skipped, is_open, is_left, is_closed, below, .. } = *call;
        let bits = u64::from(own & 1)
            | u64::from(inside & 1) << 1
            | u64::from(is_skipped) << 2
            | u64::from(is_open) << 3
            | u64::from(is_left) << 4
            | u64::from(is_closed) << 5;
        self.first |= bits << BITS | u64::from(below) << 48;
        self
    }

    /// Says of a call that its exit lies in the ring.
    pub fn close(&mut self) {
        if let Note::Enter(_) = self.note() {
            self.first |= CLOSED;
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
            return Note::Enter(Entered {
                function: address,
                site,
                hook: near.wrapping_add_signed(offset.into()),
                is_closed: first & CLOSED != 0,
            });
        }
        let bit = |n: u32| first >> (BITS + n) & 1;
        let counted = || Counted {
            node: second as Ref,
            own: bit(0) as u8,
            inside: bit(1) as u8,
            is_skipped: bit(2) != 0,
            is_open: bit(3) != 0,
            is_left: bit(4) != 0,
            is_closed: bit(5) != 0,
            below: (first >> 48) as u16,
            calls: (second >> 32) as u32,
        };
        match first & TAG {
            EXIT => Note::Exit,
            BASE => Note::Base(Place { node: second as Ref, position: (second >> 32) as Ref, inside: bit(0) as u8 }),
            COUNTING => Note::Counting(counted()),
            COUNTED => Note::Counted(counted()),
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
            assert_eq!(slot.note(), Note::Enter(Entered { function, site, hook, is_closed: false }));
            let mut closed = slot;
            closed.close();
            assert_eq!(closed.note(), Note::Enter(Entered { function, site, hook, is_closed: true }));
        }
        assert_eq!(enter(0x1000_0000_0000, 0x2000_0000_0000, 0x7000_0000_0000), None);
        assert_eq!(enter(1, 0x40_0000, 0x40_0000), None);
        assert_eq!(enter(1 << 47, 0x40_0000, 0x40_0000), None);
    }

    #[test]
    fn what_is_counted_says_where_and_how() {
        for bits in 0..64u8 {
            let bit = |n: u8| bits >> n & 1 != 0;
            let call = Counted {
                node: 0x1234_5678,
                own: bits & 1,
                inside: bits >> 1 & 1,
                is_skipped: bit(2),
                is_open: bit(3),
                is_left: bit(4),
                is_closed: bit(5),
                below: 8191,
                calls: u32::MAX,
            };
            assert_eq!(RingSlot::counted(&call).note(), Note::Counted(call));
            assert_eq!(RingSlot::counting(&call).note(), Note::Counting(call));
        }
        let place = Place { node: 7, position: Ref::MAX - 1, inside: 1 };
        assert_eq!(RingSlot::base(place).note(), Note::Base(place));
        assert_eq!((RingSlot::EXIT.note(), RingSlot::DEAD.note()), (Note::Exit, Note::Nothing));
    }
}
