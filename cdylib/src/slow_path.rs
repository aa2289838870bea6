//! What the hooks do when a call is not the usual one: the first of its path, the first in a process, one after
//! `longjmp`, an exit without an entry.

use crate::arch;
use crate::busy::{Busy, is_busy};
use crate::children;
use crate::clock::{self, Clock};
use crate::counted;
use crate::family;
use crate::fork;
use crate::frame::{Frame, bits};
use crate::hooks;
use crate::mode::{CountedByGettime, CountedByTsc, Mode, TimedByGettime, TimedByTsc};
use crate::modules;
use crate::off_cpu;
use crate::path;
use crate::path_cache;
use crate::reset;
use crate::ring;
use crate::roots;
use crate::stale_frames::{close_partly, is_elsewhere, is_gone, switch_stack, unwind};
use crate::thread::{KNOWN_PAGES, OUTSIDERS, Thread, live, slot};
use crate::thread_registry;
use crate::timeline;
use core::sync::atomic::{AtomicU64, Ordering};
use profile::Ref;
use profile::node::{ROOT, SKIPPED};

/// Calls made before the loader has made this library ready to run: by resolvers of other libraries' IFUNCs. They have no
/// place but this, and count as lost.
pub static EARLY_CALLS: AtomicU64 = AtomicU64::new(0);

/// Entry in a thread that is not recording by the time stamp counter.
#[cold]
#[inline(never)]
pub unsafe fn enter(function: usize, site: usize, hook: usize, sp: usize) {
    if !arch::is_relocated() {
        EARLY_CALLS.fetch_add(1, Ordering::Relaxed);
        return;
    }
    // SAFETY: a thread's state is valid as long as its word leads to it.
    unsafe {
        let Some(thread) = thread_registry::current().as_ref() else { return count_without_state(function) };
        if thread.is_noting() && !ring::leave(thread) {
            return enter_while_busy(thread, function, site, hook, sp);
        }
        if hooks::is_paused(thread) || hooks::is_outside(thread, function) {
            return;
        }
        if hooks::is_reset(thread) && thread.has_arena() && !reset::start_anew(thread) {
            return enter_while_busy(thread, function, site, hook, sp);
        }
        match thread.state() {
            live::TSC => hooks::enter_on::<TimedByTsc>(thread, function, site, hook, sp),
            live::COUNTED => hooks::enter_on::<CountedByTsc>(thread, function, site, hook, sp),
            live::GETTIME => hooks::enter_on::<TimedByGettime>(thread, function, site, hook, sp),
            live::COUNTED_GETTIME => hooks::enter_on::<CountedByGettime>(thread, function, site, hook, sp),
            // No arena: for a moment, or for good.
            live::LOST if thread.is_root(function) || thread.roots.get().is_null() => {
                thread.family.count_by_function(function);
            }
            live::LOST => {}
            _ => enter_while_busy(thread, function, site, hook, sp),
        }
    }
}

/// Counts a call of a thread for which there was no memory.
fn count_without_state(function: usize) {
    if let Some(family) = family::get()
        && (family.settings.root.is_empty() || roots::is_root(family, function))
    {
        family.count_by_function(function);
    }
}

/// Entry in a signal handler that has interrupted a change of the thread's state, or where there is no room for a path: what
/// is recorded otherwise is counted by its function, and has a frame, so that its exit finds it.
#[cold]
#[inline(never)]
pub unsafe fn enter_while_busy(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: frames up to `top` are there.
    unsafe {
        let below = filled(thread);
        if (*below).position == SKIPPED && !thread.is_root(function) {
            if below != thread.bottom.get() {
                skip(thread, &*below, function, site, hook, sp);
            }
            return;
        }
        thread.family.count_by_function(function);
        if thread.top.get().add(1) < thread.limit.get() {
            let frame = hooks::reserve(thread, 0, function, site, hook, sp);
            ((*frame).bits, (*frame).inside) = (bits::UNTIMED, 0);
        }
    }
}

/// The latest frame that is filled in.
unsafe fn filled(thread: &Thread) -> *mut Frame {
    let mut frame = thread.top.get();
    // SAFETY: frames between bottom and top are there.
    while unsafe { (*frame).position } == 0 && frame > thread.bottom.get() {
        frame = frame.wrapping_sub(1);
    }
    frame
}

