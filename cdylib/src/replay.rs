//! Finds out what the notes of a ring mean: counts the calls, each on its path, and gives those that are open their frames.
//!
//! What is done here may be left for good after any instruction (a handler that jumps out), and is then gone through again from
//! the first slot: the ring says up to where its calls are counted ([`Ring::done`]), and of the one that was being counted
//! whether it is. A process that is killed leaves the rest to the reader, who goes by the same words.

use crate::arch;
use crate::clock::{Clock, Tsc};
use crate::frame::{Frame, NOTED, bits};
use crate::modules;
use crate::node::{self, slot};
use crate::path;
use crate::recycle;
use crate::shadow_stack;
use crate::spent::Spent;
use crate::split_functions::is_exit_of_part;
use crate::stack;
use crate::stale_frames::{self, Ended, Outer};
use crate::stretch::{self, Open, Scratch, Stage};
use crate::thread::{Thread, live};
use crate::timeline;
use core::mem::offset_of;
use core::slice;
use core::sync::atomic::{Ordering, compiler_fence};
use profile::node::{ROOT, SKIPPED, flag, mark};
use profile::noted::{self, Left};
use profile::ring::{Event, Note, Place, SLOTS};
use profile::{Arena, Ref, Ring, RingSlot, Slot};

/// The ring on the way through it.
struct Replay<'a> {
    thread: &'a Thread,
    ring: *mut Ring,
    slots: *const RingSlot,
    scratch: *mut Scratch,
    /// Whether the frame of the base is this thread's, and those below.
    has_frames: bool,
    /// The frame of the base.
    base_frame: *mut Frame,
    /// Where the calls are made from that none in the ring makes, how that call was entered, and the slot that says so.
    base: Place,
    base_call: Event,
    base_at: usize,
    /// The slot of the last such call.
    last_base: usize,
    /// How many calls are open.
    depth: usize,
    /// When the ring was begun, and when it ended, in ticks.
    began: u64,
    ended: u64,
    /// Slots in use.
    used: usize,
}

/// Counts what was noted in the thread's ring until now, of which a copy was made, and gives open calls their frames.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub unsafe fn run(thread: &Thread, now: u64) {
    // SAFETY: the ring is the thread's, and nothing is noted in it now.
    unsafe {
        let spent = Spent::since(thread, now);
        thread.replayed.set(0);
        let slots = (&raw const (*thread.scratch.get()).slots).cast();
        // What the thread was off came after all that is noted: the next hook ends the stretch.
        let off = thread.ring_off.get();
        let noted = now.saturating_sub(thread.family.ticks(off.sum()));
        let mut replay = Replay::new(thread, slots, thread.ring_used.get(), noted);
        (replay.has_frames, replay.began) = (true, thread.ring_began.get().min(noted));
        replay.pair();
        for at in 0..replay.used {
            replay.take(at);
            if is_anothers(thread) {
                return;
            }
        }
        if thread.ring_is_over.get() {
            replay.leave_down_to(0, replay.used);
            replay.done(replay.used + 1);
        }
        compiler_fence(Ordering::SeqCst);
        thread.ring_stage.set(Stage::Reopened);
        compiler_fence(Ordering::SeqCst);
        replay.reopen(|replay, frame, call| replay.fill(frame, call));
        thread.last.set(thread.last.get().max(now));
        spent.end(thread);
    }
}

/// Counts everything that another owner of the thread's arena has left in its ring.
///
/// The state must not yet be seen by its hooks.
pub unsafe fn run_of_another(thread: &Thread) {
    // SAFETY: the ring is the thread's, and nothing is noted in it now.
    unsafe {
        let slots = stretch::slots(thread.ring.get());
        let mut replay = Replay::new(thread, slots, SLOTS, Tsc::now());
        replay.pair();
        for at in 0..replay.used {
            replay.take(at);
        }
    }
}

/// Opens frames that have no node yet for the noted calls that are open, of which there is a copy.
///
/// The state must be [`crate::busy`].
pub unsafe fn reopen_noted(thread: &Thread) {
    // SAFETY: the scratch is the thread's.
    unsafe {
        let slots = (&raw const (*thread.scratch.get()).slots).cast();
        let mut replay = Replay::new(thread, slots, thread.ring_used.get(), 0);
        replay.pair();
        if thread.ring_is_over.get() {
            replay.depth = 0;
        }
        replay.reopen(|_, frame, call| {
            (*frame).whole_hook = call.entry.hook;
            shadow_stack::fill(thread, frame, NOTED);
        });
    }
}

