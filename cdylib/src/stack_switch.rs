//! Where code goes on, on another stack than the latest open call's: which of the open calls it is part of.
//!
//! The calls of the stack that is run on lie on top of the others: the shadow stack has them next to each other, in their order.

use crate::busy::Busy;
use crate::field::Field;
use crate::frame::{Frame, NO_CALL, NOWHERE, bits};
use crate::frame_index;
use crate::path_cache;
use crate::shadow_stack;
use crate::stack::{self, Surroundings};
use crate::stale_frames::{BEHIND, exact_return_address, full_hook, unwind};
use crate::suspended::NEAR;
use crate::sys;
use crate::thread::{FRAME_ENDS, FrameEnd, Thread};
use core::ops::RangeInclusive;
use profile::node::ROOT;

/// Code now runs on another stack than the latest open call did: brings the calls that are open on this one to the top.
/// True if that changed anything.
///
/// What a signal handler has left open on the alternate stack is closed; a coroutine's calls stay, below, until it goes
/// on. A call that is the first on its stack changes nothing: whoever switched to it counts as its caller.
pub unsafe fn switch_stack(thread: &Thread, sp: usize) -> bool {
    // SAFETY: frames between bottom and top are there.
    unsafe {
        if !is_elsewhere(thread, thread.top.get(), sp) {
            return false;
        }
        thread.window.notice_other_stack();
        thread.reach.set(NEAR);
        let mut changed = false;
        while is_elsewhere(thread, thread.top.get(), sp) && was_left(thread, sp) {
            unwind(thread);
            changed = true;
        }
        if !is_elsewhere(thread, thread.top.get(), sp) {
            return changed;
        }
        let is_found = Busy::begin_often(thread).is_some_and(|_busy| bring_up(thread, sp));
        if !is_found && is_anothers(thread) {
            give_up(thread);
            return false;
        }
        changed | is_found
    }
}

/// Whether the latest open call is gone as code runs on another stack ([`stack::was_left`]). To ask is a system call; none is needed for a
/// coroutine that has given way before.
unsafe fn was_left(thread: &Thread, sp: usize) -> bool {
    /// Calls on its stack of which one may have been open then.
    const LOOKED_AT: usize = 8;
    let mut frame = thread.top.get();
    // SAFETY: frames between bottom and top are there; the bottom's lies near none.
    unsafe {
        let latest = (*frame).sp;
        for _ in 0..LOOKED_AT {
            if !stack::are_near((*frame).sp, latest) {
                break;
            }
            if (*frame).bits & bits::RESUMED != 0 {
                return false;
            }
            frame = frame.sub(1);
        }
        stack::was_left(latest, sp)
    }
}

/// Moves the calls that are open on a stack to the top, and leaves the order among these and among the others as it is. True if there were
/// any.
///
/// The state must be [`crate::busy`].
unsafe fn bring_up(thread: &Thread, sp: usize) -> bool {
    // SAFETY: frames between bottom and top are there, and nobody else's.
    unsafe {
        let holes = thread.holes.get();
        if holes > thread.depth() / 2 || holes != 0 && !frame_index::is_of_use(thread) {
            shadow_stack::close_up(thread);
        }
        let is_found = match frame_index::is_of_use(thread) {
            true => bring_up_from_index(thread, sp),
            false => bring_up_from_all(thread, sp),
        };
        thread.line.set(path_cache::offset((*thread.top.get()).position));
        is_found
    }
}

/// The same, where they are looked up: in no more time than they themselves take, however many others there are.
unsafe fn bring_up_from_index(thread: &Thread, sp: usize) -> bool {
    // SAFETY: as above.
    unsafe {
        if !frame_index::add_new(thread) {
            return false;
        }
        thread.suspended.clear();
        let here = Surroundings::of(thread, sp);
        let Some((lowest, highest)) = frame_index::range(thread, sp, &here) else { return false };
        let most = highest.offset_from(lowest) as usize + 1;
        while (thread.limit.get().offset_from(thread.top.get()) as usize) <= most {
            if !shadow_stack::make_room(thread) {
                return bring_up_from_all(thread, sp);
            }
        }
        let mut frame = lowest;
        while frame <= highest {
            if (*frame).sp != NOWHERE && (*frame).function != NO_CALL && here.is_same(thread, (*frame).sp) {
                shadow_stack::raise(thread, frame);
            }
            frame = frame.add(1);
        }
        true
    }
}

