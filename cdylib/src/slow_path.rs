//! What the hooks do when a call is not the usual one: the first of its path, the first in a process, one after
//! `longjmp`, an exit without an entry.

use crate::arch;
use crate::busy::{Busy, is_busy};
use crate::call::{self, close_unusual};
use crate::children;
use crate::fork;
use crate::frame::{Frame, bits};
use crate::mode::Mode;
use crate::modules;
use crate::node::{self, slot};
use crate::off_cpu;
use crate::path;
use crate::recycle;
use crate::shadow_stack::{self, drop_holes, fill, filled, is_inlined, pop, reserve};
use crate::spent::Spent;
use crate::split_functions::is_exit_of_part;
use crate::stack_switch::{
    find_caller, find_large_frame, has_no_caller, is_anothers_frame, is_elsewhere, switch_stack,
};
use crate::stale_frames::{full_hook, is_gone, raise_bodies, unwind};
use crate::thread::{KNOWN_PAGES, OUTSIDERS, Thread};
use profile::Ref;
use profile::node::{ROOT, SKIPPED};
use profile::ring::Event;

/// Entry in a signal handler that has interrupted a change of the thread's state, or where there is no room for a path: what
/// is recorded otherwise is counted by its function, and has a frame, so that its exit finds it.
#[cold]
#[inline(never)]
pub unsafe fn enter_while_busy(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: frames up to `top` are there.
    unsafe {
        let below = filled(thread);
        if (*below).position == SKIPPED && !thread.is_root(function) && !is_in_root_by_function(thread, below) {
            if below != thread.bottom.get() {
                skip(thread, &*below, function, site, hook, sp);
            }
            return;
        }
        call::open_by_function(thread, function, site, hook, sp);
    }
}

/// Entry in a thread that has no arena: counted by its function. Roots have frames, so that what they call is known to be theirs.
pub unsafe fn enter_without_arena(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    if thread.roots.get().is_null() {
        return thread.family.count_by_function(function);
    }
    // SAFETY: frames between bottom and top are there.
    unsafe {
        let is_left = |frame: &Frame| frame.position == 0 && frame.node == 0 && frame.sp <= sp;
        while !thread.is_empty() && is_left(&*thread.top.get()) && !is_elsewhere(thread, thread.top.get(), sp) {
            pop(thread);
        }
        let below = filled(thread);
        // Of calls that were open at the fork nobody knows when they return but by where they lie.
        let is_inherited = below != thread.bottom.get() && (*below).position != SKIPPED && (*below).sp > sp;
        if thread.is_root(function) {
            call::open_by_function(thread, function, site, hook, sp);
        } else if is_inherited || is_in_root_by_function(thread, below) {
            thread.family.count_by_function(function);
        }
    }
}

/// Exit where calls are counted by their functions: in a signal handler that has interrupted a change of the thread's state, before it had
/// an arena of its own; or without one.
pub unsafe fn exit_while_busy(thread: &Thread, function: usize, sp: usize) {
    // SAFETY: the top frame is there.
    unsafe {
        let top = &*thread.top.get();
        if top.position == 0 && top.function == function && top.sp == sp {
            pop(thread);
        }
    }
}

/// Entry of a call that is not plainly made by the latest open one, as their stack pointers are.
#[inline(never)]
pub unsafe fn enter_apart<M: Mode>(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the top frame is there.
    unsafe {
        drop_holes(thread);
        find_caller(thread, site, hook, sp);
        let top = &*thread.top.get();
        if top.sp <= sp || has_no_caller(thread, sp) {
            return enter_after_unwinding::<M>(thread, function, site, hook, sp);
        }
        match top.position < ROOT {
            true => enter_without_caller::<M>(thread, function, site, hook, sp),
            false => enter_beside::<M>(thread, function, site, hook, sp),
        }
    }
}

