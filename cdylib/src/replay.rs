//! Counts the calls that were noted in a ring, each on its path, and gives the frames of those that are open their nodes.
//!
//! What is done here may be left for good after any instruction (a handler that jumps out), and is then done again from the
//! start: each slot says whether its call is counted. A process that is killed leaves the rest to the reader.

use crate::arch;
use crate::busy::is_busy;
use crate::clock::{Clock, Tsc};
use crate::frame::{Frame, NOTED, bits};
use crate::left;
use crate::modules;
use crate::path;
use crate::ring::{self, slots};
use crate::thread::{Thread, live, slot};
use crate::timeline;
use core::ptr;
use profile::node::{ROOT, SKIPPED, flag, mark};
use profile::ring::{Counted, Entered, Note, Place, SLOTS};
use profile::{NodeRecord, RingSlot, Slot};

/// The ring on the way through it.
struct Replay<'a> {
    thread: &'a Thread,
    slots: *mut RingSlot,
    /// Whether the frames of calls that are open are this thread's.
    has_frames: bool,
    /// The slot of the latest [`Note::Base`].
    last_base: usize,
    base: Place,
    /// The slot of the base.
    base_at: usize,
    /// The slot of the latest call; 0 = the base.
    latest: usize,
    /// When the ring was begun, and when it ended, in ticks.
    began: u64,
    ended: u64,
    /// Slots that may hold something, and up to which they do.
    all: usize,
    used: usize,
}

/// Counts everything that is in the thread's ring.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub unsafe fn run(thread: &Thread, has_frames: bool) {
    let ring = thread.ring.get();
    // SAFETY: the ring is the thread's, and nothing is noted in it now.
    unsafe {
        if !ring::is_pending(thread) {
            return;
        }
        let now = Tsc::now();
        let forgotten = thread.forgotten.get();
        let mut replay = Replay {
            thread,
            slots: slots(ring),
            has_frames,
            last_base: 0,
            base: Place { node: 0, position: ROOT, inside: 0 },
            base_at: 0,
            latest: 0,
            began: if has_frames { thread.ring_began.get().min(now) } else { now },
            ended: now,
            all: if has_frames { thread.ring_slots.get() } else { SLOTS },
            used: 1,
        };
        replay.look_ahead();
        for at in 0..replay.used {
            replay.take(at);
        }
        if has_frames {
            replay.fill_frames();
            thread.forget_time_but(now, forgotten);
        }
        if !is_anothers(thread) {
            ring::set_sequence(ring, (*ring).sequence + 1);
        }
    }
}

/// Whether this is a child of a signal handler that forked in the middle: the ring is its parent's.
fn is_anothers(thread: &Thread) -> bool {
    thread.is(live::FORKED)
}

