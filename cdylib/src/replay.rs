//! Counts the calls that were noted in a ring, each on its path, and gives the frames of those that are open their nodes.
//!
//! What is done here may be left for good after any instruction (a handler that jumps out), and is then gone through again from
//! the first slot: the ring says up to where its calls are counted ([`Ring::done`]), and of the one that was being counted
//! whether it is. A process that is killed leaves the rest to the reader, who goes by the same words.

use crate::arch;
use crate::busy::Busy;
use crate::clock::{Clock, Tsc};
use crate::frame::{Frame, NOTED, bits};
use crate::left;
use crate::modules;
use crate::path;
use crate::ring;
use crate::thread::{Thread, live, slot};
use crate::timeline;
use core::sync::atomic::{Ordering, compiler_fence};
use profile::node::{ROOT, SKIPPED, flag, mark};
use profile::ring::{Entered, Note, Place, SLOTS};
use profile::{Ref, Ring, RingSlot, Slot};

/// A thread's memory for a replay. Of most of it no page is ever touched.
#[repr(C)]
pub struct Scratch {
    /// Whether the exit of the call in a slot lies in the ring, too.
    is_closed: [bool; SLOTS],
    /// The calls that are open, the outermost first.
    open: [Open; SLOTS],
    /// Slots to try the hooks on.
    pub tried: [RingSlot; 256],
}

/// A call in the ring.
#[derive(Clone, Copy)]
#[repr(C)]
struct Open {
    /// Its node; 0 if it has none, and its calls are made from where it was made.
    node: Ref,
    /// Where its calls are made from.
    position: Ref,
    /// Its slot in the ring.
    at: u16,
    /// The slot of its node.
    own: u8,
    /// The slot that the calls it makes count in.
    inside: u8,
}

/// The ring on the way through it.
struct Replay<'a> {
    thread: &'a Thread,
    ring: *mut Ring,
    slots: *mut RingSlot,
    scratch: *mut Scratch,
    /// Whether the frames of calls that are open are this thread's.
    has_frames: bool,
    /// Where the calls are made from that none in the ring makes, and the slot that says so; that of the last such one.
    base: Place,
    base_at: usize,
    last_base: usize,
    /// How many calls are open.
    depth: usize,
    /// When the ring was begun, and when it ended, in ticks.
    began: u64,
    ended: u64,
    /// Slots in use.
    used: usize,
}

/// Counts everything that is in the thread's ring: so many slots, or, where another owner has left it, up to the first empty
/// one.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub unsafe fn run(thread: &Thread, used: Option<usize>) {
    // SAFETY: the ring is the thread's, and nothing is noted in it now.
    unsafe {
        let ring = thread.ring.get();
        let now = Tsc::now();
        let forgotten = thread.forgotten.get();
        let mut replay = Replay {
            thread,
            ring,
            slots: ring::slots(ring),
            scratch: thread.scratch.get(),
            has_frames: used.is_some(),
            base: Place { node: 0, position: ROOT, inside: 0 },
            base_at: 0,
            last_base: 0,
            depth: 0,
            began: if used.is_some() { thread.ring_began.get().min(now) } else { now },
            ended: now,
            used: used.unwrap_or(SLOTS).min(SLOTS),
        };
        replay.look_ahead();
        for at in 0..replay.used {
            replay.take(at);
            if is_anothers(thread) {
                return;
            }
        }
        if replay.has_frames {
            replay.fill_frames();
            thread.last.set(thread.last.get().max(now));
            thread.forget_time_but(now, forgotten);
        }
    }
}

/// Whether this is a child of a signal handler that forked in the middle: the ring is its parent's.
pub fn is_anothers(thread: &Thread) -> bool {
    thread.is(live::FORKED)
}

