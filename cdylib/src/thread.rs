//! What a thread knows: its shadow stack, its arena, its indices. Private memory, reached through one thread-local word.

use crate::arch;
use crate::arena;
use crate::clock;
use crate::family::{self, Family};
use crate::path;
use crate::sys::{self, SignalsBlocked};
use crate::table::Table;
use core::mem::offset_of;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use profile::header::clock::TSC;
use profile::node::{ROOT, SKIPPED, mark};
use profile::{Arena, Block, GRANULE, NodeRecord, Ref, Slot};

/// Values of [`Thread::live`].
pub mod live {
    /// The thread's memory is that of a process that forked this one: it must find an arena of its own first.
    pub const FORKED: u64 = 0;
    /// Recording, by the time stamp counter.
    pub const TSC: u64 = 1;
    /// Recording, by `clock_gettime`.
    pub const GETTIME: u64 = 2;
    /// There was no arena for it: its calls are lost, and counted as such.
    pub const LOST: u64 = 3;
    /// Recording, but a library was unloaded: what is known of addresses must be looked through first.
    pub const STALE: u64 = 4;
}

/// Bits of [`Frame::bits`].
pub mod bits {
    /// Which of its node's slots the call counts in.
    pub const SLOT: u32 = 1;
    /// The call is not recorded, only counted for its hooks' cost.
    pub const UNTIMED: u32 = 2;
    /// The call was open when this process was forked: not counted again.
    pub const INHERITED: u32 = 4;
}

/// A call that is open. One cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Frame {
    /// Stack pointer at its enter hook. `usize::MAX` in frames that are not filled in (a signal handler may find one
    /// on top), and in the one at the bottom.
    pub sp: usize,
    /// The function.
    pub function: usize,
    /// The call site.
    pub site: usize,
    /// Return address of the enter hook.
    pub hook: usize,
    /// When it began, in ticks.
    pub start: u64,
    /// [`Thread::count`] when it began.
    pub count: u64,
    /// Its node.
    pub node: Ref,
    /// The node that its calls are made from; 0 in a frame that is not filled in.
    pub position: Ref,
    /// [`bits`] of this call.
    pub bits: u32,
    /// Slot of the calls it makes.
    pub inside: u32,
}

impl Frame {
    /// A frame that stands for no call.
    pub const EMPTY: Frame = Frame {
        sp: usize::MAX,
        function: 0,
        site: 0,
        hook: 0,
        start: 0,
        count: 0,
        node: 0,
        position: 0,
        bits: 0,
        inside: 0,
    };
}

/// Pages whose code is known to belong to a known module; each in the slot of its number's low bits.
pub const KNOWN_PAGES: usize = 512;

/// Nodes found lately. The children of one parent lie side by side, in one cache line.
pub const PATH_CACHE: usize = 1024;

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
    live: AtomicU64,
    rest_of_page: [u64; 511],
    /// The latest open call.
    pub top: *mut Frame,
    /// Where the family's file is mapped.
    pub base: *mut u8,
    /// The arena.
    pub arena: *mut Arena,
    /// Calls recorded so far.
    pub count: u64,
    /// What is subtracted from a call's time, in 1/1024 ticks: for itself …
    pub inner: u64,
    /// … and for each call made inside.
    pub pair: u64,
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
    /// Stacks that it has been seen on: first address and end.
    pub stacks: [(usize, usize); 4],
    /// Which of them to forget next.
    pub next_stack: usize,
    /// The next of all states of this process.
    next: *mut Thread,
    /// Whether a thread has it.
    in_use: AtomicBool,
    /// See [`PATH_CACHE`].
    pub path_cache: [Ref; PATH_CACHE],
    /// See [`KNOWN_PAGES`].
    pub known_pages: [usize; KNOWN_PAGES],
    /// See [`DISTANCES`].
    pub distances: [Distance; DISTANCES],
}

const FIRST_FRAMES: usize = 256;
/// Calls deeper than this are lost: a gigabyte of frames.
const MOST_FRAMES: usize = 1 << 24;

