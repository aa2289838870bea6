//! The recorder's private memory: mapped, never the program's `malloc`, which may itself be instrumented.
//!
//! Two kinds: what is kept for good, and a scratch area for the few slow things that need collections (demangling).

use crate::arch;
use crate::sys;
use core::alloc::{GlobalAlloc, Layout};
use core::ptr;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Copies bytes into memory that stays as long as the process.
pub fn keep(bytes: &[u8]) -> Option<&'static [u8]> {
    let copy = sys::map_memory(bytes.len().max(1)).ok()?;
    // SAFETY: the mapping is new, large enough and never given back.
    unsafe {
        ptr::copy_nonoverlapping(bytes.as_ptr(), copy, bytes.len());
        Some(core::slice::from_raw_parts(copy, bytes.len()))
    }
}

/// Puts a value into memory that stays as long as the process.
pub fn keep_value<T>(value: T) -> Option<&'static T> {
    let place = sys::map_memory(size_of::<T>()).ok()?.cast::<T>();
    // SAFETY: the mapping is new, aligned to a page, large enough and never given back.
    unsafe {
        place.write(value);
        Some(&*place)
    }
}

/// Address space for collections; only what is touched takes memory.
const HEAP: usize = 64 << 20;
/// What there must be of it, where address space is limited.
const LEAST_HEAP: usize = 1 << 20;
/// A program's thread, or its signal stack, may have far less than a demangler needs.
const STACK: usize = 1 << 20;

/// Memory that grows by moving a mark and is given back all at once by its one user; and a stack.
pub struct Scratch {
    base: AtomicUsize,
    heap: AtomicUsize,
    used: AtomicUsize,
    user: AtomicU32,
    saved: AtomicUsize,
}

/// The allocator behind `alloc` in this library. Only [`Scratch::with`] lets code run that allocates.
#[cfg_attr(not(test), global_allocator)]
pub static SCRATCH_AREA: Scratch = Scratch {
    base: AtomicUsize::new(0),
    heap: AtomicUsize::new(0),
    used: AtomicUsize::new(0),
    user: AtomicU32::new(0),
    saved: AtomicUsize::new(0),
};

struct Job<W, T> {
    work: Option<W>,
    result: Option<T>,
}

unsafe extern "C" fn run<W: FnOnce() -> T, T>(job: *mut u8) {
    // SAFETY: `with` passes its own job.
    let job = unsafe { &mut *job.cast::<Job<W, T>>() };
    job.result = job.work.take().map(|work| work());
}

impl Scratch {
    /// Runs `work`, which may allocate and may panic (other people's bytes are parsed), and frees what it has left.
    ///
    /// One user at a time: an error if another thread is at it. `Ok(None)` if the work panicked, or if there is no
    /// memory for it.
    pub fn with<T>(&self, work: impl FnOnce() -> T) -> Result<Option<T>, Busy> {
        let me = sys::gettid();
        let user = self.user.load(Ordering::Acquire);
        // A user that was forked away from its thread, or died, is no user any more.
        if user != 0 && user != me && sys::task_exists(user) {
            return Err(Busy);
        }
        self.user.compare_exchange(user, me, Ordering::AcqRel, Ordering::Acquire).map_err(|_| Busy)?;
        if self.base.load(Ordering::Relaxed) == 0 {
            let heap = ((sys::spare_address_space() / 8) & !(STACK - 1)).clamp(LEAST_HEAP, HEAP);
            if let Ok(base) = sys::map_memory(heap + STACK) {
                self.heap.store(heap, Ordering::Relaxed);
                self.base.store(base.expose_provenance(), Ordering::Relaxed);
            }
        }
        let (base, size) = (self.base.load(Ordering::Relaxed), self.heap.load(Ordering::Relaxed) + STACK);
        let mut job = Job { work: Some(work), result: None };
        if base != 0 {
            self.used.store(0, Ordering::Relaxed);
            let end = ptr::with_exposed_provenance_mut(base + size);
            // SAFETY: the stack is this user's alone; the job outlives the call.
            unsafe { call_through(end, &mut job, self.saved.as_ptr()) };
            if size < HEAP + STACK {
                self.base.store(0, Ordering::Relaxed);
                // SAFETY: whoever comes next maps anew. The program needs its address space.
                unsafe { sys::unmap(ptr::with_exposed_provenance_mut(base), size) };
            }
        }
        self.user.store(0, Ordering::Release);
        Ok(job.result)
    }

    /// Frees everything allocated since the work began.
    pub fn reset(&self) {
        self.used.store(0, Ordering::Relaxed);
    }

    /// Called on a panic: leaves the work, if this thread is at one.
    pub fn give_up(&self) {
        if self.user.load(Ordering::Acquire) == sys::gettid() {
            // SAFETY: the work has not returned, as its thread is here; nothing it owns needs to be dropped.
            unsafe { arch::abandon(self.saved.load(Ordering::Relaxed)) };
        }
    }
}

unsafe fn call_through<W: FnOnce() -> T, T>(stack_end: *mut u8, job: &mut Job<W, T>, saved: *mut usize) {
    // SAFETY: the caller's stack; `run` takes the job for what it is.
    unsafe { arch::call_on_stack(stack_end, run::<W, T>, ptr::from_mut(job).cast(), saved) };
}

/// Another thread is at it.
pub struct Busy;

// SAFETY: every block lies in the one mapping, behind all blocks handed out before it; none is handed out twice until
// `reset`, which is called when none is in use.
unsafe impl GlobalAlloc for Scratch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let base = self.base.load(Ordering::Relaxed);
        let used = self.used.load(Ordering::Relaxed);
        let start = (base + used).next_multiple_of(layout.align());
        let end = start + layout.size();
        if base == 0 || end > base + self.heap.load(Ordering::Relaxed) {
            return ptr::null_mut();
        }
        self.used.store(end - base, Ordering::Relaxed);
        ptr::with_exposed_provenance_mut(start)
    }

    unsafe fn dealloc(&self, _block: *mut u8, _layout: Layout) {}
}