impl Replay<'_> {
    unsafe fn note(&self, at: usize) -> Note {
        // SAFETY: the slot is one of the ring's.
        unsafe { (*self.slots.add(at)).note() }
    }

    unsafe fn write(&self, at: usize, note: RingSlot) {
        // SAFETY: as above. The words belong together only for one who knows the tag, which comes last.
        unsafe {
            let place = self.slots.add(at);
            (&raw mut (*place).second).write_volatile(note.second);
            (&raw mut (*place).first).write_volatile(note.first);
        }
    }

    /// Finds the calls whose exit lies in the ring, too.
    unsafe fn look_ahead(&mut self) {
        let mut exits = 0usize;
        for at in (0..self.all).rev() {
            // SAFETY: as above.
            unsafe {
                let place = self.slots.add(at);
                let note = (*place).note();
                if note != Note::Nothing {
                    self.used = self.used.max(at + 1);
                }
                match note {
                    Note::Exit => exits += 1,
                    Note::Base(_) => {
                        self.last_base = self.last_base.max(at);
                        exits = 0;
                    }
                    Note::Enter(_) | Note::Counting(_) | Note::Counted(_) if exits > 0 => {
                        exits -= 1;
                        (*place).close();
                    }
                    _ => {}
                }
            }
        }
    }

    unsafe fn take(&mut self, at: usize) {
        if is_anothers(self.thread) {
            return;
        }
        // SAFETY: as above.
        unsafe {
            match self.note(at) {
                Note::Base(place) => (self.base, self.base_at, self.latest) = (place, at, 0),
                Note::Enter(call) => self.enter(at, &call),
                Note::Counting(call) => self.count(at, call),
                Note::Counted(_) => self.latest = at,
                Note::Exit => self.exit(at),
                Note::Nothing => self.write(at, RingSlot::DEAD),
            }
        }
    }

    /// Where the calls of a call are made from.
    unsafe fn place_of(&self, mut at: usize) -> Place {
        // SAFETY: the slots of open calls say that they are counted.
        unsafe {
            while at != 0 {
                match self.note(at) {
                    Note::Counted(Counted { node: 0, below, .. }) => at = below.into(),
                    Note::Counted(call) => {
                        let position = if call.is_skipped { SKIPPED } else { (*self.thread.node(call.node)).position };
                        return Place { node: call.node, position, inside: call.inside };
                    }
                    _ => break,
                }
            }
        }
        self.base
    }

    unsafe fn enter(&mut self, at: usize, call: &Entered) {
        let Self { thread, .. } = *self;
        let (function, site, hook) = (call.function as usize, call.site as usize, call.hook as usize);
        // SAFETY: positions are nodes of the arena.
        unsafe {
            let (from, node) = loop {
                let from = self.place_of(self.latest);
                if from.position == SKIPPED && !is_root(thread, function) {
                    return self.skip(at, call, from);
                }
                let parent = match from {
                    Place { position: SKIPPED, node: 0, .. } => ROOT,
                    Place { position: SKIPPED, node, .. } => (*thread.node(node)).parent,
                    Place { position, .. } => position,
                };
                if let Some(node) = path::find(thread, parent, function, site, hook) {
                    break (from, Some(node));
                }
                if !self.is_latest_gone(at, call) {
                    break (from, path::child(thread, parent, function, site, hook));
                }
                self.leave_latest();
            };
            let below = self.latest as u16;
            let mut counted = Counted {
                node: 0,
                own: 0,
                inside: 0,
                is_skipped: false,
                is_open: true,
                is_left: false,
                is_closed: call.is_closed,
                below,
                calls: 0,
            };
            let Some(node) = node else {
                self.write(at, RingSlot::counted(&counted)); // first: it may be lost, but not count twice
                thread.family.count_by_function(function);
                self.latest = at;
                return;
            };
            let flags = (*thread.node(node)).flags as u8;
            counted.node = node;
            counted.own = from.inside | flags >> 1 & bits::SLOT;
            counted.inside = counted.own | flags & bits::SLOT;
            self.begin_count(at, counted);
        }
    }

    /// A call below `DIYTRACE_DEPTH`: it counts with the one at the limit.
    unsafe fn skip(&mut self, at: usize, call: &Entered, from: Place) {
        let counted = Counted {
            node: from.node,
            own: from.inside,
            inside: from.inside,
            is_skipped: true,
            is_open: true,
            is_left: false,
            is_closed: call.is_closed,
            below: self.latest as u16,
            calls: 0,
        };
        // SAFETY: the node is the arena's.
        unsafe {
            match from.node {
                0 => {
                    self.write(at, RingSlot::counted(&counted)); // it is outside of every root
                    self.latest = at;
                }
                _ => self.begin_count(at, counted),
            }
        }
    }

    unsafe fn begin_count(&mut self, at: usize, mut call: Counted) {
        // SAFETY: the node is the arena's.
        unsafe {
            let node = self.thread.node(call.node);
            let counters = slot(node, call.own);
            call.calls = (*counters).calls as u32 + 1;
            if (*node).flags & flag::UNTIMED as u16 == 0 {
                (*node).sample = (*node).sample.saturating_add(1);
            }
            self.write(at, RingSlot::counting(&call));
            self.count(at, call);
        }
    }

    unsafe fn count(&mut self, at: usize, call: Counted) {
        // SAFETY: as above.
        unsafe {
            let counters: *mut Slot = slot(self.thread.node(call.node), call.own);
            if (*counters).calls as u32 == call.calls.wrapping_sub(1) {
                arch::add(&raw mut (*counters).calls, 1);
            }
            self.write(at, RingSlot::counted(&call));
        }
        self.latest = at;
    }

    unsafe fn exit(&mut self, at: usize) {
        // SAFETY: the slots of open calls say that they are counted.
        unsafe {
            let Note::Counted(call) = self.note(self.latest) else { return };
            if call.is_open {
                self.write(self.latest, RingSlot::counted(&Counted { is_open: false, ..call }));
                let node = self.thread.node(call.node);
                let is_in_timeline = call.node != 0 && call.own == 0 && (*node).flags & flag::ROOT as u16 != 0;
                if is_in_timeline && !call.is_skipped {
                    timeline::lay(self.thread, (*node).record, self.moment(self.latest), self.moment(at));
                }
            }
            self.latest = call.below.into();
        }
    }

    /// About when a slot was taken.
    fn moment(&self, at: usize) -> u64 {
        let all = (self.ended - self.began) as u128;
        self.began + (all * at as u128 / self.used.max(1) as u128) as u64
    }

    /// Whether the call that a new path would be under was left before this call of it was made.
    unsafe fn is_latest_gone(&self, at: usize, call: &Entered) -> bool {
        // SAFETY: frames between bottom and top are there.
        unsafe {
            if !self.has_frames || self.has_latest_returned() {
                return false;
            }
            let Some(caller) = self.frame_of_latest() else { return false };
            match self.frame_of(at).filter(|_| !call.is_closed) {
                // What is open is found on the stack.
                Some(frame) => left::is_gone_from(self.thread, &*caller, frame_call(&*frame), (*frame).sp),
                None => left::is_gone_by_code(self.thread, caller, call),
            }
        }
    }

    /// Whether the latest call is known to have returned by itself later.
    unsafe fn has_latest_returned(&self) -> bool {
        // SAFETY: a slot of the ring.
        match (self.latest, unsafe { self.note(self.latest) }) {
            (0, _) => self.base_at < self.last_base,
            (_, Note::Counted(call)) => call.is_closed,
            _ => true,
        }
    }

    unsafe fn frame_of_latest(&self) -> Option<*mut Frame> {
        // SAFETY: as below.
        unsafe {
            match self.latest {
                0 => self.frames().find(|&frame| ![0, NOTED].contains(&(*frame).position)),
                at => self.frame_of(at),
            }
        }
    }

    /// The frame of a call that is open, by its slot.
    unsafe fn frame_of(&self, at: usize) -> Option<*mut Frame> {
        let slot = self.slots.wrapping_add(at).addr() as u64;
        // SAFETY: frames between bottom and top are there.
        unsafe { self.frames().find(|&frame| (*frame).position == NOTED && (*frame).count == slot) }
    }

    /// The frames of open calls, the latest first.
    fn frames(&self) -> impl Iterator<Item = *mut Frame> + use<> {
        let bottom = self.thread.bottom.get();
        let mut frame = self.thread.top.get();
        core::iter::from_fn(move || {
            let this = frame;
            frame = frame.wrapping_sub(1);
            (this > bottom).then_some(this)
        })
    }

    /// The latest call was left without an exit: the next one's caller is the one below it.
    unsafe fn leave_latest(&mut self) {
        // SAFETY: as above.
        unsafe {
            match self.note(self.latest) {
                Note::Counted(call) if self.latest != 0 => {
                    self.write(self.latest, RingSlot::counted(&Counted { is_open: false, is_left: true, ..call }));
                    if call.node != 0 {
                        left::count_left(self.thread, self.thread.node(call.node));
                    }
                    self.latest = call.below.into();
                }
                _ => {
                    let Some(frame) = self.frame_of_latest() else { return };
                    left::leave_in_place(self.thread, frame);
                    let Frame { node, position, inside, .. } =
                        *self.frame_of_latest().unwrap_or(self.thread.bottom.get());
                    self.base = Place { node, position, inside };
                    self.write(self.base_at, RingSlot::base(self.base));
                }
            }
        }
    }

    /// Gives the frames of the calls that are open now their nodes. From now on they are timed.
    unsafe fn fill_frames(&self) {
        let (bottom, top) = (self.thread.bottom.get(), self.thread.top.get());
        let mut frame = bottom;
        while frame < top {
            frame = frame.wrapping_add(1);
            // SAFETY: frames between bottom and top are there.
            unsafe {
                if (*frame).position == NOTED && !is_anothers(self.thread) {
                    self.fill_frame(frame);
                }
            }
        }
    }

    unsafe fn fill_frame(&self, frame: *mut Frame) {
        // SAFETY: the caller's frame and the one below it.
        unsafe {
            let at = ((*frame).count as usize).wrapping_sub(self.slots.addr()) / size_of::<RingSlot>();
            let call = match self.note(at.min(SLOTS - 1)) {
                Note::Counted(call) if at < SLOTS => call,
                _ => return by_itself(self.thread, frame),
            };
            if call.node == 0 || call.is_left {
                return stand_aside(frame);
            }
            let node = self.thread.node(call.node);
            let (flags, own) = ((*node).flags as u8, call.own);
            (*frame).node = call.node;
            (*frame).inside = call.inside;
            let is_timed = call.is_open && !call.is_skipped && flags & flag::UNTIMED as u8 == 0;
            if is_timed {
                (*node).sample = (*node).sample.saturating_sub(1);
                (*frame).start = self.moment(at);
                (*frame).count = self.thread.count.get();
                (*frame).bits = own | if own == 0 { (flags & flag::ROOT as u8) << 2 } else { 0 };
                (*slot(node, own)).mark = (*frame).start & !mark::BITS | mark::OPEN;
            }
            (*frame).position = if call.is_skipped { SKIPPED } else { (*node).position };
        }
    }
}

