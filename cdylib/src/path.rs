//! Call paths: the slow way from a call to its node, taken once for each path.

use crate::arena;
use crate::children::{self, Known};
use crate::frame::Frame;
use crate::modules;
use crate::node;
use crate::roots;
use crate::sys;
use crate::thread::{READABLE_PAGES, Thread};
use profile::node::{MANY, ROOT, SKIPPED, flag};
use profile::{Function, NodeRecord, Ref, callsite};

/// Nodes of one function below others of it, in one arena, before its recursion is folded. A recursion that branches
/// has exponentially many paths; a tree of this many stays in the processor's first cache.
const MOST_RECURSIVE_NODES: u64 = 128;

/// The key of a call path in the index. Of call site and hook one changes where the other does not, as a rule.
#[inline(always)]
pub fn key(parent: Ref, function: usize, site: usize, hook: usize) -> u64 {
    function as u64 ^ (site.wrapping_add(hook as u32 as usize) as u64) << 20 ^ (parent as u64) << 40
}

/// The node for a call from `parent`, if there is one.
#[inline(always)]
pub fn find(thread: &Thread, parent: Ref, function: usize, site: usize, hook: usize) -> Option<Ref> {
    match children::find(thread, parent, function, site, hook) {
        Known::Is(node) => Some(node),
        Known::IsNew => None,
        Known::Nothing => {
            // SAFETY: the index holds nodes of the thread's arena only.
            let is_it = |node| unsafe { node::is(thread.node(node), parent, function, site, hook) };
            thread.nodes.find(key(parent, function, site, hook), is_it)
        }
    }
}

/// The node that stands for a function on all paths for which there was no room, if there is one.
pub fn find_folded(thread: &Thread, function: usize) -> Option<Ref> {
    find(thread, ROOT, function, 0, 0)
}

/// Whether a node is of the thread's own arena. (That of a call may not be: of one whose enter hook was interrupted by a
/// signal handler that forked.)
pub fn is_own(thread: &Thread, node: Ref) -> bool {
    if node <= ROOT {
        return true;
    }
    if children::is_own(thread, node) {
        return true;
    }
    // SAFETY: a position is a node of some arena's.
    let key = unsafe { key_of(thread.node(node)) };
    thread.nodes.find(key, |found| found == node).is_some()
}

/// The node for a call from `parent`, made if there is none. `None` if there is no room for any.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn child(thread: &Thread, parent: Ref, function: usize, site: usize, hook: usize) -> Option<Ref> {
    find_or_make(thread, parent, function, site, hook).or_else(|| folded(thread, function))
}

/// The same. `None` if there is no room for one that has that path alone.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn find_or_make(thread: &Thread, parent: Ref, function: usize, site: usize, hook: usize) -> Option<Ref> {
    let found = find(thread, parent, function, site, hook);
    if found.is_some() {
        return found;
    }
    modules::register(thread.family, function);
    modules::register(thread.family, site);
    thread.use_filter();
    make(thread, parent, function, site, hook)
}

fn make(thread: &Thread, parent: Ref, function: usize, site: usize, hook: usize) -> Option<Ref> {
    if !children::has_room(thread, parent, function, site, hook) {
        make_room(thread, false)?;
    }
    let record = function_record(thread, function, false)?;
    let family = thread.family;
    let is_root = roots::is_root(family, function);
    let is_excluded = roots::is_excluded(family, function) && !is_root;
    let (reference, node) = arena::node(thread, function, false)?;
    let (flags, position) = if is_excluded {
        (flag::UNTIMED, parent)
    } else if !is_root && is_too_deep(thread, parent) {
        (flag::UNTIMED, SKIPPED)
    } else {
        match fold(thread, parent, function, record) {
            Some(ancestor) => (flag::RECURSION, ancestor),
            None if is_in_timeline(thread, parent, function, is_root) => (flag::ROOT, reference),
            None => (0, reference),
        }
    };
    let target = target(thread, site);
    // SAFETY: the node is the thread's; nothing leads to it yet.
    unsafe {
        (*node).site = site as u64;
        (*node).hook = hook as u32;
        (*node).record = record;
        (*node).flags = flags as u16;
        (*node).hook_high = (hook as u64 >> 32) as u32;
        (*node).position = position;
        (*node).module = modules::number(family, function);
        (*node).site_module = modules::number(family, site);
        (*node).target = if target == 0 { 0 } else { target.wrapping_sub(site as u64) as i32 };
        // First: a parent may have too many children, and never too few.
        count_child(thread, parent);
        arena::publish_node(node, parent);
    }
    if !children::insert(thread, parent, reference, function, site, hook) {
        index(thread, reference, node);
    }
    Some(reference)
}

