//! How a thread's state begins to record, takes an arena, and is left to another thread.

use crate::arch;
use crate::calibration_schedule;
use crate::calibration_steps;
use crate::claim;
use crate::clock;
use crate::family::Family;
use crate::fork;
use crate::frame::{self, Frame};
use crate::off_cpu;
use crate::path;
use crate::ring;
use crate::spent::Spent;
use crate::switches;
use crate::sys::{self, SignalsBlocked};
use crate::table::Table;
use crate::thread::{ANYWHERE, Thread, live};
use core::ptr;
use core::sync::atomic::Ordering;
use profile::GRANULE;
use profile::header::clock::TSC;
use profile::header::timing;

const FIRST_FRAMES: usize = 256;
/// Calls deeper than this are counted by function only: 256 MB of frames.
const MOST_FRAMES: usize = 1 << 22;

/// Indices that a thread has.
const TABLES: usize = 4;

/// State for a thread of `family`, with no arena yet.
pub fn new(family: &'static Family) -> sys::Result<*mut Thread> {
    // All at once: what there is no room for must not be half taken, again and again.
    let memory = sys::map_memory(size_of::<Thread>() + TABLES * Table::FIRST_SIZE)?;
    let give_back = |errno| {
        // SAFETY: the mapping is new, and nobody has seen it.
        unsafe { sys::unmap(memory, size_of::<Thread>() + TABLES * Table::FIRST_SIZE) };
        errno
    };
    // Of a limited address space most is left to the program.
    let fair = (sys::spare_address_space() / 256 / size_of::<Frame>()).max(FIRST_FRAMES).next_power_of_two();
    let (frames, reserved) = frame::reserve(fair.min(MOST_FRAMES), FIRST_FRAMES).map_err(give_back)?;
    let thread = memory.cast::<Thread>();
    // SAFETY: the mapping is new and has room for all of them, zeros are valid for each, and each begins a page.
    unsafe {
        let is_ready = frame::commit(frames, FIRST_FRAMES).and_then(|()| sys::wipe_on_fork(thread.cast(), GRANULE));
        if let Err(errno) = is_ready {
            sys::unmap(frames.cast(), reserved * size_of::<Frame>());
            return Err(give_back(errno));
        }
        (&raw mut (*thread).family).write(family);
        (&raw mut (*thread).base).write(family.base);
        let state = &*thread;
        state.nodes.start(memory.add(size_of::<Thread>()));
        state.functions.start(memory.add(size_of::<Thread>() + Table::FIRST_SIZE));
        state.off_cpu.start(memory.add(size_of::<Thread>() + 2 * Table::FIRST_SIZE));
        state.call_sites.start(memory.add(size_of::<Thread>() + 3 * Table::FIRST_SIZE));
        switches::look_at_none(state);
        let header = family.header();
        let (inner, outer) = ((*header).inner_cost, (*header).outer_cost);
        state.top.set(frames);
        state.bottom.set(frames);
        state.limit.set(frames.add(FIRST_FRAMES));
        state.reserved.set(frames.add(reserved));
        state.inner.set(inner);
        state.pair.set(inner + outer);
        state.random.set(thread.addr() as u64 ^ clock::read(libc::CLOCK_MONOTONIC) << 16 | 1);
        state.directory.set(-1);
        state.reach.set(ANYWHERE);
        ring::start_without(state);
        state.use_filter();
    }
    Ok(thread)
}

/// Takes an arena, and puts the calls that are open into it.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn settle(thread: &Thread) {
    let was_forked = thread.is(live::FORKED);
    thread.live.store(live::LOST, Ordering::Relaxed);
    if was_forked {
        switches::leave_parents(thread);
        thread.path_cache.leave_parents();
    } else {
        thread.path_cache.clear();
    }
    if thread.is_given_up.get() {
        thread.is_given_up.set(false);
        forget_calls(thread); // which of them its parent had open as it forked, nobody knows
    } else {
        // SAFETY: the state is busy, or new.
        unsafe { ring::reopen_in_child(thread) };
    }
    // What a forked child finds there is its parent's.
    ring::start_without(thread);
    thread.no_arena_until.set(u64::MAX);
    if clock::STOPPED.load(Ordering::Relaxed) {
        return;
    }
    thread.join(thread.family.epoch());
    let arrived = clock::now(thread.family.clock);
    let beginning = fork::beginning(thread);
    let off = beginning.map(|beginning| off_cpu::since(thread, &beginning));
    if !claim::claim(thread) {
        thread.no_arena_until.set(thread.family.later());
        return;
    }
    thread.count.set(0);
    thread.untold.set(0);
    thread.no_room_until.set(0);
    thread.no_spare_until.set(0);
    // Calls that go on since a child was forked have nothing of what was done here; others begin now.
    let now = if beginning.is_some() { arrived } else { clock::now(thread.family.clock) };
    let spent = Spent::since(thread, now);
    fork::begin(thread, beginning, now);
    off_cpu::begin(thread);
    off_cpu::inherit(thread, off.unwrap_or_default());
    calibration_schedule::schedule(thread); // whose first moment has what the thread was off until then
    spent.end(thread);
    record(thread);
}