fn frame_call(frame: &Frame) -> Entered {
    Entered { function: frame.function as u64, site: frame.site as u64, hook: frame.counted, is_closed: false }
}

/// Whether a function is a root; looks into its module first if that is new.
unsafe fn is_root(thread: &Thread, function: usize) -> bool {
    if !thread.knows(function) {
        modules::meet(thread.family, function);
        thread.use_filter();
    }
    thread.is_root(function)
}

/// A call that is counted elsewhere, and whose own calls are made from the one below it.
unsafe fn stand_aside(frame: *mut Frame) {
    // SAFETY: the caller's frame.
    unsafe {
        ((*frame).node, (*frame).bits) = (0, bits::UNTIMED);
        (*frame).position = 0;
    }
}

/// Gives a frame whose call is counted, or not to be, its node by what lies below it.
unsafe fn by_itself(thread: &Thread, frame: *mut Frame) {
    // SAFETY: as above.
    unsafe {
        let below = filled_below(thread, frame);
        let parent = match (*below).position {
            SKIPPED => path::recorded_position(thread, &*below),
            position => position,
        };
        let Frame { function, site, counted: hook, .. } = *frame;
        let Some(node) = path::child(thread, parent, function, site, hook as usize) else {
            return stand_aside(frame);
        };
        (*frame).node = node;
        (*frame).inside = (*below).inside | (*thread.node(node)).flags as u8 & bits::SLOT;
        (*frame).position = (*thread.node(node)).position;
    }
}

