//! Call paths: the slow way from a call to its node, taken once for each path.

use crate::arena;
use crate::busy::Busy;
use crate::call_site;
use crate::children::{self, Known};
use crate::extension;
use crate::family::at;
use crate::frame::Frame;
use crate::free_nodes;
use crate::function;
use crate::modules;
use crate::node;
use crate::roots;
use crate::spent::Spent;
use crate::thread::Thread;
use profile::node::{MANY, ROOT, SKIPPED, flag, key};
use profile::{CallSite, Function, NodeRecord, Ref};

/// Nodes of one function below others of it, in one arena, before its recursion is folded. A recursion that branches
/// has exponentially many paths; a tree of this many stays in the processor's first cache.
const MOST_RECURSIVE_NODES: u64 = 128;

/// What a call path is looked up by in the index. Of call site and hook one changes where the other does not, as a rule.
#[inline(always)]
pub fn word(parent: Ref, function: usize, site: usize, hook: usize) -> u64 {
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
            thread.nodes.find(word(parent, function, site, hook), is_it)
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
    let word = unsafe { word_of(thread.node(node)) };
    thread.nodes.find(word, |found| found == node).is_some()
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
    let find = || find(thread, parent, function, site, hook);
    let find_again = || index_what_came_back(thread, function, site).then(find).flatten();
    find().or_else(find_again).or_else(|| make(thread, parent, function, site, hook))
}

fn make(thread: &Thread, parent: Ref, function: usize, site: usize, hook: usize) -> Option<Ref> {
    if !children::has_room(thread, parent, function, site, hook) {
        make_room(thread, false)?;
    }
    let call_site = call_site::find_or_make(thread, function, site, hook, false)?;
    let family = thread.family;
    let is_root = roots::is_root(family, function);
    let is_excluded = roots::is_excluded(family, function) && !is_root;
    let (reference, node) = arena::node(thread, key(function as u64, site as u64, hook as u64), false)?;
    let (flags, position) = if is_excluded {
        (flag::UNTIMED, parent)
    } else if !is_root && is_too_deep(thread, parent) {
        (flag::UNTIMED, SKIPPED)
    } else {
        match fold(thread, parent, function, call_site) {
            Some(ancestor) => (flag::RECURSION, ancestor),
            None if is_in_timeline(thread, parent, function, is_root) => (flag::ROOT, reference),
            None => (0, reference),
        }
    };
    // SAFETY: the node is the thread's; nothing leads to it yet.
    unsafe {
        if !extension::begin(thread, reference, call_site, position) {
            free_nodes::add(thread, reference);
            return None;
        }
        (*node).flags = flags as u16;
        // First: a parent may have too many children, and never too few.
        count_child(thread, parent);
        arena::publish_node(node, parent);
    }
    if !children::insert(thread, parent, reference, function, site, hook) {
        index(thread, reference, node);
    }
    Some(reference)
}

/// Fills the thread's indices with the nodes of its arena whose code is still where it was.
pub fn index_what_is_there(thread: &Thread) {
    thread.indexed_at.set(modules::additions(thread.family)); // first: what comes meanwhile is looked for again
    let is_there = |address, module| call_site::is_there(thread, address, module);
    let mut leaves_out = false;
    thread.nodes.clear();
    thread.path_cache.clear();
    children::forget(thread);
    call_site::index_what_is_there(thread);
    // SAFETY: the arena is the thread's.
    unsafe {
        arena::each_node(thread.base, thread.arena_ref.get(), |reference, node| {
            let (function, site, _) = node::who(node);
            let facts = &*node::facts(thread.base, node);
            if is_there(function, facts.module) && is_there(site, facts.site_module) {
                index(thread, reference, node);
            } else {
                leaves_out = true;
            }
        });
    }
    thread.leaves_out.set(leaves_out);
}

/// The same where nodes were left out, and a module has been loaded since that may be theirs: a library that was unloaded, or that a process before
/// this one had loaded. Otherwise each of its paths would have another node each time. Whether the indices were filled anew.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn index_what_came_back(thread: &Thread, function: usize, site: usize) -> bool {
    if !thread.leaves_out.get() {
        return false;
    }
    modules::register(thread.family, function);
    modules::register(thread.family, site);
    let is_news = thread.indexed_at.get() != modules::additions(thread.family);
    if is_news {
        index_what_is_there(thread);
    }
    is_news
}

