//! The family: one file, mapped by the first process of a program and all that it forks.

use crate::clock;
use crate::filter::Filter;
use crate::known::Known;
use crate::line::Line;
use crate::settings::Settings;
use crate::sys::{self, Errno, Fd};
use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use profile::block::BLOCK_MAGIC;
use profile::header::{ANCHORS, CheckedAnchor};
use profile::protocol::directory::{self, Token};
use profile::protocol::{anchors, by_function, space};
use profile::{BLOCKS_START, Block, FunctionCount, GRANULE, Header, Ref, UNIT};

static FAMILY: AtomicPtr<Family> = AtomicPtr::new(core::ptr::null_mut());

/// Set when there can be no family (no place for its file, say): the hooks do nothing then.
static OFF: AtomicBool = AtomicBool::new(false);

/// What the processes of a family share, and this process's own view of it.
pub struct Family {
    /// Where the file is mapped; the same address in every process.
    pub base: *mut u8,
    /// Bytes of address space mapped: the most the file can grow to.
    pub mapped: usize,
    /// The file, unless this is the rehearsal of the cost measurement.
    pub file: Option<File>,
    /// The variables.
    pub settings: Settings,
    /// Which clock.
    pub clock: u32,
    /// A page that a fork wipes.
    pub process: *mut Process,
    /// The modules seen by this process: [`Family::known`].
    pub modules: AtomicPtr<Known>,
    /// Whoever has forked last, as it sees itself, and its PID namespace: [`Family::pass_on_namespace`].
    pub forking: AtomicU64,
    /// Where this process keeps the first children of nodes ([`crate::children`]); null if it does not.
    pub children: AtomicPtr<Line>,
    /// Addresses of roots and excluded functions.
    pub filter: AtomicPtr<Filter>,
    /// The latest of all that were in use: [`Filter::earlier`].
    pub filters: AtomicPtr<Filter>,
}

// SAFETY: what the pointers lead to is changed by atomic operations, or by the one thread that owns it.
unsafe impl Sync for Family {}
// SAFETY: what the pointers lead to belongs to no thread, and stays mapped.
unsafe impl Send for Family {}

/// What a process knows of itself; reads as zeros in a child until it has recorded something.
#[repr(C)]
pub struct Process {
    /// Number in the family, from 1; 0 = not numbered yet.
    pub number: AtomicU32,
    /// Threads that have recorded so far.
    pub threads: AtomicU32,
    /// When it began to record, in ticks.
    pub started: AtomicU64,
    /// Inode number of its PID namespace; 0 = not asked for yet, or not known.
    pub pid_namespace: AtomicU64,
}

/// The file behind the mapping. No descriptor of it stays open in the program: it is opened by its path to grow.
///
/// A program with privileges may give them up, or change its root, and then cannot open the file any more. So its file
/// is made longer than it is full, by a hole that takes no disk space, and the mapping itself asks for the space.
pub struct File {
    path: &'static CStr,
    device: u64,
    inode: u64,
    /// Bytes of the hole; 0 for a program that will always be able to open the file.
    hole: usize,
}

/// Most bytes that are set aside for calls by function: room for 16,000 functions.
const MOST_COUNTS: usize = 256 << 10;

/// What a program that gives up its privileges can still fill: all of a file of the usual size. A server's workers may have hundreds
/// of threads, of which none may make the file longer. Where files may not be so long, the second is tried.
const HOLE: usize = 256 << 20;
const SMALLER_HOLE: usize = 32 << 20;

impl File {
    /// An open file, whose path stays valid.
    pub fn new(fd: Fd, path: &'static CStr) -> sys::Result<Self> {
        let stat = fd.stat()?;
        let hole = if sys::is_privileged() { HOLE } else { 0 };
        Ok(Self { path, device: stat.device, inode: stat.inode, hole })
    }

