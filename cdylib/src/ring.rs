//! Calls that are only noted: the hooks of a stretch that tells what the program takes without being recorded.
//!
//! Nothing is looked up and no clock is read. A call goes into the ring (see [`profile::ring`]), which lies in the file, and
//! onto the shadow stack as a frame that does not know its node yet. What is not a plain entry or exit ends the stretch
//! first, and then goes its usual way. [`crate::replay`] counts what was noted.
//!
//! **One hook at a time.** A hook at work says so ([`Thread::noting`]), and one that comes meanwhile, in a signal handler, ends
//! the stretch before anything else. So no two of them are ever in the middle of the same slot, and none begins a stretch there.
//! A note counts from the one instruction on that moves [`Thread::ring_next`] behind it. To end a stretch moves that word
//! far away, to [`OVER`]: an interrupted hook then finds it there, which means that its note was counted with the others, or
//! one slot behind, which means that it came too late. Then its call goes the usual way.
//!
//! **One caller at a time.** A stretch may begin in a signal handler that has interrupted a usual hook, which then opens or closes
//! a call that the ring knows nothing of. So calls are noted only that are made from one that is noted too, or from the one
//! that the ring says is the latest ([`Thread::ring_base`]).
//!
//! The frames and that word are private memory. A forked child has both, and its frames find their paths in its own arena; at
//! most it writes once more, into a slot of its parent's, what that holds anyway.

use crate::arch;
use crate::busy::{Busy, is_busy};
use crate::clock::{Clock, Tsc};
use crate::family::at;
use crate::frame::{Frame, NOTED, bits};
use crate::hooks;
use crate::left;
use crate::rare;
use crate::replay::{self, Scratch};
use crate::stack;
use crate::sys;
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

/// [`Thread::ring_next`] while no stretch is under way. No slot lies there or behind.
pub const OVER: usize = usize::MAX - 0xfff;

/// A call made from one further away on the stack than this may be another stack's: it goes the usual way.
const NEAR: usize = 16 << 10;

/// Entry of a call, which is noted as a rule.
#[inline(never)]
pub unsafe extern "C" fn enter(function: usize, site: usize, hook: usize, sp: usize, thread: &Thread) {
    // SAFETY: frames up to `top` are there; a frame is filled below `limit`, a slot of the ring below its limit.
    unsafe {
        if thread.noting.get() != 0 {
            return enter_meanwhile(thread, function, site, hook, sp);
        }
        thread.noting.set(sp);
        compiler_fence(Ordering::SeqCst);
        let latest = thread.top.get();
        let top = &*latest;
        let slot = thread.ring_next.get();
        let is_inside = top.sp.wrapping_sub(sp).wrapping_sub(1) < NEAR || hooks::is_inlined(top, site, hook, sp);
        let is_known = top.position == NOTED || latest == thread.ring_base.get();
        let is_usual = is_inside && is_known && slot < thread.ring_limit.get();
        let note = ring::enter(function, site, hook);
        let (true, Some(note), true) = (is_usual, note, latest.add(1) != thread.limit.get()) else {
            thread.noting.set(0);
            return enter_unusual(thread, function, site, hook, sp);
        };
        write(slot, note);
        let frame = hooks::reserve(thread, 0, function, site, hook, sp);
        ((*frame).bits, (*frame).inside) = (bits::UNTIMED, 0);
        (*frame).counted = hook as u64;
        (*frame).count = slot as u64;
        take(thread);
        hooks::fill(frame, NOTED);
        if thread.ring_next.get() != slot + SLOT {
            return enter_late(thread, frame, slot, function, site, hook, sp);
        }
        thread.noting.set(0);
    }
}