unsafe fn filled_below(thread: &Thread, frame: *mut Frame) -> *mut Frame {
    let mut below = frame.wrapping_sub(1);
    // SAFETY: frames between bottom and top are there.
    while unsafe { (*below).position } == 0 && below > thread.bottom.get() {
        below = below.wrapping_sub(1);
    }
    below
}

/// The end of an enter hook during which a signal handler has ended the stretch: what it has noted may have come too late.
#[cold]
#[inline(never)]
pub unsafe fn complete(thread: &Thread, frame: *mut Frame, slot_at: usize, note: RingSlot) {
    // SAFETY: the caller's frame, and a slot of the thread's ring.
    unsafe {
        if thread.is(live::FORKED) || is_busy(thread) || !ring::finish(thread) {
            return;
        }
        let Some(_busy) = crate::busy::Busy::begin(thread) else { return };
        let began = Tsc::now();
        if (*frame).position == NOTED {
            by_itself(thread, frame);
        }
        let place: *mut RingSlot = ptr::with_exposed_provenance_mut(slot_at);
        // That of a forked child's parent is none of its business.
        let is_ours = !thread.ring.get().is_null();
        if is_ours
            && let Note::Enter(_) = (*place).note()
            && (*place).second == note.second
        {
            (*place).first = RingSlot::DEAD.first;
            match (*frame).node {
                0 => thread.family.count_by_function((*frame).function),
                node => count_untimed(thread.node(node), (*frame).inside),
            }
        }
        thread.forget_time_since(began);
    }
}

unsafe fn count_untimed(node: *mut NodeRecord, own: u8) {
    // SAFETY: the caller's node.
    unsafe {
        arch::add(&raw mut (*slot(node, own)).calls, 1);
        if (*node).flags & flag::UNTIMED as u16 == 0 {
            (*node).sample = (*node).sample.saturating_add(1);
        }
    }
}
