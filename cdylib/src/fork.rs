//! What a forked child makes of the calls that were open when its parent forked.

use crate::arch;
use crate::clock;
use crate::extension;
use crate::family;
use crate::frame::{Frame, NO_CALL, NOTED, bits};
use crate::frame_index;
use crate::node;
use crate::path;
use crate::processor::{Beginning, OnProcessor};
use crate::stack;
use crate::stack_switch::is_elsewhere;
use crate::stale_frames::full_hook;
use crate::switches;
use crate::sys;
use crate::thread::Thread;
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::Ordering;
use profile::Ref;
use profile::node::{ROOT, SKIPPED, flag, mark};

type Handler = extern "C" fn();

unsafe extern "C" {
    /// What `pthread_atfork` calls.
    fn __register_atfork(
        prepare: Option<Handler>,
        parent: Option<Handler>,
        child: Option<Handler>,
        library: *mut c_void,
    ) -> i32;
}

/// Has [`in_child`] called in the children of `fork`, and in no others: not where a program calls `clone`.
pub fn watch() {
    // SAFETY: as the manual of `pthread_atfork` says; the handler stays as long as the library.
    unsafe { __register_atfork(None, None, Some(in_child), ptr::null_mut()) };
}

extern "C" fn in_child() {
    if !arch::is_relocated() {
        return;
    }
    // First of all: a hook may be about to read there.
    // SAFETY: the thread's state is valid as long as its word leads to it.
    if let Some(thread) = unsafe { arch::thread().as_ref() } {
        switches::replace_page(thread);
        note_beginning(thread);
    }
    if let Some(family) = family::get() {
        family.take_over_namespace();
    }
}

/// Gives the calls that were open at the fork, and whose nodes are not this thread's, their place in its own arena.
pub fn inherit(thread: &Thread) {
    each_frame(thread, |frame, is_indexed| {
        // SAFETY: frames between bottom and top are there; the nodes of the parent's arena stay in the file.
        unsafe {
            let (node, position) = ((*frame).node, (*frame).position);
            if position == NOTED || !path::is_own(thread, node) || !path::is_own(thread, position) {
                inherit_frame(thread, frame, is_indexed);
            }
        }
    });
}

/// The same, where the child begins with its arena now: the calls go on since the fork, if that was noted.
pub fn begin(thread: &Thread, beginning: Option<Beginning>, now: u64) {
    thread.last.set(beginning.map_or(now, |beginning| beginning.ticks.min(now)));
    inherit(thread);
    thread.last.set(now);
}

/// Notes when this child began. It may make its first call much later, or wait until then.
fn note_beginning(thread: &Thread) {
    if sys::is_restricted() || clock::STOPPED.load(Ordering::Relaxed) {
        return;
    }
    let (ticks, epoch) = (clock::now(thread.family.clock), thread.family.epoch());
    // The clocks of threads are asked where they have been before.
    let asked = if switches::has_page(thread) { OnProcessor::now().ok() } else { None };
    let on_processor = asked.unwrap_or_default();
    let tid = if on_processor.tid == 0 { sys::gettid() } else { on_processor.tid };
    thread.beginning.set(Beginning { tid, ticks, epoch, on_processor });
}

/// When the calling task began, if it is a forked child that has noted it, has timed nothing yet, and nothing was reset since.
pub fn beginning(thread: &Thread) -> Option<Beginning> {
    let beginning = thread.beginning.get();
    let is_this_tasks = beginning.tid != 0 && beginning.tid == sys::gettid() && beginning.ticks >= thread.last.get();
    (is_this_tasks && beginning.epoch == thread.family.epoch()).then_some(beginning)
}

/// Has the calls that are open begin anew in the thread's own arena, as if they were inherited.
pub fn begin_anew(thread: &Thread) {
    // SAFETY: frames between bottom and top are there.
    each_frame(thread, |frame, is_indexed| unsafe { inherit_frame(thread, frame, is_indexed) });
}

/// Each frame from the bottom up, and whether the index has those below it.
fn each_frame(thread: &Thread, mut each: impl FnMut(*mut Frame, bool)) {
    // SAFETY: frames between bottom and top are there.
    unsafe {
        frame_index::forget(thread);
        let is_indexed = frame_index::is_of_use(thread);
        let mut frame = thread.bottom.get();
        while frame < thread.top.get() {
            frame = frame.add(1);
            each(frame, is_indexed);
            if is_indexed {
                frame_index::add(thread, frame);
            }
        }
        frame_index::forget(thread); // one that was not filled will be
    }
}

/// The frame of the call that has made one. Where calls on other stacks lie between, as coroutines are suspended there, it is the next one
/// on its own stack; and the first on another than the thread's own was made by whoever switched to it: the one below, if none has been
/// suspended since. Whether it is such a first one.
unsafe fn caller_of(thread: &Thread, frame: *const Frame, is_indexed: bool) -> (*const Frame, bool) {
    // SAFETY: frames from the bottom up to the caller's are there.
    unsafe {
        let (sp, below, bottom) = ((*frame).sp, frame.sub(1), thread.bottom.get().cast_const());
        let caller = match is_indexed {
            true => frame_index::latest(thread, sp).map_or(bottom, <*mut Frame>::cast_const),
            false => {
                let mut caller = below;
                while caller > bottom && ((*caller).function == NO_CALL || is_elsewhere(thread, caller, sp)) {
                    caller = caller.sub(1);
                }
                caller
            }
        };
        match caller == bottom && !stack::is_on_own(thread, sp) {
            true => (below, true),
            false => (caller, false),
        }
    }
}

