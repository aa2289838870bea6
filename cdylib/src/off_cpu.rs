//! Time off the processor: how long, and on which path.
//!
//! A hook sees whether its thread was switched out since the hook before ([`crate::switches`]). What lies between the two is
//! the time of one path alone: of the call that was entered last or that has gone on. Only then the kernel is asked: it has noted
//! when the thread was switched out and in, and whether it waited or others were let through. Where it has not, or not all, the
//! time that has passed less what the processor took for the thread is shared out by its counts of both kinds of switches.
//!
//! Of what a hypervisor takes (steal) the kernel knows how much, and not when: no switch shows it, and it may have been on any
//! path since the thread was last asked after. So it stays in the time of the call that it fell on, as in any clock's.
//!
//! An entry hook looks after it has read the clock, and an exit hook before: so what a switch in the middle of a hook takes is
//! off on the path whose time has it, but for an instruction or two.
//!
//! While the recorder does something rare for itself, which is no part of any call's time, it may be switched out, too: it may wait
//! for a disk. What it was off while it made a path is in no call's time either. Of what else is rare, that stays part of the
//! call's time ([`crate::spent`]), and what it was off is told of it. A stretch of calls that are only noted ([`crate::ring`]) ends
//! where the thread was switched out: where it has come to is known then.
//!
//! Where the kernel cannot be asked, or not any more, the arena says so, and the reader tells no times on the processor at all.
//! Of a `vfork` child's calls, which are its parent's, nothing is known but that the parent waits.

use crate::arch;
use crate::arena;
use crate::busy::Busy;
use crate::calibration::Moment;
use crate::clock;
use crate::family::at;
use crate::frame::{Frame, NOTED};
use crate::off_records;
use crate::path;
use crate::processor::{self, Beginning, Off, OnProcessor};
use crate::spent::Spent;
use crate::states;
use crate::switches;
use crate::sys;
use crate::thread::Thread;
use profile::arena::flag;
use profile::header::timing;
use profile::node::{ROOT, SKIPPED};
use profile::{OffCpu, Ref};

/// So many open calls are few.
const FEW: usize = 512;

/// The thread was switched out since its last hook, before the call whose frame this is began.
#[cold]
#[inline(never)]
pub unsafe fn before_entry(thread: &Thread, frame: *mut Frame) {
    // SAFETY: a call's frame has one below it.
    unsafe { account(thread, frame.sub(1)) };
}

/// The same, before the latest open call ends.
#[cold]
#[inline(never)]
pub unsafe fn before_exit(thread: &Thread) {
    // SAFETY: the thread's frames are there.
    unsafe { account(thread, thread.top.get()) };
}

/// The thread ends, or its program: what it was off until now is in the call that it ends in, and the arena says that there is no more.
/// Where it was not switched out since its last hook, it has had the processor since.
pub fn tell_up_to_now(thread: &Thread) {
    if !switches::has_page(thread) || !thread.has_arena() {
        return;
    }
    let now = clock::now(thread.family.clock);
    if thread.is_switched() {
        // SAFETY: the thread's frames are there.
        return unsafe { before_exit(thread) };
    }
    // Where a signal handler ends the program while that is being asked, nobody knows.
    if let Some(_busy) = Busy::begin(thread) {
        // SAFETY: the arena is the thread's.
        unsafe { (&raw mut (*thread.arena.get()).away_until).write_volatile(now) };
    }
}

/// Adds what the thread was off the processor since it was last asked to the path of an open call. Where a change of the
/// state is under way, the next hook will.
pub unsafe fn account(thread: &Thread, frame: *const Frame) {
    if !thread.has_arena() {
        return;
    }
    let Some(_busy) = Busy::begin(thread) else { return };
    let spent = Spent::begin(thread);
    // SAFETY: the caller's frame.
    unsafe { charge(thread, frame, take(thread)) };
    // Where very many are open, to move all their beginnings would take longer than the thread may run at once, and so for ever.
    if thread.depth() < FEW {
        spent.end(thread);
    }
}