    /// Makes the file have at least `end` bytes, those from `offset` on with the disk's promise if there is no hole.
    /// Returns how many it has.
    fn extend(&self, offset: usize, end: usize, most: usize) -> sys::Result<usize> {
        let fd = Fd::open(self.path, libc::O_RDWR | libc::O_NOFOLLOW)?;
        let result = match fd.stat() {
            Ok(stat) if (stat.device, stat.inode) == (self.device, self.inode) => {
                self.extend_open(fd, offset, end, most)
            }
            Ok(_) => Err(Errno(libc::ESTALE)),
            Err(errno) => Err(errno),
        };
        fd.close();
        result
    }

    /// The same on the open file.
    pub fn extend_open(&self, fd: Fd, offset: usize, end: usize, most: usize) -> sys::Result<usize> {
        // Beyond the last byte before the end there is a hole: reserving the last byte makes the file that long, and
        // never shorter than another process has made it.
        if self.hole > 0 {
            for hole in [self.hole, SMALLER_HOLE] {
                let far = (end + hole).min(most).max(end);
                if fd.reserve(far - 1, 1).is_ok() {
                    return Ok(far);
                }
            }
        }
        fd.reserve(offset, end - offset).map(|()| end)
    }

    /// From now on every byte that the file is made to have is reserved: the mapping cannot ask for it.
    pub fn fill_no_holes(&mut self) {
        self.hole = 0;
    }

    /// Removes the file, as another thread was faster in making the family.
    pub fn remove(&self) {
        sys::remove(self.path);
    }
}

impl Family {
    /// The header.
    pub fn header(&self) -> *mut Header {
        self.base.cast()
    }

    /// A record of the file.
    #[inline(always)]
    pub fn at<T>(&self, reference: Ref) -> *mut T {
        at(self.base, reference)
    }

    /// A new block, not yet marked as one: zeroed, and its bytes the disk's promise. `spare` may use the last part of
    /// the file, which is kept for functions that have no other place to be counted.
    pub fn block(&self, size: usize, spare: bool) -> Option<(Ref, *mut Block)> {
        self.block_before(size, if spare { self.mapped } else { self.mapped - self.set_aside() })
    }

    /// The same for what only makes times truer: most of that part stays for functions.
    pub fn block_for_times(&self, size: usize, spare: bool) -> Option<(Ref, *mut Block)> {
        self.block_before(size, self.mapped - if spare { self.kept_for_functions() } else { self.set_aside() })
    }

    /// Whether some of the rest is left.
    pub fn has_room_for_times(&self) -> bool {
        self.room() > self.kept_for_functions()
    }

    fn kept_for_functions(&self) -> usize {
        self.set_aside() / 4 * 3
    }

