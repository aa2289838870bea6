//! What a thread knows: its shadow stack, its arena, its indices. Private memory, reached through one thread-local word.

use crate::arch;
use crate::calibration::Window;
use crate::chains::Chains;
use crate::clock;
use crate::family::{self, Family};
use crate::field::Field;
use crate::frame::{Frame, bits};
use crate::line::Line;
use crate::node::slot;
use crate::path_cache::PathCache;
use crate::processor::{Beginning, Off, OnProcessor};
use crate::stretch::{BODIES, Scratch, Stage};
use crate::suspended::Suspended;
use crate::table::Table;
use core::mem::offset_of;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use profile::node::{ROOT, SKIPPED, mark};
use profile::{Arena, Block, Header, NodeRecord, Ref, Ring};

/// Values of [`Thread::live`].
pub mod live {
    /// The thread's memory is that of a process that forked this one: it must find an arena of its own first.
    pub const FORKED: u64 = 0;
    /// Recording, by the time stamp counter.
    pub const TSC: u64 = 1;
    /// Counting calls, where there is a time stamp counter.
    pub const COUNTED: u64 = 2;
    /// Recording, by `clock_gettime`.
    pub const GETTIME: u64 = 3;
    /// Counting calls, where there is none.
    pub const COUNTED_GETTIME: u64 = 4;
    /// There was no arena for it: its calls are lost, and counted as such.
    pub const LOST: u64 = 5;
    /// Recording, but a library was unloaded: what is known of addresses must be looked through first.
    pub const STALE: u64 = 6;
    /// Noting calls: [`crate::ring`].
    pub const RING: u64 = 7;
    /// The same, each of them twice.
    pub const RING_TWICE: u64 = 8;
}

/// Pages whose code is known to belong to a known module; each in the slot of its number's low bits.
pub const KNOWN_PAGES: usize = 512;

/// See [`Thread::readable_pages`].
pub const READABLE_PAGES: usize = 256;

/// Functions known to be outside every root; each in the slot of its address.
pub const OUTSIDERS: usize = 512;

/// Hooks of which is known how far above their stack pointer the return address lies.
pub const DISTANCES: usize = 256;

/// The open calls' paths are told when so many ticks were taken off: some 50 microseconds.
const WORTH_TELLING: i64 = 1 << 17;

/// That distance, in bytes, for one hook.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Distance {
    /// The hook's own return address.
    pub hook: usize,
    /// The distance.
    pub bytes: usize,
    /// Who says so.
    pub source: Source,
}

/// How it is known where a return address lies.
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
pub enum Source {
    /// It was found on the stack.
    Search,
    /// It lay there once, by what the code says ([`crate::unwind_info`]) and the frame pointer was then.
    Once,
    /// The code says so.
    Code,
}

/// Hooks whose frames were asked after on stacks that have no end known to all.
pub const FRAME_ENDS: usize = 64;

/// How large the frame of a hook's call was where its caller was found behind it; and how often since then none was.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct FrameEnd {
    /// The hook's own return address.
    pub hook: usize,
    /// Bytes from its stack pointer to where its return address lay.
    pub bytes: usize,
    /// How often none was found.
    pub in_vain: usize,
}