/// Entry of a call whose node is not where the hot path looks: another child of its parent has its place in the cache, or which line
/// is the parent's was not known.
#[inline(never)]
pub unsafe fn enter_beside<M: Mode>(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the top frame is there.
    unsafe {
        let top = thread.top.get();
        let (parent, inside) = ((*top).position, (*top).inside);
        for node in thread.path_cache.candidates(parent, site, hook).into_iter().flatten() {
            if node::is(thread.node(node), parent, function, site, hook) {
                return call::open::<M>(thread, node, inside, function, site, hook, sp);
            }
        }
        enter_uncached::<M>(thread, function, site, hook, sp);
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
                thread.path_cache.insert(parent, site, hook, node);
                call::open::<M>(thread, node, inside, function, site, hook, sp);
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
    let spent = Spent::begin(thread);
    // SAFETY: the top frame is there.
    unsafe {
        if switch_stack(thread, sp) {
            return enter_after_unwinding::<M>(thread, function, site, hook, sp);
        }
        if is_gone(thread, function, site, hook, sp) {
            unwind(thread);
            return enter_anywhere::<M>(thread, function, site, hook, sp);
        }
        enter_from::<M>(thread, thread.top.get(), spent, function, site, hook, sp);
    }
}

/// Opens a call of a path that may have no node yet, made from the call of a frame.
unsafe fn enter_from<M: Mode>(
    thread: &Thread,
    mut frame: *const Frame,
    spent: Spent,
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
        match new_path(thread, frame, spent, parent, function, site, hook) {
            Some(node) => call::open::<M>(thread, node, (*frame).inside, function, site, hook, sp),
            None => enter_while_busy(thread, function, site, hook, sp),
        }
    }
}

/// The node of a path, made if there is none. What that takes is no part of any call's time.
unsafe fn new_path(
    thread: &Thread,
    frame: *const Frame,
    mut spent: Spent,
    mut parent: Ref,
    function: usize,
    site: usize,
    hook: usize,
) -> Option<Ref> {
    // Where there is no room this happens at every call: nothing may be asked of the kernel.
    if thread.is_short_of_room() && !recycle::may_help(thread, function, site, hook) {
        let found = path::find(thread, parent, function, site, hook).or_else(|| path::find_folded(thread, function));
        if found.is_some() || thread.is_short_of_spare_room() {
            return found;
        }
    }
    if thread.is_switched() {
        // SAFETY: the caller's frame.
        unsafe { off_cpu::account(thread, frame) };
        spent = Spent::begin(thread); // what it was off may have been since then, and is told of the path
    }
    let busy = Busy::begin_often(thread)?;
    if !path::is_own(thread, parent) {
        // A signal handler forked in the middle of the hook that opened this call: its node is the parent process's.
        fork::inherit(thread);
        // SAFETY: the caller's frame.
        parent = match unsafe { (*frame).position } {
            0 | SKIPPED => ROOT,
            position => position,
        };
    }
    let node = recycle::child(thread, parent, function, site, hook);
    off_cpu::leave_out(thread, &spent);
    busy.end(spent);
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
        let is_left = (*below).sp <= sp && !is_inlined(&*below, site, hook, sp);
        if below != thread.top.get() && is_left && !is_elsewhere(thread, below, sp) {
            while thread.top.get() > below {
                unwind(thread); // that hook was left, and so was its caller
            }
            return enter_after_unwinding::<M>(thread, function, site, hook, sp);
        }
        if is_recorded(thread, below, function, site, hook, sp) {
            enter_from::<M>(thread, below, Spent::begin(thread), function, site, hook, sp);
        }
    }
}

/// Whether a root is open above the latest frame that is filled: one that had no room for its path, and is counted by its function. What it
/// calls is recorded, as called by nothing.
unsafe fn is_in_root_by_function(thread: &Thread, below: *mut Frame) -> bool {
    let mut frame = thread.top.get();
    // SAFETY: frames between bottom and top are there.
    unsafe {
        while frame > below && !((*frame).node == 0 && thread.is_root((*frame).function)) {
            frame = frame.sub(1);
        }
    }
    frame > below
}

/// Whether a call that is made from the call of a frame is recorded. One below `DIYTRACE_DEPTH` is not, but has a frame of its own then; nor is
/// one outside of every root, which is remembered.
unsafe fn is_recorded(
    thread: &Thread,
    below: *mut Frame,
    function: usize,
    site: usize,
    hook: usize,
    sp: usize,
) -> bool {
    // SAFETY: the caller's frame.
    unsafe {
        let is_recorded =
            (*below).position != SKIPPED || is_root(thread, function) || is_in_root_by_function(thread, below);
        if !is_recorded && below != thread.bottom.get() {
            skip(thread, &*below, function, site, hook, sp);
        } else if !is_recorded && thread.knows(function) {
            thread.outsiders[(function >> 4) % OUTSIDERS].set(function);
        }
        is_recorded
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
        if thread.top.get().add(1) == thread.limit.get() && !shadow_stack::grow(thread) {
            return;
        }
        if node != 0 {
            arch::add(&raw mut (*slot(thread.base, thread.node(node), inside)).calls, 1);
        }
        let frame = reserve(thread, node, function, site, hook, sp);
        ((*frame).bits, (*frame).inside) = (inside | bits::UNTIMED, inside);
        fill(thread, frame, SKIPPED);
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
            raise_bodies(thread, thread.top.get(), site, hook, sp);
        }
        let top = &*thread.top.get();
        let is_inside = top.sp > sp || is_inlined(top, site, hook, sp);
        if !is_inside && !is_elsewhere(thread, top, sp) {
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
        match has_no_caller(thread, sp) {
            true => enter_outermost::<M>(thread, function, site, hook, sp),
            false => enter_anywhere::<M>(thread, function, site, hook, sp),
        }
    }
}

