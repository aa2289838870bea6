//! Call paths: the slow way from a call to its node, taken once for each path.

use crate::arena;
use crate::family::Family;
use crate::filter;
use crate::frame::Frame;
use crate::hooks;
use crate::modules;
use crate::sys;
use crate::thread::{PATH_CACHE, READABLE_PAGES, Thread};
use core::sync::atomic::{AtomicU32, Ordering};
use profile::header::timing;
use profile::node::{NOT_TIMED_MAX, ROOT, SKIPPED, flag};
use profile::{Bins, Function, Node, NodeRecord, Ref, callsite};

/// Nodes of one function below others of it, in one arena, before its recursion is folded. A recursion that branches
/// has exponentially many paths; a tree of this many stays in the processor's first cache.
const MOST_RECURSIVE_NODES: u64 = 128;

/// The key of a call path in the index. Of call site and hook one changes where the other does not, as a rule.
#[inline(always)]
pub fn key(parent: Ref, function: usize, site: usize, hook: usize) -> u64 {
    function as u64 ^ (site.wrapping_add(hook as u32 as usize) as u64) << 20 ^ (parent as u64) << 40
}

/// The place of a call path in [`Thread::path_cache`]: a cache line for the parent, in it one for the child.
#[inline(always)]
pub fn cache_place(parent: Ref, function: usize, site: usize, hook: usize) -> usize {
    const LINE: usize = 16;
    let child = (function >> 4).wrapping_add(site).wrapping_add(hook);
    // Nodes are two units long.
    (parent as usize / 2 * LINE) % PATH_CACHE + (child ^ child >> 4) % LINE
}

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

/// The node for a call from `parent`, if there is one.
#[inline(always)]
pub fn find(thread: &Thread, parent: Ref, function: usize, site: usize, hook: usize) -> Option<Ref> {
    // SAFETY: the index holds nodes of the thread's arena only.
    let is_it = |node| unsafe { is(thread.node(node), parent, function, site, hook) };
    thread.nodes.find(key(parent, function, site, hook), is_it)
}

/// The node for a call from `parent`, made if there is none. `None` if there is no room for any: the call is lost.
///
/// Signals must be blocked, or the thread not yet be seen by its hooks.
pub fn child(thread: &mut Thread, parent: Ref, function: usize, site: usize, hook: usize) -> Option<Ref> {
    let found = find(thread, parent, function, site, hook);
    if found.is_some() {
        return found;
    }
    modules::meet(thread.family, function);
    modules::meet(thread.family, site);
    thread.use_filter();
    make(thread, parent, function, site, hook).or_else(|| folded(thread, function))
}

fn make(thread: &mut Thread, parent: Ref, function: usize, site: usize, hook: usize) -> Option<Ref> {
    make_room(thread, false)?;
    let record = function_record(thread, function, false)?;
    let (reference, node) = arena::node(thread, false)?;
    let is_root = filter::is_root(thread.family, function);
    let depth = match parent {
        ROOT => 0,
        // SAFETY: a parent is a node of the arena.
        _ if !is_root => unsafe { (*thread.node(parent)).depth + 1 },
        _ => 0,
    };
    let limit = thread.family.settings.depth;
    let (flags, position) = if filter::is_excluded(thread.family, function) && !is_root {
        (flag::UNTIMED, parent)
    } else if limit != 0 && depth > limit {
        (flag::UNTIMED, SKIPPED)
    } else {
        match fold(thread, parent, function, record) {
            Some(ancestor) => (flag::RECURSION, ancestor),
            None if is_in_timeline(thread, parent, function, is_root) => (flag::ROOT, reference),
            None => (0, reference),
        }
    };
    let target = target(thread, site);
    // SAFETY: the node has room in a block of the thread's.
    unsafe {
        let new = Node {
            function: function as u64,
            site: site as u64,
            hook: hook as u64,
            parent,
            position,
            record,
            flags,
            countdown: first_countdown(thread.family),
            sample: 0,
            target,
            generation: modules::generation(thread.family),
            // Calls that an excluded function makes are as deep as it.
            depth: if flags == flag::UNTIMED && position == parent { depth.saturating_sub(1) } else { depth },
            unwound: 0,
            slots: Default::default(),
        };
        node.write(new.into());
    }
    arena::publish_node(thread);
    index(thread, reference, node);
    Some(reference)
}

