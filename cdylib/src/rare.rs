//! What the hooks do when a call is not the usual one: the first of its path, the first in a process, one after
//! `longjmp`, an exit without an entry.

use crate::arch;
use crate::clock::{self, Clock};
use crate::counted;
use crate::family;
use crate::filter;
use crate::frame::{Frame, bits};
use crate::hooks;
use crate::left::{close_partly, is_elsewhere, is_gone, switch_stack, unwind};
use crate::modules;
use crate::path;
use crate::reset;
use crate::sampling;
use crate::states;
use crate::sys::SignalsBlocked;
use crate::thread::{KNOWN_PAGES, OUTSIDERS, Thread, live, slot};
use crate::timeline;
use crate::way::{CountedByGettime, CountedByTsc, TimedByGettime, TimedByTsc, Way};
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
    let thread = states::current();
    // SAFETY: the state is valid, and says what may be done with it.
    unsafe {
        if thread.is_null() {
            return lose_without_state(function);
        }
        if hooks::is_paused(&*thread) || hooks::is_outside(&*thread, function) {
            return;
        }
        if hooks::is_reset(&*thread) && (*thread).has_arena() {
            reset::start_anew(&mut *thread);
        }
        match (*thread).state() {
            live::TSC => hooks::enter_on::<TimedByTsc>(&mut *thread, function, site, hook, sp),
            live::COUNTED => hooks::enter_on::<CountedByTsc>(&mut *thread, function, site, hook, sp),
            live::PROBED => {
                let before = arch::ticks();
                hooks::enter_on::<CountedByTsc>(&mut *thread, function, site, hook, sp);
                (*thread).probe(before, (*(*thread).top).bits);
            }
            live::GETTIME => hooks::enter_on::<TimedByGettime>(&mut *thread, function, site, hook, sp),
            live::COUNTED_GETTIME => hooks::enter_on::<CountedByGettime>(&mut *thread, function, site, hook, sp),
            _ if (*thread).is_root(function) || (*thread).roots.is_null() => (*thread).family.lose(1),
            _ => {}
        }
    }
}

/// Counts a call of a thread for which there was no memory.
fn lose_without_state(function: usize) {
    if let Some(family) = family::get()
        && (family.settings.root.is_empty() || filter::is_root(family, function))
    {
        family.lose(1);
    }
}

/// Exit in a thread that is not recording by the time stamp counter.
#[cold]
#[inline(never)]
pub unsafe fn exit(function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the caller has found a state, unless the library is not ready yet.
    if !arch::is_relocated() || unsafe { (*arch::thread()).is_empty() } {
        return;
    }
    let thread = states::current();
    // SAFETY: as above.
    unsafe {
        if !thread.is_null() && (*thread).state() == live::PROBED {
            let bits = (*(*thread).top).bits;
            let before = arch::ticks();
            counted::exit(&mut *thread, function, site, hook, sp);
            (*thread).probe(before, bits);
        } else if !thread.is_null() && (*thread).state() != live::LOST {
            let now = clock::now((*thread).family.clock);
            hooks::exit_at(&mut *thread, now, function, site, hook, sp);
        }
    }
}

/// Entry of a call whose path is not among those met lately.
#[inline(never)]
pub unsafe fn enter_uncached<W: Way>(thread: &mut Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the top frame is there.
    unsafe {
        let (parent, inside) = ((*thread.top).position, (*thread.top).inside);
        match path::find(thread, parent, function, site, hook) {
            Some(node) => {
                let place = path::cache_place(parent, function, site, hook);
                thread.path_cache[place ^ 1] = thread.path_cache[place];
                thread.path_cache[place] = node;
                hooks::open::<W>(thread, node, inside, function, site, hook, sp);
            }
            None => enter_new_path::<W>(thread, function, site, hook, sp),
        }
    }
}

/// Entry of a call whose path has no node yet.
#[cold]
#[inline(never)]
pub unsafe fn enter_new_path<W: Way>(thread: &mut Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the top frame is there; signals are blocked while the arena grows.
    unsafe {
        if switch_stack(thread, sp) {
            return enter_after_unwinding::<W>(thread, function, site, hook, sp);
        }
        if is_gone(thread, function, site, hook, sp) {
            unwind(thread);
            return enter_anywhere::<W>(thread, function, site, hook, sp);
        }
        let (parent, inside) = ((*thread.top).position, (*thread.top).inside);
        match new_path::<W>(thread, parent, function, site, hook) {
            Some(node) => hooks::open::<W>(thread, node, inside, function, site, hook, sp),
            None => arch::add(&raw mut (*thread.arena).lost_calls, 1),
        }
    }
}

/// The node of a path, made if there is none. What that takes is no part of any call's time.
unsafe fn new_path<W: Way>(thread: &mut Thread, parent: Ref, function: usize, site: usize, hook: usize) -> Option<Ref> {
    let _blocked = SignalsBlocked::new();
    let began = W::Clock::now();
    let node = path::child(thread, parent, function, site, hook);
    thread.forget_time_since(began);
    node
}

/// Entry of a call that has no recorded caller: outside every root, below `DIYTRACE_DEPTH`, or in a signal handler that
/// interrupted a hook.
#[cold]
#[inline(never)]
pub unsafe fn enter_from_nowhere<W: Way>(thread: &mut Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: frames up to `top` are there.
    unsafe {
        let mut below = thread.top;
        while (*below).position == 0 && below > thread.bottom {
            below = below.sub(1); // not filled: the caller is what the interrupted hook was called from
        }
        let (position, inside) = ((*below).position, (*below).inside);
        let mut parent = position;
        if position == SKIPPED {
            if !is_root(thread, function) {
                if below == thread.bottom {
                    thread.outsiders[(function >> 4) % OUTSIDERS] = function;
                } else {
                    skip(thread, &*below, function, site, hook, sp);
                }
                return;
            }
            parent = if below == thread.bottom { ROOT } else { path::recorded_position(thread, &*below) };
        }
        match new_path::<W>(thread, parent, function, site, hook) {
            Some(node) => hooks::open::<W>(thread, node, inside, function, site, hook, sp),
            None => arch::add(&raw mut (*thread.arena).lost_calls, 1),
        }
    }
}

