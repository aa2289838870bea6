//! What a forked child makes of the calls that were open when its parent forked.

use crate::extension;
use crate::frame::{Frame, NOTED, bits};
use crate::node;
use crate::path;
use crate::stale_frames::full_hook;
use crate::thread::Thread;
use core::ptr;
use profile::node::{ROOT, SKIPPED, flag, mark};

/// Gives the calls that were open at the fork, and whose nodes are not this thread's, their place in its own arena.
pub fn inherit(thread: &Thread) {
    each_frame(thread, |frame| {
        // SAFETY: frames between bottom and top are there; the nodes of the parent's arena stay in the file.
        unsafe {
            let (node, position) = ((*frame).node, (*frame).position);
            if position == NOTED || !path::is_own(thread, node) || !path::is_own(thread, position) {
                inherit_frame(thread, frame);
            }
        }
    });
}

/// Has the calls that are open begin anew in the thread's own arena, as if they were inherited.
pub fn begin_anew(thread: &Thread) {
    // SAFETY: frames between bottom and top are there.
    each_frame(thread, |frame| unsafe { inherit_frame(thread, frame) });
}

fn each_frame(thread: &Thread, mut each: impl FnMut(*mut Frame)) {
    let mut frame = thread.bottom.get();
    while frame < thread.top.get() {
        frame = frame.wrapping_add(1);
        each(frame);
    }
}

unsafe fn inherit_frame(thread: &Thread, frame: *mut Frame) {
    // SAFETY: the caller's frame, and the one below it.
    unsafe {
        let mut below = &*frame.sub(1);
        let frame = &mut *frame;
        if frame.position == 0 {
            return; // its enter hook was interrupted by the signal handler that forked, and goes on by itself
        }
        while below.position == 0 && ptr::from_ref(below) > thread.bottom.get() {
            below = &*ptr::from_ref(below).sub(1);
        }
        let position = if below.position == 0 { ROOT } else { below.position };
        let was_noted = frame.position == NOTED;
        let is_skipped = match was_noted {
            true => position == SKIPPED && !thread.is_root(frame.function),
            false => frame.bits & bits::UNTIMED != 0 && frame.position == SKIPPED,
        };
        if is_skipped && position == SKIPPED {
            frame.node = below.node; // of the first call below `DIYTRACE_DEPTH`, which counts for all of them
            frame.position = SKIPPED;
            return;
        }
        let parent = if position == SKIPPED { path::recorded_position(thread, below) } else { position };
        let hook = full_hook(thread, frame);
        let Some(node) = path::child(thread, parent, frame.function, frame.site, hook) else {
            (frame.node, frame.position, frame.bits) = (0, SKIPPED, bits::UNTIMED);
            return;
        };
        if below.inside & bits::SLOT != 0 && !extension::ensure(thread, node) {
            (frame.node, frame.position, frame.bits) = (0, SKIPPED, bits::UNTIMED);
            return;
        }
        let record = thread.node(node);
        frame.node = node;
        frame.position = node::position(thread.base, node, record);
        // A call that is only counted has nothing more to count here.
        let is_timed = match was_noted {
            true => (*record).flags & flag::UNTIMED as u16 == 0,
            false => frame.bits & (bits::UNTIMED | bits::COUNTED) == 0,
        };
        frame.bits = below.inside | if is_timed { bits::INHERITED } else { bits::UNTIMED };
        frame.inside = below.inside | (*record).flags as u8 & bits::SLOT;
        frame.start = thread.last.get();
        frame.count = thread.count.get();
        if frame.bits & bits::UNTIMED == 0 {
            (*node::slot(thread.base, record, below.inside)).mark =
                thread.last.get() & !mark::BITS | mark::OPEN | mark::INHERITED;
            if below.inside & bits::SLOT == 0 {
                frame.bits |= ((*record).flags as u8 & flag::ROOT as u8) << 2;
            }
        }
    }
}
