//! Timelines of roots: see [`Timeline`].

use crate::arch;
use crate::arena;
use crate::busy::Busy;
use crate::family::at;
use crate::frame::bits;
use crate::node;
use crate::spent::Spent;
use crate::thread::Thread;
use core::sync::atomic::{AtomicU32, Ordering};
use profile::timeline::{FIRST_WIDTH, SLICES, Slice, parts, width_for};
use profile::{Function, Ref, Timeline};

/// Adds the latest open call, which ends now.
///
/// # Safety
/// A call of a root must be open, and be the latest.
#[cold]
#[inline(never)]
pub unsafe fn add(thread: &Thread, now: u64) {
    // SAFETY: the frame's node, its function's record and its timeline are in the mapping.
    unsafe {
        let frame = *thread.top.get();
        if thread.top.get() == thread.bottom.get().add(1) {
            thread.window.leave_root(now.saturating_sub(frame.start));
        }
        let record = node::record(thread.base, thread.node(frame.node));
        let Some(timeline) = timeline_of(thread, record) else { return };
        let calls = u64::from(frame.bits & bits::INHERITED == 0);
        if make_wide_enough(thread, timeline, now, |timeline, width| {
            Busy::begin(thread).is_some_and(|_busy| {
                widen(timeline, width);
                true
            })
        }) {
            add_to(thread, timeline, frame.start, now, calls);
        }
    }
}

/// Adds a call that was noted, and of which the times are about known.
///
/// # Safety
/// The record must be the arena's, and the state [`crate::busy`], or not yet be seen by its hooks.
pub unsafe fn lay(thread: &Thread, record: Ref, start: u64, end: u64) {
    // SAFETY: the caller's record.
    unsafe {
        if record == 0 {
            return;
        }
        let function: *mut Function = at(thread.base, record);
        let made = if (*function).timeline == 0 { make(thread, function) } else { Some(()) };
        let timeline = at(thread.base, (*function).timeline);
        let widen = |timeline: &mut Timeline, width| {
            widen(timeline, width);
            true
        };
        if made.is_some() && make_wide_enough(thread, timeline, end, widen) {
            add_to(thread, timeline, start, end, 1);
        }
    }
}

/// Makes the slices of a timeline so wide that it reaches to a moment. False if that cannot be now.
unsafe fn make_wide_enough(
    thread: &Thread,
    timeline: *mut Timeline,
    end: u64,
    widen: impl Fn(&mut Timeline, u32) -> bool,
) -> bool {
    // SAFETY: the caller's timeline; the header is mapped.
    unsafe {
        let width = width_for((*timeline).width, end.saturating_sub((*thread.family.header()).first_anchor.ticks));
        width <= (*timeline).width || widen(&mut *timeline, width)
    }
}

unsafe fn add_to(thread: &Thread, timeline: *mut Timeline, start: u64, end: u64, calls: u64) {
    // SAFETY: the caller's timeline; the header is mapped.
    unsafe {
        let origin = (*thread.family.header()).first_anchor.ticks;
        let (start, end) = (start.saturating_sub(origin), end.saturating_sub(origin));
        let slices = (&raw mut (*timeline).slices).cast::<Slice>();
        for (slice, ticks) in parts((*timeline).width, start.min(end), end) {
            arch::add(&raw mut (*slices.add(slice % SLICES)).ticks, ticks);
        }
        arch::add(&raw mut (*slices.add((end >> (*timeline).width) as usize % SLICES)).calls, calls);
    }
}

unsafe fn timeline_of(thread: &Thread, record: Ref) -> Option<*mut Timeline> {
    if record == 0 {
        return None;
    }
    // SAFETY: the caller's record.
    unsafe {
        let function: *mut Function = at(thread.base, record);
        if (*function).timeline == 0 && thread.is_short_of_room() {
            return None; // blocking signals for nothing would cost two system calls a call
        }
        if (*function).timeline == 0 {
            let _busy = Busy::begin(thread)?;
            let spent = Spent::begin(thread);
            make(thread, function)?;
            // The latest call's time is over already.
            let start = (*thread.top.get()).start;
            spent.end(thread);
            (*thread.top.get()).start = start;
        }
        Some(at(thread.base, (*function).timeline))
    }
}

unsafe fn make(thread: &Thread, function: *mut Function) -> Option<()> {
    let (reference, timeline) = arena::record::<Timeline>(thread, false)?;
    // SAFETY: the caller's function; the timeline is new.
    unsafe {
        (*timeline).width = FIRST_WIDTH;
        AtomicU32::from_ptr(&raw mut (*function).timeline).store(reference, Ordering::Release);
    }
    Some(())
}

/// Makes each slice of several.
fn widen(timeline: &mut Timeline, width: u32) {
    let by = width.saturating_sub(timeline.width); // a signal handler may have been faster
    for slice in 0..SLICES {
        let Slice { calls, ticks } = core::mem::take(&mut timeline.slices[slice]);
        let wider = &mut timeline.slices[slice.checked_shr(by).unwrap_or(0)];
        wider.calls += calls;
        wider.ticks += ticks;
    }
    timeline.width += by;
}
