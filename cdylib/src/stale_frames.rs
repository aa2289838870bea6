//! Calls that were left without an exit: by `longjmp`, an exception, a stack that is no longer run on.
//!
//! The stack pointer tells most of them. Where it cannot, the return address does: where on the stack it lies, and in
//! whose code.

use crate::arch;
use crate::busy::Busy;
use crate::code;
use crate::counted;
use crate::extension;
use crate::field::Field;
use crate::frame::{Frame, NOTED, NOWHERE, bits};
use crate::modules;
use crate::node::{self, slot};
use crate::path;
use crate::shadow_stack;
use crate::spent::Spent;
use crate::stack::{self, Surroundings};
use crate::sys;
use crate::thread::{DISTANCES, Distance, FRAME_ENDS, FrameEnd, Thread};
use crate::timeline;
use core::mem::offset_of;
use profile::node::ROOT;
use profile::node::mark;
use profile::ring::Event;
use profile::{Arena, Ref, Slot};

/// Most bytes of stack that are searched for a return address.
const SEARCHED: usize = 16 << 20;

/// How far behind an open call's stack pointer the return address of one that took its place may lie.
const BEHIND: usize = 64 << 10;

/// Whether the latest open call has been left (`longjmp`, an exception) though its frame does not lie below the new one's
/// stack pointer: a call that took its place may have as large a frame, or a larger one.
///
/// A call made by an open one has its return address below that one's stack pointer; if it does not lie there, the open
/// one is gone, or the new one is part of its body. (A body may give one that lies nowhere: [`is_inlined_elsewhere`].) This is
/// asked once for each path. On a path that is known the parent cannot be wrong, but for recursion: a call from this site was
/// once seen to come from that function.
pub unsafe fn is_gone(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) -> bool {
    let call = Event { function: function as u64, site: site as u64, hook: hook as u64, sp: sp as u64 };
    // SAFETY: the top frame is there.
    unsafe {
        let is_none = thread.top.get() == thread.bottom.get();
        !is_none && is_gone_from(thread, &*thread.top.get(), call, sp)
    }
}

/// The same of another open call.
pub unsafe fn is_gone_from(thread: &Thread, top: &Frame, call: Event, sp: usize) -> bool {
    let (function, site, hook) = (call.function as usize, call.site as usize, call.hook as usize);
    // SAFETY: the caller's frame; the words searched lie in one mapping of the stack.
    unsafe {
        let reach = top.sp.wrapping_sub(sp);
        if top.position == 0 || reach > SEARCHED {
            return false;
        }
        if reach != 0 {
            if !sp.is_multiple_of(size_of::<usize>()) || !stack::is_same(thread, sp, top.sp) {
                return false;
            }
            let found = find_return_address(thread, site, hook, sp, top.sp);
            if found.is_some_and(|at| at <= top.sp) || found.is_none() && is_inlined_elsewhere(thread, function, hook) {
                return false;
            }
        }
        // A body inlined into the open call's function has its call site, and a hook that lies in no code of its own, or
        // where the open one's lies too.
        if site != top.site {
            return true;
        }
        let spent = Spent::begin(thread);
        let family = thread.family;
        let starts = |hook| code::is_of(family, hook, function);
        let is_gone = match starts(hook) {
            Some(is_own) => is_own && starts(full_hook(thread, top)) == Some(false),
            None => hook >= function && (function >= top.function || top.function > hook),
        };
        spent.end(thread);
        is_gone
    }
}

/// Whether a hook lies in a body that was inlined into another function. The call site that it gives may be of long ago: clang
/// keeps a coroutine's return address in the coroutine's memory, so bodies in there go on giving that of whoever began it.
unsafe fn is_inlined_elsewhere(thread: &Thread, function: usize, hook: usize) -> bool {
    let spent = Spent::begin(thread);
    // SAFETY: the hook runs, so its module is there.
    let is_own = unsafe { code::is_of(thread.family, hook, function) };
    spent.end(thread);
    is_own == Some(false)
}

