//! A call that is recorded: counted and opened where its node is known, and closed.

use crate::arch;
use crate::calibration_steps;
use crate::clock::Clock;
use crate::counted;
use crate::distribution;
use crate::frame::{Frame, bits};
use crate::mode::Mode;
use crate::node::{self, position, record, slot};
use crate::off_cpu;
use crate::recycle;
use crate::shadow_stack::{self, fill, pop, pop_at, reserve};
use crate::stale_frames::close_partly;
use crate::thread::Thread;
use crate::timeline;
use core::mem::offset_of;
use core::ptr;
use profile::node::{flag, mark};
use profile::{NodeRecord, Ref, Slot};

// The flags of a node become the bits of a frame by shifting.
const _: () = assert!(flag::RECURSION == bits::SLOT as u32 && flag::FOLDED >> 1 == bits::SLOT as u32);
const _: () = assert!(flag::UNTIMED >> 1 == bits::UNTIMED as u32 && flag::ROOT << 2 == bits::ROOT as u32);

/// Counts a call and opens its frame.
///
/// # Safety
/// The node must be one of the thread's arena.
#[inline(always)]
pub unsafe fn open<M: Mode>(
    thread: &Thread,
    node_ref: Ref,
    inside: u8,
    function: usize,
    site: usize,
    hook: usize,
    sp: usize,
) {
    let node = thread.node(node_ref);
    // SAFETY: the caller's node; a frame is filled below `limit`.
    unsafe {
        if thread.top.get().add(1) == thread.limit.get() {
            return open_too_deep::<M>(thread, packed(inside, node_ref), function, site, hook, sp);
        }
        if (*node).flags | u16::from(inside) != 0 {
            // Where the clock is read, fewer registers to save are worth more than a call saved.
            return match M::BITS {
                0 => open_folded_apart::<M>(thread, packed(inside, node_ref), function, site, hook, sp),
                _ => open_folded::<M>(thread, node_ref, inside, function, site, hook, sp),
            };
        }
        // The processor takes so long to read its clock that it does all that follows meanwhile.
        let now = if M::BITS & bits::COUNTED != 0 { 0 } else { M::Clock::now() };
        arch::count_at::<{ offset_of!(NodeRecord, slot) + offset_of!(Slot, calls) }, _>(node);
        let frame = reserve(thread, node_ref, function, site, hook, sp);
        ((*frame).bits, (*frame).inside, (*frame).start) = (M::BITS, 0, now);
        fill(thread, frame, node_ref); // the position of a node without flags
        start::<M>(thread, frame, &raw mut (*node).slot);
    }
}

/// Opens a call for whose frame there was no room.
#[cold]
#[inline(never)]
unsafe fn open_too_deep<M: Mode>(
    thread: &Thread,
    inside_and_node: u64,
    function: usize,
    site: usize,
    hook: usize,
    sp: usize,
) {
    let (inside, node_ref) = unpacked(inside_and_node);
    // SAFETY: the caller's node; there is room for the frame once it has grown.
    unsafe {
        match shadow_stack::grow(thread) {
            true => open::<M>(thread, node_ref, inside, function, site, hook, sp),
            false => thread.family.count_by_function(function),
        }
    }
}

/// Two arguments in one register.
#[inline(always)]
fn packed(inside: u8, node: Ref) -> u64 {
    u64::from(inside) << 32 | u64::from(node)
}

fn unpacked(both: u64) -> (u8, Ref) {
    ((both >> 32) as u8, both as Ref)
}

#[inline(never)]
unsafe fn open_folded_apart<M: Mode>(
    thread: &Thread,
    inside_and_node: u64,
    function: usize,
    site: usize,
    hook: usize,
    sp: usize,
) {
    let (inside, node_ref) = unpacked(inside_and_node);
    // SAFETY: as below.
    unsafe { open_folded::<M>(thread, node_ref, inside, function, site, hook, sp) }
}

