//! A node of the tree of call paths.

use crate::Ref;
use core::mem::offset_of;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The position of calls that have no recorded caller: the root of an arena's tree.
pub const ROOT: Ref = 2;

/// The position below which nothing is recorded but roots: deeper than `DIYTRACE_DEPTH`.
pub const SKIPPED: Ref = 1;

/// Address of no function: what a node of [`flag::OTHERS`] has instead.
pub const OTHERS: u64 = 1;

/// What of an edge's flags tells it apart from others, as a number below 4. The hook of an edge has it added, so that edges are told
/// apart as paths are: no two calls return within so few bytes.
pub const fn edge_kind(flags: u32) -> u32 {
    (flags & (flag::NESTED | flag::BY_NESTED)) / flag::NESTED
}

/// Bits of [`Node::flags`].
pub mod flag {
    /// A recursive call whose path is not told apart from an ancestor's: what it calls is counted there. The time of
    /// calls made inside goes to `Slot` 1 of their nodes.
    pub const RECURSION: u32 = 1;
    /// Stands for calls of its function on many paths, as there was no room for them.
    pub const FOLDED: u32 = 2;
    /// Calls that are not recorded (`DIYTRACE_EXCLUDE`, or deeper than `DIYTRACE_DEPTH`): they are counted only so that
    /// their hooks' cost can be taken off their caller's time, and have no times of their own.
    pub const UNTIMED: u32 = 4;
    /// Calls of a root that no other call of it is open around: they are in its [`crate::Timeline`].
    pub const ROOT: u32 = 8;
    /// Stands for calls from its parent whose paths gave way to others: their sums, whatever was called. Its function is
    /// [`super::OTHERS`].
    pub const OTHERS: u32 = 16;
    /// The sums of calls of its function by another, whose address is the call site, on paths that gave way to others. It is
    /// [`FOLDED`], too, and no part of the tree: the time is that of nodes with [`OTHERS`].
    pub const EDGE: u32 = 32;
    /// Of an [`EDGE`]: its calls lie in others of their function.
    pub const NESTED: u32 = 64;
    /// Of an [`EDGE`]: the calls that made them lie in others of theirs.
    pub const BY_NESTED: u32 = 128;
    /// Its recorder is looking for paths that may give way, and not at this one. It means nothing to readers.
    pub const HELD: u32 = 1 << 15;
}

/// Bits of [`Slot::mark`].
pub mod mark {
    /// A call is open, and the mark tells when it began; a mark of 0 otherwise is that of a call which is not timed.
    pub const OPEN: u64 = 1;
    /// The open call was inherited over a fork: it was counted in the parent process, and its time here counts from
    /// the fork.
    pub const INHERITED: u64 = 2;
    /// Both bits.
    pub const BITS: u64 = 3;
}

/// Counters of the calls of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Slot {
    /// Calls entered.
    pub calls: u64,
    /// Raw inclusive time of calls that have ended, in ticks.
    pub ticks: u64,
    /// Recorded calls that were made inside those, at any depth.
    pub descendants: u64,
    /// The latest moment of this node, in ticks, with the bits of [`mark`]: the start of the open call, or the end of
    /// the last.
    pub mark: u64,
}

/// A call path: a function, called from a place, by the path above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Address of the function, as the hook got it.
    pub function: u64,
    /// The call site: the return address of the physical function that the call is in.
    pub site: u64,
    /// Return address of the enter hook itself: lies in the physical function.
    pub hook: u64,
    /// The path above; [`ROOT`] for none.
    pub parent: Ref,
    /// Where the calls it makes are counted: itself; an ancestor for a folded recursion; the parent for an excluded
    /// function; [`SKIPPED`] below `DIYTRACE_DEPTH`.
    pub position: Ref,
    /// Its arena's [`crate::Function`] record; 0 if there was no room for one.
    pub record: Ref,
    /// Bits of [`flag`].
    pub flags: u32,
    /// Calls that were noted, and not timed: those of windows (see [`crate::Calibration`]).
    pub noted: u32,
    /// Target of the call if the bytes before the call site were `e8`, else 0.
    pub target: u64,
    /// [`crate::Module::number`] of the function's module: tells apart what was at one address at two times, or in two
    /// processes. 0 = not known.
    pub module: u32,
    /// That of the call site's.
    pub site_module: u32,
    /// Calls left without an exit.
    pub unwound: u64,
    /// Counters: `[0]` of calls on this very path, `[1]` of those inside a folded recursion, whose time is part of
    /// another call of the same path or of its folded ancestor.
    pub slots: [Slot; 2],
}

/// See [`NodeRecord::children`].
pub const MANY: u16 = HAS_OTHERS - 1;

/// See [`NodeRecord::children`].
pub const HAS_OTHERS: u16 = 1 << 15;

/// Bits of an address of code. (With five levels of page tables there are more, for programs that ask for them.)
const ADDRESS_BITS: u32 = 48;

/// Who is called, from where: a function, its call site and its enter hook, in two words. Of the hook they have the low half: with the
/// other two it tells hooks apart.
#[inline(always)]
pub const fn key(function: u64, site: u64, hook: u64) -> [u64; 2] {
    [function ^ hook << ADDRESS_BITS, site ^ (hook >> (64 - ADDRESS_BITS)) << ADDRESS_BITS]
}

/// What a [`key`] is of: the function, the call site, and the low half of the hook.
#[inline(always)]
pub const fn of_key(key: [u64; 2]) -> (u64, u64, u32) {
    const ADDRESS: u64 = (1 << ADDRESS_BITS) - 1;
    let hook = key[0] >> ADDRESS_BITS | key[1] >> ADDRESS_BITS << (64 - ADDRESS_BITS);
    (key[0] & ADDRESS, key[1] & ADDRESS, hook as u32)
}