/// Whether the latest open call has been left, asked of a call that has returned by now, when its place on the stack tells
/// nothing any more: whether the code that it was made from is that of a call further out. What code without hooks in between has called stays where it is.
///
/// # Safety
/// Their hooks lie in code that was running a moment ago, the caller's and those of the calls further out.
pub unsafe fn is_gone_by_code(
    thread: &Thread,
    caller: &Frame,
    further_out: impl Iterator<Item = usize>,
    call: &Event,
) -> bool {
    /// Calls further out that are looked at.
    const LOOKED_AT: usize = 32;
    let spent = Spent::begin(thread);
    // SAFETY: the caller's promise; what has no table there is not looked at.
    unsafe {
        let table = modules::unwind_table(thread.family, full_hook(thread, caller));
        let start = |address: usize| {
            let is_there = modules::unwind_table(thread.family, address) == table;
            is_there.then(|| code::start_of(thread.family, address)).flatten()
        };
        let (from, of_caller) = (start(call.site as usize), start(full_hook(thread, caller)));
        let is_gone = if from.is_none() || of_caller.is_none() || from == of_caller {
            false
        } else if caller.site == call.site as usize {
            start(call.hook as usize) != of_caller // not a body in the same frame
        } else {
            further_out.take(LOOKED_AT).any(|hook| start(hook) == from)
        };
        spent.end(thread);
        is_gone
    }
}

/// Gives bodies that are inlined into one frame, and open, the stack pointer that this had when it was entered, where something
/// else comes at one above theirs, and not above that: arguments of the call before them were still on the stack as they were entered,
/// and are not any more.
///
/// # Safety
/// The latest of them must be the frame's.
pub unsafe fn raise_bodies(thread: &Thread, latest: *mut Frame, site: usize, hook: usize, sp: usize) {
    // SAFETY: frames between bottom and top are there.
    unsafe {
        let bottom = thread.bottom.get();
        let mut owner = latest;
        while owner > bottom && owner.sub(1) > bottom && may_be_body_of(&*owner, &*owner.sub(1)) {
            owner = owner.sub(1);
        }
        let frame_sp = (*owner).sp;
        if (*latest).sp >= frame_sp || frame_sp < sp || frame_sp == NOWHERE {
            return;
        }
        let spent = Spent::begin(thread);
        let mut body = latest;
        // Not what was called from where its caller was called from, itself or by a pointer; and nothing of a module that may have
        // been unloaded since that was left: a body lies in code that is running.
        let table = |address| modules::unwind_table(thread.family, address);
        let running = [hook, site].map(table);
        let is_body = |frame: &Frame| {
            let hook = if frame.node > ROOT { full_hook(thread, frame) } else { return false };
            running.contains(&table(hook)) && code::is_of(thread.family, hook, frame.function) != Some(true)
        };
        while body > owner && is_body(&*body) {
            (*body).sp = (*body).sp.max(frame_sp);
            body = body.sub(1);
        }
        spent.end(thread);
    }
}

/// Whether a call may be a body that is inlined into the same frame as that below it.
fn may_be_body_of(frame: &Frame, below: &Frame) -> bool {
    let is_there = frame.position != 0 && below.position != 0;
    is_there && frame.site == below.site && frame.hook != below.hook && frame.function != below.function
}

/// The return address of the enter hook of an open call that has a node.
pub unsafe fn full_hook(thread: &Thread, frame: &Frame) -> usize {
    if frame.position == NOTED {
        return frame.whole_hook as usize;
    }
    // SAFETY: the caller's frame; its node is in the mapping.
    let high = unsafe { (*node::facts(thread.base, thread.node(frame.node))).hook_high };
    (u64::from(high) << 32 | u64::from(frame.hook)) as usize
}

/// Where a call's return address lies: as far above its hook's stack pointer as the last time at this hook, if it is
/// there; else at the first place that holds it. (That could be in a variable that has no value yet, left there by an
/// earlier and deeper call.) It is looked for until behind `end`.
unsafe fn find_return_address(thread: &Thread, site: usize, hook: usize, sp: usize, end: usize) -> Option<usize> {
    let place = &thread.distances[(hook ^ hook >> 8) % DISTANCES];
    let known = place.get();
    let (last, end) = (sp.saturating_add(known.bytes), end.saturating_add(BEHIND));
    // SAFETY: the hook's stack pointer.
    if known.hook == hook && last < end && unsafe { stack::word_at(thread, sp, last) } == Some(site) {
        return Some(last);
    }
    // Behind the hook's own return address.
    let words = sp + size_of::<usize>()..end;
    // SAFETY: the hook's stack pointer.
    let found = unsafe { stack::find_word(thread, words, |_, word| word == site) }?;
    place.set(Distance { hook, bytes: found - sp });
    Some(found)
}

