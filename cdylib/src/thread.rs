//! What a thread knows: its shadow stack, its arena, its indices. Private memory, reached through one thread-local word.

use crate::arch;
use crate::arena;
use crate::clock;
use crate::family::{self, Family};
use crate::fork;
use crate::frame::{self, Frame, bits};
use crate::sys::{self, SignalsBlocked};
use crate::table::Table;
use crate::trial::{self, Trial};
use core::mem::offset_of;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use profile::header::clock::TSC;
use profile::header::timing;
use profile::node::{ROOT, SKIPPED};
use profile::{Arena, Block, GRANULE, NodeRecord, Ref, Slot};

/// Values of [`Thread::live`].
pub mod live {
    /// The thread's memory is that of a process that forked this one: it must find an arena of its own first.
    pub const FORKED: u64 = 0;
    /// Recording, by the time stamp counter.
    pub const TSC: u64 = 1;
    /// Counting calls, and timing some by the time stamp counter.
    pub const COUNTED: u64 = 2;
    /// Recording, by `clock_gettime`.
    pub const GETTIME: u64 = 3;
    /// Counting calls, and timing some by `clock_gettime`.
    pub const COUNTED_GETTIME: u64 = 4;
    /// There was no arena for it: its calls are lost, and counted as such.
    pub const LOST: u64 = 5;
    /// Recording, but a library was unloaded: what is known of addresses must be looked through first.
    pub const STALE: u64 = 6;
    /// Counting calls by the time stamp counter, and timing the hooks that do.
    pub const PROBED: u64 = 7;
}

/// Pages whose code is known to belong to a known module; each in the slot of its number's low bits.
pub const KNOWN_PAGES: usize = 512;

/// See [`Thread::readable_pages`].
pub const READABLE_PAGES: usize = 256;

/// Functions known to be outside every root; each in the slot of its address.
pub const OUTSIDERS: usize = 512;

/// Nodes found lately. The children of one parent lie side by side, in one cache line.
pub const PATH_CACHE: usize = 2048;

/// Hooks of which is known how far above their stack pointer the return address lies.
pub const DISTANCES: usize = 256;

/// That distance, in bytes, for one hook.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Distance {
    /// The hook's own return address.
    pub hook: usize,
    /// The distance.
    pub bytes: usize,
}

/// A thread's state.
#[repr(C, align(4096))]
pub struct Thread {
    /// See [`live`]. Alone on its page, which a fork wipes.
    pub live: AtomicU64,
    rest_of_page: [u64; 511],
    /// The latest open call.
    pub top: *mut Frame,
    /// Where the family's file is mapped.
    pub base: *mut u8,
    /// The arena.
    pub arena: *mut Arena,
    /// Calls timed so far.
    pub count: u64,
    /// [`Thread::count`] at which something about trials is to be done.
    pub next_trial: u64,
    /// Calls counted so far without being timed.
    pub counted: u64,
    /// [`Thread::counted`] at which a trial's stretch of counted calls ends.
    pub end_of_stretch: u64,
    /// What is subtracted from a call's time, in 1/1024 ticks: for itself …
    pub inner: u64,
    /// … and for each call made inside.
    pub pair: u64,
    /// … and for each that was counted only.
    pub counted_pair: u64,
    /// The header's control words as they are when there is nothing to do: not paused, and the epoch that its counters belong
    /// to.
    pub control: u64,
    /// The latest moment, in ticks.
    pub last: u64,
    /// One past the last frame there is memory for.
    pub limit: *mut Frame,
    /// Addresses of roots; a power of two of them, 0 = empty. Null if everything is recorded.
    pub roots: *const usize,
    /// One less than their number.
    pub roots_mask: usize,
    /// The frame below the first call.
    pub bottom: *mut Frame,
    /// Function records by address.
    pub functions: Table,
    /// The family.
    pub family: &'static Family,
    /// Nodes by parent, function, call site and hook.
    pub nodes: Table,
    /// The arena's name in the file.
    pub arena_ref: Ref,
    /// Its word in the directory, or -1.
    pub directory: i32,
    /// Its latest block.
    pub block: *mut Block,
    /// What the hooks took in the present stretch of a trial, in ticks.
    pub probed: u64,
    /// When the latest blank ended ([`crate::sampling::BLANK`]), in ticks.
    pub blank_ended: u64,
    /// Blanks since the last trial, and what they took, in ticks.
    pub blanks: u32,
    pub blank_ticks: u64,
    /// The trial of what timing costs.
    pub trial: Trial,
    /// Where the sequence of random numbers is.
    pub random: u64,
    /// Stacks that it has been seen on: first address and end.
    pub stacks: [(usize, usize); 4],
    /// Which of them to forget next.
    pub next_stack: usize,
    /// The next of all states of this process.
    pub next: *mut Thread,
    /// Whether a thread has it.
    pub in_use: AtomicBool,
    /// See [`PATH_CACHE`].
    pub path_cache: [Ref; PATH_CACHE],
    /// See [`OUTSIDERS`].
    pub outsiders: [usize; OUTSIDERS],
    /// See [`KNOWN_PAGES`].
    pub known_pages: [usize; KNOWN_PAGES],
    /// Pages of code that can be read; each in the slot of its number's low bits.
    pub readable_pages: [usize; READABLE_PAGES],
    /// See [`DISTANCES`].
    pub distances: [Distance; DISTANCES],
}

