//! Blocks: how the file's space is handed out.

use crate::header::DIRECTORY_SLOTS;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Every block is a multiple of this many bytes and starts at one.
pub const GRANULE: usize = 4096;

/// Records refer to each other by offsets in units of this many bytes.
pub const UNIT: usize = 64;

/// Where blocks begin: behind the header's page and the directory.
pub const BLOCKS_START: usize = GRANULE + DIRECTORY_SLOTS * 8;

/// Where the first node of an arena's first block lies.
pub const ARENA_NODES: usize = 256;

/// Where the first node of a further block of an arena lies.
pub const CHUNK_NODES: usize = 128;

/// The file offset of a record divided by [`UNIT`]; 0 = none.
pub type Ref = u32;

/// What marks the start of a block.
pub const BLOCK_MAGIC: u32 = u32::from_le_bytes(*b"dblk");

/// Values of [`Block::kind`].
pub mod kind {
    /// The first block of an arena.
    pub const ARENA: u32 = 1;
    /// A further block of an arena.
    pub const CHUNK: u32 = 2;
    /// Modules: program and libraries.
    pub const MODULES: u32 = 3;
    /// One text.
    pub const TEXT: u32 = 4;
    /// Calls by function, from the block's header to its end.
    pub const COUNTS: u32 = 5;
    /// An arena's [`crate::Ring`].
    pub const RING: u32 = 6;
}

/// The header of a block.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Block {
    /// [`BLOCK_MAGIC`]; written last, so a block that has it is complete.
    pub magic: u32,
    /// One of [`kind`].
    pub kind: u32,
    /// Size of the block in bytes.
    pub size: u32,
    /// Of an arena's block: the [`Ref`] of the arena's first block.
    pub arena: Ref,
    /// Nodes that room was taken for, from its front; the word is one with `back` where it is changed. Other kinds: bytes
    /// used behind the block's header.
    pub nodes: u32,
    /// Bytes used by functions and bins, from its back.
    pub back: u32,
    /// Of an arena's block: the next block of the same arena, 0 for none.
    pub next: Ref,
    /// Of an arena's first block: the latest of its [`crate::CallSite`] records; 0 for none.
    pub call_sites: Ref,
    /// Not used; zero.
    pub reserved: [u32; 8],
}

const _: () = assert!(size_of::<Block>() == UNIT);
// Both counts are changed as one word.
const _: () = assert!(core::mem::offset_of!(Block, nodes).is_multiple_of(8));
const _: () = assert!(core::mem::offset_of!(Block, back) == core::mem::offset_of!(Block, nodes) + 4);
const _: () = assert!(BLOCKS_START.is_multiple_of(GRANULE));
