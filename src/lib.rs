//! The profile: what the recorder writes and the analyzer reads.
//!
//! A profile is one file, mapped and shared by the first process of a program and all the processes it forks (a
//! *family*). The recorder's counters lie in it; nothing is ever flushed. This crate holds the file's bytes and the
//! small rules both sides must agree on. It allocates nothing, does no input or output and starts no threads.
//!
//! # The way of the data
//!
//! ```text
//! hook ──▶ [`NodeRecord`] (call path) ──▶ [`CallSite`] ──▶ [`Function`] + [`Bins`] (histogram) ──▶ file ──▶ [`reader`] ──▶ analyzer
//! ```
//!
//! # The bytes (version 8, little-endian, x86-64)
//!
//! | where | what |
//! |---|---|
//! | 0 | [`Header`]: identity, clock, costs, control words, counters |
//! | 4096 | directory: [`DIRECTORY_SLOTS`] words, arenas that may be adopted and their owners |
//! | [`BLOCKS_START`] | blocks, each a multiple of [`GRANULE`] bytes, up to `Header::used` |
//!
//! A block starts with a [`Block`] header. A granule that starts with no such header was handed out but never written
//! (its process died, or the disk was full): readers step over it, granule by granule.
//!
//! | kind | after the block header |
//! |---|---|
//! | [`kind::ARENA`] | [`Arena`] at 64, then nodes from [`ARENA_NODES`] upwards, other records from the end downwards |
//! | [`kind::CHUNK`] | more of one arena: nodes from [`CHUNK_NODES`] upwards, other records from the end downwards |
//! | [`kind::MODULES`] | [`Module`] records, each followed by its path |
//! | [`kind::TEXT`] | one [`text`] record: program, command line, settings or a warning |
//! | [`kind::COUNTS`] | [`FunctionCount`] records: calls that have no other place |
//! | [`kind::RING`] | an arena's [`Ring`] and its slots: calls that are noted, and counted later |
//!
//! Records name each other by [`Ref`]: the offset in the file divided by [`UNIT`].
//!
//! Node, [`CallSite`] and [`Extension`] have the same size. Where paths give way to others ([`Recycling`]), the last two may lie where nodes did:
//! as nodes they have no parent.
//!
//! An arena has one writer at a time, so its counters are plain memory that may be read at any moment. Room for a node is
//! taken before it is written: one without a parent is not complete. What several write, and what each word promises, is
//! in [`protocol`].

#![cfg_attr(not(loom), no_std)]

pub mod arena;
pub mod block;
pub mod calibration;
pub mod callsite;
pub mod function;
pub mod header;
pub mod histogram;
pub mod module;
pub mod node;
pub mod noted;
pub mod off_cpu;
pub mod older;
pub mod pattern;
pub mod protocol;
pub mod reader;
pub mod recycling;
pub mod ring;
pub mod text;
pub mod timeline;

pub use arena::{Arena, Pending};
pub use block::{ARENA_NODES, BLOCKS_START, Block, CHUNK_NODES, GRANULE, Ref, UNIT, kind};
pub use calibration::Calibration;
pub use function::{Bins, Function, FunctionCount};
pub use header::{DIRECTORY_SLOTS, Header, MAGIC, OLDEST, VERSION};
pub use module::Module;
pub use node::{CallSite, Extension, Facts, More, Node, NodeRecord, Slot};
pub use off_cpu::OffCpu;
pub use recycling::Recycling;
pub use ring::{Ring, RingSlot};
pub use timeline::Timeline;