/// Entry of a call that none of those that are open has made: they are all on other stacks.
#[cold]
#[inline(never)]
unsafe fn enter_outermost<M: Mode>(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the bottom frame is there.
    unsafe {
        let bottom = thread.bottom.get();
        if !is_recorded(thread, bottom, function, site, hook, sp) {
            return;
        }
        match path::find(thread, ROOT, function, site, hook) {
            Some(node) => call::open::<M>(thread, node, (*bottom).inside, function, site, hook, sp),
            None => enter_from::<M>(thread, bottom, Spent::begin(thread), function, site, hook, sp),
        }
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
            Some(node) => call::open::<M>(thread, node, (*top).inside, function, site, hook, sp),
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
        drop_holes(thread);
        if thread.is_empty() {
            return; // outside every root
        }
        let forgotten = thread.forgotten.get();
        let tail = hook == site;
        if tail && find_large_frame(thread, function, site, sp) {
            return close_unusual(thread, now + thread.forgotten.get().wrapping_sub(forgotten));
        }
        switch_stack(thread, sp);
        let latest = &*thread.top.get();
        if latest.position == 0 && latest.bits == bits::UNTIMED && latest.function == function && latest.sp == sp {
            return pop(thread); // counted by its function
        }
        // In a signal handler that interrupted a hook: what that has reserved stays.
        let top = filled(thread);
        if is_elsewhere(thread, top, sp) {
            return stray(thread);
        }
        // Behind frames that stand for no call any more.
        let is_plain = (*top).function == function && (*top).sp == sp;
        let (mut found, mut raised) = (is_plain.then_some(top), None);
        let mut frame = top;
        // Left or exited: this stack's frames below the stack pointer. A tail exit's own frame is the outermost of them. A body that
        // is inlined behind a call is entered below, where that one's arguments are still on the stack.
        while (*frame).sp < sp && !is_elsewhere(thread, frame, sp) {
            let below = frame.sub(1);
            if tail && (*frame).function == function {
                raise_bodies(thread, below, site, hook, sp);
            }
            let is_outermost = (*below).sp >= sp || is_elsewhere(thread, below, sp);
            if tail && is_outermost && (*frame).function == function {
                found = Some(frame);
            }
            if !tail && raised.is_none() && (*frame).function == function && (*frame).site == site {
                raised = Some(frame);
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
        found = found.or(raised);
        // A function that moves its stack pointer (`alloca`) exits below where it entered; so does one that is split, in its other part. And so
        // does a call for which there was no room for a frame.
        let is_full = thread.top.get().add(1) == thread.limit.get();
        let may_have_moved = found.is_none() && !tail && (*frame).sp > sp && frame > thread.bottom.get() && !is_full;
        let is_latest = || {
            let mut latest = thread.top.get();
            while latest > frame && (*latest).position == 0 && (*latest).node == 0 {
                latest = latest.sub(1); // stands for no call any more
            }
            latest == frame
        };
        let is_missed = || sp <= thread.missed.get() && is_anothers_frame(thread, &*frame, sp);
        let is_same = || {
            let exit = Event { function: function as u64, site: site as u64, hook: hook as u64, sp: sp as u64 };
            let is_part = || (*frame).node > ROOT && is_exit_of_part(thread.family, &exit, full_hook(thread, &*frame));
            (*frame).function == function && ((*frame).site == site || is_part())
        };
        if may_have_moved && is_same() && is_latest() && !is_missed() {
            found = Some(frame);
        }
        let keep = found.unwrap_or(gone);
        // A hook that was interrupted above a call that is gone, or that exits, was left with it.
        while found.is_some_and(|found| thread.top.get() > found) || (keep < top && thread.top.get() > keep) {
            unwind(thread);
        }
        match found {
            // What the recorder has spent on those is taken off the beginning; the end is from before.
            Some(_) => close_unusual(thread, now + thread.forgotten.get().wrapping_sub(forgotten)),
            None => stray(thread),
        }
    }
}

unsafe fn stray(thread: &Thread) {
    // SAFETY: the thread has an arena.
    unsafe { arch::add(&raw mut (*thread.arena.get()).stray_exits, 1) };
}