/// Counts another path below one.
///
/// # Safety
/// The parent must be a node of the thread's, or none.
unsafe fn count_child(thread: &Thread, parent: Ref) {
    if parent > ROOT {
        // SAFETY: the caller's promise.
        let children = unsafe { &mut (*thread.node(parent)).children };
        *children += u16::from(*children & MANY != MANY);
    }
}

/// Whether a call from a path is deeper below its root than `DIYTRACE_DEPTH` lets be recorded.
fn is_too_deep(thread: &Thread, parent: Ref) -> bool {
    let limit = thread.family.settings.depth;
    let (mut ancestor, mut depth) = (parent, 0);
    while limit != 0 && ancestor > ROOT && depth <= limit {
        depth += 1;
        // SAFETY: ancestors are nodes of the arena, and end at the root.
        let node = unsafe { &*thread.node(ancestor) };
        if roots::is_root(thread.family, node.function as usize) {
            break;
        }
        ancestor = node.parent;
    }
    limit != 0 && depth > limit
}

/// Whether calls of a path are those that its function's timeline shows: of a root, or, where everything is recorded, of
/// what nothing recorded has called.
fn is_in_timeline(thread: &Thread, parent: Ref, function: usize, is_root: bool) -> bool {
    if thread.roots.get().is_null() {
        return parent == ROOT;
    }
    let mut ancestor = parent;
    while is_root && ancestor > ROOT {
        // SAFETY: ancestors are nodes of the arena, and end at the root.
        let node = unsafe { &*thread.node(ancestor) };
        if node.function == function as u64 {
            return false;
        }
        ancestor = node.parent;
    }
    is_root
}

/// The ancestor that a recursive call is folded into, if its function has enough paths of its own.
fn fold(thread: &Thread, parent: Ref, function: usize, record: Ref) -> Option<Ref> {
    let mut ancestor = parent;
    while ancestor > ROOT {
        // SAFETY: ancestors are nodes of the arena, and end at the root.
        let node = unsafe { &*thread.node(ancestor) };
        if node.function == function as u64 {
            // SAFETY: the record is the arena's.
            let record = unsafe { &mut *crate::family::at::<Function>(thread.base, record) };
            if record.recursive_nodes >= MOST_RECURSIVE_NODES {
                return Some(ancestor);
            }
            record.recursive_nodes += 1;
            return None;
        }
        ancestor = node.parent;
    }
    None
}

/// The node that stands for a function on all paths for which there was no room.
pub fn folded(thread: &Thread, function: usize) -> Option<Ref> {
    let found = find_folded(thread, function);
    if found.is_some() {
        return found;
    }
    make_room(thread, true)?;
    let record = function_record(thread, function, true).unwrap_or(0);
    let (reference, node) = arena::node(thread, function, true)?;
    // SAFETY: the node is the thread's; nothing leads to it yet.
    unsafe {
        (*node).record = record;
        (*node).flags = flag::FOLDED as u16;
        (*node).position = reference;
        (*node).module = modules::number(thread.family, function);
        arena::publish_node(node, ROOT);
    }
    index(thread, reference, node);
    Some(reference)
}

/// Makes room in the thread's index for one more node; one that counts a function by itself may use the last of it.
pub fn make_room(thread: &Thread, spare: bool) -> Option<()> {
    let base = thread.base;
    // SAFETY: the index holds nodes of the thread's arena only.
    let has_room = thread.nodes.make_room(spare, |node| unsafe { key_of(crate::family::at(base, node)) });
    if !has_room {
        thread.family.warn_of_little_memory();
    }
    has_room.then_some(())
}