/// The bytes of a [`Node`]: one cache line. What paths of one call site share is in its [`CallSite`], and what few paths have in an
/// [`Extension`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct NodeRecord {
    /// [`key`] of its function, call site and hook.
    pub key: [u64; 2],
    /// `Node::parent`; written last, so a node that has one is complete.
    pub parent: Ref,
    /// Its [`Extension`], or if it has none, its [`CallSite`]. Which of the two that is, its `position` tells.
    pub more: Ref,
    /// `Node::flags`.
    pub flags: u16,
    /// Nodes whose parent this is, but for one of [`flag::OTHERS`]; [`MANY`] if there have been so many. With [`HAS_OTHERS`], there
    /// is one of those, too.
    pub children: u16,
    /// `Node::noted`.
    pub noted: u32,
    /// `Node::slots[0]`.
    pub slot: Slot,
}

/// What is known of a call site, and of the function that it calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Facts {
    /// `Node::record`.
    pub record: Ref,
    /// `Node::module`.
    pub module: u32,
    /// `Node::site_module`.
    pub site_module: u32,
    /// `Node::target`, as the bytes of the call have it: relative to the call site; 0 for none.
    pub target: i32,
    /// The high half of `Node::hook`.
    pub hook_high: u32,
}

/// A place where a function is called: what all paths of an arena that end there have in common. It may lie where a node would; no path has
/// that node.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct CallSite {
    /// [`key`] of its function, call site and hook.
    pub key: [u64; 2],
    /// 0: as a node this has no parent.
    pub no_parent: Ref,
    /// 0: this is no [`Extension`].
    pub position: Ref,
    /// What is known of it.
    pub facts: Facts,
    /// The next one of the arena; 0 for none.
    pub next: Ref,
    /// Not used; zero.
    pub reserved: [u32; 4],
}

/// What few nodes have: calls inside a folded recursion, calls that are counted elsewhere than at the node, calls left without an exit. It may lie
/// where a node would, as a [`CallSite`] may.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Extension {
    /// The node's [`CallSite`].
    pub site: Ref,
    /// Not used; zero.
    pub reserved: u32,
    /// `Node::unwound`.
    pub unwound: u64,
    /// 0: as a node this has no parent.
    pub no_parent: Ref,
    /// `Node::position`, which is never 0.
    pub position: Ref,
    /// `Node::record`, where a call site has it.
    pub record: Ref,
    /// Not used; zero.
    pub more_reserved: u32,
    /// `Node::slots[1]`.
    pub slot: Slot,
}

/// What a node has beside its record, wherever that lies.
#[derive(Clone, Copy, Debug, Default)]
pub struct More {
    /// Of its call site.
    pub facts: Facts,
    /// That of its extension; 0 if it has none.
    pub position: Ref,
    /// Likewise.
    pub unwound: u64,
    /// Likewise.
    pub slot: Slot,
}

const _: () = assert!(size_of::<NodeRecord>() == 64 && size_of::<CallSite>() == 64 && size_of::<Extension>() == 64);
const _: () = assert!(offset_of!(CallSite, no_parent) == offset_of!(NodeRecord, parent));
const _: () = assert!(offset_of!(Extension, no_parent) == offset_of!(NodeRecord, parent));
const _: () = assert!(offset_of!(CallSite, position) == offset_of!(Extension, position));
const _: () = assert!(offset_of!(CallSite, facts) + offset_of!(Facts, record) == offset_of!(Extension, record));

impl Facts {
    /// Of a node.
    pub fn of(node: &Node) -> Self {
        Self {
            record: node.record,
            module: node.module,
            site_module: node.site_module,
            target: if node.target == 0 { 0 } else { node.target.wrapping_sub(node.site) as i32 },
            hook_high: (node.hook >> 32) as u32,
        }
    }
}

impl NodeRecord {
    /// Of a node whose [`Self::more`] is that.
    pub fn of(node: &Node, more: Ref) -> Self {
        Self {
            key: key(node.function, node.site, node.hook),
            parent: node.parent,
            more,
            flags: node.flags as u16,
            children: 0,
            noted: node.noted,
            slot: node.slots[0],
        }
    }

    /// The node of a name, whose [`Self::more`] leads to that.
    pub fn node(&self, name: Ref, more: &More) -> Node {
        let (function, site, hook) = of_key(self.key);
        let More { facts, position, unwound, slot } = *more;
        let is_extended = position != 0;
        Node {
            function,
            site,
            hook: u64::from(facts.hook_high) << 32 | u64::from(hook),
            parent: self.parent,
            position: if is_extended { position } else { name },
            record: facts.record,
            flags: u32::from(self.flags) & !flag::HELD,
            noted: self.noted,
            target: if facts.target == 0 { 0 } else { site.wrapping_add_signed(facts.target.into()) },
            module: facts.module,
            site_module: facts.site_module,
            unwound: if is_extended { unwound } else { 0 },
            slots: [self.slot, if is_extended { slot } else { Slot::default() }],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_tells_function_call_site_and_hook() {
        let (function, site, hook) = (0x5555_1234_5678, 0x7fff_8765_4321, 0x7fff_dead_beef);
        assert_eq!(of_key(key(function, site, hook)), (function, site, 0xdead_beef));
        assert_ne!(key(function, site, hook), key(function, site, hook + 1));
        assert_ne!(key(function, site, hook), key(function, site, hook + (1 << 16)));
    }
}