/// Whether this is a child of a signal handler that forked in the middle: the ring is its parent's.
pub fn is_anothers(thread: &Thread) -> bool {
    thread.is(live::FORKED)
}

impl<'a> Replay<'a> {
    fn new(thread: &'a Thread, slots: *const RingSlot, used: usize, now: u64) -> Self {
        Self {
            thread,
            ring: thread.ring.get(),
            slots,
            scratch: thread.scratch.get(),
            has_frames: false,
            base_frame: thread.ring_base.get(),
            base: Place { node: 0, position: ROOT, inside: 0 },
            base_call: Event { function: 0, site: 0, hook: 0, sp: u64::MAX },
            base_at: 0,
            last_base: 0,
            depth: 0,
            began: now,
            ended: now,
            used: used.min(SLOTS),
        }
    }

    unsafe fn note(&self, at: usize) -> Note {
        // SAFETY: the slot is one of the ring's.
        unsafe { (*self.slots.add(at)).note() }
    }

    /// Where in the memory for it an open call is.
    fn open(&self, index: usize) -> *mut Open {
        // SAFETY: there are never more than slots.
        unsafe { (&raw mut (*self.scratch).open).cast::<Open>().add(index) }
    }

    /// All open calls.
    fn all_open(&self) -> &[Open] {
        // SAFETY: they are the replay's, and nobody changes them while it looks at them.
        unsafe { slice::from_raw_parts(self.open(0), self.depth) }
    }

    fn is_closed(&self, at: usize) -> *mut bool {
        // SAFETY: the slot is one of the ring's.
        unsafe { (&raw mut (*self.scratch).is_closed).cast::<bool>().add(at) }
    }

    unsafe fn push(&mut self, call: Open) {
        // SAFETY: there are never more than slots.
        unsafe { self.open(self.depth).write(call) };
        self.depth += 1;
    }

    /// Finds the calls whose exit lies in the ring, too, and leaves open those that are in the end.
    unsafe fn pair(&mut self) {
        // SAFETY: there are as many slots as are used, and never more open calls than slots.
        unsafe {
            for at in 0..self.used {
                match self.note(at) {
                    Note::Base(place, sp) => {
                        (self.base_call, self.last_base, self.depth) = (self.call_of(&place, sp), at, 0);
                    }
                    Note::Enter(entry) => {
                        *self.is_closed(at) = false;
                        self.depth = noted::staying(self.all_open(), &self.base_call, &entry);
                        self.push(Open { entry, node: 0, position: 0, at: at as u16, own: 0, inside: 0 });
                    }
                    Note::Exit(exit) => match self.returning(&exit) {
                        Left::Returns(index) => {
                            *self.is_closed((*self.open(index)).at.into()) = true;
                            self.depth = index;
                        }
                        Left::Stray(depth) => self.depth = depth,
                    },
                    Note::Nothing => {}
                }
            }
        }
    }

    /// Which of the open calls an exit is of.
    unsafe fn returning(&self, exit: &Event) -> Left {
        let is_of_part = |entry: &Event| {
            // SAFETY: the ring is this thread's, where it has frames: its code has run since, and is there.
            self.has_frames && unsafe { is_exit_of_part(self.thread.family, exit, entry.hook as usize) }
        };
        noted::returning(self.all_open(), &self.base_call, exit, is_of_part)
    }

    /// How a call that others are made from was entered, as far as its node tells.
    fn call_of(&self, place: &Place, sp: u64) -> Event {
        // SAFETY: its node is in the mapping.
        let who = if place.node > ROOT { unsafe { node::who(self.thread.node(place.node)) } } else { (0, 0, 0) };
        Event { function: who.0 as u64, site: who.1 as u64, hook: who.2 as u64, sp }
    }

