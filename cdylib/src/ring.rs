//! Calls that are only noted: the hooks of a stretch that tells what the program takes without being recorded.
//!
//! Nothing is looked up and no clock is read. A call goes into the ring (see [`profile::ring`]), which lies in the file, and
//! onto the shadow stack as a frame that does not know its node yet. What is not a plain entry or exit ends the stretch
//! first, and then goes its usual way. [`crate::replay`] counts what was noted.
//!
//! The frames are private memory: a forked child has them, and finds the paths of those it inherited by itself.

use crate::arch;
use crate::busy::is_busy;
use crate::clock::{Clock, Tsc};
use crate::family::at;
use crate::frame::{Frame, NOTED, bits};
use crate::hooks;
use crate::replay;
use crate::thread::{Thread, live};
use crate::trial;
use crate::way::TimedByTsc;
use core::mem::offset_of;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering, compiler_fence};
use profile::node::ROOT;
use profile::ring::{BLOCK_SIZE, Place, SLOTS};
use profile::{Block, Ring, RingSlot, UNIT, kind, ring};

/// Bytes of a slot.
const SLOT: usize = size_of::<RingSlot>();

/// Entry of a call, which is noted as a rule.
#[inline(never)]
pub unsafe extern "C" fn enter(function: usize, site: usize, hook: usize, sp: usize, thread: &Thread) {
    // SAFETY: frames up to `top` are there; a frame is filled below `limit`, a slot of the ring below its limit.
    unsafe {
        let latest = thread.top.get();
        let top = &*latest;
        let Some(note) = ring::enter(function, site, hook) else {
            return enter_unusual(thread, function, site, hook, sp);
        };
        let is_left = top.sp <= sp && !hooks::is_inlined(top, site, hook, sp);
        if is_left || top.position < ROOT || thread.is_empty() || latest.add(1) == thread.limit.get() {
            return enter_unusual(thread, function, site, hook, sp);
        }
        // Before the slot, which is this hook's then: a handler that comes in between finds that a hook is at work, and ends
        // the stretch.
        let frame = hooks::reserve(thread, 0, function, site, hook, sp);
        ((*frame).bits, (*frame).inside) = (bits::UNTIMED, 0);
        let slot = thread.ring_next.get();
        if slot >= thread.ring_limit.get() {
            return enter_at_limit(thread, function, site, hook, sp);
        }
        (*frame).counted = hook as u64;
        (*frame).count = slot as u64;
        write(slot, note);
        thread.ring_next.set(slot + SLOT);
        hooks::fill(frame, NOTED);
        if slot >= thread.ring_limit.get() {
            replay::complete(thread, frame, slot, note); // a signal handler has ended the stretch
        }
    }
}

/// Exit from a function while a call is open.
#[inline(always)]
pub unsafe fn exit(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: as above.
    unsafe {
        let frame = thread.top.get();
        let top = &*frame;
        let is_its = top.function == function && (top.sp == sp || hooks::is_tail_exit(top, site, hook, sp));
        if !is_its || top.position != NOTED {
            return exit_unusual(thread, is_its, function, site, hook, sp);
        }
        // The slot is this hook's, as in an enter hook; and none of a later stretch's, as none begins while a frame is not filled.
        (*frame).position = 0;
        compiler_fence(Ordering::SeqCst);
        let slot = thread.ring_next.get();
        if slot >= thread.ring_limit.get() {
            return exit_at_limit(thread, function, site, hook, sp);
        }
        write(slot, RingSlot::EXIT);
        thread.ring_next.set(slot + SLOT);
        hooks::pop(thread);
    }
}

/// Takes the next slot, in one instruction: a signal handler's is another.
#[inline(always)]
unsafe fn take_slot(thread: &Thread) -> usize {
    // SAFETY: a field of the thread's.
    unsafe {
        arch::take_at::<{ offset_of!(Thread, ring_next) }, _>(ptr::from_ref(thread).cast_mut(), SLOT as u64) as usize
    }
}

#[inline(always)]
unsafe fn write(slot: usize, note: RingSlot) {
    let slot: *mut RingSlot = ptr::with_exposed_provenance_mut(slot);
    // SAFETY: the caller's slot, below the limit.
    unsafe {
        (&raw mut (*slot).second).write_volatile(note.second);
        compiler_fence(Ordering::SeqCst);
        (&raw mut (*slot).first).write_volatile(note.first);
        compiler_fence(Ordering::SeqCst);
    }
}