/// Exit in a thread that is not recording by the time stamp counter.
#[cold]
#[inline(never)]
pub unsafe fn exit(function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the caller has found a state, unless the library is not ready yet.
    if !arch::is_relocated() || unsafe { (*arch::thread()).is_empty() } {
        return;
    }
    // SAFETY: a thread's state is valid as long as its word leads to it.
    unsafe {
        let Some(thread) = thread_registry::current().as_ref() else { return };
        match thread.state() {
            live::LOST => {}
            live::FORKED | live::STALE => exit_while_busy(thread, function, sp),
            _ => {
                if thread.is_switched() {
                    off_cpu::before_exit(thread);
                }
                let now = clock::now(thread.family.clock);
                hooks::exit_at(thread, now, function, site, hook, sp);
            }
        }
    }
}

/// Exit in a signal handler that has interrupted a change of the thread's state, before it had an arena of its own.
pub unsafe fn exit_while_busy(thread: &Thread, function: usize, sp: usize) {
    // SAFETY: the top frame is there.
    unsafe {
        let top = &*thread.top.get();
        if top.position == 0 && top.function == function && top.sp == sp {
            hooks::pop(thread);
        }
    }
}

/// Entry of a call whose path is not among those met lately.
#[inline(never)]
pub unsafe fn enter_uncached<M: Mode>(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the top frame is there.
    unsafe {
        let top = thread.top.get();
        let (parent, inside) = ((*top).position, (*top).inside);
        match path::find(thread, parent, function, site, hook) {
            Some(node) => {
                children::prefetch(thread, node);
                thread.path_cache.insert(parent, path_cache::place(function, site, hook), node);
                hooks::open::<M>(thread, node, inside, function, site, hook, sp);
            }
            None => enter_new_path::<M>(thread, function, site, hook, sp),
        }
    }
}

/// Entry of a call whose path has no node yet.
#[cold]
#[inline(never)]
pub unsafe fn enter_new_path<M: Mode>(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    if is_busy(thread) {
        // SAFETY: the caller's promise.
        return unsafe { enter_while_busy(thread, function, site, hook, sp) };
    }
    // SAFETY: the top frame is there.
    unsafe {
        if switch_stack(thread, sp) {
            return enter_after_unwinding::<M>(thread, function, site, hook, sp);
        }
        if is_gone(thread, function, site, hook, sp) {
            unwind(thread);
            return enter_anywhere::<M>(thread, function, site, hook, sp);
        }
        enter_from::<M>(thread, thread.top.get(), function, site, hook, sp);
    }
}

/// Opens a call of a path that may have no node yet, made from the call of a frame.
unsafe fn enter_from<M: Mode>(
    thread: &Thread,
    mut frame: *const Frame,
    function: usize,
    site: usize,
    hook: usize,
    sp: usize,
) {
    // SAFETY: the caller's frame, and those below it.
    unsafe {
        // A signal handler that has come since the caller looked may have left calls on top that are counted by function only.
        while (*frame).position == 0 && frame > thread.bottom.get().cast_const() {
            frame = frame.sub(1);
        }
        let parent = match (*frame).position {
            SKIPPED if frame == thread.bottom.get() => ROOT,
            SKIPPED => path::recorded_position(thread, &*frame),
            position => position,
        };
        match new_path::<M>(thread, frame, parent, function, site, hook) {
            Some(node) => hooks::open::<M>(thread, node, (*frame).inside, function, site, hook, sp),
            None => enter_while_busy(thread, function, site, hook, sp),
        }
    }
}

/// The node of a path, made if there is none. What that takes is no part of any call's time.
unsafe fn new_path<M: Mode>(
    thread: &Thread,
    frame: *const Frame,
    mut parent: Ref,
    function: usize,
    site: usize,
    hook: usize,
) -> Option<Ref> {
    // Where there is no room this happens at every call: nothing may be asked of the kernel.
    if thread.is_short_of_room() {
        let found = path::find(thread, parent, function, site, hook).or_else(|| path::find_folded(thread, function));
        if found.is_some() || thread.is_short_of_spare_room() {
            return found;
        }
    }
    if thread.is_switched() {
        // SAFETY: the caller's frame.
        unsafe { off_cpu::account(thread, frame) };
    }
    let _busy = Busy::begin_path(thread)?;
    let began = M::Clock::now();
    if !path::is_own(thread, parent) {
        // A signal handler forked in the middle of the hook that opened this call: its node is the parent process's.
        fork::inherit(thread);
        // SAFETY: the caller's frame.
        parent = match unsafe { (*frame).position } {
            0 | SKIPPED => ROOT,
            position => position,
        };
    }
    let node = path::child(thread, parent, function, site, hook);
    thread.forget_time_since(began);
    node
}

