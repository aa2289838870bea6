//! Nodes as versions 5 and 6 have them, all of a path in one record; and what they have beside theirs in version 7.

use crate::node::{Facts, More, flag};
use crate::{Node, Ref, Slot};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The first version whose nodes are [`crate::NodeRecord`]s.
pub const SINCE: u32 = 7;

/// The first version whose call sites and extensions may lie where nodes do.
pub const SINCE_SITES: u32 = 8;

/// An extension of version 7. A call site begins with the same facts and a position of 0.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct OlderExtension {
    /// Those of its call site.
    pub facts: Facts,
    /// `Node::position`, which is never 0.
    pub position: Ref,
    /// `Node::unwound`.
    pub unwound: u64,
    /// `Node::slots[1]`.
    pub slot: Slot,
}

impl From<OlderExtension> for More {
    fn from(OlderExtension { facts, position, unwound, slot }: OlderExtension) -> Self {
        match position {
            0 => Self { facts, ..Self::default() },
            _ => Self { facts, position, unwound, slot },
        }
    }
}

/// The bytes of a node.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct OlderRecord {
    /// `Node::function`.
    pub function: u64,
    /// `Node::site`.
    pub site: u64,
    /// The low half of `Node::hook`.
    pub hook: u32,
    /// `Node::parent`.
    pub parent: Ref,
    /// `Node::record`.
    pub record: Ref,
    /// `Node::flags`.
    pub flags: u16,
    /// Nodes whose parent this is.
    pub children: u16,
    /// `Node::slots[0]`.
    pub slot: Slot,
    /// The high half of `Node::hook`.
    pub hook_high: u32,
    /// `Node::position`.
    pub position: Ref,
    /// `Node::module`.
    pub module: u32,
    /// `Node::site_module`.
    pub site_module: u32,
    /// `Node::target`, relative to the call site; 0 for none.
    pub target: i32,
    /// `Node::noted`.
    pub noted: u32,
    /// `Node::unwound`.
    pub unwound: u64,
    /// `Node::slots[1]`.
    pub folded_slot: Slot,
}

const _: () = assert!(size_of::<OlderRecord>() == 128);

impl From<OlderRecord> for Node {
    fn from(record: OlderRecord) -> Self {
        Self {
            function: record.function,
            site: record.site,
            hook: u64::from(record.hook_high) << 32 | u64::from(record.hook),
            parent: record.parent,
            position: record.position,
            record: record.record,
            flags: u32::from(record.flags) & !flag::HELD,
            noted: record.noted,
            target: if record.target == 0 { 0 } else { record.site.wrapping_add_signed(record.target.into()) },
            module: record.module,
            site_module: record.site_module,
            unwound: record.unwound,
            slots: [record.slot, record.folded_slot],
        }
    }
}