/// The same, where all that are open are looked through. What lies next to each other moves at once.
unsafe fn bring_up_from_all(thread: &Thread, sp: usize) -> bool {
    let (top, bottom) = (thread.top.get(), thread.bottom.get());
    let here = Surroundings::of(thread, sp);
    // SAFETY: frames between bottom and top are there, and nobody else's.
    unsafe {
        let is_here = |frame: *const Frame| match (*frame).sp {
            NOWHERE => (*frame).function != NO_CALL, // an interrupted hook's
            sp => here.is_same(thread, sp),
        };
        let (mut lowest, mut frame, mut above, mut may_move) = (top, top, NOWHERE, true);
        thread.suspended.clear();
        frame_index::forget(thread);
        while frame > bottom {
            // Or an interrupted hook will fill this very frame.
            may_move &= (*frame).position != 0 || (*frame).function == NO_CALL;
            if is_here(frame) {
                (*frame).bits |= if (*frame).position != 0 { bits::RESUMED } else { 0 };
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

/// Where a call's frame begins, as its caller's ends there: that is the latest open call, or one of those on stacks that are not run on.
fn find_frame_end(thread: &Thread, latest: &Frame, site: usize, hook: usize, sp: usize) -> Option<usize> {
    /// To find nothing takes a system call for each page; so that often it is believed without.
    const BELIEVED: usize = 16;
    let is_suspended = |end| thread.suspended.may_be_near(end) || frame_index::is_near(thread, end);
    let is_one =
        |end: &usize| stack::are_near(*end, latest.sp) || is_suspended(*end) && !is_end_of_open(thread, site, *end);
    let place = frame_end(thread, hook);
    let FrameEnd { bytes, in_vain, .. } = match place.get() {
        known if known.hook == hook => known,
        _ => FrameEnd { hook, bytes: 0, in_vain: 0 },
    };
    let end = sp.saturating_add(bytes);
    // SAFETY: the caller's stack pointer.
    if is_one(&end) && unsafe { stack::word_at(thread, sp, end) } == Some(site) {
        return Some(end);
    }
    // SAFETY: the hook runs.
    if let Some(end) = unsafe { exact_return_address(thread, site, hook, sp) } {
        place.set(FrameEnd { hook, bytes: end - sp, in_vain: 0 });
        return is_one(&end).then_some(end);
    }
    if in_vain % BELIEVED != 0 || !sp.is_multiple_of(size_of::<usize>()) {
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

/// Whether an address is where the frame of an open call begins that was made from a call site, and the outermost on its stack: of coroutines that
/// all begin in one place, and whose stacks lie side by side, each has the return address there that another's first call has.
fn is_end_of_open(thread: &Thread, site: usize, end: usize) -> bool {
    let (below, above) = (end.saturating_sub(NEAR)..=end, end..=end.saturating_add(NEAR));
    // SAFETY: frames between bottom and top are there.
    unsafe {
        let is_own = |frame: *mut Frame| {
            let frame = &*frame;
            frame.position != 0 && frame.site == site && below.contains(&frame.sp)
        };
        let is_further_out = |frame: *mut Frame| above.contains(&(*frame).sp);
        find_open(thread, below.clone(), is_own).is_some() && find_open(thread, above.clone(), is_further_out).is_none()
    }
}

/// The frame of an open call that was entered at one of some stack pointers, no more than a page of them, and of which something holds.
unsafe fn find_open(
    thread: &Thread,
    sps: RangeInclusive<usize>,
    is_it: impl Fn(*mut Frame) -> bool,
) -> Option<*mut Frame> {
    let mut frame = thread.top.get();
    // SAFETY: frames between bottom and top are there.
    while frame > thread.bottom.get() && unsafe { (*frame).bits } & bits::SUSPENDED == 0 {
        if is_it(frame) {
            return Some(frame);
        }
        frame = frame.wrapping_sub(1);
    }
    // The others are in the index.
    frame_index::find_between(thread, sps, is_it)
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
        let is_it = |frame: *mut Frame| {
            let frame = &*frame;
            let is_one = frame.function == function && frame.site == site && frame.node > ROOT && frame.position != 0;
            is_one && frame.sp < sp && known_frame_end(thread, frame) == Some(sp)
        };
        let Some(frame) = find_frame(thread, sp, is_it) else { return false };
        let own = (*frame).sp;
        switch_stack(thread, own);
        while (*thread.top.get()).sp < own && !is_elsewhere(thread, thread.top.get(), own) {
            unwind(thread);
        }
        is_it(thread.top.get())
    }
}

/// The frame of an open call that ends at an address, of which something holds.
unsafe fn find_frame(thread: &Thread, end: usize, is_it: impl Fn(*mut Frame) -> bool) -> Option<*mut Frame> {
    // Most begin near their end, and how large those frames are that do not is known. SAFETY: frames between bottom and top are there.
    unsafe { find_open(thread, end.saturating_sub(NEAR)..=end, &is_it) }.or_else(|| {
        let large = thread.frame_ends.iter().map(|known| known.get().bytes).filter(|&bytes| bytes > NEAR);
        let mut starts = large.map(|bytes| end.saturating_sub(bytes));
        starts.find_map(|start| frame_index::find_between(thread, start..=start, &is_it))
    })
}

/// Where an open call's frame begins, if that was found at its hook before.
unsafe fn known_frame_end(thread: &Thread, frame: &Frame) -> Option<usize> {
    // SAFETY: the caller's frame, which has a node.
    let hook = unsafe { full_hook(thread, frame) };
    let known = frame_end(thread, hook).get();
    (known.hook == hook && known.bytes != 0).then(|| frame.sp + known.bytes)
}

/// Whether code deeper in the stack than an open call, which returns to the same place, has a frame of its own: its return address is as
/// far from its stack pointer as the open call's is from that one's. Where the open call has moved its stack pointer (`alloca`),
/// something else lies there.
///
/// # Safety
/// The open call must be on the stack that is run on, and the stack pointer that of the code.
pub unsafe fn is_anothers_frame(thread: &Thread, open: &Frame, sp: usize) -> bool {
    if open.node <= ROOT || open.position == 0 {
        return false;
    }
    // SAFETY: the frame has a node.
    let hook = unsafe { full_hook(thread, open) };
    let place = frame_end(thread, hook);
    let bytes = match place.get() {
        FrameEnd { hook: known, bytes, .. } if known == hook && bytes != 0 => bytes,
        _ => {
            let words = open.sp + size_of::<usize>()..open.sp.saturating_add(BEHIND);
            // SAFETY: the caller's promise.
            let Some(end) = (unsafe { stack::find_word(thread, words, |_, word| word == open.site) }) else {
                return false;
            };
            place.set(FrameEnd { hook, bytes: end - open.sp, in_vain: 0 });
            end - open.sp
        }
    };
    // SAFETY: the caller's promise.
    unsafe { stack::word_at(thread, sp, sp.wrapping_add(bytes)) == Some(open.site) }
}

/// Where is kept how large the frame of a hook's call was.
fn frame_end(thread: &Thread, hook: usize) -> &Field<FrameEnd> {
    &thread.frame_ends[(hook ^ hook >> 8) % FRAME_ENDS]
}

/// Whether a frame is that of a call on another stack.
pub unsafe fn is_elsewhere(thread: &Thread, frame: *const Frame, sp: usize) -> bool {
    // SAFETY: the caller's frame.
    let frame_sp = unsafe { (*frame).sp };
    frame_sp != NOWHERE && !stack::is_same(thread, frame_sp, sp)
}

/// Whether a call has no caller that is recorded: it is made on the stack that the thread was started on, where every place is known, and
/// all calls that are open are on others.
///
/// # Safety
/// Calls that are open on the call's stack must be on top, as [`switch_stack`] leaves them.
pub unsafe fn has_no_caller(thread: &Thread, sp: usize) -> bool {
    let top = thread.top.get();
    // SAFETY: the top frame is there.
    top != thread.bottom.get() && unsafe { is_elsewhere(thread, top, sp) } && stack::is_on_own(thread, sp)
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
    thread.family.warn(&[profile::text::SHARED_STORAGE.as_bytes()]);
}
