//! Rings: calls that were noted in the order in which they came, and are counted later.
//!
//! In a part of a window (see [`crate::Calibration`]) the hooks look nothing up: they note each entry and exit here and go on. When
//! that part ends, the recorder counts what is noted, each call on its path, and empties the ring. If its process is killed
//! before that, the reader does: [`Ring::done`] of the slots are counted already.

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

/// What is noted. A slot is taken before it is written, and its function is written last: one that has none is not written
/// yet, by a hook that a signal handler has interrupted, and perhaps left for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct RingSlot {
    /// The function that was entered or left; 0 = nothing, or nothing yet.
    pub function: u64,
    /// The call site.
    pub site: u64,
    /// Return address of the hook.
    pub hook: u64,
    /// The hook's stack pointer, and in its low bits what this is.
    pub sp: u64,
}

const _: () = assert!(size_of::<RingSlot>() == 32);

/// What a note is, in the low bits of [`RingSlot::sp`]: stack pointers are multiples of eight.
pub mod tag {
    /// A call was entered.
    pub const ENTER: u64 = 0;
    /// A call returns.
    pub const EXIT: u64 = 1;
    /// The call that all others here are made from.
    pub const BASE: u64 = 2;
    /// Nothing.
    pub const NOTHING: u64 = 3;
    /// Where they lie.
    pub const BITS: u64 = 7;
}

/// The function in a slot that stands for none.
const NO_FUNCTION: u64 = u64::MAX;

/// An entry or an exit, as its hook was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The function.
    pub function: u64,
    /// The call site.
    pub site: u64,
    /// Return address of the hook.
    pub hook: u64,
    /// Its stack pointer.
    pub sp: u64,
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
    Enter(Event),
    /// A call returns.
    Exit(Event),
    /// The latest call is this one now, however it came to be; with its stack pointer.
    Base(Place, u64),
}

impl RingSlot {
    /// A slot of no meaning.
    pub const VOID: Self = Self { function: NO_FUNCTION, site: 0, hook: 0, sp: tag::NOTHING };

    /// The latest call is this one now.
    pub fn base(place: Place, sp: u64) -> Self {
        Self {
            function: NO_FUNCTION,
            site: u64::from(place.position) << 32 | u64::from(place.node),
            hook: u64::from(place.inside & 1),
            sp: sp & !tag::BITS | tag::BASE,
        }
    }

    /// A call is entered.
    pub fn enter(event: Event) -> Self {
        let Event { function, site, hook, sp } = event;
        Self { function, site, hook, sp: sp & !tag::BITS | tag::ENTER }
    }

    /// A call returns.
    pub fn exit(event: Event) -> Self {
        let Event { function, site, hook, sp } = event;
        Self { function, site, hook, sp: sp & !tag::BITS | tag::EXIT }
    }

    /// Whether its hook has written all of it.
    pub fn is_written(&self) -> bool {
        self.function != 0
    }

    /// What it holds.
    pub fn note(&self) -> Note {
        let Self { function, site, hook, sp } = *self;
        let event = Event { function, site, hook, sp: sp & !tag::BITS };
        match sp & tag::BITS {
            _ if !self.is_written() => Note::Nothing,
            tag::ENTER => Note::Enter(event),
            tag::EXIT => Note::Exit(event),
            tag::BASE => {
                let place = Place { node: site as Ref, position: (site >> 32) as Ref, inside: hook as u8 & 1 };
                Note::Base(place, event.sp)
            }
            _ => Note::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_tells_what_was_noted() {
        let event =
            Event { function: 0x5555_0000_1000, site: 0x7fff_f7d4_1af0, hook: 0x5555_0000_1010, sp: 0x7ffe_0008 };
        assert_eq!(RingSlot::enter(event).note(), Note::Enter(event));
        assert_eq!(RingSlot::exit(event).note(), Note::Exit(event));
        let place = Place { node: 7, position: Ref::MAX - 1, inside: 1 };
        assert_eq!(RingSlot::base(place, 0x7ffe_0010).note(), Note::Base(place, 0x7ffe_0010));
    }

    #[test]
    fn what_is_not_written_to_the_end_is_nothing() {
        let begun = RingSlot { function: 0, site: 1, hook: 2, sp: 0x7ffe_0008 };
        assert_eq!([begun, RingSlot::VOID, RingSlot::default()].map(|slot| slot.note()), [Note::Nothing; 3]);
        assert!(!begun.is_written() && RingSlot::VOID.is_written());
    }
}
