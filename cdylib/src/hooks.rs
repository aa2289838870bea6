//! The hot path: what happens on every call of instrumented code.
//!
//! Enter finds the call's node, counts it, pushes a frame and reads the clock last. Exit reads the clock first, adds
//! the time to the node and to the function's histogram, and pops the frame. Everything that happens rarely is a call
//! into `slow_path`.
//!
//! A signal handler may interrupt a hook anywhere and call hooks of its own, and may not come back. So a frame is reserved
//! before it is filled, one that is not filled says so (its position is 0), and counters are added to in single
//! instructions.

use crate::arch;
use crate::clock::{Clock, Tsc};
use crate::counted;
use crate::distribution;
use crate::frame::{Frame, bits};
use crate::mode::{Mode, TimedByTsc};
use crate::noting;
use crate::off_cpu;
use crate::path;
use crate::path_cache;
use crate::slow_path;
use crate::thread::{Thread, live, slot};
use crate::trial;
use core::mem::offset_of;
use core::ptr;
use core::sync::atomic::{Ordering, compiler_fence};
use profile::node::{ROOT, flag, mark};
use profile::{Header, NodeRecord, Ref, Slot};

// The two control words are read as one.
const _: () = assert!(
    offset_of!(Header, paused).is_multiple_of(8) && offset_of!(Header, epoch) == offset_of!(Header, paused) + 4
);
// The flags of a node become the bits of a frame by shifting.
const _: () = assert!(flag::RECURSION == bits::SLOT as u32 && flag::FOLDED >> 1 == bits::SLOT as u32);
const _: () = assert!(flag::UNTIMED >> 1 == bits::UNTIMED as u32 && flag::ROOT << 2 == bits::ROOT as u32);

/// Entry into `function`, called from before `site`; `hook` is the hook's own return address.
pub unsafe extern "C" fn enter(function: usize, site: usize, hook: usize, sp: usize) {
    let thread = arch::thread();
    // SAFETY: the thread's state is valid while its word leads to it.
    unsafe {
        if thread.is_null() || !(*thread).is(live::TSC) {
            return arch::enter_noting(function, site, hook, sp, thread);
        }
        let thread = &*thread;
        if !filter(thread, function, site, hook, sp) {
            enter_inside(function, site, hook, sp, thread);
        }
    }
}

/// Entry in a thread whose calls are not timed one by one, and are not simply noted either.
#[inline(never)]
pub unsafe extern "C" fn enter_otherwise(function: usize, site: usize, hook: usize, sp: usize, thread: *mut Thread) {
    // SAFETY: a thread that is not null is the caller's own, and valid.
    unsafe {
        if thread.is_null() {
            return slow_path::enter(function, site, hook, sp);
        }
        let thread = &*thread;
        if thread.is(live::COUNTED) {
            if !filter(thread, function, site, hook, sp) {
                counted::enter(function, site, hook, sp, thread);
            }
        } else if thread.is_noting() {
            noting::enter_unusual(thread, function, site, hook, sp);
        } else {
            slow_path::enter(function, site, hook, sp);
        }
    }
}

/// Entry of a call that is recorded, as a rule. Apart from `enter`, so that calls outside every root, and while recording
/// is paused, save no registers; with the thread last, so that the others stay where they are.
#[inline(never)]
unsafe extern "C" fn enter_inside(function: usize, site: usize, hook: usize, sp: usize, thread: &Thread) {
    // SAFETY: the caller has found the thread, which has an arena.
    unsafe { enter_on::<TimedByTsc>(thread, function, site, hook, sp) };
}

/// Exit from `function`.
pub unsafe extern "C" fn exit(function: usize, site: usize, hook: usize, sp: usize) {
    let thread = arch::thread();
    // SAFETY: the thread's state is valid while its word leads to it.
    unsafe {
        if thread.is_null() {
            return;
        }
        let thread = &*thread;
        if !thread.is(live::TSC) {
            return arch::exit_noting(function, site, hook, sp, ptr::from_ref(thread).cast_mut());
        }
        if thread.is_empty() {
            return; // outside every root
        }
        exit_inside(function, site, hook, sp, thread);
    }
}

/// Exit while a call is open. Apart from `exit`, as `enter_inside` is from `enter`.
#[inline(never)]
unsafe extern "C" fn exit_inside(function: usize, site: usize, hook: usize, sp: usize, thread: &Thread) {
    // Before the clock: what it was off is this call's time.
    if thread.is_switched() {
        // SAFETY: the caller's thread.
        return unsafe { exit_switched(function, site, hook, sp, thread) };
    }
    let now = Tsc::now();
    // SAFETY: the caller's thread.
    unsafe { exit_at(thread, now, function, site, hook, sp) };
}