impl Replay<'_> {
    unsafe fn note(&self, at: usize) -> Note {
        // SAFETY: the slot is one of the ring's.
        unsafe { (*self.slots.add(at)).note() }
    }

    /// Where in the memory for it an open call is.
    fn open(&self, index: usize) -> *mut Open {
        // SAFETY: there are never more than slots.
        unsafe { (&raw mut (*self.scratch).open).cast::<Open>().add(index) }
    }

    fn is_closed(&self, at: usize) -> *mut bool {
        // SAFETY: the slot is one of the ring's.
        unsafe { (&raw mut (*self.scratch).is_closed).cast::<bool>().add(at) }
    }

    /// Finds the calls whose exit lies in the ring, too.
    unsafe fn look_ahead(&mut self) {
        // SAFETY: as above.
        unsafe {
            let is_empty = |at: &usize| (*self.slots.add(*at)).first == 0;
            self.used = (0..self.used).find(is_empty).unwrap_or(self.used);
            let mut exits = 0usize;
            for at in (0..self.used).rev() {
                match self.note(at) {
                    Note::Exit => exits += 1,
                    Note::Base(_) => {
                        self.last_base = self.last_base.max(at);
                        exits = 0;
                    }
                    Note::Enter(_) => {
                        *self.is_closed(at) = exits > 0;
                        exits = exits.saturating_sub(1);
                    }
                    Note::Nothing => {}
                }
            }
        }
    }

    unsafe fn take(&mut self, at: usize) {
        // SAFETY: as above.
        unsafe {
            match self.note(at) {
                Note::Base(place) => (self.base, self.base_at, self.depth) = (place, at, 0),
                Note::Enter(call) => self.enter(at, &call),
                Note::Exit => self.exit(at),
                Note::Nothing => {}
            }
            self.done(at + 1);
        }
    }

    /// The ring says from now on that the slots before this one are counted.
    unsafe fn done(&self, end: usize) {
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the ring is the thread's.
        unsafe {
            if ((*self.ring).done as usize) < end {
                (&raw mut (*self.ring).done).write_volatile(end as u64);
            }
        }
        compiler_fence(Ordering::SeqCst);
    }

    /// Whether the call in a slot is counted: an earlier replay was left.
    unsafe fn is_done(&self, at: usize) -> bool {
        // SAFETY: as above.
        unsafe { at < (*self.ring).done as usize }
    }

    /// Where the latest call makes its calls from.
    fn latest(&self) -> Place {
        match self.depth {
            0 => self.base,
            depth => {
                // SAFETY: it is open.
                let Open { node, position, inside, .. } = unsafe { *self.open(depth - 1) };
                Place { node, position, inside }
            }
        }
    }

    unsafe fn push(&mut self, at: usize, node: Ref, position: Ref, own: u8, inside: u8) {
        // SAFETY: as above.
        unsafe { self.open(self.depth).write(Open { node, position, at: at as u16, own, inside }) };
        self.depth += 1;
    }

    unsafe fn enter(&mut self, at: usize, call: &Entered) {
        let thread = self.thread;
        let (function, site, hook) = (call.function as usize, call.site as usize, call.hook as usize);
        // SAFETY: positions are nodes of the arena.
        unsafe {
            let (from, node) = loop {
                let from = self.latest();
                if from.position == SKIPPED && !is_root(thread, function) {
                    // Below `DIYTRACE_DEPTH`: it counts with the call at the limit; or outside of every root.
                    if from.node != 0 {
                        self.count(at, from.node, from.inside);
                    }
                    return self.push(at, from.node, SKIPPED, from.inside, from.inside);
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
                self.leave_latest(at);
            };
            let Some(node) = node else {
                if !self.is_done(at) {
                    self.done(at + 1); // first: it may be lost, but not count twice
                    thread.family.count_by_function(function);
                }
                return self.push(at, 0, from.position, from.inside, from.inside);
            };
            let flags = (*thread.node(node)).flags as u8;
            let own = from.inside | flags >> 1 & bits::SLOT;
            self.count(at, node, own);
            self.push(at, node, (*thread.node(node)).position, own, own | flags & bits::SLOT);
        }
    }

    /// Counts a call, once.
    unsafe fn count(&self, at: usize, node_ref: Ref, own: u8) {
        // SAFETY: the node is the arena's, and the ring the thread's.
        unsafe {
            if self.is_done(at) || is_anothers(self.thread) {
                return;
            }
            let node = self.thread.node(node_ref);
            let counters: *mut Slot = slot(node, own);
            let ring = self.ring;
            let is_begun = (*ring).counting == at as u64 + 1 && (*ring).node == node_ref && (*ring).own == own.into();
            if !is_begun {
                (&raw mut (*ring).counting).write_volatile(0);
                compiler_fence(Ordering::SeqCst);
                (*ring).calls = (*counters).calls + 1;
                ((*ring).node, (*ring).own) = (node_ref, own.into());
                compiler_fence(Ordering::SeqCst);
                (&raw mut (*ring).counting).write_volatile(at as u64 + 1);
                compiler_fence(Ordering::SeqCst);
            }
            if (*counters).calls < (*ring).calls {
                arch::add(&raw mut (*counters).calls, 1);
            }
            self.done(at + 1);
            if (*node).flags & flag::UNTIMED as u16 == 0 {
                (*node).sample = (*node).sample.saturating_add(1);
            }
        }
    }

    unsafe fn exit(&mut self, at: usize) {
        let Some(depth) = self.depth.checked_sub(1) else { return };
        // SAFETY: it is open.
        unsafe {
            let call = *self.open(depth);
            if call.node != 0 && call.own == 0 && call.position != SKIPPED && !self.is_done(at) {
                let node = self.thread.node(call.node);
                if (*node).flags & flag::ROOT as u16 != 0 {
                    self.done(at + 1);
                    timeline::lay(self.thread, (*node).record, self.moment(call.at.into()), self.moment(at));
                }
            }
        }
        self.depth = depth;
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
            match self.frame_of(at).filter(|_| !*self.is_closed(at)) {
                // What is open is found on the stack.
                Some(frame) => left::is_gone_from(self.thread, &*caller, *call, (*frame).sp),
                None => left::is_gone_by_code(self.thread, caller, call),
            }
        }
    }

    /// Whether the latest call is known to have returned by itself later: then it was open all the time.
    unsafe fn has_latest_returned(&self) -> bool {
        match self.depth {
            0 => self.base_at < self.last_base,
            // SAFETY: a call's slot.
            depth => unsafe { *self.is_closed((*self.open(depth - 1)).at.into()) },
        }
    }

    unsafe fn frame_of_latest(&self) -> Option<*mut Frame> {
        // SAFETY: as below.
        unsafe {
            match self.depth {
                0 => self.frames().find(|&frame| ![0, NOTED].contains(&(*frame).position)),
                depth => self.frame_of((*self.open(depth - 1)).at.into()),
            }
        }
    }

    /// The frame of a call that is open, by its slot.
    unsafe fn frame_of(&self, at: usize) -> Option<*mut Frame> {
        let slot = self.slots.wrapping_add(at).addr() as u64;
        // SAFETY: frames between bottom and top are there; those that are noted are the latest.
        unsafe {
            let mut noted = self.frames().take_while(|&frame| [0, NOTED].contains(&(*frame).position));
            noted.find(|&frame| (*frame).position == NOTED && (*frame).count == slot)
        }
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

    /// The latest call was left without an exit before the one in this slot: that one's caller is the one below it.
    unsafe fn leave_latest(&mut self, at: usize) {
        // SAFETY: as above.
        unsafe {
            match self.depth {
                0 => {
                    let Some(frame) = self.frame_of_latest() else { return };
                    left::leave_in_place(self.thread, frame);
                    let Frame { node, position, inside, .. } =
                        *self.frame_of_latest().unwrap_or(self.thread.bottom.get());
                    self.base = Place { node, position, inside };
                    ring::rewrite(self.slots.add(self.base_at), RingSlot::base(self.base));
                }
                depth => {
                    let node = (*self.open(depth - 1)).node;
                    if node != 0 && !self.is_done(at) {
                        left::count_left(self.thread, self.thread.node(node));
                    }
                    self.depth = depth - 1;
                }
            }
        }
    }

    /// Gives the frames of the calls that are open now their nodes. From now on they are timed.
    unsafe fn fill_frames(&self) {
        let (bottom, top) = (self.thread.bottom.get(), self.thread.top.get());
        // Noted calls are the latest. From the outermost on, so that who has left this finds the rest at the top.
        let (mut frame, mut index) = (top, 0);
        // SAFETY: frames between bottom and top are there.
        while frame > bottom && [0, NOTED].contains(unsafe { &(*frame).position }) {
            frame = frame.wrapping_sub(1);
        }
        while frame < top {
            frame = frame.wrapping_add(1);
            // SAFETY: frames between bottom and top are there.
            unsafe {
                if (*frame).position != NOTED || is_anothers(self.thread) {
                    continue;
                }
                let at = ((*frame).count as usize).wrapping_sub(self.slots.addr()) / size_of::<RingSlot>();
                while index < self.depth && usize::from((*self.open(index)).at) < at {
                    index += 1;
                }
                let call = (index < self.depth).then(|| *self.open(index)).filter(|call| usize::from(call.at) == at);
                match call {
                    Some(call) if call.node != 0 || call.position == SKIPPED => self.fill_frame(frame, call),
                    // Its exit hook has been interrupted after its note, or it was left; or there was no room for its path.
                    _ => stand_aside(frame),
                }
            }
        }
    }

    unsafe fn fill_frame(&self, frame: *mut Frame, call: Open) {
        // SAFETY: the caller's frame, and the call's node.
        unsafe {
            (*frame).node = call.node;
            (*frame).inside = call.inside;
            if call.position != SKIPPED {
                let node = self.thread.node(call.node);
                let (flags, own) = ((*node).flags as u8, call.own);
                if flags & flag::UNTIMED as u8 == 0 {
                    (*node).sample = (*node).sample.saturating_sub(1);
                    (*frame).start = self.moment(call.at.into());
                    (*frame).count = self.thread.count.get();
                    (*frame).bits = own | if own == 0 { (flags & flag::ROOT as u8) << 2 } else { 0 };
                    (*slot(node, own)).mark = (*frame).start & !mark::BITS | mark::OPEN;
                }
            }
            compiler_fence(Ordering::SeqCst);
            (*frame).position = call.position;
        }
    }
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
        compiler_fence(Ordering::SeqCst);
        (*frame).position = 0;
    }
}

