//! What an arena knows of a function beyond its paths: the distribution of its calls' times.

use crate::Ref;
use crate::histogram::{OCTAVES, SUBS};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Extremes and histogram of one function in one arena, over calls that have returned.
///
/// Times are inclusive ticks, corrected by the costs in [`crate::Header`] as they were recorded.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Function {
    /// Shortest call; `u64::MAX` if none has returned.
    pub min: u64,
    /// Longest call.
    pub max: u64,
    /// [`Bins`] of each octave; 0 where no call fell. Those of short calls share the first cache line with the extremes.
    pub octaves: [Ref; OCTAVES],
    /// Address of the function.
    pub address: u64,
    /// Calls that returned but for whose time there was no room in the histogram.
    pub unbinned: u64,
    /// Nodes of the function that have an ancestor of the same function. Past a limit, recursion is folded.
    pub recursive_nodes: u64,
    /// Its [`crate::Timeline`]; 0 if it is no root, or has not returned yet.
    pub timeline: Ref,
    /// Not used; zero.
    pub reserved: u32,
}

/// One octave of a histogram.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Bins {
    /// Calls in each equal part of the octave.
    pub counts: [u64; SUBS],
}

/// Calls of a function that were counted in no arena: there was no room for a path, or a signal handler's call came while its
/// thread was changing its paths.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct FunctionCount {
    /// [`crate::protocol::by_function::key`] of the function; 0 = none yet.
    pub key: u64,
    /// Calls.
    pub calls: u64,
}

const _: () = assert!(size_of::<Function>() == 256);
const _: () = assert!(size_of::<Bins>() == 128);