/// Exit from a function while a call is open.
#[inline(always)]
pub unsafe fn exit(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: as above.
    unsafe {
        if thread.noting.get() != 0 {
            return exit_meanwhile(thread, function, site, hook, sp);
        }
        thread.noting.set(sp);
        compiler_fence(Ordering::SeqCst);
        let frame = thread.top.get();
        let top = &*frame;
        let slot = thread.ring_next.get();
        let is_its = top.function == function && (top.sp == sp || hooks::is_tail_exit(top, site, hook, sp));
        if !is_its || top.position != NOTED || slot >= thread.ring_limit.get() {
            thread.noting.set(0);
            return exit_unusual(thread, is_its, function, site, hook, sp);
        }
        write(slot, RingSlot::EXIT);
        take(thread);
        if thread.ring_next.get() != slot + SLOT {
            return exit_late(thread, frame, slot, function, site, hook, sp);
        }
        hooks::pop_at(thread, frame);
        thread.noting.set(0);
    }
}

/// The next slot's note is there: from this instruction on it counts.
#[inline(always)]
unsafe fn take(thread: &Thread) {
    compiler_fence(Ordering::SeqCst);
    // SAFETY: a field of the thread's.
    unsafe { arch::add_at::<{ offset_of!(Thread, ring_next) }, _>(ptr::from_ref(thread).cast_mut(), SLOT as u64) };
    compiler_fence(Ordering::SeqCst);
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

/// The rest of an entry hook that a signal handler has interrupted, whose hooks have ended the stretch.
#[cold]
#[inline(never)]
unsafe fn enter_late(
    thread: &Thread,
    frame: *mut Frame,
    slot: usize,
    function: usize,
    site: usize,
    hook: usize,
    sp: usize,
) {
    // SAFETY: the hook's frame.
    unsafe {
        if thread.ring_next.get() == OVER {
            // Counted. Its frame was not filled when those of open calls were given their nodes.
            if thread.top.get() >= frame && [0, NOTED].contains(&(*frame).position) {
                replay::place(thread, frame);
            }
            return thread.noting.set(0);
        }
        take_away(thread, frame);
        forget(thread, slot);
        thread.noting.set(0);
        hooks::enter(function, site, hook, sp);
    }
}

/// The same of an exit hook.
#[cold]
#[inline(never)]
unsafe fn exit_late(
    thread: &Thread,
    frame: *mut Frame,
    slot: usize,
    function: usize,
    site: usize,
    hook: usize,
    sp: usize,
) {
    // SAFETY: the hook's frame.
    unsafe {
        if thread.ring_next.get() == OVER {
            take_away(thread, frame);
            return thread.noting.set(0);
        }
        forget(thread, slot);
        thread.noting.set(0);
        hooks::exit(function, site, hook, sp);
    }
}

/// Takes an interrupted hook's frame away, with what a signal handler has left above it, unless that has taken it away.
unsafe fn take_away(thread: &Thread, frame: *mut Frame) {
    if thread.top.get() >= frame {
        // SAFETY: the caller's frame is there.
        unsafe { hooks::pop_at(thread, frame) };
    }
}

/// Takes back a note that came too late. The ring is empty; but a forked child leaves its parent's alone.
unsafe fn forget(thread: &Thread, slot: usize) {
    let ring = thread.ring.get();
    let range = slots(ring).addr()..slots(ring).wrapping_add(SLOTS).addr();
    if !ring.is_null() && range.contains(&slot) {
        // SAFETY: a slot of the thread's ring.
        unsafe { write(slot, RingSlot::default()) };
    }
}

/// Whether a hook is at work further up the stack, or seems to be. One whose stack frame has been left is not.
fn is_noting(thread: &Thread) -> bool {
    let (here, noting) = (arch::stack_pointer(), thread.noting.get());
    if noting == 0 {
        return false;
    }
    let was_left = noting < here && stack::is_same(thread, noting, here);
    if was_left {
        thread.noting.set(0);
    }
    !was_left
}

/// Entry in a signal handler that has interrupted a hook, or after such a handler has left it for good.
#[cold]
#[inline(never)]
unsafe fn enter_meanwhile(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the thread has an arena.
    unsafe {
        // Before anything else: two tasks must not count what is noted at the same time.
        if left::is_given_up(thread, sp) {
            return thread.family.count_by_function(function);
        }
        if !leave(thread) {
            return rare::enter_while_busy(thread, function, site, hook, sp);
        }
        is_noting(thread);
        hooks::enter(function, site, hook, sp);
    }
}

/// Exit there.
#[cold]
#[inline(never)]
unsafe fn exit_meanwhile(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the thread has an arena.
    unsafe {
        if left::is_given_up(thread, sp) {
            return;
        }
        if !leave(thread) {
            return rare::exit_while_busy(thread, function, sp);
        }
        is_noting(thread);
        hooks::exit(function, site, hook, sp);
    }
}

/// Entry of a call that is not simply noted.
#[cold]
#[inline(never)]
unsafe fn enter_unusual(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the thread has an arena.
    unsafe {
        if left::is_given_up(thread, sp) {
            return thread.family.count_by_function(function);
        }
        let is_done = match is_at_limit(thread) {
            true => trial::step_noted(thread),
            // The program's time is measured from the outermost call on.
            false if thread.is_empty() && is_at_base(thread) => {
                return apart(thread, || hooks::enter_on::<TimedByTsc>(thread, function, site, hook, sp));
            }
            false => leave(thread),
        };
        match is_done {
            true => hooks::enter(function, site, hook, sp),
            false => rare::enter_while_busy(thread, function, site, hook, sp),
        }
    }
}

/// Exit from a call that was timed before the stretch began, or is not the latest, or has no room in the ring.
#[cold]
#[inline(never)]
unsafe fn exit_unusual(thread: &Thread, is_its: bool, function: usize, site: usize, hook: usize, sp: usize) {
    // SAFETY: the thread has an arena.
    unsafe {
        if left::is_given_up(thread, sp) {
            return;
        }
        let is_done = match is_at_limit(thread) {
            true => trial::step_noted(thread),
            false if is_its && is_at_base(thread) => {
                let now = Tsc::now();
                return apart(thread, || hooks::exit_at(thread, now, function, site, hook, sp));
            }
            false => leave(thread),
        };
        match is_done {
            true => hooks::exit(function, site, hook, sp),
            false => rare::exit_while_busy(thread, function, sp),
        }
    }
}

/// Whether a stretch is under way, and the latest call is the one that it began with, or the ring has said to be the latest.
fn is_at_base(thread: &Thread) -> bool {
    is_open(thread) && thread.top.get() == thread.ring_base.get()
}

/// Whether the stretch has come to its limit: it goes on from there, or ends.
fn is_at_limit(thread: &Thread) -> bool {
    let limit = thread.ring_limit.get();
    is_open(thread) && limit != 0 && thread.ring_next.get() >= limit
}

/// Whether a stretch is under way.
fn is_open(thread: &Thread) -> bool {
    thread.ring_next.get() < OVER
}

/// Goes the usual way while the stretch waits, and then notes which call is the latest. No call that was noted is open.
///
/// Hooks of a signal handler that comes meanwhile go the usual way, too. Whoever leaves this for good leaves the stretch to
/// [`trial::step_timed`].
unsafe fn apart(thread: &Thread, usual: impl FnOnce()) {
    thread.next_trial.set(thread.count.get() + SLOTS as u64);
    let _ = thread.live.compare_exchange(live::RING, live::TSC, Ordering::Relaxed, Ordering::Relaxed);
    usual();
    // SAFETY: the thread has an arena; the top frame is there.
    unsafe {
        let top = &*thread.top.get();
        let is_same = thread.is(live::TSC) && is_open(thread) && !is_noting(thread) && !is_busy(thread);
        if !is_same || [0, NOTED].contains(&top.position) {
            leave(thread);
            return;
        }
        if is_at_limit(thread) {
            trial::step_noted(thread);
        }
        let slot = thread.ring_next.get();
        if slot >= thread.ring_limit.get() {
            leave(thread);
            return;
        }
        // Handlers' hooks go the usual way until the last step.
        thread.ring_base.set(thread.top.get());
        write(slot, RingSlot::base(place(top)));
        take(thread);
        if is_open(thread) {
            thread.next_trial.set(u64::MAX);
            let _ = thread.live.compare_exchange(live::TSC, live::RING, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

fn place(frame: &Frame) -> Place {
    Place { node: frame.node, position: frame.position, inside: frame.inside }
}

/// Ends a stretch before its time: what it would have told is lost, its calls are not. False if that cannot be now: in a signal
/// handler that has interrupted a change of the state.
#[cold]
#[inline(never)]
pub unsafe fn leave(thread: &Thread) -> bool {
    // SAFETY: the state is busy.
    unsafe {
        if is_pending(thread) {
            let Some(_busy) = Busy::begin(thread) else { return false };
            finish(thread);
        }
    }
    true
}

/// Ends the stretch: counts what is in the ring, and empties it.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub unsafe fn finish(thread: &Thread) {
    if !is_pending(thread) {
        return;
    }
    // SAFETY: the ring is the thread's. Each step may be the last one here, and is done again then.
    unsafe {
        // First: from now on nobody notes anything.
        thread.ring_limit.set(0);
        compiler_fence(Ordering::SeqCst);
        if is_open(thread) {
            thread.ring_used.set(taken(thread));
            compiler_fence(Ordering::SeqCst);
            thread.ring_next.set(OVER);
        }
        trial::disturb(thread);
        replay::run(thread, Some(thread.ring_used.get()));
        if replay::is_anothers(thread) {
            return;
        }
        empty(thread, thread.ring_used.get());
        thread.ring_used.set(0);
        compiler_fence(Ordering::SeqCst);
    }
    let _ = thread.live.compare_exchange(live::RING, live::TSC, Ordering::Relaxed, Ordering::Relaxed);
}

/// Counts what another owner of the thread's arena has left in its ring.
///
/// The state must not yet be seen by its hooks.
pub unsafe fn inherit(thread: &Thread) {
    // SAFETY: the arena is the thread's.
    unsafe {
        know(thread);
        let ring = thread.ring.get();
        if !ring.is_null() && (*slots(ring)).first != 0 && has_scratch(thread) {
            replay::run(thread, None);
            empty(thread, SLOTS);
        }
    }
}

/// Empties the thread's ring, whose calls are all counted.
pub unsafe fn empty(thread: &Thread, used: usize) {
    let ring = thread.ring.get();
    // SAFETY: the ring is the thread's. A handler's hook may have begun to write behind what is used.
    unsafe {
        for slot in 0..(used + 1).min(SLOTS) {
            if replay::is_anothers(thread) {
                return;
            }
            write(slots(ring).add(slot).addr(), RingSlot::default());
        }
        (&raw mut (*ring).counting).write_volatile(0);
        compiler_fence(Ordering::SeqCst);
        // Last: until then those that are still there are counted.
        (&raw mut (*ring).done).write_volatile(0);
        compiler_fence(Ordering::SeqCst);
        (&raw mut (*ring).sequence).write_volatile(((*ring).sequence + 1) & !1);
    }
}

/// Puts another note in the place of one, of the same kind.
pub unsafe fn rewrite(slot: *mut RingSlot, note: RingSlot) {
    // SAFETY: the caller's slot.
    unsafe { write(slot.addr(), note) };
}

/// Whether there is, or may be, something in the ring that is not counted.
pub fn is_pending(thread: &Thread) -> bool {
    let is_in_it = is_open(thread) || thread.ring_used.get() != 0 || thread.is(live::RING);
    is_in_it && !thread.ring.get().is_null()
}

/// The slots of a ring.
pub fn slots(ring: *mut Ring) -> *mut RingSlot {
    ring.wrapping_add(1).cast()
}

/// Begins a stretch of so many slots, the first third of which are for its warm-up. False if none can be now.
pub unsafe fn begin(thread: &Thread, all: usize) -> bool {
    // SAFETY: the thread has an arena; frames between bottom and top are there.
    unsafe {
        if is_noting(thread) || is_busy(thread) || !leave(thread) || !has_ring(thread) {
            return false;
        }
        if [0, NOTED].contains(&(*thread.top.get()).position) {
            return false; // a signal handler in the middle of a hook
        }
        let ring = thread.ring.get();
        let slots = slots(ring);
        thread.ring_slots.set(all.min(SLOTS));
        (&raw mut (*ring).sequence).write_volatile((*ring).sequence | 1);
        ((*ring).done, (*ring).counting) = (0, 0);
        thread.ring_base.set(thread.top.get());
        write(slots.addr(), RingSlot::base(place(&*thread.top.get())));
        limit(thread, thread.ring_slots.get() / 3);
        thread.ring_next.set(slots.add(1).expose_provenance());
        let found = thread.live.compare_exchange(live::TSC, live::RING, Ordering::Relaxed, Ordering::Relaxed);
        if found.is_err() {
            leave(thread);
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

/// Whether the arena has a ring; makes it one.
unsafe fn has_ring(thread: &Thread) -> bool {
    // SAFETY: the arena is the thread's.
    unsafe {
        let arena = thread.arena.get();
        if (*arena).ring == 0 || thread.scratch.get().is_null() || thread.idle.get().is_null() {
            let Some(_busy) = Busy::begin(thread) else { return false };
            if !has_scratch(thread) || !has_idle(thread) {
                return false;
            }
            if (*arena).ring == 0 {
                let Some((reference, block)) = thread.family.block(BLOCK_SIZE, false) else { return false };
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

/// Whether there is a state to try the hooks on; gets one.
fn has_idle(thread: &Thread) -> bool {
    if thread.idle.get().is_null()
        && let Ok(idle) = Thread::new(thread.family)
    {
        thread.idle.set(idle);
    }
    !thread.idle.get().is_null()
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
    thread.ring_base.set(ptr::null_mut());
    thread.ring_next.set(OVER);
    thread.ring_limit.set(0);
    thread.ring_used.set(0);
    thread.ring.set(ptr::null_mut());
}

/// What a pair of these hooks takes now and here, in 1/1024 ticks: a loop of them on a state that is nobody's, so that no call of
/// a signal handler comes into it. Other processes on the same core can make that twice as long from one moment to the next.
pub unsafe fn reference(idle: &Thread, slots: *mut RingSlot) -> u64 {
    const PAIRS: usize = 64;
    const ROUNDS: usize = 5;
    const FUNCTION: usize = 0x40_1000;
    const SITE: usize = 0x40_2000;
    const HOOK: usize = FUNCTION + 16;
    let sp = arch::stack_pointer();
    let enter: unsafe extern "C" fn(usize, usize, usize, usize, &Thread) = core::hint::black_box(enter);
    let exit: unsafe extern "C" fn(usize, usize, usize, usize, &Thread) = core::hint::black_box(exit_apart);
    let mut rounds = [0; ROUNDS];
    for ticks in &mut rounds {
        // Whoever has left this for good may have left it in the middle.
        idle.noting.set(0);
        // SAFETY: there is room for some frames.
        unsafe {
            let frame = idle.bottom.get().add(1);
            frame.write(Frame { sp: sp + 64, position: ROOT, ..Frame::EMPTY });
            idle.top.set(frame);
        }
        rehearse(idle, slots);
        let began = Tsc::now();
        for _ in 0..PAIRS {
            // SAFETY: the state has a frame and room for more, and there are slots enough.
            unsafe {
                enter(FUNCTION, SITE, HOOK, sp, idle);
                exit(FUNCTION, SITE, HOOK, sp, idle);
            }
        }
        *ticks = Tsc::now().saturating_sub(began);
    }
    rounds.sort_unstable();
    rounds[ROUNDS / 2] * 1024 / PAIRS as u64
}

#[inline(never)]
unsafe extern "C" fn exit_apart(function: usize, site: usize, hook: usize, sp: usize, thread: &Thread) {
    // SAFETY: the caller's promise.
    unsafe { exit(thread, function, site, hook, sp) };
}

/// For the loop at the start: has a thread note its calls in these slots, round and round.
pub fn rehearse(thread: &Thread, slots: *mut RingSlot) {
    thread.ring_base.set(thread.top.get());
    thread.ring_next.set(slots.expose_provenance());
    thread.ring_limit.set(slots.wrapping_add(SLOTS).addr());
    thread.live.store(live::RING, Ordering::Relaxed);
}

/// The end of that.
pub fn end_rehearsal(thread: &Thread, state: u64) {
    start_without(thread);
    thread.live.store(state, Ordering::Relaxed);
}

const _: () = assert!(SLOTS <= 1 << 16);