#[cold]
#[inline(never)]
unsafe fn enter_at_limit(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the hook's frame is the latest, and not filled.
    unsafe {
        hooks::pop(thread);
        step(thread);
        hooks::enter(function, site, hook, sp);
    }
}

#[cold]
#[inline(never)]
unsafe fn exit_at_limit(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the hook's frame is the latest.
    unsafe {
        let frame = thread.top.get();
        if (*frame).node != 0 && (*frame).bits & bits::UNTIMED == 0 {
            // A signal handler has ended the stretch before this hook began its work: the call is timed now.
            hooks::fill(frame, (*thread.node((*frame).node)).position);
            return hooks::exit(function, site, hook, sp);
        }
        step(thread);
        if thread.is(live::RING) {
            let slot = take_slot(thread);
            if slot < thread.ring_limit.get() {
                write(slot, RingSlot::EXIT);
            }
        }
        hooks::pop(thread);
    }
}

/// The limit was reached, or the stretch is over already.
unsafe fn step(thread: &Thread) {
    // SAFETY: the thread has an arena.
    unsafe {
        match thread.is(live::RING) && thread.ring_limit.get() != 0 {
            true => trial::step_noted(thread),
            false => leave(thread),
        }
    }
}

/// Entry of a call that is not simply noted.
#[cold]
#[inline(never)]
unsafe fn enter_unusual(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the thread has an arena.
    unsafe {
        if thread.is_empty() {
            // The program's time is measured from the outermost call on.
            hooks::enter_on::<TimedByTsc>(thread, function, site, hook, sp);
            return note_base(thread);
        }
        leave(thread);
        hooks::enter(function, site, hook, sp);
    }
}

/// Exit from a call that was timed before the stretch began, or is not the latest.
#[cold]
#[inline(never)]
unsafe fn exit_unusual(thread: &Thread, is_its: bool, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the thread has an arena.
    unsafe {
        if is_its && (*thread.top.get()).position != 0 {
            let now = Tsc::now();
            hooks::exit_at(thread, now, function, site, hook, sp);
            return note_base(thread);
        }
        leave(thread);
        hooks::exit(function, site, hook, sp);
    }
}

/// Notes which call is the latest now.
unsafe fn note_base(thread: &Thread) {
    // SAFETY: the top frame is there.
    unsafe {
        while thread.is(live::RING) {
            let top = &*thread.top.get();
            if [0, NOTED].contains(&top.position) {
                return leave(thread);
            }
            let slot = take_slot(thread);
            if slot < thread.ring_limit.get() {
                return write(slot, RingSlot::base(place(top)));
            }
            step(thread);
        }
    }
}

fn place(frame: &Frame) -> Place {
    Place { node: frame.node, position: frame.position, inside: frame.inside }
}

/// Ends a stretch before its time: what it would have told is lost, its calls are not.
#[cold]
#[inline(never)]
pub unsafe fn leave(thread: &Thread) {
    stop(thread);
    trial::disturb(thread);
    // SAFETY: the thread has an arena.
    unsafe { finish(thread) };
}

/// No call is noted from now on.
pub fn stop(thread: &Thread) {
    let _ = thread.live.compare_exchange(live::RING, live::TSC, Ordering::Relaxed, Ordering::Relaxed);
    thread.ring_limit.set(0);
}

/// Counts what is in the ring. False if that cannot be now: in a signal handler that has interrupted a change of the state.
pub unsafe fn finish(thread: &Thread) -> bool {
    // SAFETY: the ring is the thread's.
    unsafe {
        if !is_pending(thread) {
            return true;
        }
        let Some(_busy) = crate::busy::Busy::begin(thread) else { return false };
        replay::run(thread, true);
    }
    true
}

/// Whether there is something in the ring that is not counted.
pub unsafe fn is_pending(thread: &Thread) -> bool {
    let ring = thread.ring.get();
    // SAFETY: the ring is in the mapping.
    !ring.is_null() && thread.ring_limit.get() == 0 && unsafe { !(*ring).sequence.is_multiple_of(2) }
}

/// The slots of a ring.
pub fn slots(ring: *mut Ring) -> *mut RingSlot {
    ring.wrapping_add(1).cast()
}

