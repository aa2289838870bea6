//! What the hooks do when a call is not the usual one: the first of its path, the first in a process, one after
//! `longjmp`, an exit without an entry.

use crate::arch;
use crate::clock::{self, Clock, Gettime, Tsc};
use crate::code;
use crate::hooks;
use crate::modules;
use crate::path;
use crate::stack;
use crate::sys::SignalsBlocked;
use crate::thread::{self, DISTANCES, Distance, Frame, KNOWN_PAGES, Thread, bits, live, slot};
use profile::Ref;
use profile::node::{ROOT, SKIPPED, mark};

/// Entry in a thread that is not recording by the time stamp counter.
#[cold]
#[inline(never)]
pub unsafe fn enter(function: usize, site: usize, hook: usize, sp: usize) {
    let thread = thread::current();
    // SAFETY: the state is valid, and says what may be done with it.
    unsafe {
        if thread.is_null() || hooks::is_paused(&*thread) || hooks::is_outside(&*thread, function) {
            return;
        }
        match (*thread).state() {
            live::TSC => hooks::enter_on::<Tsc>(&mut *thread, function, site, hook, sp),
            live::GETTIME => hooks::enter_on::<Gettime>(&mut *thread, function, site, hook, sp),
            _ if (*thread).is_root(function) || (*thread).roots.is_null() => (*thread).family.lose(1),
            _ => {}
        }
    }
}

/// Exit in a thread that is not recording by the time stamp counter.
#[cold]
#[inline(never)]
pub unsafe fn exit(function: usize, site: usize, hook: usize, sp: usize) {
    let thread = thread::current();
    // SAFETY: as above.
    unsafe {
        if !thread.is_null() && (*thread).state() != live::LOST {
            let now = clock::now((*thread).family.clock);
            hooks::exit_at(&mut *thread, now, function, site, hook, sp);
        }
    }
}

/// Entry of a call whose path is not among those met lately.
#[inline(never)]
pub unsafe fn enter_uncached<C: Clock>(thread: &mut Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the top frame is there.
    unsafe {
        let (parent, inside) = ((*thread.top).position, (*thread.top).inside);
        match path::find(thread, parent, function, site, hook) {
            Some(node) => {
                thread.path_cache[path::cache_place(parent, function, site, hook)] = node;
                hooks::open::<C>(thread, node, inside, function, site, hook, sp);
            }
            None => enter_new_path::<C>(thread, function, site, hook, sp),
        }
    }
}

/// Entry of a call whose path has no node yet.
#[cold]
#[inline(never)]
pub unsafe fn enter_new_path<C: Clock>(thread: &mut Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the top frame is there; signals are blocked while the arena grows.
    unsafe {
        if switch_stack(thread, sp) {
            return enter_after_unwinding::<C>(thread, function, site, hook, sp);
        }
        if is_gone(thread, function, site, hook, sp) {
            unwind(thread);
            return enter_anywhere::<C>(thread, function, site, hook, sp);
        }
        let (parent, inside) = ((*thread.top).position, (*thread.top).inside);
        match new_path::<C>(thread, parent, function, site, hook) {
            Some(node) => hooks::open::<C>(thread, node, inside, function, site, hook, sp),
            None => arch::add(&raw mut (*thread.arena).lost_calls, 1),
        }
    }
}

/// The node of a path, made if there is none. What that takes is no part of any call's time.
unsafe fn new_path<C: Clock>(
    thread: &mut Thread,
    parent: Ref,
    function: usize,
    site: usize,
    hook: usize,
) -> Option<Ref> {
    let _blocked = SignalsBlocked::new();
    let began = C::now();
    let node = path::child(thread, parent, function, site, hook);
    thread.forget_time_since(began);
    node
}

/// Most bytes of stack that are searched for a return address.
const SEARCHED: usize = 16 << 20;

/// How far behind an open call's stack pointer the return address of one that took its place may lie.
const BEHIND: usize = 64 << 10;