/// What the thread was off since it was last asked; from now on it counts anew.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn take(thread: &Thread) -> Off {
    // SAFETY: the word is the thread's. Read first: a later switch is the next hook's.
    let word = unsafe { thread.switches.get().read_volatile() };
    let Ok(now) = OnProcessor::now() else {
        off_records::give_up(thread);
        return Off::default();
    };
    if now.tid != thread.tid.get() {
        return Off::default(); // another task has this one's state: its clocks tell nothing of it
    }
    let before = thread.on_processor.get();
    let off = now.away_ns().saturating_sub(before.away_ns());
    thread.seen.set(word);
    // Clocks that are read one after the other may disagree by what lies between.
    if now.away_ns() > before.away_ns() {
        thread.on_processor.set(now);
    }
    tell(thread, now.away_ns());
    // SAFETY: the word is the thread's.
    let logged = unsafe { switches::read_log(thread.switches.get()) };
    logged.map_or_else(|| by_counts(thread, off), |[wait, preempted]| Off { wait, preempted })
}

/// Time off the processor, shared out by how many switches of both kinds there were.
fn by_counts(thread: &Thread, off: u64) -> Off {
    let [waits, preemptions] = switches_since(thread);
    let wait = (u128::from(off) * u128::from(waits) / u128::from((waits + preemptions).max(1))) as u64;
    Off { wait, preempted: off - wait }
}

/// How many switches of both kinds there were since they were last counted.
fn switches_since(thread: &Thread) -> [u64; 2] {
    let (now, before) = (sys::context_switches(), thread.context_switches.get());
    thread.context_switches.set(now);
    [0, 1].map(|kind: usize| now[kind].wrapping_sub(before[kind]))
}

/// What the thread is off until now is in no call's time.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn skip(thread: &Thread) {
    take(thread);
}

/// What the thread was off while the recorder did something rare for itself, all that it was off since it was last asked, is in no call's
/// time. Not where a signal handler has made calls meanwhile: some of it may be theirs.
///
/// The state must be [`crate::busy`].
pub fn leave_out(thread: &Thread, spent: &Spent) {
    if thread.is_switched() && spent.is_recorders(thread) {
        take(thread);
    }
}

/// Says in the arena how long the thread was off so far.
fn tell(thread: &Thread, away_ns: u64) {
    let arena = thread.arena.get();
    // SAFETY: the arena is the thread's.
    unsafe {
        (&raw mut (*arena).away_ns).write_volatile(away_ns);
        (&raw mut (*arena).away_until).write_volatile(clock::now(thread.family.clock));
    }
}

/// Adds time off the processor to the path of an open call.
///
/// The state must be [`crate::busy`].
pub unsafe fn charge(thread: &Thread, frame: *const Frame, off: Off) {
    if !thread.is_empty() {
        thread.off.set(thread.off.get().plus(off));
    }
    if thread.window.is_off_due.get() {
        // All of it was before the calls that are timed now.
        thread.window.is_off_due.set(false);
        thread.window.since.set(Moment { off: so_far(thread), ..thread.window.since.get() });
    }
    // SAFETY: the caller's frame, and those below it; a node's record is the arena's.
    unsafe {
        let node = node_of(thread, frame);
        if off.sum() == 0 || node <= ROOT || !path::is_own(thread, node) {
            return;
        }
        let Some(record) = off_records::find_or_make(thread, node) else { return off_records::give_up(thread) };
        let record: *mut OffCpu = at(thread.base, record);
        arch::add(&raw mut (*record).wait_ns, off.wait);
        arch::add(&raw mut (*record).preempted_ns, off.preempted);
    }
}