/// Begins a stretch of so many slots, the first third of which are for its warm-up. False if none can be now.
pub unsafe fn begin(thread: &Thread, all: usize) -> bool {
    // SAFETY: the thread has an arena; frames between bottom and top are there.
    unsafe {
        if is_busy(thread) || !has_ring(thread) || !finish(thread) {
            return false;
        }
        let mut frame = thread.top.get();
        while frame > thread.bottom.get() {
            if [0, NOTED].contains(&(*frame).position) {
                return false; // a signal handler in the middle of a hook
            }
            frame = frame.sub(1);
        }
        let ring = thread.ring.get();
        let slots = slots(ring);
        thread.ring_slots.set(all.min(SLOTS));
        slots.write_bytes(0, SLOTS);
        write(slots.addr(), RingSlot::base(place(&*thread.top.get())));
        set_sequence(ring, (*ring).sequence | 1);
        thread.ring_next.set(slots.add(1).expose_provenance());
        limit(thread, thread.ring_slots.get() / 3);
        let found = thread.live.compare_exchange(live::TSC, live::RING, Ordering::Relaxed, Ordering::Relaxed);
        if found.is_err() {
            thread.ring_limit.set(0);
        }
        found.is_ok()
    }
}

/// The stretch goes to the end of its next third. False if it has come to its own.
pub fn go_on(thread: &Thread) -> bool {
    let (taken, all) = (taken(thread), thread.ring_slots.get());
    let next = if taken < all * 2 / 3 { all * 2 / 3 } else { all };
    limit(thread, next);
    taken < next
}

fn limit(thread: &Thread, slots_end: usize) {
    thread.ring_limit.set(slots(thread.ring.get()).wrapping_add(slots_end).addr());
}

/// How many calls were noted between two slots.
pub unsafe fn calls_between(thread: &Thread, first: usize, end: usize) -> u64 {
    let slots = slots(thread.ring.get());
    // SAFETY: the slots are the ring's.
    let is_call = |at: &usize| matches!(unsafe { (*slots.add(*at)).note() }, ring::Note::Enter(_));
    (first..end.min(SLOTS)).filter(is_call).count() as u64
}

/// How many slots have been taken.
pub fn taken(thread: &Thread) -> usize {
    (thread.ring_next.get().saturating_sub(slots(thread.ring.get()).addr()) / SLOT).min(SLOTS)
}

/// Says in the file whether there is something in a ring.
pub unsafe fn set_sequence(ring: *mut Ring, sequence: u64) {
    compiler_fence(Ordering::SeqCst);
    // SAFETY: the caller's ring.
    unsafe { (&raw mut (*ring).sequence).write_volatile(sequence) };
    compiler_fence(Ordering::SeqCst);
}

/// Whether the arena has a ring; makes it one.
unsafe fn has_ring(thread: &Thread) -> bool {
    // SAFETY: the arena is the thread's.
    unsafe {
        let arena = thread.arena.get();
        if (*arena).ring == 0 {
            let Some(_busy) = crate::busy::Busy::begin(thread) else { return false };
            let Some((reference, block)) = thread.family.block(BLOCK_SIZE, false) else { return false };
            (*block).kind = kind::RING;
            (*block).size = BLOCK_SIZE as u32;
            (*block).arena = thread.arena_ref.get();
            thread.family.publish(block);
            AtomicU32::from_ptr(&raw mut (*arena).ring).store(reference, Ordering::Release);
        }
        know(thread);
    }
    true
}

/// Takes over the ring of the thread's arena, if that has one.
pub unsafe fn know(thread: &Thread) {
    // SAFETY: the arena is the thread's, and its ring complete.
    unsafe {
        let reference = (*thread.arena.get()).ring;
        let block: *mut Block = at(thread.base, reference);
        thread.ring.set(if reference == 0 { ptr::null_mut() } else { block.cast::<u8>().add(UNIT).cast() });
    }
}

/// For the loop at the start: has a thread note its calls in these slots, round and round.
pub fn rehearse(thread: &Thread, slots: *mut RingSlot) {
    thread.ring_next.set(slots.expose_provenance());
    thread.ring_limit.set(slots.wrapping_add(SLOTS).addr());
    thread.live.store(live::RING, Ordering::Relaxed);
}

const _: () = assert!(SLOTS <= 1 << 16);