/// A thread's state. Its signal handlers use it too, in the middle of whatever is being done to it: nothing but the thread's own
/// word leads to it, and nobody has it to themselves (`&mut`).
#[repr(C, align(4096))]
pub struct Thread {
    /// See [`live`]. Alone on its page, which a fork wipes.
    pub live: AtomicU64,
    rest_of_page: [u64; 511],
    /// The latest open call.
    pub top: Field<*mut Frame>,
    /// Where the family's file is mapped.
    pub base: *mut u8,
    /// The arena.
    pub arena: Field<*mut Arena>,
    /// Calls timed so far.
    pub count: Field<u64>,
    /// [`Thread::count`] from which on something about windows is to be done.
    pub next_window: Field<u64>,
    /// What is subtracted from a call's time, in 1/1024 ticks: for itself …
    pub inner: Field<u64>,
    /// … and for each call made inside.
    pub pair: Field<u64>,
    /// The header's control words as they are when there is nothing to do: not paused, and the epoch that its counters belong
    /// to.
    pub control: Field<u64>,
    /// The kernel's word that changes when the thread is switched out ([`crate::switches`]); where there is none, `seen`.
    pub switches: Field<*const u32>,
    /// What it was when the thread was last asked after.
    pub seen: Field<u32>,
    /// Where in the path cache the line of the latest call's position begins, as a rule: see [`crate::path_cache::offset`].
    pub line: Field<u32>,
    /// The latest moment, in ticks.
    pub last: Field<u64>,
    /// A call entered less far below the latest open one is taken for one made by it, without a question: [`ANYWHERE`] as long as
    /// the thread has been seen on one stack only.
    pub reach: Field<usize>,
    /// One past the last frame there is memory for.
    pub limit: Field<*mut Frame>,
    /// Addresses of roots; a power of two of them, 0 = empty. Null if everything is recorded.
    pub roots: Field<*const usize>,
    /// One less than their number.
    pub roots_mask: Field<usize>,
    /// The frame below the first call.
    pub bottom: Field<*mut Frame>,
    /// Function records by address.
    pub functions: Table,
    /// Its index of call sites.
    pub call_sites: Table,
    /// The family.
    pub family: &'static Family,
    /// Nodes by parent, function, call site and hook.
    pub nodes: Table,
    /// Whether nodes of the arena are not in there, as their code was not where it had been.
    pub leaves_out: Field<bool>,
    /// How often a module had been added ([`crate::known`]) when that was found.
    pub indexed_at: Field<u64>,
    /// [`Family::children`], if there is memory for those of its arena's nodes.
    pub children: Field<*mut Line>,
    /// The number of those that it has made since it has its arena and knows the code.
    pub lines: Field<u32>,
    /// The arena's name in the file.
    pub arena_ref: Field<Ref>,
    /// The token by which it owns the arena.
    pub token: Field<u64>,
    /// Its word in the directory, or -1.
    pub directory: Field<i32>,
    /// Its latest block.
    pub block: Field<*mut Block>,
    /// Whether that was made of what is set aside for what has no other place.
    pub is_block_spare: Field<bool>,
    /// The address of the next slot of the ring.
    pub ring_next: Field<usize>,
    /// Where something about the ring is to be done; 0 while nothing may be noted there.
    pub ring_limit: Field<usize>,
    /// The same of the spare slots ([`Scratch::spare`]), of hooks that note twice.
    pub spare_next: Field<usize>,
    pub spare_limit: Field<usize>,
    /// The frame of the call that all that is noted is made from.
    pub ring_base: Field<*mut Frame>,
    /// The first stack pointer that may be noted, and how far they reach.
    pub ring_low: Field<usize>,
    pub ring_span: Field<usize>,
    /// The arena's ring; null if it has none, or is not known to.
    pub ring: Field<*mut Ring>,
    /// What is being done with it.
    pub ring_stage: Field<Stage>,
    /// The base's call site and enter hook, if it is no body inlined into another call's frame; else 0.
    pub ring_site: Field<usize>,
    pub ring_hook: Field<u32>,
    /// Bodies inlined into the base that are open, and their functions.
    pub ring_bodies: Field<usize>,
    pub ring_body_functions: [Field<usize>; BODIES],
    /// [`Ring::sequence`] while the stretch is under way.
    pub ring_sequence: Field<u64>,
    /// How many of its slots are used, of a stretch that is over; and the address of the first.
    pub ring_used: Field<usize>,
    pub ring_first: Field<usize>,
    /// How many noted calls are open where a path is being made for the next one, and one; else 0.
    pub replayed: Field<usize>,
    /// How many of the calls that were open then have their frames.
    pub ring_reopened: Field<usize>,
    /// Slots of it that were not finished then, and whose hooks may go on; and the highest of those hooks' stack pointers.
    pub unfinished: Field<usize>,
    pub unfinished_sp: Field<usize>,
    /// Whether no more stretches may begin in this ring.
    pub ring_is_retired: Field<bool>,
    /// Memory for a replay; null as long as none is needed.
    pub scratch: Field<*mut Scratch>,
    /// When the present stretch began, in ticks.
    pub ring_began: Field<u64>,
    /// The stack pointer of the hook that ends the stretch, below which nothing of the program's stack is as it was; 0: as of who does.
    pub ring_end_sp: Field<usize>,
    /// Whether nothing that was noted is open any more: a call has begun or ended the usual way where all those were made from.
    pub ring_is_over: Field<bool>,
    /// What the thread was off the processor in the latest stretch, as long as that is on no path.
    pub ring_off: Field<Off>,
    /// Whether there is a page of ours where the parent's page of that word was.
    pub has_other_page: Field<bool>,
    /// The word of a page that the thread looks at no more, and that stays until the thread ends; null if there is none.
    pub given_up_word: Field<*const u32>,
    /// The task whose clocks are asked.
    pub tid: Field<u32>,
    /// Processor time when it was last asked.
    pub on_processor: Field<OnProcessor>,
    /// When the process began, where it is a forked child.
    pub beginning: Field<Beginning>,
    /// Changes that happen often, and whether the program had no signal handler when it was last asked after ([`crate::busy`]).
    pub changes: Field<u32>,
    pub has_no_handlers: Field<bool>,
    /// How long it was off in calls that are recorded, as far as that was asked after, in nanoseconds.
    pub off: Field<Off>,
    /// Switches of both kinds when they were last counted.
    pub context_switches: Field<[u64; 2]>,
    /// Records of time off the processor, by node.
    pub off_cpu: Table,
    /// The window of what timing costs.
    pub window: Window,
    /// Where the sequence of random numbers is.
    pub random: Field<u64>,
    /// The mapping that libc's control block of the thread lies in, up to that: the stack that it was started on, unless it is the
    /// first thread. (0, 0) = not looked up yet.
    pub own_stack: Field<(usize, usize)>,
    /// The highest stack pointer of a call that was entered while recording was paused; 0 = there was none.
    pub missed: Field<usize>,
    /// Stacks that it has been seen on: first address and end.
    pub stacks: [Field<(usize, usize)>; 4],
    /// Which of them to forget next.
    pub next_stack: Field<usize>,
    /// Where on stacks that are not run on calls are open, but for those that the index of frames has.
    pub suspended: Suspended,
    /// Where the frames of those calls lie, where there are many: see [`crate::frame_index`].
    pub suspended_frames: Chains,
    /// About how many frames between bottom and top stand for no call, as theirs lies further up now.
    pub holes: Field<usize>,
    /// The next of all states of this process.
    pub next: Field<*mut Thread>,
    /// Where the stack was as the state began to be changed ([`crate::busy`]); 0 = it is as it should be.
    pub busy: Field<usize>,
    /// The mask of signals before they were blocked for that; [`crate::sys::NO_MASK`] if they were not.
    pub signals_before: Field<u64>,
    /// How far it has moved the beginnings of open calls in all, in ticks.
    pub forgotten: Field<u64>,
    /// Up to when [`Self::forget_time_but`] last moved the beginnings of open calls, in ticks.
    pub forgot_until: Field<u64>,
    /// By how much it has moved the beginnings of open calls since their paths were told of it, in ticks.
    pub untold: Field<u64>,
    /// The least ticks that letting signals in again has taken; 0 = not known yet.
    pub unblocking: Field<u64>,
    /// Nodes whose paths gave way ([`crate::recycle`]), and that are free; those that have extensions apart.
    pub free: FreeNodes,
    pub free_extended: FreeNodes,
    /// The first record of time off the processor that is no path's any more.
    pub free_off_cpu: Field<Ref>,
    /// Nodes of the arena.
    pub path_count: Field<u32>,
    /// Where paths that may give way are looked for next: a block, and which of its nodes.
    pub hand: Field<(Ref, u32)>,
    /// Paths with more calls, or time for more, are not cold.
    pub cold: Field<u64>,
    /// How many the hand has passed of each level of weights; and how many nodes in all.
    pub weights: [Field<u32>; LEVELS],
    pub weighed: Field<u32>,
    /// The most calls, and ticks, that a path had which gave way since the search was last at the arena's first block.
    pub most_recycled: Field<(u64, u64)>,
    /// When that search is tried again where it found nothing, in ticks; 0 = it found some the last time.
    pub no_cold_until: Field<u64>,
    /// When room for paths is looked for again, in ticks; 0 = there was some the last time.
    pub no_room_until: Field<u64>,
    /// The same for what is kept for functions that have no other place.
    pub no_spare_until: Field<u64>,
    /// When an arena is looked for again, where there was none; `u64::MAX` = never.
    pub no_arena_until: Field<u64>,
    /// Whether recording has ended for good, and with it what is known of open calls: also in a child.
    pub is_given_up: Field<bool>,
    /// One past the last frame that address space is reserved for.
    pub reserved: Field<*mut Frame>,
    /// libc's name of the thread: where its record of it is.
    pub pthread: Field<usize>,
    /// Whether a thread has it.
    pub in_use: AtomicBool,
    /// Nodes found lately.
    pub path_cache: PathCache,
    /// See [`OUTSIDERS`].
    pub outsiders: [Field<usize>; OUTSIDERS],
    /// See [`KNOWN_PAGES`].
    pub known_pages: [Field<usize>; KNOWN_PAGES],
    /// Pages of code that can be read; each in the slot of its number's low bits.
    pub readable_pages: [Field<usize>; READABLE_PAGES],
    /// See [`DISTANCES`].
    pub distances: [Field<Distance>; DISTANCES],
    /// See [`FRAME_ENDS`].
    pub frame_ends: [Field<FrameEnd>; FRAME_ENDS],
}

