//! Timelines of roots: see [`Timeline`].

use crate::arch;
use crate::arena;
use crate::busy::Busy;
use crate::clock;
use crate::family::at;
use crate::frame::bits;
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
            thread.trial.leave_root(now.saturating_sub(frame.start));
        }
        let record = (*thread.node(frame.node)).record;
        let Some(timeline) = timeline_of(thread, record) else { return };
        let origin = (*thread.family.header()).first_anchor.ticks;
        let (start, end) = (frame.start.saturating_sub(origin), now.saturating_sub(origin));
        let width = width_for((*timeline).width, end);
        if width > (*timeline).width {
            widen(thread, &mut *timeline, width);
        }
        if width > (*timeline).width {
            return; // a signal handler has interrupted just that
        }
        let weight = if frame.bits & bits::SAMPLED != 0 { u64::from(frame.weight) } else { 1 };
        let slices = (&raw mut (*timeline).slices).cast::<Slice>();
        for (slice, ticks) in parts((*timeline).width, start.min(end), end) {
            arch::add(&raw mut (*slices.add(slice % SLICES)).ticks, ticks * weight);
        }
        if frame.bits & bits::INHERITED == 0 {
            arch::add(&raw mut (*slices.add((end >> (*timeline).width) as usize % SLICES)).calls, weight);
        }
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
            let began = clock::now(thread.family.clock);
            let (reference, timeline) = arena::record::<Timeline>(thread, false)?;
            (*timeline).width = FIRST_WIDTH;
            AtomicU32::from_ptr(&raw mut (*function).timeline).store(reference, Ordering::Release);
            // The latest call's time is over already.
            let start = (*thread.top.get()).start;
            thread.forget_time_since(began);
            (*thread.top.get()).start = start;
        }
        Some(at(thread.base, (*function).timeline))
    }
}

/// Makes each slice of several.
fn widen(thread: &Thread, timeline: &mut Timeline, width: u32) {
    let Some(_busy) = Busy::begin(thread) else { return };
    let by = width.saturating_sub(timeline.width); // a signal handler may have been faster
    for slice in 0..SLICES {
        let Slice { calls, ticks } = core::mem::take(&mut timeline.slices[slice]);
        let wider = &mut timeline.slices[slice.checked_shr(by).unwrap_or(0)];
        wider.calls += calls;
        wider.ticks += ticks;
    }
    timeline.width += by;
}
