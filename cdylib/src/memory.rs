//! The recorder's private memory: mapped, never the program's `malloc`, which may itself be instrumented.
//!
//! Two kinds: what is kept for good, and a scratch area for the few slow things that need collections (demangling).

use crate::arch;
use crate::sys;
use core::alloc::{GlobalAlloc, Layout};
use core::ptr;

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
/// A program's thread, or its signal stack, may have far less than a demangler needs. It begins at a multiple of its size,
/// so what runs on it finds its area by its stack pointer.
const STACK: usize = 1 << 20;

/// Memory that grows by moving a mark and is given back all at once by its one user; and a stack.
///
/// Each user maps one of its own, so nobody waits for another, and no lock is held for ever in a child that was forked in
/// the middle.
#[repr(C)]
struct Area {
    /// Tells an area from whatever else a stack pointer may lead to.
    magic: usize,
    /// Where the heap begins, below this.
    heap: usize,
    /// The next free byte of it.
    next: usize,
    /// Where [`arch::abandon`] goes on.
    saved: usize,
}

const AREA_MAGIC: usize = usize::from_le_bytes(*b"diy-area");

/// The area at whose stack the calling code runs; it lies at the stack's first byte.
fn area() -> *mut Area {
    ptr::with_exposed_provenance_mut(arch::stack_pointer() & !(STACK - 1))
}

struct Job<W, T> {
    work: Option<W>,
    result: Option<T>,
}

unsafe extern "C" fn run<W: FnOnce() -> T, T>(job: *mut u8) {
    // SAFETY: `with_scratch` passes its own job.
    let job = unsafe { &mut *job.cast::<Job<W, T>>() };
    job.result = job.work.take().map(|work| work());
}

/// Runs `work`, which may allocate and may panic (other people's bytes are parsed), on a stack of its own, and frees what it
/// has left. `None` if it panicked, or if there is no memory for it.
pub fn with_scratch<T>(work: impl FnOnce() -> T) -> Option<T> {
    let heap = ((sys::spare_address_space() / 8) & !(STACK - 1)).clamp(LEAST_HEAP, HEAP);
    let size = heap + 2 * STACK;
    let mapping = sys::map_memory(size).ok()?;
    let start = mapping.expose_provenance();
    let stack = (start + heap).next_multiple_of(STACK);
    let area: *mut Area = ptr::with_exposed_provenance_mut(stack);
    let mut job = Job { work: Some(work), result: None };
    // SAFETY: the mapping is new; the job outlives the call, and nothing of the area is used after it.
    unsafe {
        area.write(Area { magic: AREA_MAGIC, heap: start, next: start, saved: 0 });
        call_through(mapping.add(stack + STACK - start), &mut job, &raw mut (*area).saved);
        sys::unmap(mapping, size);
    }
    job.result
}

unsafe fn call_through<W: FnOnce() -> T, T>(stack_end: *mut u8, job: &mut Job<W, T>, saved: *mut usize) {
    // SAFETY: the caller's stack; `run` takes the job for what it is.
    unsafe { arch::call_on_stack(stack_end, run::<W, T>, ptr::from_mut(job).cast(), saved) };
}

/// Up to where the work of [`with_scratch`] has allocated.
pub fn scratch_used() -> usize {
    // SAFETY: only such work calls this.
    unsafe { (*area()).next }
}

/// Frees everything that the work of [`with_scratch`] has allocated since so much was used.
pub fn free_scratch(used: usize) {
    // SAFETY: only such work calls this.
    unsafe { (*area()).next = used };
}

/// Called on a panic: leaves the work of [`with_scratch`], if it is that.
pub fn give_up() {
    let mut magic = [0; size_of::<usize>()];
    // Wherever else the stack is, its beginning may not be there.
    if sys::read_memory(sys::getpid(), area().addr(), &mut magic) && usize::from_ne_bytes(magic) == AREA_MAGIC {
        // SAFETY: the work has not returned, as its thread is here; nothing it owns needs to be dropped.
        unsafe { arch::abandon((*area()).saved) };
    }
}

/// The allocator behind `alloc` in this library. Only [`with_scratch`] lets code run that allocates.
struct Scratch;

#[cfg_attr(not(test), global_allocator)]
#[cfg_attr(test, expect(dead_code))]
static SCRATCH: Scratch = Scratch;

// SAFETY: every block lies in the area, behind all blocks handed out before it; none is handed out twice until
// `free_scratch`, which is called when none is in use.
unsafe impl GlobalAlloc for Scratch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let area = area();
        // SAFETY: whatever allocates runs on an area's stack.
        unsafe {
            let start = (*area).next.next_multiple_of(layout.align());
            let end = start.saturating_add(layout.size());
            if end > area.addr() {
                return ptr::null_mut();
            }
            (*area).next = end;
            ptr::with_exposed_provenance_mut(start)
        }
    }

    unsafe fn dealloc(&self, _block: *mut u8, _layout: Layout) {}
}