    unsafe fn take(&mut self, at: usize) {
        // SAFETY: the slot is one of the ring's.
        unsafe {
            if at == 0 {
                self.depth = 0; // what `pair` has found open
            }
            match self.note(at) {
                Note::Base(place, sp) => {
                    self.leave_down_to(0, at);
                    (self.base, self.base_call, self.base_at) = (place, self.call_of(&place, sp), at);
                }
                Note::Enter(entry) => {
                    let staying = noted::staying(self.all_open(), &self.base_call, &entry);
                    self.leave_down_to(staying, at);
                    self.enter(at, entry);
                }
                Note::Exit(exit) => self.exit(at, &exit),
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
        // SAFETY: the ring is the thread's.
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

    /// So many calls stay open; the others were left without an exit.
    unsafe fn leave_down_to(&mut self, depth: usize, at: usize) {
        while self.depth > depth {
            self.depth -= 1;
            // SAFETY: the call's node is the arena's.
            unsafe {
                let node = (*self.open(self.depth)).node;
                if node != 0 && !self.is_done(at) {
                    stale_frames::count_left(self.thread, node);
                }
            }
        }
    }

    unsafe fn enter(&mut self, at: usize, entry: Event) {
        let thread = self.thread;
        let (function, site, hook) = (entry.function as usize, entry.site as usize, entry.hook as usize);
        let open = |node, position, own, inside| Open { entry, node, position, at: at as u16, own, inside };
        // SAFETY: positions are nodes of the arena.
        unsafe {
            let (from, node) = loop {
                let from = self.latest();
                if from.position == SKIPPED && !is_root(thread, function) {
                    // Below `DIYTRACE_DEPTH`: it counts with the call at the limit; or outside of every root.
                    if from.node != 0 {
                        self.count(at, from.node, from.inside);
                    }
                    return self.push(open(from.node, SKIPPED, from.inside, from.inside));
                }
                let parent = match from {
                    Place { position: SKIPPED, node: 0, .. } => ROOT,
                    Place { position: SKIPPED, node, .. } => (*thread.node(node)).parent,
                    Place { position, .. } => position,
                };
                if let Some(node) = find(thread, parent, function, site, hook) {
                    break (from, Some(node));
                }
                if !self.is_latest_gone(at, &entry) {
                    thread.replayed.set(self.depth + 1);
                    let made = recycle::child(thread, parent, function, site, hook);
                    thread.replayed.set(0);
                    break (from, made);
                }
                match self.depth {
                    0 => self.end_base(Ended::Left),
                    depth => self.leave_down_to(depth - 1, at),
                }
            };
            // What is counted inside a folded recursion has its place in an extension.
            let of = |node| (node, from.inside | (*thread.node(node)).flags as u8 >> 1 & bits::SLOT);
            let has_place = |(node, own): &(Ref, u8)| {
                own & bits::SLOT == 0 || {
                    thread.replayed.set(self.depth + 1);
                    let is_made = recycle::extend_in_time(thread, *node);
                    thread.replayed.set(0);
                    is_made
                }
            };
            let Some((node, own)) = node.map(of).filter(has_place) else {
                if !self.is_done(at) {
                    self.done(at + 1); // first: it may be lost, but not count twice
                    thread.family.count_by_function(function);
                }
                // What a root calls is recorded, whether there is room for that itself or not.
                let position = if from.position == SKIPPED { ROOT } else { from.position };
                return self.push(open(0, position, from.inside, from.inside));
            };
            let flags = (*thread.node(node)).flags as u8;
            self.count(at, node, own);
            let position = node::position(thread.base, node, thread.node(node));
            self.push(open(node, position, own, own | flags & bits::SLOT));
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
            let counters: *mut Slot = slot(self.thread.base, node, own);
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
                (*node).noted = (*node).noted.saturating_add(1);
            }
        }
    }

    unsafe fn exit(&mut self, at: usize, exit: &Event) {
        // SAFETY: the open calls' nodes and the base's frame are there.
        unsafe {
            match self.returning(exit) {
                Left::Returns(index) => {
                    self.leave_down_to(index + 1, at);
                    self.lay(at, &*self.open(index));
                    self.depth = index;
                }
                Left::Stray(depth) => {
                    self.leave_down_to(depth, at);
                    let base = &*self.base_frame;
                    let is_its = || match exit.hook == exit.site {
                        // A base that has moved its stack pointer (`alloca`) exits below where it entered; so does one that is split.
                        false => {
                            let enter_hook = || stale_frames::full_hook(self.thread, base);
                            base.site as u64 == exit.site || is_exit_of_part(self.thread.family, exit, enter_hook())
                        }
                        // One that is split, whose other part jumps to the hook, exits as a call that it has made would.
                        true => base.sp as u64 == exit.sp,
                    };
                    let is_base = depth == 0
                        && self.has_frames
                        && self.base_at == self.last_base
                        && base.function as u64 == exit.function
                        && base.node > ROOT
                        && is_its();
                    if is_base {
                        self.end_base(Ended::Returned(self.moment(at)));
                    } else if !self.is_done(at) {
                        self.done(at + 1);
                        arch::count_at::<{ offset_of!(Arena, stray_exits) }, _>(self.thread.arena.get());
                    }
                }
            }
        }
    }

    /// Lays a call of a root that returns into its timeline.
    unsafe fn lay(&self, at: usize, call: &Open) {
        // SAFETY: the call's node is the arena's.
        unsafe {
            if call.node != 0 && call.own == 0 && call.position != SKIPPED && !self.is_done(at) {
                let node = self.thread.node(call.node);
                if (*node).flags & flag::ROOT as u16 != 0 {
                    self.done(at + 1);
                    timeline::lay(
                        self.thread,
                        node::record(self.thread.base, node),
                        self.moment(call.at.into()),
                        self.moment(at),
                    );
                }
            }
        }
    }

    /// About when a slot was taken.
    fn moment(&self, at: usize) -> u64 {
        let all = (self.ended - self.began) as u128;
        self.began + (all * at as u128 / self.used.max(1) as u128) as u64
    }

    /// Whether the call that a new path would be under was left before this call of it was made.
    unsafe fn is_latest_gone(&self, at: usize, entry: &Event) -> bool {
        // SAFETY: frames up to the base's are there.
        unsafe {
            if !self.has_frames || self.has_latest_returned() || self.base_frame <= self.thread.bottom.get() {
                return false;
            }
            let caller = match self.depth {
                0 => *self.base_frame,
                depth => {
                    let Open { entry, node, .. } = *self.open(depth - 1);
                    let (function, site, sp) = (entry.function as usize, entry.site as usize, entry.sp as usize);
                    let (hook, whole_hook) = (entry.hook as u32, entry.hook);
                    Frame { function, site, sp, hook, whole_hook, node, position: NOTED, ..Frame::EMPTY }
                }
            };
            // What is open is found on the stack.
            if !*self.is_closed(at) && self.is_open_in_the_end(at) {
                let base =
                    Event { sp: (*stale_frames::owner(self.thread, self.base_frame)).sp as u64, ..self.base_call };
                let frame_sp = noted::frame_sp(self.all_open(), &base) as usize;
                if stale_frames::is_on_stack(self.thread, entry, frame_sp) {
                    return stale_frames::is_gone_from(self.thread, &caller, frame_sp, *entry, entry.sp as usize);
                }
            }
            let noted = self.all_open().iter().rev().skip(1).map(|call| outer(&call.entry));
            let noted = noted.chain(self.bases_further_out(at));
            let mut frame = if self.depth == 0 { self.base_frame.sub(1) } else { self.base_frame };
            let usual = core::iter::from_fn(|| {
                let this = frame;
                frame = frame.wrapping_sub(1);
                (this > self.thread.bottom.get()).then_some(this)
            });
            let usual = usual.filter(|&frame| (*frame).node != 0).map(|frame| Outer {
                function: (*frame).function,
                site: (*frame).site,
                hook: stale_frames::full_hook(self.thread, &*frame),
            });
            stale_frames::is_gone_by_code(self.thread, &caller, noted.chain(usual), entry)
        }
    }

    /// The calls that the rest was made from and that have returned by now, from the one that a slot's is made from outwards.
    unsafe fn bases_further_out(&self, at: usize) -> impl Iterator<Item = Outer> {
        let own = (self.base_at < self.last_base && self.depth > 0).then_some(self.base);
        // SAFETY: the slots are the ring's.
        let later = (at + 1..self.last_base).filter_map(move |later| match unsafe { self.note(later) } {
            Note::Base(place, sp) if sp > self.base_call.sp => Some(place),
            _ => None,
        });
        let called = own.into_iter().chain(later).filter(|place| place.node > ROOT);
        called.map(|place| {
            let node = self.thread.node(place.node);
            // SAFETY: the base's node is in the mapping, and complete.
            let ((function, site, _), hook) = unsafe { (node::who(node), node::full_hook(self.thread.base, node)) };
            Outer { function, site, hook }
        })
    }

    /// Whether nothing that comes later says that the call in a slot is over: it has not returned, and none further out was made, nor does the
    /// program run further out now.
    unsafe fn is_open_in_the_end(&self, at: usize) -> bool {
        // SAFETY: the slots are the ring's.
        unsafe {
            let Note::Enter(entry) = self.note(at) else { return false };
            let end_sp = match self.thread.ring_end_sp.get() {
                0 => arch::stack_pointer(),
                sp => sp,
            };
            // What lies on another stack may be on none any more.
            if entry.sp <= end_sp as u64 || !stack::is_same(self.thread, entry.sp as usize, end_sp) {
                return false;
            }
            (at + 1..self.used).all(|later| match self.note(later) {
                Note::Base(..) => false,
                Note::Enter(event) | Note::Exit(event) => event.sp < entry.sp,
                Note::Nothing => true,
            })
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

    /// The base is over: the call that it was made from takes its place.
    unsafe fn end_base(&mut self, ended: Ended) {
        // SAFETY: frames up to the base's are there.
        unsafe {
            let mut frame = self.base_frame;
            if frame <= self.thread.bottom.get() {
                return;
            }
            stale_frames::close_in_place(self.thread, frame, ended);
            while frame > self.thread.bottom.get() && [0, NOTED].contains(&(*frame).position) {
                frame = frame.sub(1);
            }
            let Frame { node, position, inside, sp, .. } = *frame;
            self.base_frame = frame;
            self.base = Place { node, position, inside };
            self.base_call = self.call_of(&self.base, sp as u64);
            for slot in [stretch::slots(self.ring), self.slots.cast_mut()] {
                slot.add(self.base_at).write_volatile(RingSlot::base(self.base, self.base_call.sp));
            }
        }
    }

    /// Gives the calls that are open frames above the base's. An earlier turn may have given some theirs.
    unsafe fn reopen(&mut self, fill: impl Fn(&Self, *mut Frame, &Open)) {
        let thread = self.thread;
        // SAFETY: frames up to the base's are there.
        unsafe {
            let first = thread.ring_reopened.get();
            // What a handler has left there. (Where nothing is open, it may be a call of a usual hook that goes on.)
            while first < self.depth && thread.top.get() > thread.ring_base.get().add(first) {
                shadow_stack::pop(thread);
            }
            for index in first..self.depth {
                if is_anothers(thread) && self.has_frames {
                    return;
                }
                if thread.top.get().add(1) == thread.limit.get() && !shadow_stack::make_room(thread) {
                    return;
                }
                let call = &*self.open(index);
                let Event { function, site, hook, sp } = call.entry;
                let [function, site, hook, sp] = [function, site, hook, sp].map(|word| word as usize);
                let frame = shadow_stack::reserve(thread, call.node, function, site, hook, sp);
                ((*frame).bits, (*frame).inside) = (bits::UNTIMED, call.inside);
                fill(self, frame, call);
                compiler_fence(Ordering::SeqCst);
                thread.ring_reopened.set(index + 1);
            }
        }
    }

    /// Fills a frame. From now on its call is timed.
    unsafe fn fill(&self, frame: *mut Frame, call: &Open) {
        // SAFETY: the caller's frame, and the call's node.
        unsafe {
            if call.node == 0 && call.position != SKIPPED {
                return; // counted by its function, and its calls are made from the one below
            }
            if call.position != SKIPPED {
                let node = self.thread.node(call.node);
                let (flags, own) = ((*node).flags as u8, call.own);
                if flags & flag::UNTIMED as u8 == 0 {
                    (*node).noted = (*node).noted.saturating_sub(1);
                    (*frame).start = self.moment(call.at.into());
                    (*frame).count = self.thread.count.get();
                    (*frame).bits = own | if own == 0 { (flags & flag::ROOT as u8) << 2 } else { 0 };
                    (*slot(self.thread.base, node, own)).mark = (*frame).start & !mark::BITS | mark::OPEN;
                }
            } else {
                (*frame).bits = call.own | bits::UNTIMED;
            }
            shadow_stack::fill(self.thread, frame, call.position);
        }
    }
}

fn outer(call: &Event) -> Outer {
    Outer { function: call.function as usize, site: call.site as usize, hook: call.hook as usize }
}

/// The node of a path, if there is one: most have been met lately.
unsafe fn find(thread: &Thread, parent: Ref, function: usize, site: usize, hook: usize) -> Option<Ref> {
    // SAFETY: the cache holds nodes of the arena.
    let is_it = |node: &Ref| unsafe { node::is(thread.node(*node), parent, function, site, hook) };
    let lately = thread.path_cache.candidates(parent, site, hook).into_iter().flatten().find(is_it);
    lately.or_else(|| path::find(thread, parent, function, site, hook))
}

/// Whether a function is a root; looks into its module first if that is new.
unsafe fn is_root(thread: &Thread, function: usize) -> bool {
    if !thread.knows(function) {
        modules::register(thread.family, function);
        thread.use_filter();
    }
    thread.is_root(function)
}
