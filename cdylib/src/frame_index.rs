//! Where the frames lie of calls that are open on stacks that are not run on: by page of the stack.
//!
//! Whoever goes on, on a stack that has been left, looks for its calls. A server may have thousands of coroutines, with several calls
//! open in each: to look them all through at each switch would take longer than what the coroutine does.
//!
//! A frame that is in the index says so ([`bits::SUSPENDED`]), and so do all below it, but for those that stand for no call. What
//! overwrites a frame, or takes it away, takes that off: the index need not be told, and leaves out what does not say so.

use crate::chains::BUCKETS;
use crate::frame::{Frame, NO_CALL, bits};
use crate::stack::{self, Surroundings};
use crate::suspended::NEAR;
use crate::thread::Thread;
use core::ops::RangeInclusive;

/// The chain of the whole stack that the thread was started on; each of the others is some pages'.
const OWN: usize = 0;

/// Open calls that are looked through: to look them up takes as long.
const FEW: usize = 64;

/// Whether so many calls are open that it pays, and the index has room for all frames; gets it memory.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn is_of_use(thread: &Thread) -> bool {
    thread.depth() > FEW && thread.suspended_frames.has_room(thread.frames(), thread.most_frames())
}

/// Puts all open calls into it that are not yet there. False if that cannot be now: a hook was interrupted that will go on to fill its frame.
///
/// # Safety
/// There must be an index, and the state be [`crate::busy`].
pub unsafe fn add_new(thread: &Thread) -> bool {
    // SAFETY: frames between bottom and top are there.
    unsafe {
        let (bottom, top) = (thread.bottom.get(), thread.top.get());
        let mut latest_known = top;
        while latest_known > bottom {
            if (*latest_known).position == 0 && (*latest_known).function != NO_CALL {
                return false;
            }
            if (*latest_known).bits & bits::SUSPENDED != 0 {
                break;
            }
            latest_known = latest_known.sub(1);
        }
        // From below: all below one that is known are.
        let mut frame = latest_known;
        while frame < top {
            frame = frame.add(1);
            add(thread, frame);
        }
        true
    }
}

/// Puts an open call into it, above those that it has; what stands for none stays out.
///
/// # Safety
/// There must be an index, and the state be [`crate::busy`] or not yet be seen by its hooks.
pub unsafe fn add(thread: &Thread, frame: *mut Frame) {
    // SAFETY: the caller's frame.
    unsafe {
        if (*frame).position != 0 {
            let number = frame.offset_from(thread.bottom.get()) as u32;
            thread.suspended_frames.add(number, bucket_of(thread, (*frame).sp));
            (*frame).bits |= bits::SUSPENDED;
        }
    }
}

/// Has it find no call any more: their frames are about to lie elsewhere, or have changed.
///
/// # Safety
/// Frames between bottom and top must be there.
pub unsafe fn forget(thread: &Thread) {
    // SAFETY: the caller's promise.
    unsafe { forget_above(thread, thread.bottom.get()) };
}

/// The same of those above a frame.
///
/// # Safety
/// Frames from there to the top must be there.
pub unsafe fn forget_above(thread: &Thread, below: *const Frame) {
    let mut frame = thread.top.get();
    while frame.cast_const() > below {
        // SAFETY: the caller's promise.
        unsafe {
            (*frame).bits &= !bits::SUSPENDED;
            frame = frame.sub(1);
        }
    }
}

/// The lowest and the highest frame in it of the calls on a stack, as [`Surroundings`] know it.
///
/// # Safety
/// The state must be [`crate::busy`].
pub unsafe fn range(thread: &Thread, sp: usize, here: &Surroundings) -> Option<(*mut Frame, *mut Frame)> {
    let mut found: Option<(*mut Frame, *mut Frame)> = None;
    for bucket in buckets_near(thread, sp) {
        thread.suspended_frames.retain(bucket, |number| {
            let frame = frame_of(thread, number);
            // SAFETY: what is known is there.
            let is_here = |frame: *mut Frame| here.is_same(thread, unsafe { (*frame).sp });
            if let Some(frame) = frame.filter(|&frame| is_here(frame)) {
                let (lowest, highest) = found.unwrap_or((frame, frame));
                found = Some((lowest.min(frame), highest.max(frame)));
            }
            frame.is_some()
        });
    }
    found
}

/// The latest call in it on a stack. Of a stack's bucket that is the first: each was added above the others.
pub fn latest(thread: &Thread, sp: usize) -> Option<*mut Frame> {
    let here = Surroundings::of(thread, sp);
    // SAFETY: frames that are in it are there.
    let in_bucket = |bucket| find(thread, &[bucket], |frame| here.is_same(thread, unsafe { (*frame).sp }));
    buckets_near(thread, sp).into_iter().filter_map(in_bucket).max()
}

/// Whether a call that it has is open near a stack pointer.
pub fn is_near(thread: &Thread, sp: usize) -> bool {
    // SAFETY: frames that are in it are there.
    find(thread, &buckets_near(thread, sp), |frame| stack::are_near(unsafe { (*frame).sp }, sp)).is_some()
}

/// A frame in it that was entered at one of some stack pointers, no more than a page of them, and of which something holds.
pub fn find_between(
    thread: &Thread,
    sps: RangeInclusive<usize>,
    is_it: impl Fn(*mut Frame) -> bool,
) -> Option<*mut Frame> {
    let buckets = [*sps.start(), *sps.end()].map(|sp| bucket_of(thread, sp));
    // SAFETY: frames that are in it are there.
    find(thread, &buckets, |frame| sps.contains(&unsafe { (*frame).sp }) && is_it(frame))
}

/// The first frame in some buckets of which something holds.
fn find(thread: &Thread, buckets: &[usize], is_it: impl Fn(*mut Frame) -> bool) -> Option<*mut Frame> {
    let is_it = |number| frame_of(thread, number).is_some_and(&is_it);
    let number = buckets.iter().find_map(|&bucket| thread.suspended_frames.find(bucket, is_it))?;
    frame_of(thread, number)
}

/// A frame by its number, counted from the bottom, if it is that of an open call that says that it is in the index.
fn frame_of(thread: &Thread, number: u32) -> Option<*mut Frame> {
    let frame = thread.bottom.get().wrapping_add(number as usize);
    // SAFETY: frames up to the top are there.
    (frame <= thread.top.get() && unsafe { (*frame).bits } & bits::SUSPENDED != 0).then_some(frame)
}

/// The buckets of all calls that may lie on a stack pointer's stack.
fn buckets_near(thread: &Thread, sp: usize) -> [usize; 3] {
    // Beside it there may be no stack at all: the mappings are not looked up for that.
    let beside = |sp| if stack::is_known_as_own(thread, sp) { OWN } else { bucket_of_page(sp) };
    [beside(sp.saturating_sub(NEAR)), bucket_of(thread, sp), beside(sp.saturating_add(NEAR))]
}

fn bucket_of(thread: &Thread, sp: usize) -> usize {
    if stack::is_on_own(thread, sp) { OWN } else { bucket_of_page(sp) }
}

fn bucket_of_page(sp: usize) -> usize {
    1 + ((((sp / NEAR) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize) % (BUCKETS - 1)
}