/// The same for nodes with flags and for calls inside a folded recursion.
#[inline(always)]
unsafe fn open_folded<M: Mode>(
    thread: &Thread,
    node_ref: Ref,
    inside: u8,
    function: usize,
    site: usize,
    hook: usize,
    sp: usize,
) {
    let node = thread.node(node_ref);
    // SAFETY: as in `open`, which has checked the limit.
    unsafe {
        let flags = (*node).flags as u8;
        let own = inside | flags >> 1 & bits::SLOT; // a folded path's time is part of another path's
        let Some(counters) = counters_of(thread, node, node_ref, own) else {
            return open_by_function(thread, function, site, hook, sp);
        };
        arch::count_at::<{ offset_of!(Slot, calls) }, _>(counters);
        let frame = reserve(thread, node_ref, function, site, hook, sp);
        (*frame).inside = own | flags & bits::SLOT;
        let bits = own
            | match flags & flag::UNTIMED as u8 {
                0 if M::BITS | own == 0 => (flags & flag::ROOT as u8) << 2,
                0 => M::BITS,
                _ => bits::UNTIMED,
            };
        (*frame).bits = bits;
        fill(thread, frame, position(thread.base, node_ref, node));
        if bits & bits::UNTIMED == 0 {
            if M::BITS & bits::COUNTED == 0 {
                (*frame).start = M::Clock::now();
            }
            start::<M>(thread, frame, counters);
        }
    }
}

/// The counters of a node that a call counts in; `None` if there is no room for them.
#[inline(always)]
unsafe fn counters_of(thread: &Thread, node: *mut NodeRecord, node_ref: Ref, own: u8) -> Option<*mut Slot> {
    // SAFETY: the caller's node.
    unsafe {
        let is_there =
            own & bits::SLOT == 0 || node::extension(thread.base, node).is_some() || recycle::extend(thread, node_ref);
        is_there.then(|| slot(thread.base, node, own))
    }
}

/// Opens a call that is counted by its function only. It has a frame, so that its exit finds it.
#[cold]
#[inline(never)]
pub unsafe fn open_by_function(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    thread.family.count_by_function(function);
    // SAFETY: a frame is filled below `limit`.
    unsafe {
        if thread.top.get().add(1) < thread.limit.get() {
            let frame = reserve(thread, 0, function, site, hook, sp);
            ((*frame).bits, (*frame).inside) = (bits::UNTIMED, 0);
        }
    }
}

/// Has a call begin whose frame has everything, also when that is.
#[inline(always)]
unsafe fn start<M: Mode>(thread: &Thread, frame: *mut Frame, counters: *mut Slot) {
    // SAFETY: the caller's counters.
    unsafe {
        if M::BITS & bits::COUNTED != 0 {
            return counted::start(counters);
        }
        arch::count_at::<{ offset_of!(Thread, count) }, _>(ptr::from_ref(thread).cast_mut());
        let count = thread.count.get();
        (*frame).count = count;
        if count >= thread.next_window.get() {
            return start_after_step::<M>(thread, frame, counters);
        }
        begin::<M>(thread, frame, counters);
    }
}

/// The same after what is to be done about windows now.
#[cold]
#[inline(never)]
unsafe fn start_after_step<M: Mode>(thread: &Thread, frame: *mut Frame, counters: *mut Slot) {
    // SAFETY: the caller's counters.
    unsafe {
        calibration_steps::step_timed(thread);
        (*frame).start = M::Clock::now();
        begin::<M>(thread, frame, counters);
    }
}