const FIRST_FRAMES: usize = 256;
/// Calls deeper than this are lost: a gigabyte of frames.
const MOST_FRAMES: usize = 1 << 24;

impl Thread {
    /// State for a thread of `family`, with no arena yet.
    pub fn new(family: &'static Family) -> sys::Result<*mut Thread> {
        // All at once: what there is no room for must not be half taken, again and again.
        const FRAMES: usize = FIRST_FRAMES * size_of::<Frame>();
        let memory = sys::map_memory(size_of::<Thread>() + FRAMES + 2 * Table::FIRST_SIZE)?;
        let thread = memory.cast::<Thread>();
        // SAFETY: the mapping is new and has room for all of them; each begins a page, and may be given back by itself.
        unsafe {
            let frames = memory.add(size_of::<Thread>()).cast();
            let [nodes, functions] = [0, Table::FIRST_SIZE].map(|at| memory.add(size_of::<Thread>() + FRAMES + at));
            frame::clear(frames, FIRST_FRAMES);
            sys::wipe_on_fork(thread.cast(), GRANULE)?;
            let header = family.header();
            let (inner, outer) = ((*header).inner_cost, (*header).outer_cost);
            (&raw mut (*thread).top).write(frames);
            (&raw mut (*thread).bottom).write(frames);
            (&raw mut (*thread).limit).write(frames.add(FIRST_FRAMES));
            (&raw mut (*thread).base).write(family.base);
            (&raw mut (*thread).nodes).write(Table::new(nodes));
            (&raw mut (*thread).functions).write(Table::new(functions));
            (&raw mut (*thread).family).write(family);
            (&raw mut (*thread).inner).write(inner);
            (&raw mut (*thread).pair).write(inner + outer);
            (&raw mut (*thread).counted_pair).write((*header).counted_cost);
            (&raw mut (*thread).random).write(crate::sampling::seed(thread.addr()));
            (&raw mut (*thread).directory).write(-1);
            (*thread).use_filter();
        }
        Ok(thread)
    }

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

    /// Whether it owns an arena.
    pub fn has_arena(&self) -> bool {
        !matches!(self.state(), live::FORKED | live::LOST)
    }