/// Whether a function is a root; looks into its module first if that is new.
unsafe fn is_root(thread: &mut Thread, function: usize) -> bool {
    if !thread.knows(function) {
        let _blocked = SignalsBlocked::new();
        modules::meet(thread.family, function);
        thread.use_filter();
        thread.known_pages[(function >> 12) % KNOWN_PAGES] = function >> 12;
    }
    thread.is_root(function)
}

/// Opens the frame of a call below `DIYTRACE_DEPTH`. Its cost is counted with the call at the limit.
unsafe fn skip(thread: &mut Thread, below: &Frame, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the frame is filled below `limit`; the node of a skipped call is in the mapping.
    unsafe {
        let (node, inside) = (below.node, below.inside);
        if thread.top.add(1) == thread.limit && !thread.grow() {
            return;
        }
        if node != 0 {
            arch::add(&raw mut slot(thread.node(node), inside).calls, 1);
        }
        thread.top = thread.top.add(1);
        let filled = Frame { sp, function, site, hook: hook as u32, node, position: SKIPPED, ..Frame::EMPTY };
        thread.top.write(Frame { bits: inside | bits::UNTIMED, inside, ..filled });
    }
}

/// Entry of a call for whose frame there was no room.
#[cold]
#[inline(never)]
pub unsafe fn enter_too_deep<W: Way>(thread: &mut Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the thread has an arena.
    unsafe {
        if thread.grow() {
            hooks::enter_on::<W>(thread, function, site, hook, sp);
        } else {
            arch::add(&raw mut (*thread.arena).lost_calls, 1);
        }
    }
}

/// Entry of a call whose stack pointer says that calls still open have been left, unless it is on another stack.
#[cold]
#[inline(never)]
pub unsafe fn enter_after_unwinding<W: Way>(thread: &mut Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: frames between bottom and top are there.
    unsafe {
        switch_stack(thread, sp);
        if !is_elsewhere(thread, thread.top, sp) {
            while (*thread.top).sp < sp && !is_elsewhere(thread, thread.top, sp) {
                unwind(thread);
            }
            // In the same physical frame: what another call of that frame, or the same hook, has left.
            let mut frame = thread.top;
            let mut keep = thread.top;
            while (*frame).sp == sp {
                if (*frame).site != site || (*frame).hook == hook as u32 {
                    keep = frame.sub(1);
                }
                frame = frame.sub(1);
            }
            while thread.top > keep {
                unwind(thread);
            }
        }
        enter_anywhere::<W>(thread, function, site, hook, sp);
    }
}

/// The rest of an entry once the stack pointer has been dealt with.
unsafe fn enter_anywhere<W: Way>(thread: &mut Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the top frame is there.
    unsafe {
        let (top, position) = (thread.top, (*thread.top).position);
        let known = path::find(thread, position, function, site, hook);
        match known {
            _ if position < ROOT => enter_from_nowhere::<W>(thread, function, site, hook, sp),
            Some(node) => hooks::open::<W>(thread, node, (*top).inside, function, site, hook, sp),
            None => enter_new_path::<W>(thread, function, site, hook, sp),
        }
    }
}

/// Exit that is not plainly that of the latest open call.
#[cold]
#[inline(never)]
pub unsafe fn exit_of_another(thread: &mut Thread, now: u64, function: usize, site: usize, hook: usize, sp: usize) {
    if function == sampling::BLANK {
        thread.blank_ended = now;
        return;
    }
    // SAFETY: frames between bottom and top are there; the bottom frame ends every search.
    unsafe {
        switch_stack(thread, sp);
        let mut top = thread.top;
        while (*top).position == 0 && top > thread.bottom {
            top = top.sub(1); // in a signal handler that interrupted a hook: what it reserved stays
        }
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
        let is_full = thread.top.add(1) == thread.limit;
        let may_have_moved = found.is_none() && !tail && (*frame).sp > sp && frame > thread.bottom && !is_full;
        if may_have_moved && (*frame).function == function && (*frame).site == site && thread.top == frame {
            found = Some(frame);
        }
        let keep = found.unwrap_or(gone);
        while thread.top > keep && (*thread.top).position != 0 {
            unwind(thread);
        }
        match found {
            Some(_) => close_unusual(thread, now),
            None => stray(thread),
        }
    }
}

unsafe fn stray(thread: &mut Thread) {
    // SAFETY: the thread has an arena.
    unsafe { arch::add(&raw mut (*thread.arena).stray_exits, 1) };
}

/// Counts a call that has ended before it began: processors whose counters disagree, a virtual machine that was moved.
#[cold]
#[inline(never)]
pub unsafe fn clock_stepped_back(thread: &mut Thread) {
    // SAFETY: the thread has an arena.
    unsafe { arch::add(&raw mut (*thread.arena).backward_calls, 1) };
}

/// Closes the latest open call, whatever it is.
#[cold]
#[inline(never)]
pub unsafe fn close_unusual(thread: &mut Thread, now: u64) {
    // SAFETY: the top frame is there.
    unsafe {
        let kind = (*thread.top).bits;
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
        } else if kind & bits::SAMPLED != 0 {
            sampling::close(thread, now);
        } else {
            hooks::close(thread, now);
        }
    }
}