/// Where the first call on a coroutine's stack was made from, as its node has it in whichever arena: whoever switched there may have
/// returned since. `None` if that is not known.
unsafe fn made_from(thread: &Thread, frame: &Frame) -> Option<Ref> {
    if frame.position == NOTED || frame.node <= ROOT {
        return None;
    }
    // SAFETY: the caller's frame, whose node is in the mapping.
    unsafe {
        let node = thread.node(frame.node);
        let (function, site, _) = node::who(node);
        ((function, site) == (frame.function, frame.site)).then(|| same_path(thread, (*node).parent)).flatten()
    }
}

/// The position in the thread's own arena that a path of another is, made if need be.
unsafe fn same_path(thread: &Thread, path: Ref) -> Option<Ref> {
    /// Whatever lies deeper, a hook may not take for ever.
    const DEEPEST: usize = 256;
    if path::is_own(thread, path) {
        return Some(path);
    }
    // SAFETY: nodes of any arena stay in the file, and lead to others above them.
    unsafe {
        let above = |levels: usize| (0..levels).fold(path, |node, _| (*thread.node(node)).parent);
        let mut levels = 0;
        let mut node = path;
        while node > ROOT && levels < DEEPEST {
            (node, levels) = ((*thread.node(node)).parent, levels + 1);
        }
        if node != ROOT {
            return None;
        }
        let mut position = ROOT;
        for level in (0..levels).rev() {
            let node = thread.node(above(level));
            if (*node).flags & (flag::FOLDED | flag::EDGE | flag::OTHERS) as u16 != 0 {
                return None; // of several paths
            }
            let (function, site, _) = node::who(node);
            let made = path::child(thread, position, function, site, node::full_hook(thread.base, node))?;
            position = node::position(thread.base, made, thread.node(made));
        }
        Some(position)
    }
}

unsafe fn inherit_frame(thread: &Thread, frame: *mut Frame, is_indexed: bool) {
    // SAFETY: the caller's frame, and those below it.
    unsafe {
        if (*frame).position == 0 {
            return; // its enter hook was interrupted by the signal handler that forked, and goes on by itself
        }
        let (below, is_first) = caller_of(thread, frame, is_indexed);
        let (mut below, frame) = (&*below, &mut *frame);
        let made_from = if is_first { made_from(thread, frame) } else { None };
        while below.position == 0 && ptr::from_ref(below) > thread.bottom.get() {
            below = &*ptr::from_ref(below).sub(1);
        }
        let position = made_from.unwrap_or(if below.position == 0 { ROOT } else { below.position });
        let inside = if made_from.is_some() { frame.bits & bits::SLOT } else { below.inside };
        let was_noted = frame.position == NOTED;
        let is_skipped = match was_noted {
            true => position == SKIPPED && !thread.is_root(frame.function),
            false => frame.bits & bits::UNTIMED != 0 && frame.position == SKIPPED,
        };
        if is_skipped && position == SKIPPED {
            frame.node = below.node; // of the first call below `DIYTRACE_DEPTH`, which counts for all of them
            frame.position = SKIPPED;
            return;
        }
        let parent = if position == SKIPPED { path::recorded_position(thread, below) } else { position };
        let hook = full_hook(thread, frame);
        let made = path::child(thread, parent, frame.function, frame.site, hook);
        let made = made.filter(|&node| inside & bits::SLOT == 0 || extension::ensure(thread, node));
        let Some(node) = made else {
            // As one that is counted by function only: its calls are made from the frame below.
            (frame.node, frame.position, frame.bits, frame.inside) = (0, 0, bits::UNTIMED, 0);
            return;
        };
        let record = thread.node(node);
        frame.node = node;
        frame.position = node::position(thread.base, node, record);
        // A call that is only counted has nothing more to count here.
        let is_timed = match was_noted {
            true => (*record).flags & flag::UNTIMED as u16 == 0,
            false => frame.bits & (bits::UNTIMED | bits::COUNTED) == 0,
        };
        frame.bits = inside | if is_timed { bits::INHERITED } else { bits::UNTIMED };
        frame.inside = inside | (*record).flags as u8 & bits::SLOT;
        frame.start = thread.last.get();
        frame.count = thread.count.get();
        if frame.bits & bits::UNTIMED == 0 {
            (*node::slot(thread.base, record, inside)).mark =
                thread.last.get() & !mark::BITS | mark::OPEN | mark::INHERITED;
            if inside & bits::SLOT == 0 {
                frame.bits |= ((*record).flags as u8 & flag::ROOT as u8) << 2;
            }
        }
    }
}