/// Whether the latest open call has been left (`longjmp`, an exception) though its frame does not lie below the new one's
/// stack pointer: a call that took its place may have as large a frame, or a larger one.
///
/// A call made by an open one has its return address below that one's stack pointer; if it does not lie there, the open
/// one is gone, or the new one is part of its body. This is asked once for each path. On a path that is known the parent
/// cannot be wrong, but for recursion: a call from this site was once seen to come from that function.
unsafe fn is_gone(thread: &mut Thread, function: usize, site: usize, hook: usize, sp: usize) -> bool {
    // SAFETY: the top frame is there; the words searched lie in one mapping of the stack.
    unsafe {
        let top = *thread.top;
        let reach = top.sp.wrapping_sub(sp);
        if top.position == 0 || thread.top == thread.bottom || reach > SEARCHED {
            return false;
        }
        if reach != 0 {
            if !sp.is_multiple_of(size_of::<usize>()) || !stack::is_same(thread, sp, top.sp) {
                return false;
            }
            if find_return_address(thread, site, hook, sp, top.sp).is_some_and(|at| at <= top.sp) {
                return false;
            }
        }
        // A body inlined into the open call's function has its call site, and a hook that lies in no code of its own, or
        // where the open one's lies too.
        if site != top.site {
            return true;
        }
        let began = clock::now(thread.family.clock);
        let starts = |hook| code::is_of(thread.family, hook, function);
        let is_gone = match starts(hook) {
            Some(is_own) => is_own && starts(top.hook) == Some(false),
            None => hook >= function && (function >= top.function || top.function > hook),
        };
        thread.forget_time_since(began);
        is_gone
    }
}

/// Where a call's return address lies: as far above its hook's stack pointer as the last time at this hook, if it is
/// there; else at the first place that holds it. (That could be in a variable that has no value yet, left there by an
/// earlier and deeper call.) It is looked for until behind `end`.
unsafe fn find_return_address(thread: &mut Thread, site: usize, hook: usize, sp: usize, end: usize) -> Option<usize> {
    let (_, stack_end) = thread.stacks.into_iter().find(|&(start, stack_end)| (start..stack_end).contains(&end))?;
    let end = stack_end.min(end.saturating_add(BEHIND));
    let known = &mut thread.distances[(hook ^ hook >> 8) % DISTANCES];
    // SAFETY: the words read lie between a stack pointer and the end of its stack's mapping.
    let holds_it = |at: &usize| unsafe { *core::ptr::with_exposed_provenance::<usize>(*at) == site };
    let last = sp.saturating_add(known.bytes);
    if known.hook == hook && last < end && holds_it(&last) {
        return Some(last);
    }
    // Behind the hook's own return address.
    let found = (sp + size_of::<usize>()..end).step_by(size_of::<usize>()).find(holds_it)?;
    *known = Distance { hook, bytes: found - sp };
    Some(found)
}

/// Entry of a call that has no recorded caller: outside every root, below `DIYTRACE_DEPTH`, or in a signal handler that
/// interrupted a hook.
#[cold]
#[inline(never)]
pub unsafe fn enter_from_nowhere<C: Clock>(thread: &mut Thread, function: usize, site: usize, hook: usize, sp: usize) {
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
                if below != thread.bottom {
                    skip(thread, &*below, function, site, hook, sp);
                }
                return;
            }
            parent = if below == thread.bottom { ROOT } else { path::recorded_position(thread, &*below) };
        }
        match new_path::<C>(thread, parent, function, site, hook) {
            Some(node) => hooks::open::<C>(thread, node, inside, function, site, hook, sp),
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
        let filled = Frame { sp, function, site, hook, node, position: SKIPPED, ..Frame::EMPTY };
        thread.top.write(Frame { bits: inside | bits::UNTIMED, inside, ..filled });
    }
}

/// Entry of a call for whose frame there was no room.
#[cold]
#[inline(never)]
pub unsafe fn enter_too_deep<C: Clock>(thread: &mut Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the thread has an arena.
    unsafe {
        if thread.grow() {
            hooks::enter_on::<C>(thread, function, site, hook, sp);
        } else {
            arch::add(&raw mut (*thread.arena).lost_calls, 1);
        }
    }
}

/// Entry of a call whose stack pointer says that calls still open have been left, unless it is on another stack.
#[cold]
#[inline(never)]
pub unsafe fn enter_after_unwinding<C: Clock>(
    thread: &mut Thread,
    function: usize,
    site: usize,
    hook: usize,
    sp: usize,
) {
    // SAFETY: frames between bottom and top are there.
    unsafe {
        switch_stack(thread, sp);
        if stack::is_same(thread, (*thread.top).sp, sp) {
            while (*thread.top).sp < sp {
                unwind(thread);
            }
            // In the same physical frame: what another call of that frame, or the same hook, has left.
            let mut frame = thread.top;
            let mut keep = thread.top;
            while (*frame).sp == sp {
                if (*frame).site != site || (*frame).hook == hook {
                    keep = frame.sub(1);
                }
                frame = frame.sub(1);
            }
            while thread.top > keep {
                unwind(thread);
            }
        }
        enter_anywhere::<C>(thread, function, site, hook, sp);
    }
}

