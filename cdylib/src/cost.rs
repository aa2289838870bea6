//! What the hooks themselves cost, measured when the library is loaded: a loop of calls that do nothing.
//!
//! The loop runs the real hooks on a rehearsal family in private memory. Its lines are hot and the processor overlaps
//! one pair with the next, as in a program that calls small functions all the time; the report states the error.

use crate::arch;
use crate::attach;
use crate::clock;
use crate::family::{EMPTY_SIZE, Family, process_page};
use crate::node::slot;
use crate::settings::Settings;
use crate::sys;
use crate::thread::Thread;
use core::hint::black_box;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU64};
use profile::header::Anchor;
use profile::node::flag;
use profile::{GRANULE, NodeRecord};

/// Costs of a hook pair, in 1/1024 ticks.
#[derive(Clone, Copy, Default)]
pub struct Costs {
    /// Inside the interval that it measures.
    pub inner: u64,
    /// Beside that.
    pub outer: u64,
    /// Standard error of the sum.
    pub error: u64,
    /// Of a pair that is not recorded.
    pub untimed: u64,
}

const PAIRS: u64 = 256;
/// Places of the stack, [`STEP`] bytes apart, that the loop runs at in turn: whether a hook's frame and what it writes lie
/// alike in their pages makes it faster or slower by a third, and a program's frames lie everywhere.
const PLACES: usize = 16;
const STEP: usize = 256;
const ROUNDS_AT_A_PLACE: usize = 3;
const LEAST_ROUNDS: usize = 15;
const MOST_ROUNDS: usize = 255;
/// The clock's rate is taken over the same time.
const ENOUGH_NS: u64 = 400_000;
/// How far a program's hooks may be from the loop's, whose code and data are all in the first cache: the difference
/// seen between the loop and whole programs (see benches/README.md), as a part of the cost. (No fractions: they would leave the program the
/// processor's note that something was rounded.)
const UNLIKENESS: u64 = 2;

type Hook = unsafe extern "C" fn(usize, usize);

/// The hooks that are measured.
pub struct Hooks {
    pub enter: Hook,
    pub exit: Hook,
}

const PARENT: usize = 0x1000;
const CHILD: usize = 0x2000;
const SITE: usize = 0x3000;

/// Measures with a clock and a way to time calls, in about a millisecond since `since`.
pub fn measure(which: u32, timing: u32, since: Anchor, hooks: &Hooks) -> Costs {
    rehearse(which, timing, since, hooks).unwrap_or_default()
}

fn rehearse(which: u32, timing: u32, since: Anchor, hooks: &Hooks) -> Option<Costs> {
    const SIZE: usize = EMPTY_SIZE + 4 * GRANULE;
    let family = crate::memory::keep_value(Family {
        base: sys::map_memory(SIZE * 2).ok()?,
        mapped: SIZE * 2,
        file: None,
        settings: Settings { timing, ..Settings::DEFAULT },
        clock: which,
        process: process_page()?,
        forking: AtomicU64::new(0),
        children: AtomicPtr::new(ptr::null_mut()),
        modules: AtomicPtr::new(ptr::null_mut()),
        filter: AtomicPtr::new(ptr::null_mut()),
        filters: AtomicPtr::new(ptr::null_mut()),
    })?;
    let before = arch::thread();
    // SAFETY: the rehearsal's memory is this function's; the hooks find it by the thread's word until that is reset.
    unsafe {
        let header = family.header();
        (*header).used = EMPTY_SIZE as u64;
        (*header).clock = which;
        (*header).keep = u32::MAX;
        let thread = attach::new(family).ok()?;
        attach::settle(&*thread);
        (*thread).next_window.set(u64::MAX);
        arch::set_thread(thread);
        (hooks.enter)(PARENT, SITE);
        let costs = rounds(thread, which, since, hooks);
        arch::set_thread(before);
        attach::free(thread);
        sys::unmap(family.base, SIZE * 2);
        Some(costs)
    }
}