/// Says in the file when a call has begun; which is now, if the thread was switched out before: that was its caller's time.
#[inline(always)]
unsafe fn begin<M: Mode>(thread: &Thread, frame: *mut Frame, counters: *mut Slot) {
    // SAFETY: the caller's frame and counters.
    unsafe {
        (*counters).mark = (*frame).start & !mark::BITS | mark::OPEN;
        if thread.is_switched() {
            begin_anew::<M>(thread, frame, counters);
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn begin_anew<M: Mode>(thread: &Thread, frame: *mut Frame, counters: *mut Slot) {
    // SAFETY: the caller's frame and counters.
    unsafe {
        off_cpu::before_entry(thread, frame);
        (*frame).start = M::Clock::now();
        (*counters).mark = (*frame).start & !mark::BITS | mark::OPEN;
    }
}

/// Closes the latest open call, whose frame this is: a plain one.
#[inline(always)]
pub(crate) unsafe fn close(thread: &Thread, frame: *mut Frame, now: u64) {
    // SAFETY: the frame's node and its function's record are in the mapping.
    unsafe {
        let start = (*frame).start;
        if now < start {
            return close_backwards(thread, frame, now);
        }
        close_after(thread, frame, now, now - start);
    }
}

/// Closes the latest open call, a plain one, which took so long.
#[inline(always)]
pub(crate) unsafe fn close_after(thread: &Thread, frame: *mut Frame, now: u64, elapsed: u64) {
    // SAFETY: the frame's node and its function's record are in the mapping.
    unsafe {
        let pending = distribution::pending_bin(thread);
        let descendants = thread.count.get() - (*frame).count;
        let node = thread.node((*frame).node);
        // A byte and no more: it was written as such a moment ago, and a longer read would wait for that.
        let counters = slot(thread.base, node, (&raw const (*frame).bits).read_volatile());
        arch::add_at::<{ offset_of!(Slot, ticks) }, _>(counters, elapsed);
        arch::add_at::<{ offset_of!(Slot, descendants) }, _>(counters, descendants);
        (*counters).mark = now & !mark::BITS;
        thread.last.set(now);
        let record = record(thread.base, node);
        let cost = distribution::cost(thread, descendants);
        pop_at(thread, frame);
        // Last, so that nothing has to be kept over its calls.
        distribution::file_later(thread, &pending, record, elapsed.saturating_sub(cost));
    }
}

/// Counts a call that has ended before it began: processors whose counters disagree, a virtual machine that was moved. But
/// not where a signal handler has moved its beginning after its end was read.
#[cold]
#[inline(never)]
pub unsafe fn clock_stepped_back(thread: &Thread, began: u64, now: u64) {
    let forgot_until = thread.forgot_until.get();
    if began <= forgot_until && now <= forgot_until {
        return;
    }
    // SAFETY: the thread has an arena.
    unsafe { arch::add(&raw mut (*thread.arena.get()).backward_calls, 1) };
}

/// Closes the latest open call, a plain one that has ended before it began.
#[cold]
#[inline(never)]
pub unsafe fn close_backwards(thread: &Thread, frame: *mut Frame, now: u64) {
    // SAFETY: the caller's frame.
    unsafe {
        clock_stepped_back(thread, (*frame).start, now);
        close_after(thread, frame, now, 0);
    }
}

/// Closes the latest open call, whatever it is.
#[cold]
#[inline(never)]
pub unsafe fn close_unusual(thread: &Thread, now: u64) {
    // SAFETY: the top frame is there.
    unsafe {
        // The next call in this place has not been suspended.
        let kind = (*thread.top.get()).bits & !(bits::SUSPENDED | bits::RESUMED);
        (*thread.top.get()).bits = kind;
        if kind & (bits::ROOT | bits::INHERITED) == bits::ROOT {
            timeline::add(thread, now);
        }
        if kind & bits::UNTIMED != 0 {
            pop(thread);
        } else if kind & bits::COUNTED != 0 {
            counted::close(thread);
        } else if kind & bits::INHERITED != 0 {
            // Counted, and its distribution kept, in the parent process: only the time since the fork is ours.
            close_partly(thread, now);
        } else {
            close(thread, thread.top.get(), now);
        }
    }
}
