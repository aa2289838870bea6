//! Where the frames lie of calls that are open on stacks that are not run on: by page of the stack.
//!
//! Whoever goes on, on a stack that has been left, looks for its calls. A server may have thousands of coroutines, with several calls
//! open in each: to look them all through at each switch would take longer than what the coroutine does.
//!
//! A frame that is in the index says so ([`bits::SUSPENDED`]), and so do all below it, but for those that stand for no call. What
//! overwrites a frame, or takes it away, takes that off: the index need not be told, and leaves out what does not say so.

use crate::field::Field;
use crate::frame::{Frame, NO_CALL, bits};
use crate::stack::{self, Surroundings};
use crate::suspended::NEAR;
use crate::sys;
use crate::thread::Thread;
use core::ops::RangeInclusive;
use core::ptr;
use profile::GRANULE;

/// Buckets, for each page one.
const BUCKETS: usize = 1 << 14;

/// That of the whole stack that the thread was started on.
const OWN: usize = 0;

/// A frame's place in the chain of its bucket.
#[repr(C)]
struct Link {
    /// One more than the bucket; 0: it is in none.
    bucket: Field<u32>,
    /// The next frame, counted from the bottom; 0: it is the last.
    next: Field<u32>,
}

/// The index. All zeros, it has no memory yet.
#[repr(C)]
pub struct FrameIndex {
    /// The first frame of each bucket, counted from the bottom, 0: none; behind them a [`Link`] for each frame that there may be.
    heads: Field<*mut Field<u32>>,
    /// Frames that there is memory for.
    frames: Field<usize>,
    /// Whether there was none for more.
    is_refused: Field<bool>,
}

/// Open calls that are looked through: to look them up takes as long.
const FEW: usize = 64;

/// Whether so many calls are open that it pays, and the index has room for all frames; gets it memory.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn is_of_use(thread: &Thread) -> bool {
    thread.depth() > FEW && has_room(thread)
}

fn has_room(thread: &Thread) -> bool {
    let index = &thread.frame_index;
    let frames = thread.frames();
    if index.frames.get() < frames && !index.is_refused.get() {
        index.is_refused.set(!has_memory(thread, frames));
    }
    index.frames.get() >= frames
}

fn has_memory(thread: &Thread, frames: usize) -> bool {
    let index = &thread.frame_index;
    if index.heads.get().is_null() {
        let Ok(memory) = sys::reserve_memory(size(most_frames(thread))) else { return false };
        index.heads.set(memory.cast());
    }
    // SAFETY: the range is reserved; what has memory already keeps it.
    let is_there = unsafe { sys::commit_memory(index.heads.get().cast(), size(frames)) }.is_ok();
    if is_there {
        index.frames.set(frames);
    }
    is_there
}

/// Gives its memory back.
///
/// # Safety
/// Nothing may use the state afterwards.
pub unsafe fn free(thread: &Thread) {
    let heads = thread.frame_index.heads.get();
    if !heads.is_null() {
        // SAFETY: the caller's promise.
        unsafe { sys::unmap(heads.cast(), size(most_frames(thread))) };
    }
}

/// Bytes for so many frames.
fn size(frames: usize) -> usize {
    (BUCKETS * size_of::<u32>() + frames * size_of::<Link>()).next_multiple_of(GRANULE)
}

fn most_frames(thread: &Thread) -> usize {
    // SAFETY: pointers into one mapping.
    unsafe { thread.reserved.get().offset_from(thread.bottom.get()) as usize }
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
            link(thread, frame.offset_from(thread.bottom.get()) as u32, bucket_of(thread, (*frame).sp));
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

/// Empties it. No frame may say that it is in it.
///
/// # Safety
/// The state must be [`crate::busy`].
pub unsafe fn clear(thread: &Thread) {
    let heads = thread.frame_index.heads.get();
    if thread.frame_index.frames.get() != 0 {
        // SAFETY: there are as many; a link that says it is in a chain and is not found there is in none.
        unsafe { ptr::write_bytes(heads, 0, BUCKETS) };
    }
}

/// The lowest and the highest frame in it of the calls on a stack, as [`Surroundings`] know it.
///
/// # Safety
/// There must be an index, and the state be [`crate::busy`].
pub unsafe fn range(thread: &Thread, sp: usize, here: &Surroundings) -> Option<(*mut Frame, *mut Frame)> {
    let mut found: Option<(*mut Frame, *mut Frame)> = None;
    // SAFETY: the caller's promise.
    unsafe {
        for bucket in buckets_near(thread, sp) {
            let mut place = head(thread, bucket);
            while (*place).get() != 0 {
                let index = (*place).get();
                let (frame, link) = (thread.bottom.get().add(index as usize), link_of(thread, index));
                if !is_known(thread, frame) {
                    (*place).set((*link).next.get());
                    (*link).bucket.set(0);
                    continue;
                }
                if here.is_same(thread, (*frame).sp) {
                    let (lowest, highest) = found.unwrap_or((frame, frame));
                    found = Some((lowest.min(frame), highest.max(frame)));
                }
                place = &raw const (*link).next;
            }
        }
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

/// The first frame in some buckets of which something holds. A signal handler that changes the chains meanwhile may have one overlooked.
fn find(thread: &Thread, buckets: &[usize], is_it: impl Fn(*mut Frame) -> bool) -> Option<*mut Frame> {
    if thread.frame_index.frames.get() == 0 {
        return None;
    }
    // SAFETY: there are so many heads, and a link for each frame; chains end.
    unsafe {
        for &bucket in buckets {
            let mut index = (*head(thread, bucket)).get();
            while index != 0 {
                let frame = thread.bottom.get().add(index as usize);
                if is_known(thread, frame) && is_it(frame) {
                    return Some(frame);
                }
                index = (*link_of(thread, index)).next.get();
            }
        }
    }
    None
}

/// Whether a frame is that of an open call that is in it.
unsafe fn is_known(thread: &Thread, frame: *const Frame) -> bool {
    // SAFETY: the caller's frame is one of those that there is memory for.
    frame <= thread.top.get().cast_const() && unsafe { (*frame).bits } & bits::SUSPENDED != 0
}

/// Puts a frame into the chain of a bucket, and takes it out of the one that it may be in from earlier.
unsafe fn link(thread: &Thread, index: u32, bucket: usize) {
    // SAFETY: the caller's promises.
    unsafe {
        let link = link_of(thread, index);
        if (*link).bucket.get() != 0 {
            unlink(thread, index, (*link).bucket.get() as usize - 1);
        }
        let head = head(thread, bucket);
        (*link).next.set((*head).get());
        (*link).bucket.set(bucket as u32 + 1);
        (*head).set(index);
    }
}

unsafe fn unlink(thread: &Thread, index: u32, bucket: usize) {
    // SAFETY: the caller's promises.
    unsafe {
        let mut place = head(thread, bucket);
        while ![0, index].contains(&(*place).get()) {
            place = &raw const (*link_of(thread, (*place).get())).next;
        }
        if (*place).get() == index {
            (*place).set((*link_of(thread, index)).next.get());
        }
        (*link_of(thread, index)).bucket.set(0);
    }
}

unsafe fn head(thread: &Thread, bucket: usize) -> *const Field<u32> {
    // SAFETY: there are so many.
    unsafe { thread.frame_index.heads.get().add(bucket) }
}

unsafe fn link_of(thread: &Thread, index: u32) -> *const Link {
    // SAFETY: they lie behind the heads, as many as there may be frames.
    unsafe { thread.frame_index.heads.get().add(BUCKETS).cast::<Link>().add(index as usize) }
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