unsafe fn rounds(thread: *mut Thread, which: u32, since: Anchor, hooks: &Hooks) -> Costs {
    let mut totals = [0; MOST_ROUNDS];
    let mut inners = [0; MOST_ROUNDS];
    // SAFETY: the rehearsal's thread and nodes.
    unsafe {
        pairs(which, hooks);
        let node: *mut NodeRecord = child_of(thread);
        (*node).flags = 0; // a usual call is in no timeline
        let mut len = 0;
        let enough = || clock::read(libc::CLOCK_MONOTONIC).saturating_sub(since.monotonic_ns) > ENOUGH_NS;
        while len < LEAST_ROUNDS || (len < MOST_ROUNDS && !enough()) {
            let ticks = (*slot((*thread).base, node, 0)).ticks;
            totals[len] = (at_place(len % PLACES, &mut || pairs(which, hooks)) << 10) / PAIRS;
            inners[len] = (((*slot((*thread).base, node, 0)).ticks - ticks) << 10) / PAIRS;
            len += 1;
        }
        (*node).flags |= flag::UNTIMED as u16;
        let untimed = few_rounds(|| pairs(which, hooks));
        let (total, spread) = median(&mut totals[..len]);
        let (inner, _) = median(&mut inners[..len]);
        // The program as it is without the recorder calls hooks too.
        let empty = few_rounds(|| pairs_of(which, CHILD, &Hooks { enter: arch::empty, exit: arch::empty }));
        let (total, inner) = (total.saturating_sub(empty), inner.saturating_sub(empty / 2));
        let untimed = untimed.saturating_sub(empty);
        Costs {
            inner: inner.min(total),
            outer: total.saturating_sub(inner),
            error: spread + total / UNLIKENESS,
            untimed,
        }
    }
}

/// The mean over the places of the stack, in 1/1024 ticks for a pair.
fn few_rounds(mut ticks: impl FnMut() -> u64) -> u64 {
    let at = |place| median(&mut [(); ROUNDS_AT_A_PLACE].map(|()| at_place(place, &mut ticks))).0;
    (0..PLACES).map(at).sum::<u64>() * 1024 / (PAIRS * PLACES as u64)
}

/// Runs a loop further down the stack.
#[inline(never)]
fn at_place(place: usize, ticks: &mut dyn FnMut() -> u64) -> u64 {
    // What the call itself takes of the stack makes the steps uneven, and the places no fewer.
    let room = black_box([0u8; STEP - 64]);
    let ticks = if place == 0 { ticks() } else { at_place(place - 1, ticks) };
    black_box(&room);
    ticks
}

/// Ticks that a loop of hook pairs takes.
unsafe fn pairs(which: u32, hooks: &Hooks) -> u64 {
    // SAFETY: the hooks record into the rehearsal.
    unsafe { pairs_of(which, CHILD, hooks) }
}

/// Ticks that a loop of pairs of such hooks takes.
#[inline(never)]
unsafe fn pairs_of(which: u32, function: usize, hooks: &Hooks) -> u64 {
    let (enter, exit) = (black_box(hooks.enter), black_box(hooks.exit));
    let start = clock::now(which);
    for _ in 0..PAIRS {
        // SAFETY: the caller's promise.
        unsafe {
            enter(black_box(function), SITE);
            exit(black_box(function), SITE);
        }
    }
    clock::now(which).saturating_sub(start)
}

unsafe fn child_of(thread: *mut Thread) -> *mut NodeRecord {
    // SAFETY: the second node of the rehearsal's only block is the child's.
    unsafe {
        let arena = (*thread).arena_ref.get();
        let first = arena + (profile::ARENA_NODES / profile::UNIT) as u32;
        (*thread).node(first + (size_of::<NodeRecord>() / profile::UNIT) as u32)
    }
}

/// The median, and half the distance between the quartiles.
fn median(values: &mut [u64]) -> (u64, u64) {
    values.sort_unstable();
    let at = |quarter: usize| values[(values.len() - 1) * quarter / 4];
    (at(2), (at(3) - at(1)) / 2)
}