/// Entry of a call that has no recorded caller: outside every root, below `DIYTRACE_DEPTH`, or in a signal handler that
/// interrupted a hook.
#[cold]
#[inline(never)]
pub unsafe fn enter_without_caller<M: Mode>(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: frames up to `top` are there.
    unsafe {
        // Where the top is not filled, the caller is what the interrupted hook was called from.
        let below = filled(thread);
        let is_left = (*below).sp <= sp && !hooks::is_inlined(&*below, site, hook, sp);
        if below != thread.top.get() && is_left && !is_elsewhere(thread, below, sp) {
            while thread.top.get() > below {
                unwind(thread); // that hook was left, and so was its caller
            }
            return enter_after_unwinding::<M>(thread, function, site, hook, sp);
        }
        if (*below).position == SKIPPED && !is_root(thread, function) {
            if below != thread.bottom.get() {
                skip(thread, &*below, function, site, hook, sp);
            } else if thread.knows(function) {
                thread.outsiders[(function >> 4) % OUTSIDERS].set(function);
            }
            return;
        }
        enter_from::<M>(thread, below, function, site, hook, sp);
    }
}

/// Whether a function is a root; looks into its module first if that is new.
unsafe fn is_root(thread: &Thread, function: usize) -> bool {
    if !thread.knows(function)
        && let Some(_busy) = Busy::begin(thread)
    {
        if modules::register(thread.family, function) {
            thread.known_pages[(function >> 12) % KNOWN_PAGES].set(function >> 12);
        }
        thread.use_filter();
    }
    thread.is_root(function)
}

/// Opens the frame of a call below `DIYTRACE_DEPTH`. Its cost is counted with the call at the limit.
unsafe fn skip(thread: &Thread, below: &Frame, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the frame is filled below `limit`; the node of a skipped call is in the mapping.
    unsafe {
        let (node, inside) = (below.node, below.inside);
        if thread.top.get().add(1) == thread.limit.get() && !thread.grow() {
            return;
        }
        if node != 0 {
            arch::add(&raw mut (*slot(thread.node(node), inside)).calls, 1);
        }
        let frame = hooks::reserve(thread, node, function, site, hook, sp);
        ((*frame).bits, (*frame).inside) = (inside | bits::UNTIMED, inside);
        hooks::fill(frame, SKIPPED);
    }
}

/// Entry of a call for whose frame there was no room.
#[cold]
#[inline(never)]
pub unsafe fn enter_too_deep<M: Mode>(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the thread has an arena.
    unsafe {
        if thread.grow() {
            hooks::enter_on::<M>(thread, function, site, hook, sp);
        } else {
            thread.family.count_by_function(function);
        }
    }
}

/// Entry of a call whose stack pointer says that calls still open have been left, unless it is on another stack.
#[cold]
#[inline(never)]
pub unsafe fn enter_after_unwinding<M: Mode>(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: frames between bottom and top are there.
    unsafe {
        switch_stack(thread, sp);
        if !is_elsewhere(thread, thread.top.get(), sp) {
            while (*thread.top.get()).sp < sp && !is_elsewhere(thread, thread.top.get(), sp) {
                unwind(thread);
            }
            // In the same physical frame: what another call of that frame, or the same hook, has left.
            let mut frame = thread.top.get();
            let mut keep = frame;
            while (*frame).sp == sp {
                if (*frame).site != site || (*frame).hook == hook as u32 || (*frame).position == 0 {
                    keep = frame.sub(1);
                }
                frame = frame.sub(1);
            }
            while thread.top.get() > keep {
                unwind(thread);
            }
        }
        enter_anywhere::<M>(thread, function, site, hook, sp);
    }
}

/// The rest of an entry once the stack pointer has been dealt with.
unsafe fn enter_anywhere<M: Mode>(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the top frame is there.
    unsafe {
        let top = thread.top.get();
        let position = (*top).position;
        let known = path::find(thread, position, function, site, hook);
        match known {
            _ if position < ROOT => enter_without_caller::<M>(thread, function, site, hook, sp),
            Some(node) => hooks::open::<M>(thread, node, (*top).inside, function, site, hook, sp),
            None => enter_new_path::<M>(thread, function, site, hook, sp),
        }
    }
}

