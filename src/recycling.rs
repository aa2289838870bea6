//! Paths that gave way to others, as there was no room for all.

use crate::{Ref, Slot};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// What an arena says of its paths that gave way.
///
/// A path that is cold (few calls and little time), and has none below it, may give its node to a new one. What it has counted is
/// added to two other nodes: to what else was called from its parent ([`crate::node::flag::OTHERS`]), so the times of the tree stay
/// whole, and to all such calls of its function by that of its parent ([`crate::node::flag::EDGE`]), so functions and the calls
/// between them stay exact. If it is met again, it begins anew.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Recycling {
    /// Paths that gave way.
    pub paths: u64,
    /// How many calls any path that came back may have had before, at most.
    pub most_calls: u64,
    /// How much time, at most, in ticks.
    pub most_ticks: u64,
    /// The path that is giving way: 0 if none is. While it is, it has no parent, and all of `was` counts.
    pub node: Ref,
    /// Its parent.
    pub parent: Ref,
    /// The nodes that take its sums; 0 for none.
    pub to: [Ref; 2],
    /// Records of [`crate::OffCpu`]: its own, and theirs; 0 for none.
    pub off_cpu: [Ref; 3],
    /// Not used; zero.
    pub reserved: u32,
    /// What all three had counted before.
    pub was: [Was; 3],
    /// Not used; zero.
    pub more: [u64; 5],
}

const _: () = assert!(size_of::<Recycling>().is_multiple_of(crate::UNIT));

/// What a node had counted.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Was {
    /// `Node::slots`.
    pub slots: [Slot; 2],
    /// `Node::unwound`.
    pub unwound: u64,
    /// `Node::noted`.
    pub noted: u64,
    /// Its [`crate::OffCpu`]: waiting and preempted.
    pub off_ns: [u64; 2],
}