/// Code now runs on another stack than the latest open call did: brings the calls that are open on this one to the top.
/// True if that changed anything.
///
/// What a signal handler has left open on the alternate stack is closed; a coroutine's calls stay, below, until it goes
/// on. A call that is the first on its stack changes nothing: whoever switched to it counts as its caller.
unsafe fn switch_stack(thread: &mut Thread, sp: usize) -> bool {
    // SAFETY: frames between bottom and top are there.
    unsafe {
        let mut changed = false;
        while is_elsewhere(thread, thread.top, sp) && stack::was_left((*thread.top).sp, sp) {
            unwind(thread);
            changed = true;
        }
        if !is_elsewhere(thread, thread.top, sp) {
            return changed;
        }
        let _blocked = SignalsBlocked::new();
        let mut place = thread.top; // of the next one to bring up
        let mut frame = thread.top;
        while frame > thread.bottom {
            if (*frame).position == 0 {
                return changed; // an interrupted hook will fill this very frame
            }
            frame = frame.sub(1);
        }
        frame = thread.top;
        while frame > thread.bottom {
            if !is_elsewhere(thread, frame, sp) {
                let brought = *frame;
                core::ptr::copy(frame.add(1), frame, place.offset_from(frame) as usize);
                *place = brought;
                place = place.sub(1);
                changed = true;
            }
            frame = frame.sub(1);
        }
        changed
    }
}

/// Whether a frame is that of a call on another stack.
unsafe fn is_elsewhere(thread: &mut Thread, frame: *const Frame, sp: usize) -> bool {
    // SAFETY: the caller's frame.
    let frame_sp = unsafe { (*frame).sp };
    frame_sp != usize::MAX && !stack::is_same(thread, frame_sp, sp)
}

/// The rest of an entry once the stack pointer has been dealt with.
unsafe fn enter_anywhere<C: Clock>(thread: &mut Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the top frame is there.
    unsafe {
        let (top, position) = (thread.top, (*thread.top).position);
        let known = path::find(thread, position, function, site, hook);
        match known {
            _ if position < ROOT => enter_from_nowhere::<C>(thread, function, site, hook, sp),
            Some(node) => hooks::open::<C>(thread, node, (*top).inside, function, site, hook, sp),
            None => enter_new_path::<C>(thread, function, site, hook, sp),
        }
    }
}

/// Exit that is not plainly that of the latest open call.
#[cold]
#[inline(never)]
pub unsafe fn exit_of_another(thread: &mut Thread, now: u64, function: usize, site: usize, hook: usize, sp: usize) {
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
        // Left or exited: frames below the stack pointer. A tail exit's own frame is the outermost of them.
        while (*frame).sp < sp {
            if tail && (*frame.sub(1)).sp >= sp && (*frame).function == function {
                found = Some(frame);
            }
            frame = frame.sub(1);
        }
        let gone = frame;
        while found.is_none() && (*frame).sp == sp && !tail {
            if (*frame).function == function {
                found = Some(frame);
            }
            frame = frame.sub(1);
        }
        // A function that moves its stack pointer (`alloca`) exits below where it entered.
        let may_have_moved = found.is_none() && !tail && (*frame).sp > sp && frame > thread.bottom;
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

/// Closes the latest open call, whatever it is.
#[cold]
#[inline(never)]
pub unsafe fn close_unusual(thread: &mut Thread, now: u64) {
    // SAFETY: the top frame is there.
    unsafe {
        let kind = (*thread.top).bits;
        if kind & bits::UNTIMED != 0 {
            hooks::pop(thread);
        } else if kind & bits::INHERITED != 0 {
            // Counted, and its distribution kept, in the parent process: only the time since the fork is ours.
            close_partly(thread, now);
        } else {
            hooks::close(thread, now);
        }
    }
}

/// Closes the latest open call as one that was left without an exit, at the latest moment that is known of it.
unsafe fn unwind(thread: &mut Thread) {
    // SAFETY: the top frame is there, and its node in the mapping.
    unsafe {
        let frame = *thread.top;
        if frame.position == 0 || frame.bits & bits::UNTIMED != 0 {
            return hooks::pop(thread);
        }
        if frame.bits & bits::INHERITED == 0 {
            arch::add(&raw mut (*thread.node(frame.node)).unwound, 1);
            arch::add(&raw mut (*thread.arena).unwound, 1);
        }
        thread.last = thread.last.max(frame.start);
        let last = thread.last;
        close_partly(thread, last);
    }
}

/// Closes the latest open call without putting its time into the distribution: it is not that of a whole call.
unsafe fn close_partly(thread: &mut Thread, now: u64) {
    // SAFETY: as above.
    unsafe {
        let frame = *thread.top;
        let counters = slot(thread.node(frame.node), frame.bits);
        arch::add(&raw mut counters.ticks, now.saturating_sub(frame.start));
        arch::add(&raw mut counters.descendants, thread.count.saturating_sub(frame.count));
        counters.mark = now & !mark::BITS;
        thread.last = now;
        hooks::pop(thread);
    }
}