/// Exit that is not plainly that of the latest open call.
#[cold]
#[inline(never)]
pub unsafe fn exit_of_another(thread: &Thread, now: u64, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: frames between bottom and top are there; the bottom frame ends every search.
    unsafe {
        switch_stack(thread, sp);
        let latest = &*thread.top.get();
        if latest.position == 0 && latest.bits == bits::UNTIMED && latest.function == function && latest.sp == sp {
            return hooks::pop(thread); // counted by its function
        }
        // In a signal handler that interrupted a hook: what that has reserved stays.
        let top = filled(thread);
        if is_elsewhere(thread, top, sp) {
            return stray(thread);
        }
        let tail = hook == site;
        let mut found = None;
        let mut frame = top;
        // Left or exited: this stack's frames below the stack pointer. A tail exit's own frame is the outermost of them.
        while (*frame).sp < sp && !is_elsewhere(thread, frame, sp) {
            let below = frame.sub(1);
            let is_outermost = (*below).sp >= sp || is_elsewhere(thread, below, sp);
            if tail && is_outermost && (*frame).function == function {
                found = Some(frame);
            }
            frame = below;
        }
        let gone = frame;
        while found.is_none() && (*frame).sp == sp && !tail {
            if (*frame).function == function {
                found = Some(frame);
            }
            frame = frame.sub(1);
        }
        // A function that moves its stack pointer (`alloca`) exits below where it entered. So does a call for which there
        // was no room for a frame.
        let is_full = thread.top.get().add(1) == thread.limit.get();
        let may_have_moved = found.is_none() && !tail && (*frame).sp > sp && frame > thread.bottom.get() && !is_full;
        if may_have_moved && (*frame).function == function && (*frame).site == site && thread.top.get() == frame {
            found = Some(frame);
        }
        let keep = found.unwrap_or(gone);
        // A hook that was interrupted above a call that is gone, or that exits, was left with it.
        while found.is_some_and(|found| thread.top.get() > found) || (keep < top && thread.top.get() > keep) {
            unwind(thread);
        }
        match found {
            Some(_) => close_unusual(thread, now),
            None => stray(thread),
        }
    }
}

unsafe fn stray(thread: &Thread) {
    // SAFETY: the thread has an arena.
    unsafe { arch::add(&raw mut (*thread.arena.get()).stray_exits, 1) };
}

/// Counts a call that has ended before it began: processors whose counters disagree, a virtual machine that was moved. But
/// not where a signal handler has moved its beginning after its end was read.
#[cold]
#[inline(never)]
pub unsafe fn clock_stepped_back(thread: &Thread, began: u64, now: u64) {
    let forgot_until = thread.forgot_until.get();
    if began <= forgot_until && now <= forgot_until {
        return;
    }
    // SAFETY: the thread has an arena.
    unsafe { arch::add(&raw mut (*thread.arena.get()).backward_calls, 1) };
}

/// Closes the latest open call, a plain one that has ended before it began.
#[cold]
#[inline(never)]
pub unsafe fn close_backwards(thread: &Thread, frame: *mut Frame, now: u64) {
    // SAFETY: the caller's frame.
    unsafe {
        clock_stepped_back(thread, (*frame).start, now);
        hooks::close_after(thread, frame, now, 0);
    }
}

/// Closes the latest open call, whatever it is.
#[cold]
#[inline(never)]
pub unsafe fn close_unusual(thread: &Thread, now: u64) {
    // SAFETY: the top frame is there.
    unsafe {
        let kind = (*thread.top.get()).bits;
        if kind & (bits::ROOT | bits::INHERITED) == bits::ROOT {
            timeline::add(thread, now);
        }
        if kind & bits::UNTIMED != 0 {
            hooks::pop(thread);
        } else if kind & bits::COUNTED != 0 {
            counted::close(thread);
        } else if kind & bits::INHERITED != 0 {
            // Counted, and its distribution kept, in the parent process: only the time since the fork is ours.
            close_partly(thread, now);
        } else {
            hooks::close(thread, thread.top.get(), now);
        }
    }
}