/// Code now runs on another stack than the latest open call did: brings the calls that are open on this one to the top.
/// True if that changed anything.
///
/// What a signal handler has left open on the alternate stack is closed; a coroutine's calls stay, below, until it goes
/// on. A call that is the first on its stack changes nothing: whoever switched to it counts as its caller.
pub unsafe fn switch_stack(thread: &Thread, sp: usize) -> bool {
    // SAFETY: frames between bottom and top are there.
    unsafe {
        if is_elsewhere(thread, thread.top.get(), sp) && is_anothers(thread) {
            give_up(thread);
            return false;
        }
        if is_elsewhere(thread, thread.top.get(), sp) {
            thread.window.notice_other_stack();
            thread.reach.set(stack::NEAR);
        }
        let mut changed = false;
        while is_elsewhere(thread, thread.top.get(), sp) && stack::was_left((*thread.top.get()).sp, sp) {
            unwind(thread);
            changed = true;
        }
        if !is_elsewhere(thread, thread.top.get(), sp) {
            return changed;
        }
        let Some(_busy) = Busy::begin(thread) else { return changed };
        changed | bring_up(thread, sp)
    }
}

/// Moves the calls that are open on a stack to the top, and leaves the order among these and among the others as it is. What lies next
/// to each other moves at once: there may be thousands of stacks. True if there were any.
///
/// The state must be [`crate::busy`].
unsafe fn bring_up(thread: &Thread, sp: usize) -> bool {
    let (top, bottom) = (thread.top.get(), thread.bottom.get());
    let here = Surroundings::of(thread, sp);
    // SAFETY: frames between bottom and top are there, and nobody else's.
    unsafe {
        let is_here = |frame: *const Frame| (*frame).sp == NOWHERE || here.is_same(thread, (*frame).sp);
        let (mut lowest, mut frame, mut above, mut may_move) = (top, top, NOWHERE, true);
        thread.suspended.clear();
        while frame > bottom {
            may_move &= (*frame).position != 0; // or an interrupted hook will fill this very frame
            if is_here(frame) {
                (lowest, above) = (frame, NOWHERE);
            } else {
                if !stack::are_near(above, (*frame).sp) {
                    thread.suspended.add((*frame).sp);
                }
                above = (*frame).sp;
            }
            frame = frame.sub(1);
        }
        if !may_move {
            return false;
        }
        let (mut place, mut frame) = (top, top); // place: of the next to bring up
        while frame >= lowest {
            let last = frame;
            while frame >= lowest && is_here(frame) {
                frame = frame.sub(1);
            }
            let found = last.offset_from(frame) as usize;
            if found > 0 {
                let all = place.offset_from(frame) as usize;
                core::slice::from_raw_parts_mut(frame.add(1), all).rotate_left(found);
                place = place.sub(found);
            } else {
                frame = frame.sub(1);
            }
        }
        place != top
    }
}

/// Whether the state is in the hands of a task that it does not belong to: one made by `clone` with the memory of its parent
/// and without thread-local storage of its own, at the same time as the parent runs. (A child of `vfork` is on its
/// parent's stack, or on the alternate one.)
unsafe fn is_anothers(thread: &Thread) -> bool {
    // SAFETY: the thread has an arena.
    let owner = unsafe { (*thread.arena.get()).tid };
    let has_no_alternate = || sys::alternate_stack() == (0, 0);
    ![0, owner].contains(&sys::gettid()) && has_no_alternate()
}

/// Whether another task than the state's own runs here; that ends recording by it.
pub unsafe fn is_given_up(thread: &Thread, sp: usize) -> bool {
    // SAFETY: frames between bottom and top are there; the thread has an arena.
    unsafe {
        let is_anothers = is_elsewhere(thread, thread.top.get(), sp) && is_anothers(thread);
        if is_anothers {
            give_up(thread);
        }
        is_anothers
    }
}

/// Ends recording by a state that two tasks share: their calls cannot be told apart, and each would break the other's.
unsafe fn give_up(thread: &Thread) {
    thread.give_up();
    thread
        .family
        .warn(&[b"a task made by clone without thread-local storage of its own called instrumented functions: \
        from then on its calls and those of the thread that made it are counted by function only"]);
}

