//! Which calls are timed where not all are (`DIYTRACE_TIMING`): see [`Sample`].
//!
//! A path's first call is timed. As long as its calls are short beside what timing them costs, the groups of which one
//! is timed grow, but not beyond a small part of the calls so far; while they are long, the groups shrink.

use crate::arch;
use crate::arena;
use crate::busy::Busy;
use crate::clock::{self, Clock, Tsc};
use crate::distribution;
use crate::family::at;
use crate::frame::{Frame, bits};
use crate::hooks;
use crate::rare;
use crate::thread::{Thread, live, slot};
use core::mem::offset_of;
use core::sync::atomic::{Ordering, compiler_fence};
use profile::header::timing;
use profile::node::{NOT_TIMED_MAX, flag, mark};
use profile::{NodeRecord, Ref, Sample, Slot};

/// Most calls that one timed call stands for.
const LARGEST_GROUP: u32 = 128;
/// Groups that a path's calls are at least divided into, once there are so many.
const LEAST_GROUPS: u64 = 64;
/// A call that takes this many times as long as timing it is rather timed.
const LONG: u64 = 16;

/// Timed calls for each blank: see [`profile::Trials`].
const TIMED_FOR_A_BLANK: u32 = 32;
/// A longer one was interrupted; in ticks.
const LONGEST_BLANK: u64 = 2000;
/// The function of a blank, which is none.
pub const BLANK: usize = 0;

/// Where a thread's random numbers start.
pub fn seed(address: usize) -> u64 {
    address as u64 ^ clock::read(libc::CLOCK_MONOTONIC) << 16 | 1
}

/// The node's countdown is over: times the call whose frame is filled but for that, if it is to be.
#[cold]
#[inline(never)]
pub unsafe fn turn<C: Clock>(thread: &Thread, frame: *mut Frame, node_ref: Ref) {
    let node = thread.node(node_ref);
    // SAFETY: the frame and its node are the thread's.
    unsafe {
        match thread.family.settings.timing {
            timing::SAMPLED => match sample_of(thread, node) {
                Some(sample) => time_one::<C>(thread, frame, sample, node),
                None => (*node).countdown = NOT_TIMED_MAX,
            },
            _ => {
                (*node).countdown = NOT_TIMED_MAX;
                (*slot(node, (*frame).bits)).mark = mark::OPEN;
            }
        }
    }
}

/// Times a call for its group, and lays out the next group.
unsafe fn time_one<C: Clock>(thread: &Thread, frame: *mut Frame, sample: *mut Sample, node: *mut NodeRecord) {
    if thread.random_below(TIMED_FOR_A_BLANK) == 0 && thread.is(live::COUNTED) {
        blank(thread);
    }
    // SAFETY: the caller's node and its sample.
    unsafe {
        let weight = (*sample).group.max(1);
        let next = (*sample).next_group.clamp(1, LARGEST_GROUP);
        let place = thread.random_below(next);
        (*node).countdown = (1 + (*sample).left + place) as u16;
        ((*sample).group, (*sample).left) = (next, next - 1 - place);
        time::<C>(thread, frame, node, weight as u16);
    }
}

/// What a timed call among counted ones adds to its own interval, here and now: goes the way that its exit hook will go.
#[inline(never)]
fn blank(thread: &Thread) {
    let began = Tsc::now();
    // SAFETY: the hook takes it for none of the open calls', and does nothing but to tell when it was.
    unsafe { arch::exit(BLANK, 0) };
    let took = thread.blank_ended.get().saturating_sub(began).min(LONGEST_BLANK);
    thread.blank_ticks.set(thread.blank_ticks.get() + took);
    thread.blanks.set(thread.blanks.get() + 1);
}

unsafe fn time<C: Clock>(thread: &Thread, frame: *mut Frame, node: *mut NodeRecord, weight: u16) {
    thread.counted.set(thread.counted.get() - 1);
    thread.count.set(thread.count.get() + 1);
    // SAFETY: the caller's frame and node.
    unsafe {
        (*frame).weight = weight;
        ((*frame).count, (*frame).counted) = (thread.count.get(), thread.counted.get());
        let counters = slot(node, (*frame).bits);
        let start = C::now();
        (*frame).start = start;
        let root = (*node).flags & flag::ROOT as u16;
        let root = if (*frame).bits & bits::SLOT == 0 { (root << 2) as u8 } else { 0 };
        compiler_fence(Ordering::SeqCst);
        (*frame).bits = (*frame).bits & !bits::COUNTED | bits::SAMPLED | root; // last: it says that the rest is there
        (*counters).mark = start & !mark::BITS | mark::OPEN;
    }
}

unsafe fn sample_of(thread: &Thread, node: *mut NodeRecord) -> Option<*mut Sample> {
    // SAFETY: the caller's node.
    unsafe {
        if (*node).sample == 0 {
            let _busy = Busy::begin(thread)?;
            let began = clock::now(thread.family.clock);
            let (reference, _) = arena::record::<Sample>(thread, false)?;
            (*node).sample = reference;
            thread.forget_time_since(began);
        }
        Some(at(thread.base, (*node).sample))
    }
}

/// Closes the latest open call, which is a sampled one.
#[inline(never)]
pub unsafe fn close(thread: &Thread, now: u64) {
    // SAFETY: the frame's node, its sample and its function's record are in the mapping.
    unsafe {
        let (value, record) = add(thread, now);
        let frame = *thread.top.get();
        let node = thread.node(frame.node);
        let sample: *mut Sample = at(thread.base, (*node).sample);
        distribution::distribute(thread, record, value, u64::from(frame.weight));
        let (weight, value) = (f64::from(frame.weight), value as f64);
        (*sample).squares += weight * value * value;
        (*sample).spread += weight * (weight - 1.0);
        let group = (*sample).next_group.max(1);
        let is_long = value as u64 > (thread.inner.get() * LONG) >> 10;
        let calls = (*node).slot.calls + (*node).folded_slot.calls;
        let most = (calls / LEAST_GROUPS).clamp(1, LARGEST_GROUP.into()) as u32;
        (*sample).next_group = if is_long { group / 2 } else { (group * 2).min(most) };
        hooks::pop(thread);
    }
}

/// Adds a sampled call's time up to now to what its path has, and gives its corrected time and its function's record.
pub unsafe fn add(thread: &Thread, now: u64) -> (u64, Ref) {
    // SAFETY: as above.
    unsafe {
        let frame = *thread.top.get();
        let node = thread.node(frame.node);
        let counters: *mut Slot = slot(node, frame.bits);
        if now < frame.start {
            rare::clock_stepped_back(thread, frame.start, now);
        }
        let elapsed = now.saturating_sub(frame.start);
        let (timed, counted) =
            (thread.count.get().saturating_sub(frame.count), thread.counted.get().saturating_sub(frame.counted));
        let weight = u64::from(frame.weight);
        arch::add_at::<{ offset_of!(Slot, ticks) }, _>(counters, elapsed * weight);
        arch::add_at::<{ offset_of!(Slot, descendants) }, _>(counters, timed * weight);
        (*counters).mark = now & !mark::BITS;
        thread.last.set(now);
        if thread.family.settings.timing == timing::SAMPLED {
            let sample: *mut Sample = at(thread.base, (*node).sample);
            let which = usize::from(frame.bits & bits::SLOT);
            (*sample).calls[which] += weight;
            (*sample).counted[which] += counted * weight;
        }
        let cost = (thread.inner.get() + timed * thread.pair.get() + counted * thread.counted_pair.get()) >> 10;
        (elapsed.saturating_sub(cost), (*node).record)
    }
}