impl Thread {
    /// State for a thread of `family`, with no arena yet.
    pub fn new(family: &'static Family) -> sys::Result<*mut Thread> {
        let thread = sys::map_memory(size_of::<Thread>())?.cast::<Thread>();
        let frames = map_frames(FIRST_FRAMES)?;
        // SAFETY: both mappings are new and large enough.
        unsafe {
            sys::wipe_on_fork(thread.cast(), GRANULE)?;
            let header = family.header();
            let (inner, outer) = ((*header).inner_cost, (*header).outer_cost);
            (&raw mut (*thread).top).write(frames);
            (&raw mut (*thread).bottom).write(frames);
            (&raw mut (*thread).limit).write(frames.add(FIRST_FRAMES));
            (&raw mut (*thread).base).write(family.base);
            (&raw mut (*thread).nodes).write(Table::new()?);
            (&raw mut (*thread).functions).write(Table::new()?);
            (&raw mut (*thread).family).write(family);
            (&raw mut (*thread).inner).write(inner);
            (&raw mut (*thread).pair).write(inner + outer);
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

    /// Makes room for more frames. False if there is none.
    pub fn grow(&mut self) -> bool {
        // SAFETY: pointers into one mapping.
        let (len, at) = unsafe { (self.limit.offset_from(self.bottom), self.top.offset_from(self.bottom)) };
        let (len, at) = (len as usize, at as usize);
        if len >= MOST_FRAMES {
            return false;
        }
        let _blocked = SignalsBlocked::new();
        let Ok(frames) = map_frames(len * 2) else { return false };
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

    /// Takes an arena, and puts the calls that are open into it.
    pub fn settle(&mut self) {
        self.live.store(live::LOST, Ordering::Relaxed);
        if !arena::claim(self) {
            return;
        }
        self.count = 0;
        self.last = clock::now(self.family.clock);
        self.inherit();
        self.forget_time_since(self.last);
        self.record();
    }

    /// Gives the calls that were open at the fork their place in this process's own arena.
    fn inherit(&mut self) {
        // SAFETY: frames between bottom and top are there; the nodes of the parent's arena stay in the file.
        unsafe {
            let mut frame = self.bottom.add(1);
            while frame <= self.top {
                self.inherit_frame(frame);
                frame = frame.add(1);
            }
        }
    }

    unsafe fn inherit_frame(&mut self, frame: *mut Frame) {
        // SAFETY: the caller's frame, and the one below it.
        unsafe {
            let below = &*frame.sub(1);
            let frame = &mut *frame;
            if frame.position == 0 {
                return; // its enter hook was interrupted by the signal handler that forked, and goes on by itself
            }
            let position = if below.position == 0 { ROOT } else { below.position };
            if frame.bits & bits::UNTIMED != 0 && frame.position == SKIPPED {
                frame.node = below.node;
                return;
            }
            let parent = if position == SKIPPED { path::recorded_position(self, below) } else { position };
            let Some(node) = path::child(self, parent, frame.function, frame.site, frame.hook) else {
                (frame.node, frame.position, frame.bits) = (0, SKIPPED, bits::UNTIMED);
                return;
            };
            let record = self.node(node);
            frame.node = node;
            frame.position = (*record).position;
            frame.bits = below.inside | bits::INHERITED | frame.bits & bits::UNTIMED;
            frame.inside = below.inside | (*record).flags & bits::SLOT;
            frame.start = self.last;
            frame.count = self.count;
            if frame.bits & bits::UNTIMED == 0 {
                slot(record, below.inside).mark = self.last & !mark::BITS | mark::OPEN | mark::INHERITED;
            }
        }
    }

    fn record(&self) {
        let state = if self.family.clock == TSC { live::TSC } else { live::GETTIME };
        self.live.store(state, Ordering::Relaxed);
    }

    /// Forgets what lay at addresses of libraries that are gone.
    fn look_through(&mut self) {
        self.record(); // first: another library may be unloaded meanwhile
        self.known_pages.fill(0);
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
            if matches!(state.state(), live::TSC | live::GETTIME | live::STALE) {
                arena::release(state);
            }
            state.live.store(live::FORKED, Ordering::Relaxed);
            while state.top > state.bottom {
                state.top.write(Frame::EMPTY);
                state.top = state.top.sub(1);
            }
            state.stacks = Default::default();
            state.known_pages.fill(0);
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
            let frames = self.limit.offset_from(self.bottom) as usize;
            sys::unmap(self.bottom.cast(), frames * size_of::<Frame>());
            sys::unmap((&raw mut *self).cast(), size_of::<Thread>());
        }
    }
}

/// The counters of a node that a call counts in.
///
/// # Safety
/// The node must be in the mapping.
#[inline(always)]
pub unsafe fn slot<'a>(node: *mut NodeRecord, bits: u32) -> &'a mut Slot {
    const APART: usize = offset_of!(NodeRecord, folded_slot) - offset_of!(NodeRecord, slot);
    // SAFETY: the caller's promise; a node has two slots.
    unsafe { &mut *(&raw mut (*node).slot).byte_add((bits & bits::SLOT) as usize * APART) }
}

fn map_frames(count: usize) -> sys::Result<*mut Frame> {
    let frames = sys::map_memory(count * size_of::<Frame>())?.cast::<Frame>();
    for index in 0..count {
        // SAFETY: the mapping has room for them.
        unsafe { frames.add(index).write(Frame::EMPTY) };
    }
    Ok(frames)
}

/// The state of the calling thread, ready to record or to lose; null if nothing is recorded here.
pub fn current() -> *mut Thread {
    let is_ready = |thread: *mut Thread| {
        // SAFETY: a thread's state is valid as long as its word leads to it.
        !thread.is_null() && !matches!(unsafe { (*thread).state() }, live::FORKED | live::STALE)
    };
    let thread = arch::thread();
    if is_ready(thread) {
        return thread;
    }
    if family::is_off() {
        return ptr::null_mut();
    }
    let _blocked = SignalsBlocked::new();
    let thread = arch::thread(); // a signal handler may have been faster
    // SAFETY: as above.
    unsafe {
        if thread.is_null() {
            return attach();
        }
        match (*thread).state() {
            live::FORKED => (*thread).settle(),
            live::STALE => (*thread).look_through(),
            _ => {}
        }
    }
    thread
}

fn attach() -> *mut Thread {
    let Some(family) = crate::life::family() else { return ptr::null_mut() };
    let Some(thread) = take_state(family) else { return ptr::null_mut() };
    // SAFETY: the state is complete but for its arena.
    unsafe {
        (*thread).use_filter();
        (*thread).settle();
    }
    arch::set_thread(thread);
    crate::life::watch_end_of(thread);
    thread
}

/// All states of this process: threads come and go, states stay.
static STATES: AtomicPtr<Thread> = AtomicPtr::new(ptr::null_mut());

/// Calls `each` for every state of this process.
fn each_state(mut each: impl FnMut(&Thread) -> bool) -> *mut Thread {
    let mut state = STATES.load(Ordering::Acquire);
    // SAFETY: states in the list stay; only their own threads change more than their atomic words.
    while !state.is_null() && !each(unsafe { &*state }) {
        // SAFETY: as above.
        state = unsafe { (*state).next };
    }
    state
}

/// A state that an ended thread has left, or a new one.
fn take_state(family: &'static Family) -> Option<*mut Thread> {
    let is_free =
        |state: &Thread| state.in_use.compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed).is_ok();
    let left = each_state(is_free);
    if !left.is_null() {
        return Some(left);
    }
    let new = Thread::new(family).ok()?;
    // SAFETY: nobody has seen the state yet.
    unsafe {
        (*new).in_use.store(true, Ordering::Relaxed);
        let mut first = STATES.load(Ordering::Acquire);
        loop {
            (*new).next = first;
            match STATES.compare_exchange(first, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(new),
                Err(other) => first = other,
            }
        }
    }
}

/// Has every thread look through what it knows of addresses: a library is gone.
pub fn make_stale() {
    each_state(|state| {
        for recording in [live::TSC, live::GETTIME] {
            let _ = state.live.compare_exchange(recording, live::STALE, Ordering::AcqRel, Ordering::Relaxed);
        }
        false
    });
}