/// What the thread was off the processor while calls were open, in ticks. Not what a hypervisor has taken: that is in the calls'
/// times, in the cost's share of them as in the program's.
pub fn so_far(thread: &Thread) -> Off {
    let Off { wait, preempted } = thread.off.get();
    Off { wait: thread.family.ticks(wait), preempted: thread.family.ticks(preempted) }
}

/// The node whose own time goes on while a call is the latest: where its calls are made from.
unsafe fn node_of(thread: &Thread, mut frame: *const Frame) -> Ref {
    // SAFETY: the caller's frame, and those below it.
    unsafe {
        while frame > thread.bottom.get().cast_const() {
            match (*frame).position {
                0 | NOTED => frame = frame.sub(1),
                SKIPPED => return path::recorded_position(thread, &*frame),
                position => return position,
            }
        }
    }
    ROOT
}

/// From now on nothing is known of any thread's, as the kernel will not be asked any more. The pages stay, as their threads may be
/// reading them; but a child could not be given others.
pub fn give_up_all() {
    states::each_in_use(|thread| {
        if switches::has_page(thread) && thread.has_arena() {
            switches::look_at_none(thread);
            // SAFETY: an arena stays in the mapping.
            unsafe { arena::set_flag(thread.arena.get(), flag::UNSEEN) };
        }
    });
}

/// Begins with a thread that has got its arena.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn begin(thread: &Thread) {
    off_records::begin(thread);
    thread.tid.set(sys::gettid());
    // Where most calls are not timed, what each path's time is made up of is not known either.
    let settings = &thread.family.settings;
    let is_asked = settings.waits && settings.timing == timing::ALL && thread.family.file.is_some();
    match is_asked.then(switches::open).flatten() {
        Some(word) => {
            thread.switches.set(word);
            skip(thread);
        }
        None => off_records::give_up(thread),
    }
}

/// What this forked child was off since it began. The log knows nothing of it.
pub fn since(thread: &Thread, beginning: &Beginning) -> Off {
    /// To ask which of it was waited takes too long for less.
    const LEAST_NS: u64 = 1_000_000;
    thread.context_switches.set([0, 0]); // a child's
    let off = match OnProcessor::now() {
        Ok(now) if now.tid == beginning.on_processor.tid => {
            now.away_ns().saturating_sub(beginning.on_processor.away_ns())
        }
        _ => return Off::default(),
    };
    let delay = if off < LEAST_NS { None } else { processor::own_delay_ns() };
    match delay.map(|delay| delay.min(off)) {
        Some(preempted) => Off { wait: off - preempted, preempted },
        None => by_counts(thread, off),
    }
}

/// Adds what a forked child was off before its first call to the latest call that was open at the fork.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn inherit(thread: &Thread, off: Off) {
    if !off_records::is_unseen(thread) {
        // SAFETY: the thread's frames are there.
        unsafe { charge(thread, thread.top.get(), off) };
    }
}

/// Ends with a thread that leaves its arena.
pub fn end(thread: &Thread) {
    if switches::has_page(thread) {
        let word = thread.switches.get();
        switches::look_at_none(thread);
        // SAFETY: nothing leads to the page any more.
        unsafe { switches::close(word) };
    }
    switches::close_kept(thread);
}

/// The process ends by the calling thread: says how long the others were off since they were last asked. They may go on
/// meanwhile; nothing of theirs is changed.
pub fn tell_of_others(own: &Thread) {
    if sys::is_restricted() {
        return;
    }
    states::each_in_use(|other| {
        let is_other = !core::ptr::eq(other, own) && switches::has_page(other) && other.has_arena();
        if is_other && let Ok(away_ns) = processor::away_ns_of(other.tid.get()) {
            let arena = other.arena.get();
            // SAFETY: an arena stays in the mapping.
            unsafe {
                (&raw mut (*arena).end_away_ns).write_volatile(away_ns);
                (&raw mut (*arena).end_until).write_volatile(clock::now(other.family.clock));
            }
        }
    });
}
