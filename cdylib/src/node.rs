//! A node of the file as the hooks read it.

use crate::family::at;
use crate::frame::bits;
use profile::node::{key, of_key};
use profile::{CallSite, Extension, Facts, NodeRecord, Ref, Slot};

/// Whether a node is that path.
///
/// # Safety
/// The node must be in the mapping.
#[inline(always)]
pub unsafe fn is(node: *const NodeRecord, parent: Ref, function: usize, site: usize, hook: usize) -> bool {
    // SAFETY: the caller's promise.
    let node = unsafe { &*node };
    let wanted = key(function as u64, site as u64, hook as u64);
    node.key[0] == wanted[0] && node.key[1] == wanted[1] && node.parent == parent
}

/// Who is called, from where: the function of a node, its call site, and the low half of its hook.
///
/// # Safety
/// The node must be in the mapping.
pub unsafe fn who(node: *const NodeRecord) -> (usize, usize, usize) {
    // SAFETY: the caller's promise.
    let (function, site, hook) = unsafe { of_key((*node).key) };
    (function as usize, site as usize, hook as usize)
}

/// The return address of a node's enter hook.
///
/// # Safety
/// The node must be in the mapping, and complete.
pub unsafe fn full_hook(base: *mut u8, node: *const NodeRecord) -> usize {
    // SAFETY: the caller's promise.
    let (low, high) = unsafe { (who(node).2 as u64, u64::from((*facts(base, node)).hook_high)) };
    (high << 32 | low) as usize
}

/// The function of a node.
///
/// # Safety
/// The node must be in the mapping.
pub unsafe fn function(node: *const NodeRecord) -> usize {
    // SAFETY: the caller's promise.
    unsafe { who(node).0 }
}

/// The counters of a node that a call counts in.
///
/// # Safety
/// The node must be in the mapping; with [`bits::SLOT`] it must have an extension.
#[inline(always)]
pub unsafe fn slot(base: *mut u8, node: *mut NodeRecord, bits: u8) -> *mut Slot {
    // SAFETY: the caller's promise.
    unsafe {
        match bits & bits::SLOT {
            0 => &raw mut (*node).slot,
            _ => &raw mut (*at::<Extension>(base, (*node).more)).slot,
        }
    }
}

/// A node's call site.
///
/// # Safety
/// The node must be in the mapping, and complete.
#[inline(always)]
pub unsafe fn call_site(base: *mut u8, node: *const NodeRecord) -> Ref {
    // SAFETY: the caller's node leads to one, or to an extension, which has a position.
    unsafe { extension(base, node).map_or((*node).more, |extension| (*extension).site) }
}

/// What is known of a node's call site.
///
/// # Safety
/// The node must be in the mapping, and complete.
#[inline(always)]
pub unsafe fn facts(base: *mut u8, node: *const NodeRecord) -> *const Facts {
    // SAFETY: the caller's promise.
    unsafe { &raw const (*at::<CallSite>(base, call_site(base, node))).facts }
}

/// The record of a node's function; 0 if it has none.
///
/// # Safety
/// The node must be in the mapping, and complete.
#[inline(always)]
pub unsafe fn record(base: *mut u8, node: *const NodeRecord) -> Ref {
    // SAFETY: the caller's node leads to a call site, or to an extension that has that where a call site has it.
    unsafe { (*at::<CallSite>(base, (*node).more)).facts.record }
}

/// The extension of a node, if it has one.
///
/// # Safety
/// The node must be in the mapping.
#[inline(always)]
pub unsafe fn extension(base: *mut u8, node: *const NodeRecord) -> Option<*mut Extension> {
    // SAFETY: what the caller's node leads to has a position, or a zero there.
    unsafe {
        let more: *mut Extension = at(base, (*node).more);
        ((*node).more != 0 && (*more).position != 0).then_some(more)
    }
}

/// Where calls of a node are made from.
///
/// # Safety
/// The node must be in the mapping.
#[inline(always)]
pub unsafe fn position(base: *mut u8, name: Ref, node: *const NodeRecord) -> Ref {
    // SAFETY: the caller's node.
    unsafe { extension(base, node).map_or(name, |extension| (*extension).position) }
}

/// What a node has counted: on its path, and inside a folded recursion.
///
/// # Safety
/// The node must be in the mapping.
pub unsafe fn slots(base: *mut u8, node: *const NodeRecord) -> [Slot; 2] {
    // SAFETY: the caller's node.
    unsafe { [(*node).slot, extension(base, node).map_or(Slot::default(), |extension| (*extension).slot)] }
}

/// Has a node have counted nothing.
///
/// # Safety
/// The node must be in the mapping, and the thread's.
pub unsafe fn clear(base: *mut u8, node: *mut NodeRecord) {
    // SAFETY: the caller's node.
    unsafe {
        ((*node).slot, (*node).noted) = Default::default();
        if let Some(extension) = extension(base, node) {
            ((*extension).slot, (*extension).unwound) = Default::default();
        }
    }
}
