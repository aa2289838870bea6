//! What a thread keeps of a stretch of calls that are only noted ([`crate::ring`]), and of its replay.

use profile::noted;
use profile::ring::{Event, SLOTS};
use profile::{Ref, Ring, RingSlot};

/// Most bodies inlined into the base that may be open, as far as their hooks there tell. They have its stack pointer.
pub const BODIES: usize = 8;

/// What is being done with a thread's ring.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nothing is in it.
    Empty,
    /// Calls are noted.
    Open,
    /// They are counted.
    Replayed,
    /// Those that are open get their frames.
    Reopened,
}

/// The slots of a ring.
pub fn slots(ring: *mut Ring) -> *mut RingSlot {
    ring.wrapping_add(1).cast()
}

/// A thread's memory for a replay. Of most of it no page is ever touched.
#[repr(C)]
pub struct Scratch {
    /// Whether a slot was unfinished when its stretch ended, and its hook may still go on.
    pub unfinished: [bool; SLOTS],
    /// Whether the exit of the call in a slot lies in the ring, too.
    pub is_closed: [bool; SLOTS],
    /// The calls that are open, the outermost first.
    pub open: [Open; SLOTS],
    /// What was in the ring when the stretch ended.
    pub slots: [RingSlot; SLOTS],
    /// Where hooks that note twice put what nobody reads.
    pub spare: [RingSlot; SPARE],
}

/// Room for what is noted twice: the last quarter of a stretch.
pub const SPARE: usize = SLOTS / 4;

/// A call in the ring.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Open {
    /// How it was entered.
    pub entry: Event,
    /// Its node; 0 if it has none, and its calls are made from where it was made.
    pub node: Ref,
    /// Where its calls are made from.
    pub position: Ref,
    /// Its slot in the ring.
    pub at: u16,
    /// The slot of its node.
    pub own: u8,
    /// The slot that the calls it makes count in.
    pub inside: u8,
}

impl noted::Open for Open {
    fn entry(&self) -> Event {
        self.entry
    }
}