/// The same after the thread was switched out.
#[cold]
#[inline(never)]
unsafe fn exit_switched(function: usize, site: usize, hook: usize, sp: usize, thread: &Thread) {
    // SAFETY: the caller's thread.
    unsafe {
        off_cpu::before_exit(thread);
        exit_at(thread, Tsc::now(), function, site, hook, sp);
    }
}

/// Exit in a thread whose calls are not timed one by one, and are not simply noted either.
#[inline(never)]
pub unsafe extern "C" fn exit_otherwise(function: usize, site: usize, hook: usize, sp: usize, thread: *mut Thread) {
    // SAFETY: the thread is the caller's own, and valid.
    unsafe {
        let thread = &*thread;
        if thread.is(live::COUNTED) {
            if !thread.is_empty() {
                counted::exit(thread, function, site, hook, sp);
            }
        } else if thread.is_noting() {
            noting::exit_unusual(thread, function, site, hook, sp);
        } else {
            slow_path::exit(function, site, hook, sp);
        }
    }
}

/// Deals with a call that is not to be recorded in the usual way: one outside every root, or after a change of the control
/// words. False if there is nothing of the kind.
#[inline(always)]
unsafe fn filter(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) -> bool {
    if is_outside(thread, function) {
        return true;
    }
    let is_controlled = is_controlled(thread);
    if is_controlled && !is_paused(thread) {
        // SAFETY: the thread's state is valid.
        unsafe { slow_path::enter(function, site, hook, sp) };
    }
    is_controlled
}

/// Whether there is news in the control words: recording is paused, or its counters were reset.
#[inline(always)]
pub fn is_controlled(thread: &Thread) -> bool {
    // SAFETY: the header is mapped; both words are aligned as one.
    unsafe { (&raw const (*thread.base.cast::<Header>()).paused).cast::<u64>().read_volatile() != thread.control.get() }
}

/// Whether recording is paused, by the control word in the file.
#[inline(always)]
pub fn is_paused(thread: &Thread) -> bool {
    // SAFETY: the header is mapped.
    unsafe { (&raw const (*thread.base.cast::<Header>()).paused).read_volatile() != 0 }
}

/// Whether the counters have been reset since the thread's began, by the control word in the file.
#[inline(always)]
pub fn is_reset(thread: &Thread) -> bool {
    // SAFETY: the header is mapped.
    unsafe { (&raw const (*thread.base.cast::<Header>()).epoch).read_volatile() != thread.epoch() }
}

/// Whether no root is open, and the function is known to be none.
#[inline(always)]
pub fn is_outside(thread: &Thread, function: usize) -> bool {
    thread.is_empty() && thread.is_outsider(function)
}

/// Entry, recorded in a given way.
///
/// # Safety
/// The thread must have an arena.
#[inline(always)]
pub unsafe fn enter_on<M: Mode>(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: frames up to `top` are there.
    unsafe {
        let top = &*thread.top.get();
        // The stack grows down: a frame whose pointer is not above this one has been left, unless the function was
        // inlined into the one that has it.
        if top.sp <= sp && !is_inlined(top, site, hook, sp) {
            return slow_path::enter_after_unwinding::<M>(thread, function, site, hook, sp);
        }
        let parent = top.position;
        if parent < ROOT {
            return slow_path::enter_without_caller::<M>(thread, function, site, hook, sp);
        }
        let Some(line) = thread.path_cache.line(parent) else {
            return slow_path::enter_uncached::<M>(thread, function, site, hook, sp);
        };
        let place = path_cache::place(function, site, hook);
        let mut node = line[place].get();
        if !path::is(thread.node(node), parent, function, site, hook) {
            // Two calls of one parent may have one place.
            node = line[place ^ 1].get();
            if !path::is(thread.node(node), parent, function, site, hook) {
                return slow_path::enter_uncached::<M>(thread, function, site, hook, sp);
            }
        }
        open::<M>(thread, node, top.inside, function, site, hook, sp);
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
            return slow_path::enter_too_deep::<M>(thread, function, site, hook, sp);
        }
        if (*node).flags | u16::from(inside) != 0 {
            // Where the clock is read, fewer registers to save are worth more than a call saved.
            return match M::BITS {
                0 => open_folded_apart::<M>(
                    thread,
                    u64::from(inside) << 32 | u64::from(node_ref),
                    function,
                    site,
                    hook,
                    sp,
                ),
                _ => open_folded::<M>(thread, node_ref, inside, function, site, hook, sp),
            };
        }
        arch::count_at::<{ offset_of!(NodeRecord, slot) + offset_of!(Slot, calls) }, _>(node);
        let frame = reserve(thread, node_ref, function, site, hook, sp);
        ((*frame).bits, (*frame).inside) = (M::BITS, 0);
        fill(frame, node_ref); // the position of a node without flags
        start::<M>(thread, frame, &raw mut (*node).slot);
    }
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
    let (inside, node_ref) = ((inside_and_node >> 32) as u8, inside_and_node as Ref);
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
        let counters = slot(node, own);
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
        fill(frame, (*node).position);
        if bits & bits::UNTIMED == 0 {
            start::<M>(thread, frame, counters);
        }
    }
}

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
pub unsafe fn fill(frame: *mut Frame, position: Ref) {
    compiler_fence(Ordering::SeqCst);
    // SAFETY: the caller's frame.
    unsafe { (*frame).position = position };
    compiler_fence(Ordering::SeqCst);
}

