//! Calls that are only noted: the hooks of a stretch that tells what the program takes without being recorded.
//!
//! Nothing is looked up, no clock is read and no frame is opened: entries and exits go into the ring (see [`profile::ring`]),
//! which lies in the file, as the hooks are told them (`arch::enter_noting`). [`crate::replay`] finds out what they mean.
//!
//! **Base.** All that is noted lies in the frame of one open call, on its stack: the *base*, of which the ring says which it is.
//! What does not (an exit of the base, another stack, a jump further out) goes its usual way, here. So usual frames do not
//! change under the notes, and where they do (a usual hook that a handler has interrupted goes on) the next hook sees it. When
//! the base returns, the call that it was made from is the next one.
//!
//! **Slots.** A hook takes a slot by one instruction, and writes the function last. A handler that has interrupted it in
//! between may end the stretch: then that slot is *unfinished*, and its hook, if it goes on, sees that the stretch is over, finds
//! its slot among those, and goes the usual way. Until then, or until it is known to have been left for good, no other stretch
//! begins: nobody writes to a slot that means something else by now.
//!
//! **End.** To end a stretch forbids notes first (the limit is 0). From then on what the ring holds is copied, counted, and given
//! frames where calls are open; each step may be the last one here (a handler that jumps out), and is gone on from then.
//!
//! **Forks.** A child has no frames of noted calls, and the ring is its parent's. So `fork` ends the stretch first. A child that
//! was made otherwise looks into its parent's ring, which stays as it is until the next stretch begins.

use crate::arch;
use crate::arena;
use crate::busy::Busy;
use crate::calibration_schedule;
use crate::clock::{Clock, Tsc};
use crate::code;
use crate::family::at;
use crate::frame::NOTED;
use crate::off_cpu;
use crate::processor::Off;
use crate::replay;
use crate::stack;
use crate::stale_frames;
use crate::stretch::{Scratch, Stage, slots};
use crate::sys;
use crate::thread::{Thread, live};
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering, compiler_fence};
use profile::node::ROOT;
use profile::ring::Note;
use profile::ring::{BLOCK_SIZE, Place, SLOTS, tag};
use profile::{Block, RingSlot, UNIT, kind};

/// Bytes of a slot.
const SLOT: usize = size_of::<RingSlot>();

/// Gives up a slot that was taken and not written.
pub unsafe fn give_back(thread: &Thread, slot: *mut RingSlot) {
    // SAFETY: the caller's slot.
    unsafe {
        if thread.ring_stage.get() == Stage::Open && index(thread, slot).is_some() {
            write(slot, RingSlot::VOID);
        } else {
            was_unfinished(thread, slot);
        }
    }
}

/// Takes a note back that came too late to be counted with the others. False if it did not: it was counted.
pub unsafe fn take_back(thread: &Thread, slot: *mut RingSlot) -> bool {
    // SAFETY: the caller's slot; no stretch has begun since, and a forked child's ring is another one.
    unsafe {
        let is_late = was_unfinished(thread, slot);
        if is_late && thread.ring_stage.get() != Stage::Open && index(thread, slot).is_some() {
            write(slot, RingSlot::default());
        }
        is_late
    }
}

/// Whether a slot was unfinished when its stretch ended. Its hook has come back.
unsafe fn was_unfinished(thread: &Thread, slot: *mut RingSlot) -> bool {
    let first = thread.ring_first.get();
    let place = slot.addr().wrapping_sub(first) / SLOT;
    let scratch = thread.scratch.get();
    if scratch.is_null() || first == 0 || place >= SLOTS || thread.unfinished.get() == 0 {
        return false;
    }
    // SAFETY: the scratch is the thread's.
    unsafe {
        let mark = &raw mut (*scratch).unfinished[place];
        let was = mark.read_volatile();
        if was {
            mark.write_volatile(false);
            thread.unfinished.set(thread.unfinished.get().saturating_sub(1));
        }
        was
    }
}