/// Whether calls of a path are those that its function's timeline shows: of a root, or, where everything is recorded, of
/// what nothing recorded has called.
fn is_in_timeline(thread: &Thread, parent: Ref, function: usize, is_root: bool) -> bool {
    if thread.roots.is_null() {
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

/// The first call of a path is timed, where any is.
pub fn first_countdown(family: &Family) -> u16 {
    if family.settings.timing == timing::OFF { NOT_TIMED_MAX } else { 0 }
}

/// The ancestor that a recursive call is folded into, if its function has enough paths of its own.
fn fold(thread: &mut Thread, parent: Ref, function: usize, record: Ref) -> Option<Ref> {
    let mut ancestor = parent;
    while ancestor != ROOT {
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
fn folded(thread: &mut Thread, function: usize) -> Option<Ref> {
    let found = find(thread, ROOT, function, 0, 0);
    if found.is_some() {
        return found;
    }
    make_room(thread, true)?;
    let record = function_record(thread, function, true).unwrap_or(0);
    let (reference, node) = arena::node(thread, true)?;
    // SAFETY: the node has room in a block of the thread's.
    unsafe {
        let new = Node {
            function: function as u64,
            site: 0,
            hook: 0,
            parent: ROOT,
            position: reference,
            record,
            flags: flag::FOLDED,
            countdown: first_countdown(thread.family),
            sample: 0,
            target: 0,
            generation: modules::generation(thread.family),
            depth: 0,
            unwound: 0,
            slots: Default::default(),
        };
        node.write(new.into());
    }
    arena::publish_node(thread);
    index(thread, reference, node);
    Some(reference)
}

/// Makes room in the thread's index for one more node; one that counts a function by itself may use the last of it.
fn make_room(thread: &mut Thread, spare: bool) -> Option<()> {
    let base = thread.base;
    // SAFETY: the index holds nodes of the thread's arena only.
    let has_room = thread.nodes.make_room(spare, |node| unsafe { key_of(crate::family::at(base, node)) });
    if !has_room {
        thread.family.warn_of_little_memory();
    }
    has_room.then_some(())
}

unsafe fn key_of(node: *const NodeRecord) -> u64 {
    // SAFETY: the caller's node.
    let node = unsafe { &*node };
    key(node.parent, node.function as usize, node.site as usize, node.hook as usize)
}

/// Enters a node and its function's record in the thread's indices, if there is room.
pub fn index(thread: &mut Thread, reference: Ref, node: *mut NodeRecord) {
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

fn find_record(thread: &Thread, function: usize) -> Option<Ref> {
    let base = thread.base;
    // SAFETY: the index holds records of the thread's arena only.
    let is_it = |record| unsafe { (*crate::family::at::<Function>(base, record)).address == function as u64 };
    thread.functions.find(function as u64, is_it)
}

/// Enters a function's record in the thread's index. False if there is no room.
fn index_record(thread: &mut Thread, record: Ref, function: u64) -> bool {
    let base = thread.base;
    // SAFETY: as above.
    let key_of_record = |record| unsafe { (*crate::family::at::<Function>(base, record)).address };
    let has_room = thread.functions.make_room(true, key_of_record);
    if has_room {
        thread.functions.insert(function, record);
    }
    has_room
}

fn function_record(thread: &mut Thread, function: usize, spare: bool) -> Option<Ref> {
    if let Some(record) = find_record(thread, function) {
        return Some(record);
    }
    let (reference, record) = arena::record::<Function>(thread, spare)?;
    // SAFETY: the record is new, zeroed and the thread's.
    unsafe {
        (*record).address = function as u64;
        (*record).min = u64::MAX;
    }
    index_record(thread, reference, function as u64).then_some(reference)
}

/// The target of the call before a call site, if it is a relative one.
fn target(thread: &mut Thread, site: usize) -> u64 {
    const LEN: usize = 5;
    let Some(start) = site.checked_sub(LEN) else { return 0 };
    let page = start >> 12;
    let is_known = &mut thread.readable_pages[page % READABLE_PAGES];
    let mut bytes = [0; LEN];
    if *is_known == page && (site - 1) >> 12 == page {
        // SAFETY: the page could be read before, and holds the code that is making this call.
        bytes = unsafe { core::ptr::with_exposed_provenance::<[u8; LEN]>(start).read_volatile() };
    } else if sys::read_memory(sys::getpid(), start, &mut bytes) {
        *is_known = page;
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

/// Puts the time of a call into its function's distribution where that has no bins for it yet.
#[cold]
#[inline(never)]
pub fn first_in_octave(thread: &mut Thread, record: Ref, octave: usize, sub: usize, value: u64, calls: u64) {
    let _blocked = sys::SignalsBlocked::new();
    let began = crate::clock::now(thread.family.clock);
    let function: *mut Function = crate::family::at(thread.base, record);
    // SAFETY: the record is the arena's.
    unsafe {
        hooks::lower(&raw mut (*function).min, value);
        hooks::raise(&raw mut (*function).max, value);
        if (*function).octaves[octave] == 0 {
            match arena::record::<Bins>(thread, false) {
                Some((bins, _)) => {
                    let place = AtomicU32::from_ptr(&raw mut (*function).octaves[octave]);
                    place.store(bins, Ordering::Release);
                }
                None => {
                    (*function).unbinned += calls;
                    return;
                }
            }
        }
        let bins: *mut Bins = crate::family::at(thread.base, (*function).octaves[octave]);
        (*bins).counts[sub] += calls;
    }
    thread.forget_time_since(began);
}
