//! Whether the kernel has switched a thread out: a word of its own that says so, without being asked.
//!
//! A thread opens a software event on itself and maps its page (`struct perf_event_mmap_page`): the kernel raises the page's
//! `lock` whenever the thread comes back to a processor. The mapping keeps the event, so the descriptor is closed at once. An
//! event that counts nothing (`PERF_COUNT_SW_DUMMY`) does as well as one that counts switches, and is had four times faster.
//!
//! Behind that page is a second one, where the kernel notes when the thread was switched out and in, and whether it gave the
//! processor up: how much of the time was waited.
//!
//! **Forks.** A child does not get the page, and would get SIGSEGV where it reads it. Its hooks look at the thread's
//! [`crate::thread::live`] word first; but a signal handler may fork between that and the reading, in the middle of a hook. So
//! the child gets another page there at once.

use crate::sys;
use crate::thread::Thread;
use core::mem::offset_of;
use core::ptr;
use core::sync::atomic::{Ordering, fence};

/// The kernel's page, as far as it is looked at.
#[repr(C)]
struct Page {
    version: u32,
    compat_version: u32,
    lock: u32,
    others: [u32; 253],
    /// Up to where the log is written, and read.
    head: u64,
    tail: u64,
    log_offset: u64,
    log_size: u64,
}

/// What the log has of a switch, or of something else.
#[repr(C)]
#[derive(Clone, Copy)]
struct Record {
    kind: u32,
    flags: u16,
    size: u16,
}

const SWITCH: u32 = 14;
const IS_OUT: u16 = 1 << 13;
const IS_PREEMPTED: u16 = 1 << 14;

/// Bytes of the log: a hundred switches and more between two hooks.
const LOG: usize = profile::GRANULE;

/// No record is longer.
const MOST_OF_A_RECORD: u64 = 64;

const _: () = assert!(offset_of!(Page, head) == 1024);

/// The word of a new page for the calling thread. `None` if the kernel gives none, or must not be asked: a filter of system
/// calls that whoever started the program has set (a service manager, a container) may end it for this one.
pub fn open() -> Option<*const u32> {
    if sys::is_filtered() {
        return None;
    }
    let page = sys::map_switches(LOG).or_else(|_| sys::map_switches(0)).ok()?;
    Some(page.wrapping_add(offset_of!(Page, lock)).cast())
}

/// Gives the page of such a word back.
///
/// # Safety
/// Nothing may read it any longer.
pub unsafe fn close(word: *const u32) {
    // SAFETY: the caller's promise; so much was mapped.
    unsafe {
        let log = (*page_of(word).cast::<Page>()).log_size as usize;
        sys::unmap(page_of(word), profile::GRANULE + log.min(LOG));
    }
}

/// How long the thread was out waiting, and how long as others had the processor, since this was last asked. `None` if the
/// kernel does not note that, or has not noted all.
///
/// # Safety
/// The word must be that of one of the calling thread's pages.
pub unsafe fn read_log(word: *const u32) -> Option<[u64; 2]> {
    let page = page_of(word).cast::<Page>();
    let (mut off, mut out) = ([0; 2], None);
    let mut is_all;
    // SAFETY: the kernel's page, and as much behind it as that says.
    unsafe {
        let size = (*page).log_size;
        if size != LOG as u64 {
            return None;
        }
        let log = page.cast::<u8>().add((*page).log_offset as usize);
        let at = |place: u64| log.add((place % size) as usize);
        let head = (&raw const (*page).head).read_volatile();
        fence(Ordering::Acquire);
        let mut tail = (*page).tail;
        // What had no room is told of only by the next record behind it.
        is_all = head - tail < size - MOST_OF_A_RECORD;
        while tail < head {
            // Records begin at multiples of eight, so none of these words goes around the log's end.
            let record: Record = at(tail).cast::<Record>().read();
            let time: u64 = at(tail + size_of::<Record>() as u64).cast::<u64>().read();
            match record {
                Record { kind: SWITCH, flags, .. } if flags & IS_OUT != 0 => out = Some((time, flags)),
                Record { kind: SWITCH, .. } => {
                    if let Some((since, flags)) = out.take() {
                        off[usize::from(flags & IS_PREEMPTED != 0)] += time.saturating_sub(since);
                    }
                }
                _ => is_all = false, // some were lost
            }
            tail += u64::from(record.size).max(8);
        }
        fence(Ordering::Release);
        (&raw mut (*page).tail).write_volatile(head);
    }
    is_all.then_some(off)
}

/// Has a page stay that the thread looks at no more: a signal handler has perhaps given it up in the middle of a hook which is about to read
/// it.
pub fn keep(thread: &Thread, word: *const u32) {
    let before = thread.given_up_word.get();
    thread.given_up_word.set(word);
    if !before.is_null() {
        // SAFETY: that was given up long ago, before the thread got an arena again.
        unsafe { close(before) };
    }
}

/// Gives back what was kept, as the thread ends.
pub fn close_kept(thread: &Thread) {
    let word = thread.given_up_word.get();
    thread.given_up_word.set(ptr::null());
    if !word.is_null() {
        // SAFETY: no hook of the thread goes on.
        unsafe { close(word) };
    }
}

fn page_of(word: *const u32) -> *mut u8 {
    word.cast_mut().cast::<u8>().wrapping_sub(offset_of!(Page, lock))
}

/// In a child that was made by `fork`: puts a page where the hook that the fork has come in the middle of may read.
pub fn replace_page(thread: &Thread) {
    let kept = thread.given_up_word.get();
    if !kept.is_null() {
        let _ = sys::map_in_hole(page_of(kept), profile::GRANULE); // it stays
    }
    if has_page(thread) && sys::map_in_hole(page_of(thread.switches.get()), profile::GRANULE).is_ok() {
        thread.has_other_page.set(true);
    }
}

/// Whether the thread's word is the kernel's, or was its parent's.
pub fn has_page(thread: &Thread) -> bool {
    !ptr::eq(thread.switches.get(), thread.seen.as_ptr())
}

/// Has the thread look at a word that never changes.
pub fn look_at_none(thread: &Thread) {
    thread.switches.set(thread.seen.as_ptr());
}

/// Forgets the page of the process that this is a child of.
pub fn leave_parents(thread: &Thread) {
    let word = thread.switches.get();
    let is_ours = has_page(thread) && thread.has_other_page.get();
    look_at_none(thread);
    thread.has_other_page.set(false);
    thread.given_up_word.set(ptr::null());
    if is_ours {
        // SAFETY: nothing leads there any more; a hook that was interrupted has come to its end, or was left.
        unsafe { close(word) };
    }
}