/// Brings the calls that are open on a stack to the top where one of them makes a call, and not the latest open one. On a new stack, and
/// behind a large frame of a call that the latest makes, nothing changes.
///
/// # Safety
/// A call must be open, and a hook with this stack pointer run.
pub unsafe fn find_caller(thread: &Thread, site: usize, hook: usize, sp: usize) {
    // SAFETY: the top frame is there.
    unsafe {
        let latest = &*thread.top.get();
        if !is_elsewhere(thread, latest, sp) {
            return;
        }
        if stack::is_on_own(thread, sp) {
            switch_stack(thread, sp);
            return;
        }
        match find_frame_end(thread, latest, site, hook, sp) {
            Some(end) if stack::are_near(end, latest.sp) => {}
            Some(end) => _ = switch_stack(thread, end),
            None => thread.suspended.add(latest.sp),
        }
    }
}

/// Brings the calls that are open on a stack to the top where one of them exits by a jump to its hook, and has had a large frame: where
/// its stack pointer was may be too far from there to be taken for the same stack's. True if it is the latest open call now.
///
/// # Safety
/// Frames between bottom and top must be there.
pub unsafe fn find_large_frame(thread: &Thread, function: usize, site: usize, sp: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        if !is_elsewhere(thread, thread.top.get(), sp) || stack::is_on_own(thread, sp) {
            return false;
        }
        let is_it = |frame: &Frame| {
            let is_one = frame.function == function && frame.site == site && frame.node > ROOT && frame.position != 0;
            is_one && frame.sp < sp && known_frame_end(thread, frame) == Some(sp)
        };
        let mut frame = thread.top.get();
        while frame > thread.bottom.get() && !is_it(&*frame) {
            frame = frame.sub(1);
        }
        if frame == thread.bottom.get() {
            return false;
        }
        let own = (*frame).sp;
        switch_stack(thread, own);
        while (*thread.top.get()).sp < own && !is_elsewhere(thread, thread.top.get(), own) {
            unwind(thread);
        }
        is_it(&*thread.top.get())
    }
}

/// Where an open call's frame begins, if that was found at its hook before.
unsafe fn known_frame_end(thread: &Thread, frame: &Frame) -> Option<usize> {
    // SAFETY: the caller's frame, which has a node.
    let hook = unsafe { full_hook(thread, frame) };
    let known = frame_end(thread, hook).get();
    (known.hook == hook && known.bytes != 0).then(|| frame.sp + known.bytes)
}

/// Where is kept how large the frame of a hook's call was.
fn frame_end(thread: &Thread, hook: usize) -> &Field<FrameEnd> {
    &thread.frame_ends[(hook ^ hook >> 8) % FRAME_ENDS]
}

/// Where a call's frame begins, as its caller's ends there: that is the latest open call, or one of those on stacks that are not run on.
fn find_frame_end(thread: &Thread, latest: &Frame, site: usize, hook: usize, sp: usize) -> Option<usize> {
    /// To find nothing takes a system call for each page; so that often it is believed without.
    const BELIEVED: usize = 16;
    let is_one = |end: &usize| stack::are_near(*end, latest.sp) || thread.suspended.may_be_near(*end);
    let place = frame_end(thread, hook);
    let FrameEnd { bytes, in_vain, .. } = match place.get() {
        known if known.hook == hook => known,
        _ => FrameEnd { hook, bytes: 0, in_vain: 0 },
    };
    let end = sp.saturating_add(bytes);
    if is_one(&end) {
        return Some(end);
    }
    if in_vain % BELIEVED != 0 {
        place.set(FrameEnd { hook, bytes, in_vain: in_vain + 1 });
        return None;
    }
    // Its return address lies there. In the midst of the frame it may lie, too, in a variable that has no value yet.
    let words = sp + size_of::<usize>()..sp.saturating_add(BEHIND);
    // SAFETY: the caller's stack pointer.
    let found = unsafe { stack::find_word(thread, words, |at, word| word == site && is_one(&at)) };
    place.set(match found {
        Some(end) => FrameEnd { hook, bytes: end - sp, in_vain: 0 },
        None => FrameEnd { hook, bytes, in_vain: in_vain + 1 },
    });
    found
}