/// The place of a slot in the thread's ring.
fn index(thread: &Thread, slot: *mut RingSlot) -> Option<usize> {
    let ring = thread.ring.get();
    let place = slot.addr().wrapping_sub(slots(ring).addr()) / SLOT;
    (!ring.is_null() && place < SLOTS).then_some(place)
}

/// Notes something, as the hooks do. False if the stretch is over, or has no room.
pub unsafe fn note(thread: &Thread, note: RingSlot) -> bool {
    // SAFETY: a field of the thread's; slots up to the limit are the ring's.
    unsafe {
        let next: *mut u64 = (&raw const thread.ring_next).cast_mut().cast();
        let slot: *mut RingSlot = ptr::with_exposed_provenance_mut(arch::fetch_add(next, SLOT as u64) as usize);
        if slot.addr() >= thread.ring_limit.get() {
            give_back(thread, slot);
            return false;
        }
        write(slot, note);
        slot.addr() < thread.ring_limit.get() || !take_back(thread, slot)
    }
}

unsafe fn write(slot: *mut RingSlot, note: RingSlot) {
    // SAFETY: the caller's slot.
    unsafe {
        (&raw mut (*slot).sp).write_volatile(note.sp);
        (&raw mut (*slot).site).write_volatile(note.site);
        (&raw mut (*slot).hook).write_volatile(note.hook);
        compiler_fence(Ordering::SeqCst);
        (&raw mut (*slot).function).write_volatile(note.function);
        compiler_fence(Ordering::SeqCst);
    }
}

/// Whether a stretch is under way, and the latest usual call is its base.
pub fn is_at_base(thread: &Thread) -> bool {
    is_open(thread) && thread.top.get() == thread.ring_base.get()
}

/// Whether the stretch has come to its limit: it goes on from there, or ends.
pub fn is_at_limit(thread: &Thread) -> bool {
    let limit = thread.ring_limit.get();
    is_open(thread) && limit != 0 && thread.ring_next.get() >= limit
}

/// Whether a stretch is under way.
pub fn is_open(thread: &Thread) -> bool {
    thread.ring_stage.get() == Stage::Open
}

/// Makes the latest usual call the base of what is noted from now on. False if there is no room.
pub unsafe fn set_base(thread: &Thread) -> bool {
    // SAFETY: the top frame is there.
    unsafe {
        let base = thread.top.get();
        let sp = (*base).sp;
        let (low, span) = match thread.is_empty() {
            true => (0, 0),
            false => {
                let low = stack::reach(thread, sp);
                (low, sp - low)
            }
        };
        thread.ring_span.set(0);
        thread.ring_low.set(low);
        thread.ring_base.set(base);
        let place = Place { node: (*base).node, position: (*base).position, inside: (*base).inside };
        let is_noted = note(thread, RingSlot::base(place, sp as u64));
        let is_alone = !thread.is_empty() && (*base.sub(1)).sp > sp;
        thread.ring_site.set(if is_alone { (*base).site } else { 0 });
        thread.ring_hook.set((*base).hook);
        thread.ring_bodies.set(0);
        thread.ring_span.set(span);
        if is_noted {
            thread.ring_is_over.set(false);
        }
        is_noted
    }
}

/// What [`finish`] takes of the stack where it makes new paths.
pub const FINISH: i32 = 2048;

/// Ends a stretch before its time: what it would have told is lost, its calls are not. False if that cannot be now: in a signal
/// handler that has interrupted a change of the state.
#[cold]
#[inline(never)]
pub unsafe fn leave(thread: &Thread) -> bool {
    // SAFETY: the state is busy.
    unsafe {
        if is_pending(thread) {
            arch::need_stack::<{ FINISH }>();
            let Some(_busy) = Busy::begin(thread) else { return false };
            finish(thread);
            arch::clear_stack::<{ FINISH }>();
        }
    }
    true
}