/// Makes room in the thread's indices ahead, as they cannot grow later.
///
/// The state must be [`crate::busy`].
pub fn make_room_ahead(thread: &Thread) {
    let base = thread.base;
    // SAFETY: the indices hold nodes and records of the thread's arena only.
    unsafe {
        thread.nodes.make_room_for(1 << 12, |node| key_of(crate::family::at(base, node)));
        thread.functions.make_room_for(1 << 11, |record| (*crate::family::at::<Function>(base, record)).address);
    }
}

unsafe fn key_of(node: *const NodeRecord) -> u64 {
    // SAFETY: the caller's node.
    let node = unsafe { &*node };
    key(node.parent, node.function as usize, node.site as usize, node.hook as usize)
}

/// Enters a node and its function's record in the thread's indices, if there is room.
pub fn index(thread: &Thread, reference: Ref, node: *mut NodeRecord) {
    // SAFETY: the caller's node.
    let is_folded = unsafe { (*node).flags } & flag::FOLDED as u16 != 0;
    if make_room(thread, is_folded).is_some() {
        // SAFETY: the caller's node.
        thread.nodes.insert(unsafe { key_of(node) }, reference);
    }
    // SAFETY: the caller's node.
    let (record, function) = unsafe { ((*node).record, (*node).function) };
    if record != 0 && find_record(thread, function as usize).is_none() {
        index_record(thread, record, function);
    }
}

/// What is kept of a function, if anything is.
pub fn find_record(thread: &Thread, function: usize) -> Option<Ref> {
    let base = thread.base;
    // SAFETY: the index holds records of the thread's arena only.
    let is_it = |record| unsafe { (*crate::family::at::<Function>(base, record)).address == function as u64 };
    thread.functions.find(function as u64, is_it)
}

/// Enters a function's record in the thread's index. False if there is no room.
fn index_record(thread: &Thread, record: Ref, function: u64) -> bool {
    let base = thread.base;
    // SAFETY: the index holds records of the thread's arena only.
    let key_of_record = |record| unsafe { (*crate::family::at::<Function>(base, record)).address };
    let has_room = thread.functions.make_room(true, key_of_record);
    if has_room {
        thread.functions.insert(function, record);
    }
    has_room
}

fn function_record(thread: &Thread, function: usize, spare: bool) -> Option<Ref> {
    if let Some(record) = find_record(thread, function) {
        return Some(record);
    }
    let made = if spare { arena::record(thread, true) } else { arena::lasting_record(thread) };
    let (reference, record): (_, *mut Function) = made?;
    // SAFETY: the record is new, zeroed and the thread's.
    unsafe {
        (*record).address = function as u64;
        (*record).min = u64::MAX;
    }
    index_record(thread, reference, function as u64).then_some(reference)
}

/// The target of the call before a call site, if it is a relative one.
fn target(thread: &Thread, site: usize) -> u64 {
    const LEN: usize = 5;
    let Some(start) = site.checked_sub(LEN) else { return 0 };
    let page = start >> 12;
    let known = &thread.readable_pages[page % READABLE_PAGES];
    let mut bytes = [0; LEN];
    if known.get() == page && (site - 1) >> 12 == page {
        // SAFETY: the page could be read before, and holds the code that is making this call.
        bytes = unsafe { core::ptr::with_exposed_provenance::<[u8; LEN]>(start).read_volatile() };
    } else if sys::read_memory(sys::getpid(), start, &mut bytes) {
        known.set(page);
    }
    callsite::relative_target(bytes, site as u64).unwrap_or(0)
}

/// The nearest recorded node above calls that are not recorded (deeper than `DIYTRACE_DEPTH`), given such a call.
pub fn recorded_position(thread: &Thread, skipped: &Frame) -> Ref {
    if skipped.node == 0 {
        return ROOT;
    }
    // SAFETY: a frame's node is in the mapping.
    unsafe { (*thread.node(skipped.node)).parent }
}
