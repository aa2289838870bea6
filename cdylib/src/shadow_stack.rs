//! The calls of a thread that are open: a frame each.
//!
//! A signal handler may interrupt a hook anywhere and call hooks of its own, and may not come back. So a frame is reserved
//! before it is filled, and one that is not filled says so (its position is 0).

use crate::busy::{Busy, is_busy};
use crate::frame::{self, Frame, NO_CALL, NOWHERE, bits};
use crate::frame_index;
use crate::path_cache;
use crate::thread::Thread;
use core::sync::atomic::{Ordering, compiler_fence};
use profile::Ref;

/// Reserves a frame, which a signal handler then leaves alone, and says in it whose it is. [`fill`] completes it.
///
/// # Safety
/// There must be room for it.
#[inline(always)]
pub unsafe fn reserve(thread: &Thread, node: Ref, function: usize, site: usize, hook: usize, sp: usize) -> *mut Frame {
    // SAFETY: the caller has checked the limit.
    unsafe {
        let frame = thread.top.get().add(1);
        // Before it is reserved, too: whoever finds it unfilled can tell whether its hook was left. (A handler that comes
        // in between uses the frame for its own calls, and makes it stand for none.)
        (*frame).sp = sp;
        compiler_fence(Ordering::SeqCst);
        thread.top.set(frame);
        compiler_fence(Ordering::SeqCst);
        (*frame).sp = sp;
        (*frame).function = function;
        (*frame).site = site;
        (*frame).hook = hook as u32;
        (*frame).node = node;
        frame
    }
}

/// Makes a frame stand for its call, which has everything else.
///
/// # Safety
/// The frame must be reserved.
#[inline(always)]
pub unsafe fn fill(thread: &Thread, frame: *mut Frame, position: Ref) {
    compiler_fence(Ordering::SeqCst);
    // SAFETY: the caller's frame.
    unsafe { (*frame).position = position };
    compiler_fence(Ordering::SeqCst);
    thread.line.set(path_cache::offset(position));
}

/// Takes the latest frame away, and leaves it as one that stands for no call.
///
/// # Safety
/// There must be an open call.
#[inline(always)]
pub unsafe fn pop(thread: &Thread) {
    // SAFETY: the caller's promise.
    unsafe {
        let frame = thread.top.get();
        (*frame).function = 0; // and not that of a call that is over
        (*frame).bits = 0; // and in no index
        compiler_fence(Ordering::SeqCst);
        pop_at(thread, frame);
    }
}

/// The same, where the frame is known already, and is not to be looked up again. What a signal handler has left above it goes
/// with it.
#[inline(always)]
pub(crate) unsafe fn pop_at(thread: &Thread, frame: *mut Frame) {
    // SAFETY: the caller's frame is that of an open call.
    unsafe {
        thread.line.set(path_cache::offset((*frame.sub(1)).position));
        (*frame).position = 0;
        compiler_fence(Ordering::SeqCst);
        (*frame).sp = NOWHERE;
        compiler_fence(Ordering::SeqCst);
        thread.top.set(frame.sub(1));
    }
}

/// Has an open call's frame be the latest, and leaves one that stands for no call. There must be room for it.
///
/// The state must be [`crate::busy`].
///
/// # Safety
/// The frame must be filled.
pub unsafe fn raise(thread: &Thread, frame: *mut Frame) {
    // SAFETY: the caller's frame; the one above the top is nobody's.
    unsafe {
        let latest = thread.top.get().add(1);
        (*latest).function = NO_CALL;
        compiler_fence(Ordering::SeqCst);
        thread.top.set(latest);
        compiler_fence(Ordering::SeqCst);
        thread.holes.set(thread.holes.get() + 1);
        (*frame).bits |= bits::RESUMED;
        move_to(frame, latest);
    }
}

/// Moves a call to a frame that stands for none. Whoever leaves in between leaves without it; nobody finds it twice.
unsafe fn move_to(frame: *mut Frame, place: *mut Frame) {
    // SAFETY: the caller's frames.
    unsafe {
        let call = *frame;
        (*frame).position = 0;
        compiler_fence(Ordering::SeqCst);
        (*frame).function = NO_CALL;
        ((*frame).node, (*frame).bits) = (0, bits::UNTIMED);
        (*frame).sp = NOWHERE;
        compiler_fence(Ordering::SeqCst);
        place.write(Frame { position: 0, bits: call.bits & !bits::SUSPENDED, ..call });
        compiler_fence(Ordering::SeqCst);
        (*place).position = call.position;
    }
}

