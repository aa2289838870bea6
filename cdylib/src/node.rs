//! A node of the file as the hooks read it.

use crate::frame::bits;
use core::mem::offset_of;
use profile::{NodeRecord, Ref, Slot};

/// Whether a node is that path.
///
/// # Safety
/// The node must be in the mapping.
#[inline(always)]
pub unsafe fn is(node: *const NodeRecord, parent: Ref, function: usize, site: usize, hook: usize) -> bool {
    // SAFETY: the caller's promise.
    let node = unsafe { &*node };
    node.function == function as u64 && node.site == site as u64 && node.hook == hook as u32 && node.parent == parent
}

/// The counters of a node that a call counts in.
///
/// # Safety
/// The node must be in the mapping.
#[inline(always)]
pub unsafe fn slot(node: *mut NodeRecord, bits: u8) -> *mut Slot {
    const APART: usize = offset_of!(NodeRecord, folded_slot) - offset_of!(NodeRecord, slot);
    // SAFETY: the caller's promise; a node has two slots.
    unsafe { (&raw mut (*node).slot).byte_add((bits & bits::SLOT) as usize * APART) }
}