/// Gives a node an extension in the middle of a hook. False if there is no room.
#[cold]
#[inline(never)]
pub fn extend(thread: &Thread, node: Ref, ensure: impl FnOnce() -> bool) -> bool {
    let spent = Spent::begin(thread);
    let Some(busy) = Busy::begin_often(thread) else { return false };
    // A hook that a signal handler has interrupted and forked in has a node of the parent process, which is not the thread's to change.
    let is_made = is_own(thread, node) && ensure();
    busy.end(spent);
    is_made
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
        let node = thread.node(ancestor);
        // SAFETY: ancestors are nodes of the arena, and end at the root.
        unsafe {
            if roots::is_root(thread.family, node::function(node)) {
                break;
            }
            ancestor = (*node).parent;
        }
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
        let node = thread.node(ancestor);
        // SAFETY: ancestors are nodes of the arena, and end at the root.
        unsafe {
            if node::function(node) == function {
                return false;
            }
            ancestor = (*node).parent;
        }
    }
    is_root
}

/// The ancestor that a recursive call is folded into, if its function has enough paths of its own.
fn fold(thread: &Thread, parent: Ref, function: usize, call_site: Ref) -> Option<Ref> {
    let mut ancestor = parent;
    while ancestor > ROOT {
        // SAFETY: ancestors are nodes of the arena, and end at the root; a call site names a record of the arena.
        unsafe {
            let node = thread.node(ancestor);
            if node::function(node) == function {
                let record = (*at::<CallSite>(thread.base, call_site)).facts.record;
                let record = &mut *at::<Function>(thread.base, record);
                if record.recursive_nodes >= MOST_RECURSIVE_NODES {
                    return Some(ancestor);
                }
                record.recursive_nodes += 1;
                return None;
            }
            ancestor = (*node).parent;
        }
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
    let call_site = call_site::find_or_make(thread, function, 0, 0, true)?;
    let (reference, node) = arena::node(thread, key(function as u64, 0, 0), true)?;
    // SAFETY: the node is the thread's; nothing leads to it yet.
    unsafe {
        if !extension::begin(thread, reference, call_site, reference) {
            free_nodes::add(thread, reference);
            return None;
        }
        (*node).flags = flag::FOLDED as u16;
        arena::publish_node(node, ROOT);
    }
    index(thread, reference, node);
    Some(reference)
}

/// Makes room in the thread's index for one more node; one that counts a function by itself may use the last of it.
pub fn make_room(thread: &Thread, spare: bool) -> Option<()> {
    let base = thread.base;
    // SAFETY: the index holds nodes of the thread's arena only.
    let has_room = thread.nodes.make_room(spare, |node| unsafe { word_of(at(base, node)) });
    if !has_room {
        thread.family.warn_of_little_memory();
    }
    has_room.then_some(())
}

/// Makes room in the thread's indices for what so many bytes of its arena may hold, as they cannot grow later.
///
/// The state must be [`crate::busy`].
pub fn make_room_ahead(thread: &Thread, bytes: usize) {
    let base = thread.base;
    // SAFETY: the index holds nodes of the thread's arena only.
    thread.nodes.make_room_for(bytes / 256, |node| unsafe { word_of(at(base, node)) });
    call_site::make_room_ahead(thread, bytes / 512);
    function::make_room_ahead(thread, bytes / 512);
}

/// What a node's path is looked up by in the index.
///
/// # Safety
/// The node must be in the mapping.
pub unsafe fn word_of(node: *const NodeRecord) -> u64 {
    // SAFETY: the caller's node.
    let (parent, (function, site, hook)) = unsafe { ((*node).parent, node::who(node)) };
    word(parent, function, site, hook)
}

/// Enters a node in the thread's index, if there is room.
pub fn index(thread: &Thread, reference: Ref, node: *mut NodeRecord) {
    // SAFETY: the caller's node.
    let is_folded = unsafe { (*node).flags } & flag::FOLDED as u16 != 0;
    if make_room(thread, is_folded).is_some() {
        // SAFETY: the caller's node.
        thread.nodes.insert(unsafe { word_of(node) }, reference);
    }
}

/// The nearest recorded node above calls that are not recorded (deeper than `DIYTRACE_DEPTH`), given such a call.
pub fn recorded_position(thread: &Thread, skipped: &Frame) -> Ref {
    if skipped.node == 0 {
        return ROOT;
    }
    // SAFETY: a frame's node is in the mapping.
    unsafe { (*thread.node(skipped.node)).parent }
}