/// Ends the stretch: counts what is in the ring, gives open calls their frames, and empties it.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub unsafe fn finish(thread: &Thread) {
    if !is_pending(thread) {
        return;
    }
    let mut now = Tsc::now();
    // SAFETY: the ring is the thread's. Each step may be the last one here, and is done again then.
    unsafe {
        // First: from now on nobody notes anything.
        thread.ring_limit.set(0);
        compiler_fence(Ordering::SeqCst);
        if thread.ring_stage.get() == Stage::Open {
            take_stock(thread);
            thread.ring_reopened.set(0);
            if thread.is_switched() {
                thread.ring_off.set(off_cpu::take(thread));
                // That may have been a moment ago: what is told as off is time of calls, and none that the recorder has spent.
                now = Tsc::now();
            }
            compiler_fence(Ordering::SeqCst);
            thread.ring_stage.set(Stage::Replayed);
        }
        replay::run(thread, now);
        if replay::is_anothers(thread) {
            return;
        }
        let off = thread.ring_off.get();
        thread.ring_off.set(Off::default());
        off_cpu::charge(thread, thread.top.get(), off);
        // Not before: what the thread was off in the stretch is in no timed call.
        calibration_schedule::disturb(thread);
        empty(thread);
        thread.ring_stage.set(Stage::Empty);
        compiler_fence(Ordering::SeqCst);
    }
    for state in [live::RING, live::RING_TWICE] {
        let _ = thread.live.compare_exchange(state, live::TSC, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// Copies what is in the ring, and finds the slots that are not finished.
unsafe fn take_stock(thread: &Thread) {
    let (used, scratch) = (taken(thread), thread.scratch.get());
    let slots = slots(thread.ring.get());
    let (mut unfinished, mut highest) = (0, 0);
    // SAFETY: the ring and the scratch are the thread's.
    unsafe {
        for place in 0..used {
            let slot = slots.add(place).read_volatile();
            (&raw mut (*scratch).slots[place]).write_volatile(slot);
            let mark = &raw mut (*scratch).unfinished[place];
            if mark.read_volatile() == slot.is_written() {
                mark.write_volatile(!slot.is_written());
            }
            if !slot.is_written() {
                unfinished += 1;
                // Where it has not even that, nobody knows.
                highest = highest.max(if slot.sp == 0 { usize::MAX } else { slot.sp as usize });
            }
        }
    }
    thread.ring_used.set(used);
    thread.ring_first.set(slots.addr());
    thread.unfinished_sp.set(highest);
    thread.unfinished.set(unfinished);
}

/// Whether a hook whose slot is unfinished may still go on.
fn has_unfinished(thread: &Thread) -> bool {
    if thread.unfinished.get() == 0 {
        return false;
    }
    let (here, highest) = (arch::stack_pointer(), thread.unfinished_sp.get());
    let were_left = highest < here && stack::is_same(thread, highest, here);
    if were_left {
        // SAFETY: there is a scratch where something was unfinished.
        unsafe { (&raw mut (*thread.scratch.get()).unfinished).write_bytes(0, 1) };
        thread.unfinished.set(0);
    }
    !were_left
}

/// Counts what another owner of the thread's arena has left in its ring.
///
/// The state must not yet be seen by its hooks.
pub unsafe fn inherit(thread: &Thread) {
    // SAFETY: the arena is the thread's.
    unsafe {
        know(thread);
        let ring = thread.ring.get();
        if !ring.is_null() && !(*ring).sequence.is_multiple_of(2) && has_scratch(thread) {
            replay::run_of_another(thread);
            empty(thread);
        }
    }
}

/// Opens what was open as this process was forked, as far as it was only noted: each call gets a frame that has no node yet.
///
/// The state must be [`crate::busy`].
pub unsafe fn reopen_in_child(thread: &Thread) {
    // SAFETY: the ring, if the thread knows one, is its parent's.
    unsafe {
        let ring = thread.ring.get();
        if ring.is_null() || thread.ring_stage.get() == Stage::Empty {
            return;
        }
        if thread.ring_stage.get() == Stage::Open {
            take_stock(thread);
            thread.ring_reopened.set(0);
            // Its parent may have counted it, but not have begun to note others there.
            if (&raw const (*ring).sequence).read_volatile().next_multiple_of(2) != thread.ring_sequence.get() + 1 {
                return;
            }
        }
        replay::reopen_noted(thread);
    }
}

/// Says that nothing is in the thread's ring: its calls are all counted.
pub unsafe fn empty(thread: &Thread) {
    let ring = thread.ring.get();
    // SAFETY: the ring is the thread's.
    unsafe {
        // First: without it the rest means nothing.
        (&raw mut (*ring).sequence).write_volatile((*ring).sequence.next_multiple_of(2));
        compiler_fence(Ordering::SeqCst);
        (&raw mut (*ring).counting).write_volatile(0);
        (&raw mut (*ring).done).write_volatile(0);
        compiler_fence(Ordering::SeqCst);
    }
}

/// Makes all slots of an empty ring unwritten. False if this is a child of a handler that has forked meanwhile.
unsafe fn wipe(thread: &Thread) -> bool {
    for slot in 0..SLOTS {
        if replay::is_anothers(thread) {
            return false;
        }
        // SAFETY: the ring is the thread's.
        unsafe { write(slots(thread.ring.get()).add(slot), RingSlot::default()) };
    }
    true
}

/// Whether there is, or may be, something in the ring that is not counted.
pub fn is_pending(thread: &Thread) -> bool {
    let is_in_it = thread.ring_stage.get() != Stage::Empty || thread.is_noting();
    is_in_it && !thread.ring.get().is_null()
}

/// Begins a stretch, whose first part has so many slots. False if none can be now.
///
/// Nobody may come in between: a handler's hooks could end what is half begun, and begin, and note, what would be wiped.
pub unsafe fn begin(thread: &Thread, first_part: usize) -> bool {
    // SAFETY: the thread has an arena; frames between bottom and top are there.
    unsafe {
        if !leave(thread) {
            return false;
        }
        let Some(_busy) = Busy::begin(thread) else { return false };
        if is_pending(thread) || has_unfinished(thread) || thread.ring_is_retired.get() {
            return false; // a handler has begun one meanwhile, or was left in the middle of one
        }
        if [0, NOTED].contains(&(*thread.top.get()).position) || !has_ring(thread) {
            return false; // a signal handler in the middle of a hook
        }
        if !wipe(thread) {
            return false;
        }
        let ring = thread.ring.get();
        (&raw mut (*ring).sequence).write_volatile((*ring).sequence | 1);
        thread.ring_sequence.set((*ring).sequence);
        thread.ring_next.set(slots(ring).expose_provenance());
        thread.ring_limit.set(slots(ring).wrapping_add(1).addr());
        let spare = (&raw mut (*thread.scratch.get()).spare).expose_provenance();
        thread.spare_next.set(spare);
        thread.spare_limit.set(spare + size_of_val(&(*thread.scratch.get()).spare));
        thread.ring_stage.set(Stage::Open);
        compiler_fence(Ordering::SeqCst);
        set_base(thread);
        set_limit(thread, first_part);
        let found = thread.live.compare_exchange(live::TSC, live::RING, Ordering::Relaxed, Ordering::Relaxed);
        if found.is_err() {
            finish(thread);
        }
        found.is_ok()
    }
}

/// The stretch goes on to that slot; its hooks note once or twice.
pub fn go_on(thread: &Thread, end: usize, twice: bool) {
    let (from, to) = if twice { (live::RING, live::RING_TWICE) } else { (live::RING_TWICE, live::RING) };
    let _ = thread.live.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    set_limit(thread, end);
}

fn set_limit(thread: &Thread, end: usize) {
    thread.ring_limit.set(slots(thread.ring.get()).wrapping_add(end.min(SLOTS)).addr());
}

/// How many calls were noted between two slots.
pub unsafe fn calls_between(thread: &Thread, first: usize, end: usize) -> u64 {
    let slots = slots(thread.ring.get());
    // SAFETY: the slots are the ring's.
    let is_call =
        |at: &usize| unsafe { (*slots.add(*at)).is_written() && (*slots.add(*at)).sp & tag::BITS == tag::ENTER };
    (first..end.min(SLOTS)).filter(is_call).count() as u64
}

/// The return address of a hook that has noted a call.
pub unsafe fn any_hook(thread: &Thread) -> Option<usize> {
    let slots = slots(thread.ring.get());
    // SAFETY: the slots are the ring's.
    let noted = (0..taken(thread)).map(|at| unsafe { slots.add(at).read() });
    noted.map(|slot| slot.note()).find_map(|note| match note {
        Note::Enter(event) => Some(event.hook as usize),
        _ => None,
    })
}

/// Whether the base may have returned by what was noted since: one that is split exits as a call that it has made would, in its other part.
pub unsafe fn may_have_exited(thread: &Thread) -> bool {
    /// What lies before an enter hook in a function's own code, as a rule.
    const PROLOGUE: usize = 64;
    // SAFETY: the top frame is there, whose call is open; the slots are the ring's.
    unsafe {
        let base = &*thread.top.get();
        if base.node <= ROOT {
            return false;
        }
        let enter_hook = stale_frames::full_hook(thread, base);
        let is_usual = enter_hook.wrapping_sub(base.function) < PROLOGUE;
        if is_usual || code::is_of(thread.family, enter_hook, base.function) != Some(false) {
            return false;
        }
        let slots = slots(thread.ring.get());
        let since = (0..taken(thread)).rev().map(|at| slots.add(at).read().note());
        let mut since = since.take_while(|note| !matches!(note, Note::Base(..)));
        since.any(|note| matches!(note, Note::Exit(exit) if exit.function == base.function as u64))
    }
}

/// How many slots have been taken.
pub fn taken(thread: &Thread) -> usize {
    (thread.ring_next.get().saturating_sub(slots(thread.ring.get()).addr()) / SLOT).min(SLOTS)
}

/// Whether the arena has a ring; makes it one.
///
/// The state must be [`crate::busy`].
unsafe fn has_ring(thread: &Thread) -> bool {
    // SAFETY: the arena is the thread's.
    unsafe {
        let arena = thread.arena.get();
        if (*arena).ring == 0 || thread.scratch.get().is_null() {
            if !has_scratch(thread) {
                return false;
            }
            if (*arena).ring == 0 {
                let found = thread.family.block_for_times(BLOCK_SIZE, arena::is_large(thread));
                let Some((reference, block)) = found else { return false };
                (*block).kind = kind::RING;
                (*block).size = BLOCK_SIZE as u32;
                (*block).arena = thread.arena_ref.get();
                thread.family.publish(block);
                AtomicU32::from_ptr(&raw mut (*arena).ring).store(reference, Ordering::Release);
            }
        }
        know(thread);
    }
    true
}

/// Whether there is memory for a replay; gets it.
fn has_scratch(thread: &Thread) -> bool {
    if thread.scratch.get().is_null()
        && let Ok(memory) = sys::map_memory(size_of::<Scratch>())
    {
        thread.scratch.set(memory.cast());
    }
    !thread.scratch.get().is_null()
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

/// The state's next arena has another ring, or none; and what a forked child finds is its parent's.
pub fn start_without(thread: &Thread) {
    thread.ring_stage.set(Stage::Empty);
    thread.ring_limit.set(0);
    thread.ring_base.set(ptr::null_mut());
    thread.ring_low.set(0);
    thread.ring_span.set(0);
    thread.ring_used.set(0);
    thread.ring_reopened.set(0);
    thread.replayed.set(0);
    thread.ring_is_retired.set(false);
    thread.ring_off.set(Off::default());
    thread.ring.set(ptr::null_mut());
}

/// No hook goes on any more: the thread has ended.
pub fn forget_unfinished(thread: &Thread) {
    if thread.unfinished.get() != 0 {
        // SAFETY: there is a scratch where something was unfinished.
        unsafe { (&raw mut (*thread.scratch.get()).unfinished).write_bytes(0, 1) };
    }
    thread.unfinished.set(0);
}

const _: () = assert!(SLOTS <= 1 << 16);