/// Free nodes, which lead to each other: the first, and how many there are.
pub struct FreeNodes {
    pub first: Field<Ref>,
    pub count: Field<u32>,
}

/// [`Thread::reach`] where a lower stack pointer is enough.
pub const ANYWHERE: usize = 1 << 63;

/// Levels of paths that may give way, by what they weigh: so many for each power of two.
pub const PARTS: usize = 4;
/// All of them.
pub const LEVELS: usize = PARTS * 48;

impl Thread {
    /// Whether the thread's [`live`] word is this one.
    #[inline(always)]
    pub fn is(&self, state: u64) -> bool {
        self.state() == state
    }

    /// The thread's [`live`] word.
    #[inline(always)]
    pub fn state(&self) -> u64 {
        self.live.load(Ordering::Relaxed)
    }

    /// Whether it was switched out since that was last asked after.
    #[inline(always)]
    pub fn is_switched(&self) -> bool {
        // SAFETY: the kernel's word, or one of the state itself; a child looks at [`Self::live`] first.
        unsafe { self.switches.get().read_volatile() != self.seen.get() }
    }

    /// Whether its calls are only noted.
    #[inline(always)]
    pub fn is_noting(&self) -> bool {
        matches!(self.state(), live::RING | live::RING_TWICE)
    }

