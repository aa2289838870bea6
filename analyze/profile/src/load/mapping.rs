//! A file's bytes as programs write them, mapped to look at a few of them again and again.
//!
//! Reading a page takes the kernel longer than looking at the records that are wanted of it. But whoever reads a map of a file that is
//! cut short in that moment is ended by SIGBUS. So during a [`Look`] that signal puts a page of zeros where its thread's
//! read failed, [`Look::is_whole`] says so afterwards, and there is no other look at that mapping.

use std::cell::Cell;
use std::fs::File;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::OnceLock;

use diytrace_format::reader::Record;
use diytrace_format::{Ref, UNIT};

/// Bytes of a page.
const PAGE: usize = 4096;

/// Some bytes of a file, from its first.
pub struct Mapping {
    start: *const u8,
    len: usize,
    /// Whether zeros lie where the file's bytes were.
    is_spoiled: Cell<bool>,
}

// SAFETY: what it maps is there for all threads, and nobody has a reference to it.
unsafe impl Send for Mapping {}

/// A look at a mapping. One of a thread at a time.
pub struct Look<'a> {
    mapping: &'a Mapping,
    /// Its thread's alone: see [`LOOKED_AT`].
    of_thread: PhantomData<*const ()>,
}

/// What this thread's look has come to.
#[derive(Clone, Copy)]
struct LookedAt {
    start: usize,
    end: usize,
    is_whole: bool,
}

const NOTHING: LookedAt = LookedAt { start: 0, end: 0, is_whole: true };

thread_local! {
    /// Read by a signal's handler, in the thread whose read has failed: it has no destructor and takes no memory.
    static LOOKED_AT: Cell<LookedAt> = const { Cell::new(NOTHING) };
}

/// What was to be done at SIGBUS before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

impl Mapping {
    /// So many bytes of a file. `None`: it is shorter, or cannot be mapped.
    pub fn of(file: &File, len: usize) -> Option<Self> {
        if !has(file, len) || len == 0 || !is_guarded() {
            return None;
        }
        // SAFETY: a new mapping, wherever the kernel likes, of a file that is open.
        let start =
            unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0) };
        (start != libc::MAP_FAILED).then(|| Self { start: start.cast(), len, is_spoiled: Cell::new(false) })
    }

    /// Looks at it. `None`: the file, which it is of, is shorter now, or was during a look before; or the thread looks at another already.
    pub fn look(&self, file: &File) -> Option<Look<'_>> {
        if !has(file, self.len) || self.is_spoiled.get() || LOOKED_AT.get().end != 0 {
            return None;
        }
        let start = self.start as usize;
        LOOKED_AT.set(LookedAt { start, end: start + self.len, is_whole: true });
        Some(Look { mapping: self, of_thread: PhantomData })
    }
}

/// Where a record lies in a profile's file.
pub fn lies_at(record: Ref) -> usize {
    record as usize * UNIT
}

/// Whether a file has so many bytes.
fn has(file: &File, len: usize) -> bool {
    file.metadata().is_ok_and(|facts| facts.len() >= len as u64)
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: it is ours, and nobody has a reference to its bytes.
        unsafe { libc::munmap(self.start as *mut _, self.len) };
    }
}

impl Look<'_> {
    /// The record at a place, a multiple of eight, as it is now. `None`: it does not lie there.
    #[inline]
    pub fn get<T: Record>(&self, start: usize) -> Option<T> {
        const { assert!(size_of::<T>().is_multiple_of(8)) };
        let end = start.checked_add(size_of::<T>())?;
        let Mapping { start: first, len, .. } = *self.mapping;
        if end > len || !start.is_multiple_of(8) {
            return None;
        }
        let mut record = MaybeUninit::<T>::uninit();
        let to: *mut u64 = record.as_mut_ptr().cast();
        for word in 0..size_of::<T>() / 8 {
            // SAFETY: both lie in their memory, by the checks above. Others write what is read here: so each word is read once, and
            // as it is. `T` may be aligned less than a word.
            unsafe { to.add(word).write_unaligned(first.add(start).cast::<u64>().add(word).read_volatile()) };
        }
        // SAFETY: all of it was written, and any bytes are a record.
        Some(unsafe { record.assume_init() })
    }

    /// Asks for the record at a place, which will be read soon: what programs have written a moment ago is in the caches of other cores, and
    /// it takes less to wait for many at once.
    #[inline]
    pub fn expect<T: Record>(&self, start: usize) {
        const LINE: usize = 64;
        #[cfg(target_arch = "x86_64")]
        for line in (start & !(LINE - 1)..start.saturating_add(size_of::<T>())).step_by(LINE) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: every x86-64 has it, and it reads nothing: whatever lies there, or nothing does.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.mapping.start.wrapping_add(line).cast()) };
        }
    }

    /// Whether all that was read was the file's.
    pub fn is_whole(&self) -> bool {
        LOOKED_AT.get().is_whole
    }
}