    fn block_before(&self, size: usize, limit: usize) -> Option<(Ref, *mut Block)> {
        debug_assert!(size.is_multiple_of(GRANULE));
        let header = self.header();
        // SAFETY: the header is mapped and its words are only changed by atomic operations.
        let (used, refusals) =
            unsafe { (AtomicU64::from_ptr(&raw mut (*header).used), AtomicU64::from_ptr(&raw mut (*header).refusals)) };
        let taken = space::take(used, size as u64, limit as u64, |offset| self.make_usable(offset as usize, size));
        let Some(offset) = taken else {
            refusals.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        let reference = (offset as usize / UNIT) as Ref;
        Some((reference, self.at(reference)))
    }

    /// Bytes of the file that nobody has yet.
    pub fn room(&self) -> usize {
        // SAFETY: the header is mapped, and the word is only changed by atomic operations.
        let used = unsafe { AtomicU64::from_ptr(&raw mut (*self.header()).used) }.load(Ordering::Relaxed);
        self.mapped.saturating_sub(used as usize)
    }

    /// Bytes of the file that are kept for functions that have no other place.
    fn set_aside(&self) -> usize {
        self.mapped / 8
    }

    /// Whether little is left of what is for all: a sixteenth of the file.
    pub fn is_nearly_full(&self) -> bool {
        self.room() < self.set_aside() + self.mapped / 16
    }

    /// Up to where blocks may lie that are in the file.
    pub fn end_of_blocks(&self) -> usize {
        let header = self.header();
        // SAFETY: the header is mapped, and the words are only changed by atomic operations.
        let [used, extent] = unsafe { [&raw mut (*header).used, &raw mut (*header).extent] }
            .map(|word| unsafe { AtomicU64::from_ptr(word) }.load(Ordering::Acquire) as usize);
        used.min(extent).min(self.mapped)
    }

    fn make_usable(&self, offset: usize, size: usize) -> bool {
        let Some(file) = &self.file else { return true };
        // SAFETY: the header is mapped, and the word is only changed by atomic operations.
        let extent = unsafe { AtomicU64::from_ptr(&raw mut (*self.header()).extent) };
        let end = offset + size;
        let present = extent.load(Ordering::Acquire) as usize;
        // Whoever still may makes the hole longer in time: it may be another process, which may not, that comes to its end.
        if end > present || (end + file.hole / 2 > present && present < self.mapped) {
            match file.extend(offset, end, self.mapped) {
                Ok(new) => _ = extent.fetch_max(new as u64, Ordering::AcqRel),
                Err(_) if end <= present => {}
                Err(_) => return false,
            }
        }
        // SAFETY: the range lies in our mapping, and in the file.
        match unsafe { sys::populate(self.base.add(offset), size) } {
            Ok(()) => true,
            Err(Errno(libc::EINVAL)) => file.hole == 0, // an older kernel: the range was reserved
            Err(_) => false,
        }
    }

    /// Makes a block visible to readers.
    ///
    /// # Safety
    /// The block must be complete but for its magic number.
    pub unsafe fn publish(&self, block: *mut Block) {
        // SAFETY: the caller's block.
        unsafe { AtomicU32::from_ptr(&raw mut (*block).magic) }.store(BLOCK_MAGIC, Ordering::Release);
    }

    /// Adds a text block; without room for it the text is lost. Its parts are put together there: the stack may be short.
    pub fn text(&self, kind: u32, parts: &[&[u8]]) {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        let size = (UNIT + len).next_multiple_of(GRANULE);
        let Some((_, block)) = self.block(size, false) else { return };
        // SAFETY: the block is new and large enough.
        unsafe {
            (*block).kind = profile::kind::TEXT;
            (*block).size = size as u32;
            (*block).nodes = len as u32;
            (*block).back = kind;
            let mut place = block.cast::<u8>().add(UNIT);
            for part in parts {
                core::ptr::copy_nonoverlapping(part.as_ptr(), place, part.len());
                place = place.add(part.len());
            }
            self.publish(block);
        }
    }

    /// Leaves a warning for the report.
    pub fn warn(&self, parts: &[&[u8]]) {
        self.text(profile::text::kind::WARNING, parts);
    }

    /// The number of this process in the family; gives it one if it is new.
    pub fn process_number(&self) -> u32 {
        // SAFETY: the page is mapped for good.
        let process = unsafe { &*self.process };
        let number = process.number.load(Ordering::Acquire);
        if number != 0 {
            return number;
        }
        // SAFETY: the header is mapped.
        let counter = unsafe { AtomicU32::from_ptr(&raw mut (*self.header()).processes) };
        let new = counter.fetch_add(1, Ordering::Relaxed) + 1;
        match process.number.compare_exchange(0, new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                process.started.store(crate::clock::now(self.clock), Ordering::Relaxed);
                new
            }
            Err(first) => first, // another thread's; a number stays unused
        }
    }

    /// The present epoch: how often the counters were reset.
    pub fn epoch(&self) -> u32 {
        // SAFETY: the header is mapped.
        unsafe { AtomicU32::from_ptr(&raw mut (*self.header()).epoch) }.load(Ordering::Acquire)
    }

    /// A number for an ownership of an arena.
    pub fn token(&self) -> Token {
        // SAFETY: the header is mapped.
        directory::token(unsafe { AtomicU64::from_ptr(&raw mut (*self.header()).tokens) })
    }

    /// The PID namespace of this process; 0 if it cannot be told.
    pub fn pid_namespace(&self) -> u64 {
        // SAFETY: the page is mapped for good.
        let known = unsafe { &(*self.process).pid_namespace };
        match known.load(Ordering::Relaxed) {
            0 => {
                let found = sys::pid_namespace();
                known.store(found, Ordering::Relaxed);
                found
            }
            found => found,
        }
    }