    /// Whether it owns an arena.
    pub fn has_arena(&self) -> bool {
        !matches!(self.state(), live::FORKED | live::LOST)
    }

    /// Whether no call is open.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.top.get() == self.bottom.get()
    }

    /// The epoch that its counters belong to.
    pub fn epoch(&self) -> u32 {
        (self.control.get() >> 32) as u32
    }

    /// From now on its counters belong to this epoch.
    pub fn join(&self, epoch: u32) {
        self.control.set(u64::from(epoch) << 32);
    }

    /// A node of the arena.
    #[inline(always)]
    pub fn node(&self, reference: Ref) -> *mut NodeRecord {
        family::at(self.base, reference)
    }

    /// Takes over the family's present filter.
    pub fn use_filter(&self) {
        let filter = self.family.filter.load(Ordering::Acquire);
        // SAFETY: filters are never given back.
        let roots = unsafe { filter.as_ref() }.and_then(|filter| filter.roots.as_ref());
        // Never more slots than there are: a handler may ask between the two.
        self.roots_mask.set(self.roots_mask.get().min(roots.map_or(0, |set| set.mask)));
        self.roots.set(roots.map_or(ptr::null(), |set| set.slots));
        self.roots_mask.set(roots.map_or(0, |set| set.mask));
        // SAFETY: the bottom frame is always there.
        unsafe { (*self.bottom.get()).position = if roots.is_some() { SKIPPED } else { ROOT } };
    }

    /// Whether everything is recorded, or the function is a root.
    #[inline(always)]
    pub fn is_root(&self, function: usize) -> bool {
        // SAFETY: the slots are as many as the mask says.
        unsafe { crate::filter::contains(self.roots.get(), self.roots_mask.get(), function) }
    }

    /// Whether the function's page is known to be a known module's.
    #[inline(always)]
    pub fn knows(&self, function: usize) -> bool {
        let page = function >> 12;
        self.known_pages[page % KNOWN_PAGES].get() == page
    }

    /// Frames there is memory for.
    pub fn frames(&self) -> usize {
        // SAFETY: pointers into one mapping.
        unsafe { self.limit.get().offset_from(self.bottom.get()) as usize }
    }

    /// Frames there may ever be memory for.
    pub fn most_frames(&self) -> usize {
        // SAFETY: pointers into one mapping.
        unsafe { self.reserved.get().offset_from(self.bottom.get()) as usize }
    }

    /// Calls that are open.
    pub fn depth(&self) -> usize {
        // SAFETY: pointers into one mapping.
        unsafe { self.top.get().offset_from(self.bottom.get()) as usize }
    }

    /// Whether the function is known to be outside every root.
    #[inline(always)]
    pub fn is_outsider(&self, function: usize) -> bool {
        self.outsiders[(function >> 4) % OUTSIDERS].get() == function
    }

    /// Whether there is news in the control words: recording is paused, or its counters were reset.
    #[inline(always)]
    pub fn is_controlled(&self) -> bool {
        // SAFETY: the header is mapped; both words are aligned as one.
        unsafe { (&raw const (*self.base.cast::<Header>()).paused).cast::<u64>().read_volatile() != self.control.get() }
    }

    /// Whether recording is paused, by the control word in the file.
    #[inline(always)]
    pub fn is_paused(&self) -> bool {
        // SAFETY: the header is mapped.
        unsafe { (&raw const (*self.base.cast::<Header>()).paused).read_volatile() != 0 }
    }

    /// Notes that a call is not recorded, as recording is paused: its exit is that of no open one.
    #[inline(always)]
    pub fn miss(&self, sp: usize) {
        if sp > self.missed.get() {
            self.missed.set(sp);
        }
    }

    /// Whether the counters have been reset since the thread's began, by the control word in the file.
    #[inline(always)]
    pub fn is_reset(&self) -> bool {
        // SAFETY: the header is mapped.
        unsafe { (&raw const (*self.base.cast::<Header>()).epoch).read_volatile() != self.epoch() }
    }

    /// Whether no root is open, and the function is known to be none.
    #[inline(always)]
    pub fn is_outside(&self, function: usize) -> bool {
        self.is_empty() && self.is_outsider(function)
    }

    /// A random number below `end`.
    pub fn random_below(&self, end: u32) -> u32 {
        // Marsaglia's xorshift, scaled by its high half.
        let mut random = self.random.get();
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        self.random.set(random);
        (((random >> 32) * u64::from(end)) >> 32) as u32
    }

    /// Takes the time since `began`, which the recorder spent on something rare, off all open calls (see [`crate::spent`]). What
    /// had been taken off up to `began` is given, as part of the time since may have been already; and so many ticks more are about
    /// to be spent.
    ///
    /// Not where the thread was switched out meanwhile: what it was off is told of the path that has that time. Says whether it was
    /// taken off.
    pub fn forget_time_but(&self, began: u64, forgotten: u64, to_come: u64) -> bool {
        let now = clock::now(self.family.clock);
        // After the clock: what the thread is off from now on is in nothing that is taken off.
        if self.is_switched() {
            return false;
        }
        let before = self.forgotten.get();
        let spent = now.saturating_sub(began).saturating_sub(before.wrapping_sub(forgotten));
        self.forgotten.set(before.wrapping_add(spent + to_come));
        self.forgot_until.set(now);
        self.untold.set(self.untold.get().wrapping_add(spent));
        let mut ticks = spent;
        if self.untold.get().cast_signed() >= WORTH_TELLING {
            // Without what is to come: some of that may be given back, and what was told is never earlier again.
            self.move_beginnings(|began| ticks.min(now.saturating_sub(began)));
            self.tell_beginnings();
            ticks = 0;
        }
        self.forgot_until.set(now + to_come);
        self.untold.set(self.untold.get().wrapping_add(to_come));
        self.move_beginnings(|began| ticks.min(now.saturating_sub(began)) + to_come);
        true
    }

    /// Gives all open calls so many ticks back that were taken off and not spent: a call may have next to no time of its own, and would
    /// end with less than nothing.
    ///
    /// A signal handler may come in between: each of its additions stands, as do these.
    pub fn give_back(&self, ticks: u64) {
        let back = ticks.wrapping_neg();
        for sum in [&self.forgotten, &self.forgot_until, &self.untold] {
            // SAFETY: the words are the thread's.
            unsafe { arch::add(sum.as_ptr().cast_mut(), back) };
        }
        self.move_beginnings(|_| back);
    }

    /// Lets all open calls begin later, by as many ticks as is told for when they began.
    ///
    /// What is spent from a moment on until now is no part of a call for longer than that has lasted: one that began since may be open, where a
    /// signal handler in between has ended a calibration window, and the calls noted in it were given their frames.
    fn move_beginnings(&self, later: impl Fn(u64) -> u64) {
        let mut frame = self.top.get();
        while frame > self.bottom.get() {
            // SAFETY: frames between bottom and top are there.
            unsafe {
                arch::add(&raw mut (*frame).start, later((*frame).start));
                frame = frame.sub(1);
            }
        }
    }

    /// Tells in the file when open calls began, less what was taken off since: whoever reads it, or what is left of it, goes by
    /// that.
    pub fn tell_beginnings(&self) {
        let untold = self.untold.get();
        self.untold.set(0);
        if !self.has_arena() {
            return; // the paths are another's
        }
        let arena = self.arena.get();
        // First: who reads in between finds no call that began later than it has lasted. SAFETY: the arena is the thread's.
        unsafe {
            (&raw mut (*arena).told_at).write_volatile(self.forgot_until.get().max(clock::now(self.family.clock)));
            arch::add(&raw mut (*arena).spent, untold);
        }
        let mut frame = self.top.get();
        while frame > self.bottom.get() {
            // SAFETY: frames between bottom and top are there, and their nodes are in the mapping.
            unsafe {
                let is_timed = (*frame).bits & (bits::UNTIMED | bits::COUNTED) == 0;
                if (*frame).position != 0 && (*frame).node > ROOT && is_timed {
                    let mark = &raw mut (*slot(self.base, self.node((*frame).node), (*frame).bits)).mark;
                    let (told, began) = (mark.read_volatile(), (*frame).start & !mark::BITS);
                    // Of several calls of one node it is the latest, which was met first.
                    if told & mark::OPEN != 0 && told & !mark::BITS != 0 && began > told & !mark::BITS {
                        arch::replace(mark, told, began | told & mark::BITS);
                    }
                }
                frame = frame.sub(1);
            }
        }
    }

    /// Ends the thread's recording for good: its calls are counted by function from now on.
    pub fn give_up(&self) {
        self.is_given_up.set(true);
        self.no_arena_until.set(u64::MAX);
        self.live.store(live::LOST, Ordering::Relaxed);
    }

    /// Whether it has no arena, but may find one now.
    pub fn may_settle(&self) -> bool {
        // The clock may be forbidden for good.
        self.state() == live::LOST
            && self.no_arena_until.get() != u64::MAX
            && !self.is_before(self.no_arena_until.get())
    }

    /// Whether there was no room for paths a moment ago.
    pub fn is_short_of_room(&self) -> bool {
        self.is_before(self.no_room_until.get())
    }

    /// Whether there was not even room for functions that have no other place.
    pub fn is_short_of_spare_room(&self) -> bool {
        self.is_before(self.no_spare_until.get())
    }

    /// Whether that moment, in ticks, is still to come; 0 is none.
    pub fn is_before(&self, until: u64) -> bool {
        until != 0 && clock::now(self.family.clock) < until
    }
}

// The two control words are read as one.
const _: () = assert!(
    offset_of!(Header, paused).is_multiple_of(8) && offset_of!(Header, epoch) == offset_of!(Header, paused) + 4
);