impl Drop for Look<'_> {
    fn drop(&mut self) {
        self.mapping.is_spoiled.set(!self.is_whole());
        LOOKED_AT.set(NOTHING);
    }
}

/// Makes SIGBUS harmless to whoever looks at a mapping; whether that could be done.
fn is_guarded() -> bool {
    static IS_GUARDED: OnceLock<bool> = OnceLock::new();
    *IS_GUARDED.get_or_init(|| {
        // SAFETY: structures of numbers, and the handler only does what a handler may.
        unsafe {
            let mut before = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            if libc::sigaction(libc::SIGBUS, ptr::null(), &mut before) != 0 || BEFORE.set(before).is_err() {
                return false;
            }
            let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            action.sa_sigaction = put_zeros as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &action, ptr::null_mut()) == 0
        }
    })
}

/// The handler.
extern "C" fn put_zeros(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel hands the handler what it knows of the signal.
    let at = unsafe { (*info).si_addr() } as usize;
    let looked_at = LOOKED_AT.get();
    if (looked_at.start..looked_at.end).contains(&at) {
        let page = (at & !(PAGE - 1)) as *mut libc::c_void;
        let (protection, flags) = (libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED);
        // SAFETY: the page is a part of the mapping, whose bytes nobody refers to.
        if unsafe { libc::mmap(page, PAGE, protection, flags, -1, 0) } != libc::MAP_FAILED {
            LOOKED_AT.set(LookedAt { is_whole: false, ..looked_at });
            return; // and it reads again
        }
    }
    // Somebody else's: what was to be done before is done, when this has returned.
    if let Some(before) = BEFORE.get() {
        // SAFETY: as the kernel has told it.
        unsafe {
            libc::sigaction(signal, before, ptr::null_mut());
            libc::raise(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    use super::*;

    fn file_of(words: u64) -> File {
        let mut file = tempfile::tempfile().unwrap();
        (0..words).for_each(|word| file.write_all(&word.to_le_bytes()).unwrap());
        file
    }

    #[test]
    fn what_is_asked_for_is_the_files_as_it_is_now() {
        let file = file_of(2000);
        let mapping = Mapping::of(&file, 15_996).unwrap();
        let look = mapping.look(&file).unwrap();
        assert_eq!(look.get::<[u64; 2]>(8 * 1997), Some([1997, 1998]));
        assert_eq!(look.get::<[u32; 2]>(8 * 3), Some([3, 0]));
        assert_eq!(look.get::<u64>(8 * 1999), None, "behind its end");
        assert_eq!(look.get::<u64>(usize::MAX - 7), None);
        assert_eq!(look.get::<u64>(4), None);
        file.write_all_at(&7u64.to_le_bytes(), 8 * 5).unwrap();
        assert_eq!((look.get(8 * 5), look.is_whole()), (Some(7u64), true));
        assert!(mapping.look(&file).is_none(), "one at a time");
        drop(look);
        file.write_all_at(&8u64.to_le_bytes(), 8 * 5).unwrap();
        assert_eq!(mapping.look(&file).unwrap().get(8 * 5), Some(8u64));
        assert!(Mapping::of(&file, 16_001).is_none(), "there are not so many");
    }

    #[test]
    fn a_file_that_is_cut_short_meanwhile_does_no_harm() {
        for _ in 0..2 {
            let file = file_of(2000);
            let mapping = Mapping::of(&file, 16_000).unwrap();
            let look = mapping.look(&file).unwrap();
            file.set_len(100).unwrap();
            assert_eq!((look.get(8 * 1999), look.get(8 * 600)), (Some(0u64), Some(0u64)));
            assert_eq!((look.get(8 * 4), look.is_whole()), (Some(4u64), false));
            drop(look);
            assert!(mapping.look(&file).is_none(), "it is shorter");
            file.set_len(16_000).unwrap();
            assert!(mapping.look(&file).is_none(), "there are zeros in it that are nobody's");
        }
        let file = file_of(1);
        let mapping = Mapping::of(&file, 8).unwrap();
        let look = mapping.look(&file).unwrap();
        assert_eq!((look.get(0), look.is_whole()), (Some(0u64), true));
    }
}