    /// In a child that was made by `fork`: whoever has forked it may know its PID namespace. To ask `/proc` takes a fifth of a child's first
    /// call. Where a child sees its parent by the number that this sees itself by, both are in one namespace: a parent outside is seen as 0.
    pub fn take_over_namespace(&self) {
        let forking = self.forking.load(Ordering::Relaxed);
        let (pid, namespace) = (forking >> 32, forking & u64::from(u32::MAX));
        if pid != 0 && pid == sys::getppid().into() {
            // SAFETY: the page is mapped for good.
            unsafe { &(*self.process).pid_namespace }.store(namespace, Ordering::Relaxed);
        }
    }

    /// Has the children of a fork that is about to be know the PID namespace; nothing, if this process does not know.
    pub fn pass_on_namespace(&self) {
        // SAFETY: the page is mapped for good.
        let known = unsafe { &(*self.process).pid_namespace }.load(Ordering::Relaxed);
        let forking = match u32::try_from(known) {
            Ok(namespace @ 1..) => u64::from(sys::getpid()) << 32 | u64::from(namespace),
            _ => 0,
        };
        self.forking.store(forking, Ordering::Relaxed);
    }

    /// Whether somebody copies the file.
    pub fn is_copied(&self) -> bool {
        /// How long that may take, in nanoseconds, whoever says what.
        const LONGEST_NS: u64 = 1_000_000_000;
        // SAFETY: the header is mapped.
        let until = unsafe { (&raw const (*self.header()).copied_until).read_volatile() };
        let now = clock::now(self.clock);
        until > now && until - now < self.ticks(LONGEST_NS)
    }

    /// About how many ticks that is, by what is known while the program runs.
    pub fn ticks(&self, ns: u64) -> u64 {
        // SAFETY: the header is mapped.
        let ticks_per_second = unsafe { (*self.header()).ticks_per_second };
        (u128::from(ns) * u128::from(ticks_per_second) / 1_000_000_000) as u64
    }

    /// How long something that could not be had is not asked for again, in ticks.
    pub fn pause(&self) -> u64 {
        // SAFETY: the header is mapped; its rate is not known yet while it is made.
        unsafe { (*self.header()).ticks_per_second }.max(1 << 28) / 10
    }

    /// When it is asked for again, in ticks.
    pub fn later(&self) -> u64 {
        clock::now(self.clock) + self.pause()
    }

    /// The modules that this process has seen.
    pub fn known(&self) -> Option<&Known> {
        // SAFETY: what was published stays.
        unsafe { self.modules.load(Ordering::Acquire).as_ref() }
    }

    /// The same; the table is made if there is none. `None` if there is no memory for it.
    pub fn known_or_new(&self) -> Option<&Known> {
        if self.known().is_none() {
            let size = size_of::<Known>();
            let memory: *mut Known = sys::map_memory(size).ok()?.cast();
            let publish = self.modules.compare_exchange(ptr::null_mut(), memory, Ordering::AcqRel, Ordering::Acquire);
            if publish.is_err() {
                // SAFETY: another thread was faster, and nobody has seen this.
                unsafe { sys::unmap(memory.cast(), size) };
            }
        }
        self.known()
    }

    /// Notes this moment on both clocks.
    pub fn anchor(&self) {
        if clock::STOPPED.load(Ordering::Relaxed) {
            return;
        }
        let header = self.header();
        // SAFETY: the header is mapped, and these words are only changed by atomic operations.
        unsafe {
            let turn = anchors::turn(AtomicU32::from_ptr(&raw mut (*header).anchor_turns));
            let place: *mut CheckedAnchor = &raw mut (*header).anchors[turn % ANCHORS];
            let place = anchors::Place {
                ticks: AtomicU64::from_ptr(&raw mut (*place).anchor.ticks),
                monotonic_ns: AtomicU64::from_ptr(&raw mut (*place).anchor.monotonic_ns),
                check: AtomicU64::from_ptr(&raw mut (*place).check),
            };
            place.write(clock::anchor(self.clock));
        }
    }

