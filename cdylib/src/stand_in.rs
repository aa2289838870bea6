//! Nodes that stand for calls on paths that gave way ([`crate::recycle`]): edges between functions, and what else is called from a
//! path.

use crate::arena;
use crate::children;
use crate::family::at;
use crate::free_nodes;
use crate::path;
use crate::thread::Thread;
use profile::node::{HAS_OTHERS, OTHERS, ROOT, edge_kind, flag};
use profile::{Function, NodeRecord, Ref};

/// The node for calls of a path's function by its parent's.
pub unsafe fn edge(thread: &Thread, node: &NodeRecord, parent: &NodeRecord) -> Option<Ref> {
    let nested = if is_inside(thread, node) { flag::NESTED } else { 0 };
    let by_nested = if is_inside(thread, parent) { flag::BY_NESTED } else { 0 };
    let kind = nested | by_nested;
    let (function, site) = (node.function as usize, parent.function as usize);
    let whole_hook = (u64::from(node.hook_high) << 32 | u64::from(node.hook)) as usize;
    let hook = whole_hook + edge_kind(kind) as usize;
    if let Some(found) = path::find(thread, ROOT, function, site, hook) {
        // SAFETY: the index holds nodes of the arena.
        let edge = unsafe { &*thread.node(found) };
        // At one address there may have been two libraries.
        return ((edge.module, edge.site_module) == (node.module, parent.module)).then_some(found);
    }
    let modules = (node.module, parent.module);
    make(thread, ROOT, (function, site, hook), flag::FOLDED | flag::EDGE | kind, node.record, modules)
}

/// Whether a path lies below another of its function.
fn is_inside(thread: &Thread, node: &NodeRecord) -> bool {
    // SAFETY: a node's record is the arena's.
    if node.record != 0 && unsafe { (*at::<Function>(thread.base, node.record)).recursive_nodes } == 0 {
        return false; // none of its function's do
    }
    let mut above = node.parent;
    while above > ROOT {
        // SAFETY: what lies above a node are nodes of the arena, and ends at the root.
        let ancestor = unsafe { &*thread.node(above) };
        if ancestor.function == node.function {
            return true;
        }
        above = ancestor.parent;
    }
    false
}

/// The node for what else is called from a path.
pub unsafe fn others(thread: &Thread, parent: Ref) -> Option<Ref> {
    // SAFETY: the caller's path.
    let children = unsafe { &raw mut (*thread.node(parent)).children };
    // SAFETY: the same.
    let found = match unsafe { *children } & HAS_OTHERS {
        0 => None,
        _ => path::find(thread, parent, OTHERS as usize, 0, 0),
    };
    let found = found.or_else(|| make(thread, parent, (OTHERS as usize, 0, 0), flag::OTHERS, 0, (0, 0)))?;
    // SAFETY: the same.
    unsafe { *children |= HAS_OTHERS };
    Some(found)
}

fn make(
    thread: &Thread,
    parent: Ref,
    (function, site, hook): (usize, usize, usize),
    flags: u32,
    record: Ref,
    (module, site_module): (u32, u32),
) -> Option<Ref> {
    path::make_room(thread, true)?;
    let free = free_nodes::take_any(thread, function);
    let (reference, node) = free.or_else(|| arena::node(thread, function, true))?;
    // SAFETY: the node is the thread's; nothing leads to it yet.
    unsafe {
        (*node).site = site as u64;
        ((*node).hook, (*node).hook_high) = (hook as u32, (hook as u64 >> 32) as u32);
        ((*node).record, (*node).flags, (*node).position) = (record, flags as u16, reference);
        ((*node).module, (*node).site_module, (*node).target) = (module, site_module, 0);
        arena::publish_node(node, parent);
    }
    if !children::insert(thread, parent, reference, function, site, hook) {
        path::index(thread, reference, node);
    }
    Some(reference)
}
