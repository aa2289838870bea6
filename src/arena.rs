//! An arena: the part of a profile that one thread at a time writes.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Bits of [`Arena::flags`].
pub mod flag {
    /// The owning thread has ended.
    pub const ENDED: u32 = 1;
    /// The owning thread has ended its process by `exit` or `_exit`.
    pub const EXITED: u32 = 2;
    /// More than one process has counted in here: sums are exact, but belong to no single process.
    pub const MERGED: u32 = 4;
    /// The arena could not grow any further: new paths are folded.
    pub const FULL: u32 = 8;
}

/// Identity and counters of an arena, at [`crate::UNIT`] in its first block.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Arena {
    /// Process of the present or last owner, as it saw itself.
    pub pid: u32,
    /// Thread of the present or last owner.
    pub tid: u32,
    /// Parent of the process.
    pub ppid: u32,
    /// Which process of the family that is, counted from 1.
    pub process: u32,
    /// Threads that have counted in here, one after the other.
    pub owners: u32,
    /// Processes that have counted in here, one after the other.
    pub processes: u32,
    /// Bits of [`flag`].
    pub flags: u32,
    /// Not used; zero.
    pub reserved: u32,
    /// When the owner's process began to record, in ticks.
    pub process_started: u64,
    /// When the owner began to record, in ticks.
    pub started: u64,
    /// Calls that were seen but counted in no node.
    pub lost_calls: u64,
    /// Calls counted in a node that stands for more than one path (recursion folded, or no room for the path).
    pub folded_calls: u64,
    /// Calls that were left without an exit (`longjmp`, exceptions, `noreturn`) and closed later.
    pub unwound: u64,
    /// Exits that belonged to no recorded call and closed none.
    pub stray_exits: u64,
    /// Name of the owner's thread, zero-padded.
    pub name: [u8; 16],
    /// Not used; zero.
    pub reserved_tail: [u64; 12],
}

const _: () = assert!(size_of::<Arena>() == crate::ARENA_NODES - crate::UNIT);