/// Starts the clock of a call whose frame is filled in otherwise.
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
        if count == thread.next_trial.get() {
            return start_after_step::<M>(thread, frame, counters);
        }
        start_now::<M>(thread, frame, counters);
    }
}

/// The same after what is to be done about trials now.
#[cold]
#[inline(never)]
unsafe fn start_after_step<M: Mode>(thread: &Thread, frame: *mut Frame, counters: *mut Slot) {
    // SAFETY: the caller's counters.
    unsafe {
        trial::step_timed(thread);
        start_now::<M>(thread, frame, counters);
    }
}

#[inline(always)]
unsafe fn start_now<M: Mode>(thread: &Thread, frame: *mut Frame, counters: *mut Slot) {
    // SAFETY: the caller's counters.
    unsafe {
        let start = M::Clock::now();
        (*frame).start = start;
        (*counters).mark = start & !mark::BITS | mark::OPEN;
        // After the clock: until then it was the caller's time.
        if thread.is_switched() {
            off_cpu::before_entry(thread, frame);
        }
    }
}

/// Exit, at a time.
///
/// # Safety
/// The thread must have an arena.
#[inline(always)]
pub unsafe fn exit_at(thread: &Thread, now: u64, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: frames up to `top` are there.
    unsafe {
        let latest = thread.top.get();
        let top = &*latest;
        if top.function != function || (top.sp != sp && !is_tail_exit(top, site, hook, sp)) {
            return slow_path::exit_of_another(thread, now, function, site, hook, sp);
        }
        if top.bits & !bits::SLOT != 0 {
            return slow_path::close_unusual(thread, now);
        }
        close(thread, latest, now);
    }
}

/// Whether an exit hook that the function jumped to, having left its frame already, is that of the latest open call.
/// Then the hook returns to the call site, and the frame below lies above the stack pointer.
#[inline(always)]
pub unsafe fn is_tail_exit(top: &Frame, site: usize, hook: usize, sp: usize) -> bool {
    // SAFETY: a frame of a function has one below it.
    hook == site && top.site == site && top.sp < sp && unsafe { (*(&raw const *top).sub(1)).sp >= sp }
}

/// Closes the latest open call, whose frame this is: a plain one.
#[inline(always)]
pub(crate) unsafe fn close(thread: &Thread, frame: *mut Frame, now: u64) {
    // SAFETY: the frame's node and its function's record are in the mapping.
    unsafe {
        let start = (*frame).start;
        if now < start {
            return slow_path::close_backwards(thread, frame, now);
        }
        close_after(thread, frame, now, now - start);
    }
}

/// Closes the latest open call, a plain one, which took so long.
#[inline(always)]
pub(crate) unsafe fn close_after(thread: &Thread, frame: *mut Frame, now: u64, elapsed: u64) {
    // SAFETY: the frame's node and its function's record are in the mapping.
    unsafe {
        let descendants = thread.count.get() - (*frame).count;
        let node = thread.node((*frame).node);
        // A byte and no more: it was written as such a moment ago, and a longer read would wait for that.
        let counters = slot(node, (&raw const (*frame).bits).read_volatile());
        arch::add_at::<{ offset_of!(Slot, ticks) }, _>(counters, elapsed);
        arch::add_at::<{ offset_of!(Slot, descendants) }, _>(counters, descendants);
        (*counters).mark = now & !mark::BITS;
        thread.last.set(now);
        let record = (*node).record;
        let cost = (thread.inner.get() + descendants * thread.pair.get()) >> 10;
        pop_at(thread, frame);
        // Last, so that nothing has to be kept over its calls.
        distribution::file_later(thread, record, elapsed.saturating_sub(cost));
    }
}

/// Takes the latest frame away, and leaves it as one that stands for no call.
///
/// # Safety
/// There must be an open call.
#[inline(always)]
pub unsafe fn pop(thread: &Thread) {
    // SAFETY: the caller's promise.
    unsafe { pop_at(thread, thread.top.get()) };
}

/// The same, where the frame is known already, and is not to be looked up again. What a signal handler has left above it goes
/// with it.
#[inline(always)]
pub(crate) unsafe fn pop_at(thread: &Thread, frame: *mut Frame) {
    // SAFETY: the caller's frame is that of an open call.
    unsafe {
        (*frame).position = 0;
        compiler_fence(Ordering::SeqCst);
        (*frame).sp = usize::MAX;
        compiler_fence(Ordering::SeqCst);
        thread.top.set(frame.sub(1));
    }
}