    /// Whether no call is open.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.top == self.bottom
    }

    /// The epoch that its counters belong to.
    pub fn epoch(&self) -> u32 {
        (self.control >> 32) as u32
    }

    /// From now on its counters belong to the present epoch.
    pub fn join_epoch(&mut self) {
        // SAFETY: the header is mapped.
        let epoch = unsafe { (&raw const (*self.family.header()).epoch).read_volatile() };
        self.control = u64::from(epoch) << 32;
    }

    /// A node of the arena.
    #[inline(always)]
    pub fn node(&self, reference: Ref) -> *mut NodeRecord {
        family::at(self.base, reference)
    }

    /// Takes over the family's present filter.
    pub fn use_filter(&mut self) {
        let filter = self.family.filter.load(Ordering::Acquire);
        // SAFETY: filters are never given back.
        let roots = unsafe { filter.as_ref() }.and_then(|filter| filter.roots.as_ref());
        (self.roots, self.roots_mask) = roots.map_or((ptr::null(), 0), |set| (set.slots, set.mask));
        // SAFETY: the bottom frame is always there.
        unsafe { (*self.bottom).position = if roots.is_some() { SKIPPED } else { ROOT } };
    }

    /// Whether everything is recorded, or the function is a root.
    #[inline(always)]
    pub fn is_root(&self, function: usize) -> bool {
        // SAFETY: the slots are as many as the mask says.
        unsafe { crate::filter::contains(self.roots, self.roots_mask, function) }
    }

    /// Whether the function's page is known to be a known module's.
    #[inline(always)]
    pub fn knows(&self, function: usize) -> bool {
        let page = function >> 12;
        self.known_pages[page % KNOWN_PAGES] == page
    }

    /// Frames there is memory for.
    pub fn frames(&self) -> usize {
        // SAFETY: pointers into one mapping.
        unsafe { self.limit.offset_from(self.bottom) as usize }
    }

    /// Whether the function is known to be outside every root.
    #[inline(always)]
    pub fn is_outsider(&self, function: usize) -> bool {
        self.outsiders[(function >> 4) % OUTSIDERS] == function
    }

    /// A random number below `end`.
    pub fn random_below(&mut self, end: u32) -> u32 {
        // Marsaglia's xorshift, scaled by its high half.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (((self.random >> 32) * u64::from(end)) >> 32) as u32
    }

    /// Makes room for more frames. False if there is none.
    pub fn grow(&mut self) -> bool {
        // SAFETY: pointers into one mapping.
        let (len, at) = (self.frames(), unsafe { self.top.offset_from(self.bottom) } as usize);
        if len >= MOST_FRAMES {
            return false;
        }
        let _blocked = SignalsBlocked::new();
        let Ok(frames) = frame::map(len * 2) else {
            self.family.warn_of_little_memory();
            return false;
        };
        // SAFETY: the new mapping is twice as large; nothing but `self` leads to the old one.
        unsafe {
            ptr::copy_nonoverlapping(self.bottom, frames, len);
            sys::unmap(self.bottom.cast(), len * size_of::<Frame>());
            self.bottom = frames;
            self.top = frames.add(at);
            self.limit = frames.add(len * 2);
        }
        true
    }

    /// Takes the time since `began`, which the recorder spent on something rare, off all open calls.
    pub fn forget_time_since(&mut self, began: u64) {
        let spent = clock::now(self.family.clock).saturating_sub(began);
        // SAFETY: frames between bottom and top are there.
        unsafe {
            let mut frame = self.top;
            while frame > self.bottom {
                (*frame).start += spent;
                frame = frame.sub(1);
            }
        }
    }

    /// Adds what a hook took that began then, if its call, whose frame has these bits, is not timed: what times it, and
    /// what makes a new path, is no part of what counting costs.
    pub fn probe(&mut self, began: u64, frame_bits: u8) {
        let took = arch::ticks().wrapping_sub(began);
        if frame_bits & !bits::SLOT == bits::COUNTED {
            self.probed += took;
        }
    }

    /// Takes an arena, and puts the calls that are open into it.
    pub fn settle(&mut self) {
        self.live.store(live::LOST, Ordering::Relaxed);
        self.join_epoch();
        if clock::STOPPED.load(Ordering::Relaxed) || !arena::claim(self) {
            return;
        }
        (self.count, self.counted) = (0, 0);
        trial::schedule(self);
        self.last = clock::now(self.family.clock);
        fork::inherit(self);
        self.forget_time_since(self.last);
        self.record();
    }

    fn record(&self) {
        let state = match (self.family.settings.timing, self.family.clock) {
            (timing::ALL, TSC) => live::TSC,
            (_, TSC) => live::COUNTED,
            (timing::ALL, _) => live::GETTIME,
            _ => live::COUNTED_GETTIME,
        };
        self.live.store(state, Ordering::Relaxed);
    }

    /// Forgets what lay at addresses of libraries that are gone.
    pub fn look_through(&mut self) {
        self.record(); // first: another library may be unloaded meanwhile
        self.known_pages.fill(0);
        self.outsiders.fill(0);
        self.readable_pages.fill(0);
        self.use_filter();
        arena::index_what_is_there(self);
    }

    /// Ends the thread's recording: its counts stay, its arena and its state are free for another thread.
    pub fn end(thread: *mut Thread) {
        let _blocked = SignalsBlocked::new();
        arch::set_thread(ptr::null_mut());
        // SAFETY: nothing leads to the state any more but the list of all states, which asks whether it is in use.
        unsafe {
            let state = &mut *thread;
            if state.has_arena() {
                arena::release(state);
            }
            state.live.store(live::FORKED, Ordering::Relaxed);
            while state.top > state.bottom {
                state.top.write(Frame::EMPTY);
                state.top = state.top.sub(1);
            }
            state.stacks = Default::default();
            state.known_pages.fill(0);
            state.outsiders.fill(0);
            state.in_use.store(false, Ordering::Release);
        }
    }

    /// Gives the memory back.
    ///
    /// # Safety
    /// Nothing may use the state afterwards.
    pub unsafe fn free(&mut self) {
        self.nodes.free();
        self.functions.free();
        // SAFETY: the caller's promise.
        unsafe {
            sys::unmap(self.bottom.cast(), self.frames() * size_of::<Frame>());
            sys::unmap((&raw mut *self).cast(), size_of::<Thread>());
        }
    }
}

/// The counters of a node that a call counts in.
///
/// # Safety
/// The node must be in the mapping.
#[inline(always)]
pub unsafe fn slot<'a>(node: *mut NodeRecord, bits: u8) -> &'a mut Slot {
    const APART: usize = offset_of!(NodeRecord, folded_slot) - offset_of!(NodeRecord, slot);
    // SAFETY: the caller's promise; a node has two slots.
    unsafe { &mut *(&raw mut (*node).slot).byte_add((bits & bits::SLOT) as usize * APART) }
}
