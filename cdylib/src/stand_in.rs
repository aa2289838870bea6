//! Nodes that stand for calls on paths that gave way ([`crate::recycle`]): edges between functions, and what else is called from a
//! path.

use crate::arena;
use crate::call_site;
use crate::children;
use crate::extension;
use crate::family::at;
use crate::free_nodes;
use crate::node;
use crate::path;
use crate::thread::Thread;
use profile::node::{HAS_OTHERS, OTHERS, ROOT, edge_kind, flag, key};
use profile::{CallSite, Facts, Function, NodeRecord, Ref};

/// The node for calls of a path's function by its parent's.
pub unsafe fn edge(thread: &Thread, node: *const NodeRecord, parent: *const NodeRecord) -> Option<Ref> {
    // SAFETY: the caller's nodes.
    let (of, by, function, site, hook) = unsafe {
        let ((function, _, hook), site) = (node::who(node), node::function(parent));
        (*node::facts(thread.base, node), *node::facts(thread.base, parent), function, site, hook)
    };
    let nested = if is_inside(thread, node) { flag::NESTED } else { 0 };
    let by_nested = if is_inside(thread, parent) { flag::BY_NESTED } else { 0 };
    let kind = nested | by_nested;
    let hook = ((of.hook_high as usize) << 32 | hook) + edge_kind(kind) as usize;
    let facts = Facts { site_module: by.module, target: 0, hook_high: (hook as u64 >> 32) as u32, ..of };
    if let Some(found) = path::find(thread, ROOT, function, site, hook) {
        // SAFETY: the index holds nodes of the arena.
        let known = unsafe { &*node::facts(thread.base, thread.node(found)) };
        // At one address there may have been two libraries.
        return ((known.module, known.site_module) == (facts.module, facts.site_module)).then_some(found);
    }
    make(thread, ROOT, (function, site, hook), flag::FOLDED | flag::EDGE | kind, facts)
}

/// Whether a path lies below another of its function.
fn is_inside(thread: &Thread, node: *const NodeRecord) -> bool {
    // SAFETY: the caller's node; its record is the arena's, and so is what lies above it, which ends at the root.
    unsafe {
        let record = node::record(thread.base, node);
        if record != 0 && (*at::<Function>(thread.base, record)).recursive_nodes == 0 {
            return false; // none of its function's do
        }
        let (function, mut above) = (node::function(node), (*node).parent);
        while above > ROOT {
            let ancestor = thread.node(above);
            if node::function(ancestor) == function {
                return true;
            }
            above = (*ancestor).parent;
        }
        false
    }
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
    let facts = Facts::default();
    let found = found.or_else(|| make(thread, parent, (OTHERS as usize, 0, 0), flag::OTHERS, facts))?;
    // SAFETY: the same.
    unsafe { *children |= HAS_OTHERS };
    Some(found)
}

fn make(
    thread: &Thread,
    parent: Ref,
    (function, site, hook): (usize, usize, usize),
    flags: u32,
    facts: Facts,
) -> Option<Ref> {
    path::make_room(thread, true)?;
    let key = key(function as u64, site as u64, hook as u64);
    let known = call_site::find(thread, key);
    // SAFETY: the index holds call sites of the arena.
    let known = known.filter(|site| unsafe { (*at::<CallSite>(thread.base, *site)).facts == facts });
    let call_site = known.or_else(|| call_site::make(thread, key, facts, true))?;
    let free = free_nodes::take_any(thread, key);
    let (reference, node) = free.or_else(|| arena::node(thread, key, true))?;
    // SAFETY: the node is the thread's; nothing leads to it yet.
    unsafe {
        if !extension::begin(thread, reference, call_site, reference) {
            free_nodes::add(thread, reference);
            return None;
        }
        (*node).flags = flags as u16;
        arena::publish_node(node, parent);
    }
    if !children::insert(thread, parent, reference, function, site, hook) {
        path::index(thread, reference, node);
    }
    Some(reference)
}
