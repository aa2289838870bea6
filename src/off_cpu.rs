//! Time that a call path was not on a processor.

use crate::Ref;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// How long the code of one call path, without the recorded calls that it made, was off the processor.
///
/// Most paths never are, so this is not in their nodes: an arena's records of this kind lead to each other, from
/// [`crate::Arena::off_cpu`]. Nanoseconds by the kernel's clocks, not ticks: what is told of the processor is told in those.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct OffCpu {
    /// The path's node; 0 if its path gave way to another ([`crate::Recycling`]), and no other has it yet.
    pub node: Ref,
    /// The next such record of the arena; 0 for none.
    pub next: Ref,
    /// While it waited for something: the thread gave the processor up by itself.
    pub wait_ns: u64,
    /// While others had the processor, though it could have gone on.
    pub preempted_ns: u64,
    /// Not used; zero.
    pub reserved: [u64; 5],
}

const _: () = assert!(size_of::<OffCpu>() == crate::UNIT);