fn record(thread: &Thread) {
    let state = match (thread.family.settings.timing, thread.family.clock) {
        (timing::ALL, TSC) => live::TSC,
        (_, TSC) => live::COUNTED,
        (timing::ALL, _) => live::GETTIME,
        _ => live::COUNTED_GETTIME,
    };
    thread.live.store(state, Ordering::Relaxed);
}

/// Forgets what lay at addresses of libraries that are gone.
///
/// The state must be [`crate::busy`].
pub fn forget_unloaded_code(thread: &Thread) {
    // SAFETY: the caller's promise.
    unsafe { ring::finish(thread) };
    record(thread); // first: another library may be unloaded meanwhile
    forget_addresses(thread);
    thread.readable_pages.iter().for_each(|page| page.set(0));
    thread.use_filter();
    path::index_what_is_there(thread);
}

/// Ends the thread's recording: its counts stay, its arena and its state are free for another thread.
pub fn end(thread: &Thread) {
    let _blocked = SignalsBlocked::new();
    if thread.has_arena() {
        if thread.is_switched() {
            // SAFETY: the thread's frames are there.
            unsafe { off_cpu::before_exit(thread) }; // in a call that it ends in
        }
        calibration_steps::end(thread);
    }
    arch::set_thread(ptr::null_mut());
    abandon(thread);
}

/// Leaves the state to another thread. Nothing must lead to it any more but the list of all states, which asks whether
/// it is in use.
pub fn abandon(thread: &Thread) {
    if thread.has_arena() {
        // SAFETY: the arena is the thread's.
        unsafe { ring::leave(thread) };
        ring::start_without(thread);
        thread.tell_beginnings();
        off_cpu::tell_up_to_now(thread);
        off_cpu::end(thread);
        claim::release(thread);
    }
    thread.live.store(live::FORKED, Ordering::Relaxed);
    forget_calls(thread);
    thread.is_given_up.set(false);
    thread.busy.set(0);
    thread.path_cache.clear(); // as in a child's state, which has nothing that could be found
    ring::forget_unfinished(thread);
    thread.stacks.iter().for_each(|stack| stack.set((0, 0)));
    thread.own_stack.set((0, 0));
    thread.missed.set(0);
    thread.reach.set(ANYWHERE);
    thread.suspended.clear();
    thread.holes.set(0);
    forget_addresses(thread);
    thread.in_use.store(false, Ordering::Release);
}

/// No call is open any more.
fn forget_calls(thread: &Thread) {
    while thread.top.get() > thread.bottom.get() {
        // SAFETY: frames between bottom and top are there.
        unsafe {
            thread.top.get().write(Frame::EMPTY);
            thread.top.set(thread.top.get().sub(1));
        }
    }
}

/// Gives the memory back.
///
/// # Safety
/// Nothing may use the state afterwards.
pub unsafe fn free(thread: *mut Thread) {
    // SAFETY: the caller's promise.
    unsafe {
        let state = &*thread;
        state.nodes.free();
        state.functions.free();
        state.off_cpu.free();
        state.call_sites.free();
        state.suspended_frames.free(state.most_frames());
        sys::unmap(state.bottom.get().cast(), state.most_frames() * size_of::<Frame>());
        sys::unmap(thread.cast(), size_of::<Thread>());
    }
}

fn forget_addresses(thread: &Thread) {
    thread.known_pages.iter().chain(&thread.outsiders).for_each(|address| address.set(0));
}