    /// Counts a call for which there is no room, or no time, in an arena: by its function.
    pub fn count_by_function(&self, function: usize) {
        // SAFETY: the header is mapped; the block, once it is named there, is complete and stays.
        let is_counted = unsafe {
            let counts = AtomicU32::from_ptr(&raw mut (*self.header()).counts).load(Ordering::Acquire);
            let block: *mut Block = self.at(counts);
            let records = block.cast::<u8>().add(UNIT).cast::<FunctionCount>();
            let slots = if counts == 0 { 0 } else { ((*block).size as usize - UNIT) / size_of::<FunctionCount>() };
            let slot = |index: usize| {
                let record = records.add(index);
                (AtomicU64::from_ptr(&raw mut (*record).key), AtomicU64::from_ptr(&raw mut (*record).calls))
            };
            let key = by_function::key(function as u64, self.known().map_or(0, |known| known.number(function)));
            by_function::count(slots, slot, key)
        };
        if !is_counted {
            self.lose(1);
        }
    }

    /// Sets room aside for [`Self::count_by_function`], while there is some: no more than a part of what the disk has left.
    pub fn set_counts_aside(&self) {
        let left = self.file.as_ref().and_then(|file| sys::free_space(file.path).ok());
        let most = left.map_or(MOST_COUNTS, |left| MOST_COUNTS.min((left / 4) as usize));
        let mut size = (self.mapped / 256).min(most).max(GRANULE) / GRANULE * GRANULE;
        let (reference, block) = loop {
            match self.block(size, false) {
                Some(found) => break found,
                None if size == GRANULE => return,
                None => size = (size / 2).next_multiple_of(GRANULE),
            }
        };
        // SAFETY: the block is new and zeroed, and the header is mapped.
        unsafe {
            (*block).kind = profile::kind::COUNTS;
            (*block).size = size as u32;
            self.publish(block);
            AtomicU32::from_ptr(&raw mut (*self.header()).counts).store(reference, Ordering::Release);
        }
    }

    /// Counts calls that have no other place.
    pub fn lose(&self, calls: u64) {
        // SAFETY: the header is mapped.
        unsafe { AtomicU64::from_ptr(&raw mut (*self.header()).lost_calls) }.fetch_add(calls, Ordering::Relaxed);
    }
}

/// A record in a mapping.
#[inline(always)]
pub fn at<T>(base: *mut u8, reference: Ref) -> *mut T {
    base.wrapping_add(reference as usize * UNIT).cast()
}

/// Bytes of a file that has nothing but its header and directory.
pub const EMPTY_SIZE: usize = BLOCKS_START;

/// The family of this program, once something instrumented is known to run.
pub fn get() -> Option<&'static Family> {
    // SAFETY: a family that was published stays.
    unsafe { FAMILY.load(Ordering::Acquire).as_ref() }
}

/// Makes a family this program's, unless it has one. Never blocks.
pub fn publish(family: &'static Family) -> bool {
    let new = core::ptr::from_ref(family).cast_mut();
    FAMILY.compare_exchange(core::ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

/// There will be no family: the hooks do nothing from now on.
pub fn turn_off() {
    OFF.store(true, Ordering::Relaxed);
}

/// Whether this process records at all.
pub fn is_off() -> bool {
    OFF.load(Ordering::Relaxed)
}

const _: () = assert!(size_of::<Process>() <= GRANULE);

/// Calls made before the loader has made this library ready to run: by resolvers of other libraries' IFUNCs; or before there was a family, on a
/// stack that has no room for making one. They have no place but this, and count as lost.
pub static EARLY_CALLS: AtomicU64 = AtomicU64::new(0);

/// A page that reads as zeros after a fork.
pub fn process_page() -> Option<*mut Process> {
    let page = sys::map_memory(GRANULE).ok()?;
    // SAFETY: the page is new.
    unsafe { sys::wipe_on_fork(page, GRANULE) }.ok()?;
    Some(page.cast())
}