/// Takes frames off the top that stand for no call.
///
/// # Safety
/// Frames between bottom and top must be there.
#[inline(always)]
pub unsafe fn drop_holes(thread: &Thread) {
    // SAFETY: the caller's promise.
    unsafe {
        // A change under way fills such frames.
        if is_hole(thread.top.get()) && !is_busy(thread) {
            drop_all_holes(thread);
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn drop_all_holes(thread: &Thread) {
    // SAFETY: frames between bottom and top are there; the bottom's stands for something.
    unsafe {
        while is_hole(thread.top.get()) {
            pop(thread);
            thread.holes.set(thread.holes.get().saturating_sub(1));
        }
    }
}

/// Whether a frame stands for no call, and will not.
unsafe fn is_hole(frame: *const Frame) -> bool {
    // SAFETY: the caller's frame.
    unsafe { (*frame).function == NO_CALL && (*frame).position == 0 }
}

/// Closes the gaps that [`raise`] has left, unless an interrupted hook is to fill one of the frames.
///
/// The state must be [`crate::busy`].
///
/// # Safety
/// Frames between bottom and top must be there.
pub unsafe fn close_up(thread: &Thread) {
    // SAFETY: the caller's promise.
    unsafe {
        let (bottom, top) = (thread.bottom.get(), thread.top.get());
        let mut frame = bottom;
        while frame < top {
            frame = frame.add(1);
            if (*frame).position == 0 && !is_hole(frame) {
                return;
            }
        }
        frame_index::forget(thread);
        thread.suspended_frames.clear();
        let (mut frame, mut place) = (bottom, bottom);
        while frame < top {
            frame = frame.add(1);
            if is_hole(frame) {
                continue;
            }
            place = place.add(1);
            if place != frame {
                move_to(frame, place);
            }
        }
        while thread.top.get() > place {
            pop(thread);
        }
        thread.holes.set(0);
    }
}

/// Whether a function entered at the same stack pointer as the latest open call is part of its body: called from the
/// same place, as the compiler says, but by another enter hook, which lies in no code of its own. The same hook again
/// means that the call was left.
///
/// # Safety
/// The frames below must be there.
#[inline(always)]
pub unsafe fn is_inlined(top: &Frame, site: usize, hook: usize, sp: usize) -> bool {
    let mut frame = top;
    while frame.sp == sp {
        if frame.site != site || frame.hook == hook as u32 {
            return false;
        }
        // SAFETY: the bottom frame's pointer equals no stack pointer.
        frame = unsafe { &*(&raw const *frame).sub(1) };
    }
    frame.sp > sp
}

/// Whether an exit hook that the function jumped to, having left its frame already, is that of the latest open call.
/// Then the hook returns to the call site, and the frame below lies above the stack pointer. (What lies further than `reach` from it
/// may be another stack's.)
#[inline(always)]
pub unsafe fn is_tail_exit(top: &Frame, reach: usize, site: usize, hook: usize, sp: usize) -> bool {
    let is_here = top.sp < sp && sp - top.sp <= reach;
    // SAFETY: a frame of a function has one below it.
    hook == site && top.site == site && is_here && unsafe { (*(&raw const *top).sub(1)).sp >= sp }
}

/// The latest frame that is filled in.
pub unsafe fn filled(thread: &Thread) -> *mut Frame {
    let mut frame = thread.top.get();
    // SAFETY: frames between bottom and top are there.
    while unsafe { (*frame).position } == 0 && frame > thread.bottom.get() {
        frame = frame.wrapping_sub(1);
    }
    frame
}

/// Makes room for more frames. False if there is none.
pub fn grow(thread: &Thread) -> bool {
    let Some(_busy) = Busy::begin(thread) else { return false };
    make_room(thread)
}

/// The same.
///
/// The state must be [`crate::busy`].
pub fn make_room(thread: &Thread) -> bool {
    let (limit, reserved) = (thread.limit.get(), thread.reserved.get());
    // SAFETY: pointers into one mapping; what lies behind the limit is nobody's yet.
    unsafe {
        let more = thread.frames().min(reserved.offset_from(limit) as usize);
        if more == 0 || frame::commit(limit, more).is_err() {
            thread.family.warn_of_little_memory();
            return false;
        }
        thread.limit.set(limit.add(more));
    }
    true
}