/// Gives the frame of a call that is counted its node by what lies below it. It is not timed.
pub unsafe fn place(thread: &Thread, frame: *mut Frame) {
    // SAFETY: the caller's frame and those below it.
    unsafe {
        let mut below = frame.wrapping_sub(1);
        while [0, NOTED].contains(&(*below).position) && below > thread.bottom.get() {
            below = below.wrapping_sub(1);
        }
        let parent = match (*below).position {
            SKIPPED => path::recorded_position(thread, &*below),
            position => position,
        };
        let Frame { function, site, counted: hook, .. } = *frame;
        let find = || path::find(thread, parent, function, site, hook as usize);
        let make = || {
            let _busy = Busy::begin(thread)?;
            let began = Tsc::now();
            let made = path::child(thread, parent, function, site, hook as usize);
            thread.forget_time_since(began);
            made
        };
        let is_made = !thread.is(live::FORKED) && (*below).position != SKIPPED;
        let Some(node) = is_made.then(|| find().or_else(make)).flatten() else { return stand_aside(frame) };
        (*frame).node = node;
        (*frame).inside = (*below).inside | (*thread.node(node)).flags as u8 & bits::SLOT;
        (*frame).bits = bits::UNTIMED;
        compiler_fence(Ordering::SeqCst);
        (*frame).position = (*thread.node(node)).position;
    }
}