/// Whether a frame is that of a call on another stack.
pub unsafe fn is_elsewhere(thread: &Thread, frame: *const Frame, sp: usize) -> bool {
    // SAFETY: the caller's frame.
    let frame_sp = unsafe { (*frame).sp };
    frame_sp != NOWHERE && !stack::is_same(thread, frame_sp, sp)
}

/// Counts a call that was left without an exit.
///
/// The state must be [`crate::busy`].
pub unsafe fn count_left(thread: &Thread, node: Ref) {
    // SAFETY: the caller's node.
    unsafe { count_left_in(thread, node, || path::is_own(thread, node) && extension::ensure(thread, node)) };
}

/// The same of a call that has been closed, where the state may be anything.
unsafe fn count_left_now(thread: &Thread, node: Ref) {
    let forgotten = thread.forgotten.get();
    // SAFETY: the caller's node.
    unsafe { count_left_in(thread, node, || path::extend(thread, node)) };
    // What that took is no part of the calls around it either, which may have been left at the same moment.
    thread.last.set(thread.last.get() + thread.forgotten.get().wrapping_sub(forgotten));
}

/// With the arena, and with its path if there is a place for that, or one is made.
unsafe fn count_left_in(thread: &Thread, node: Ref, make_place: impl FnOnce() -> bool) {
    // SAFETY: the caller's node; the arena is the thread's.
    unsafe {
        arch::count_at::<{ offset_of!(Arena, unwound) }, _>(thread.arena.get());
        if !extension::count_left(thread, thread.node(node)) && make_place() {
            extension::count_left(thread, thread.node(node));
        }
    }
}

/// Closes a call that was left without an exit, or has returned, and others may lie above it: its frame stays, and stands for none.
///
/// The state must be [`crate::busy`].
pub unsafe fn leave_in_place(thread: &Thread, frame: *mut Frame, was_left: bool) {
    // SAFETY: the caller's frame and its node.
    unsafe {
        let (node, bits) = ((*frame).node, (*frame).bits);
        if node != 0 && bits & (bits::UNTIMED | bits::COUNTED) == 0 {
            if was_left && bits & bits::INHERITED == 0 {
                count_left(thread, node);
            }
            let counters = slot(thread.base, thread.node(node), bits);
            let last = thread.last.get().max((*frame).start);
            arch::add(&raw mut (*counters).ticks, last - (*frame).start);
            arch::add(&raw mut (*counters).descendants, thread.count.get().saturating_sub((*frame).count));
            (*counters).mark = last & !mark::BITS;
        }
        ((*frame).node, (*frame).bits) = (0, bits::UNTIMED);
        (*frame).position = 0;
    }
}

/// Closes the latest open call as one that was left without an exit, at the latest moment that is known of it.
pub unsafe fn unwind(thread: &Thread) {
    // SAFETY: the top frame is there, and its node in the mapping.
    unsafe {
        let frame = *thread.top.get();
        if frame.position == 0 || frame.node == 0 || frame.bits & bits::UNTIMED != 0 {
            return shadow_stack::pop(thread);
        }
        if frame.bits & bits::COUNTED != 0 {
            counted::close(thread);
        } else {
            close_partly(thread, thread.last.get().max(frame.start));
        }
        // Last: what it takes to find a place for that is no time of this call, which had ended before.
        if frame.bits & bits::INHERITED == 0 {
            count_left_now(thread, frame.node);
        }
    }
}

/// Closes the latest open call without putting its time into the distribution: it is not that of a whole call.
pub unsafe fn close_partly(thread: &Thread, now: u64) {
    // SAFETY: the top frame is there, and its node in the mapping.
    unsafe {
        let frame = *thread.top.get();
        if frame.bits & bits::ROOT != 0 {
            timeline::add(thread, now);
        }
        let counters = slot(thread.base, thread.node(frame.node), frame.bits);
        arch::add_at::<{ offset_of!(Slot, ticks) }, _>(counters, now.saturating_sub(frame.start));
        arch::add_at::<{ offset_of!(Slot, descendants) }, _>(counters, thread.count.get().saturating_sub(frame.count));
        (*counters).mark = now & !mark::BITS;
        thread.last.set(now);
        shadow_stack::pop(thread);
    }
}
