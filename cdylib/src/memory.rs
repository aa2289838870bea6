//! The recorder's private memory: mapped, never the program's `malloc`, which may itself be instrumented.
//!
//! Two kinds: what is kept for good, and a scratch area for the few slow things that need collections (demangling).

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

const SCRATCH: usize = 64 << 20; // address space; only what is touched takes memory

/// Memory that grows by moving a mark, and is given back all at once by its one user.
pub struct Scratch {
    base: AtomicUsize,
    used: AtomicUsize,
    user: AtomicU32,
}

/// The allocator behind `alloc` in this library. Only [`Scratch::with`] lets code run that allocates.
#[global_allocator]
pub static SCRATCH_AREA: Scratch =
    Scratch { base: AtomicUsize::new(0), used: AtomicUsize::new(0), user: AtomicU32::new(0) };

impl Scratch {
    /// Runs `work`, which may allocate, and frees what it has left. One user at a time: `None` if another thread is at
    /// it, or if there is no address space.
    pub fn with<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let me = sys::gettid();
        let user = self.user.load(Ordering::Acquire);
        // A user that was forked away from its thread, or died, is no user any more.
        if user != 0 && sys::task_exists(user) && user != me {
            return None;
        }
        self.user.compare_exchange(user, me, Ordering::AcqRel, Ordering::Acquire).ok()?;
        if self.base.load(Ordering::Relaxed) == 0 {
            match sys::map_memory(SCRATCH) {
                Ok(base) => self.base.store(base.expose_provenance(), Ordering::Relaxed),
                Err(_) => {
                    self.user.store(0, Ordering::Release);
                    return None;
                }
            }
        }
        self.used.store(0, Ordering::Relaxed);
        let result = work();
        self.user.store(0, Ordering::Release);
        Some(result)
    }

    /// Frees everything allocated since `work` began.
    pub fn reset(&self) {
        self.used.store(0, Ordering::Relaxed);
    }
}

// SAFETY: every block lies in the one mapping, behind all blocks handed out before it; none is handed out twice until
// `reset`, which is called when none is in use.
unsafe impl GlobalAlloc for Scratch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let base = self.base.load(Ordering::Relaxed);
        let used = self.used.load(Ordering::Relaxed);
        let start = (base + used).next_multiple_of(layout.align());
        let end = start + layout.size();
        if base == 0 || end > base + SCRATCH {
            return ptr::null_mut();
        }
        self.used.store(end - base, Ordering::Relaxed);
        ptr::with_exposed_provenance_mut(start)
    }

    unsafe fn dealloc(&self, _block: *mut u8, _layout: Layout) {}
}
