//! Nodes that may not give way ([`crate::recycle`]): those of open calls, whose children a hook that a signal handler has interrupted
//! may have found, and not opened yet.
//!
//! While noted calls are being counted ([`crate::replay`]), those that are open have no frames; and those that others in the ring
//! were made from may have returned since.

use crate::frame::NOTED;
use crate::path;
use crate::stretch::{Open, Stage};
use crate::thread::Thread;
use profile::node::{ROOT, flag};
use profile::ring::{Note, SLOTS};
use profile::{Ref, RingSlot};

/// Holds them, or no longer. False if some are not the thread's own: those of a parent process.
pub fn hold(thread: &Thread, hold: bool) -> bool {
    let mut are_own = true;
    let mut each = |node: Ref| {
        if node <= ROOT {
            return;
        }
        if node == NOTED || !path::is_own(thread, node) {
            are_own = false;
            return;
        }
        // SAFETY: the node is the arena's.
        let flags = unsafe { &mut (*thread.node(node)).flags };
        match hold {
            true => *flags |= flag::HELD as u16,
            false => *flags &= !(flag::HELD as u16),
        }
    };
    let mut frame = thread.top.get();
    while frame > thread.bottom.get() {
        // SAFETY: frames between bottom and top are there, and their nodes are in the mapping.
        unsafe {
            // One that is not filled has no node yet, or that of an earlier call.
            if (*frame).position != 0 {
                each((*frame).node);
                each((*frame).position);
            }
            frame = frame.sub(1);
        }
    }
    if thread.ring_stage.get() != Stage::Empty {
        // SAFETY: the scratch is the thread's while its ring is in use.
        let open = unsafe { &raw const (*thread.scratch.get()).open }.cast::<Open>();
        for index in 0..thread.replayed.get().saturating_sub(1) {
            // SAFETY: so many are open.
            let Open { node, position, .. } = unsafe { *open.add(index) };
            each(node);
            each(position);
        }
        // Calls that others in the ring were made from, and that have returned since. SAFETY: as above.
        let slots = unsafe { &raw const (*thread.scratch.get()).slots }.cast::<RingSlot>();
        for at in 0..thread.ring_used.get().min(SLOTS) {
            // SAFETY: there are as many slots.
            if let Note::Base(place, _) = unsafe { slots.add(at).read() }.note() {
                each(place.node);
                each(place.position);
            }
        }
        // SAFETY: the ring is the thread's.
        let counting = unsafe { &*thread.ring.get() };
        if counting.counting != 0 {
            each(counting.node);
        }
    }
    are_own
}
