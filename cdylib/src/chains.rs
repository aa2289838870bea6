//! Numbers of frames in chains, one for each bucket: what [`crate::frame_index`] stands on.
//!
//! A number is in one chain at most. Who leaves in the middle of a change leaves one out, and no chain without an end.

use crate::field::Field;
use crate::sys;
use core::ptr;
use profile::GRANULE;

/// Chains.
pub const BUCKETS: usize = 1 << 14;

/// A number's place in a chain.
#[repr(C)]
struct Link {
    /// One more than the chain's bucket; 0: it is in none.
    bucket: Field<u32>,
    /// The next number; 0: it is the last.
    next: Field<u32>,
}

/// The chains. All zeros, they are empty and have no memory yet.
#[repr(C)]
pub struct Chains {
    /// The first number of each, 0: none; behind them a [`Link`] for each number that there may be.
    heads: Field<*mut Field<u32>>,
    /// Numbers that there is memory for.
    numbers: Field<usize>,
    /// Whether there was none for more.
    is_refused: Field<bool>,
}

impl Chains {
    /// Whether there is room for numbers below this one; gets it memory, as part of what there may ever be.
    pub fn has_room(&self, numbers: usize, most: usize) -> bool {
        if self.numbers.get() < numbers && !self.is_refused.get() {
            self.is_refused.set(!self.has_memory(numbers, most));
        }
        self.numbers.get() >= numbers
    }

    fn has_memory(&self, numbers: usize, most: usize) -> bool {
        if self.heads.get().is_null() {
            let Ok(memory) = sys::reserve_memory(size(most)) else { return false };
            self.heads.set(memory.cast());
        }
        // SAFETY: the range is reserved; what has memory already keeps it.
        let is_there = unsafe { sys::commit_memory(self.heads.get().cast(), size(numbers)) }.is_ok();
        if is_there {
            self.numbers.set(numbers);
        }
        is_there
    }

    /// Gives the memory back, of which there might have been so much.
    ///
    /// # Safety
    /// Nothing may use them afterwards.
    pub unsafe fn free(&self, most: usize) {
        let heads = self.heads.get();
        if !heads.is_null() {
            // SAFETY: the caller's promise.
            unsafe { sys::unmap(heads.cast(), size(most)) };
        }
    }

    /// Empties them.
    pub fn clear(&self) {
        if self.numbers.get() != 0 {
            // SAFETY: there are as many; a link that says it is in a chain and is not found there is in none.
            unsafe { ptr::write_bytes(self.heads.get(), 0, BUCKETS) };
        }
    }

    /// Puts a number first into a chain, and takes it out of the one that it may be in.
    ///
    /// # Safety
    /// There must be room for it.
    pub unsafe fn add(&self, number: u32, bucket: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            let link = self.link(number);
            if let Some(earlier) = (*link).bucket.get().checked_sub(1) {
                self.retain(earlier as usize, |other| other != number);
            }
            let head = self.head(bucket);
            (*link).next.set((*head).get());
            (*link).bucket.set(bucket as u32 + 1);
            (*head).set(number);
        }
    }

    /// Goes through a chain, and takes out what is not to stay.
    pub fn retain(&self, bucket: usize, mut stays: impl FnMut(u32) -> bool) {
        if self.numbers.get() == 0 {
            return;
        }
        // SAFETY: chains have numbers that there is room for.
        unsafe {
            let mut place = self.head(bucket);
            while (*place).get() != 0 {
                let number = (*place).get();
                let link = self.link(number);
                if stays(number) {
                    place = &raw const (*link).next;
                } else {
                    (*place).set((*link).next.get());
                    (*link).bucket.set(0);
                }
            }
        }
    }

    /// The first number of a chain of which something holds. A signal handler that changes the chains meanwhile may have one overlooked.
    pub fn find(&self, bucket: usize, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        if self.numbers.get() == 0 {
            return None;
        }
        // SAFETY: chains have numbers that there is room for, and end.
        unsafe {
            let mut number = (*self.head(bucket)).get();
            while number != 0 && !is_it(number) {
                number = (*self.link(number)).next.get();
            }
            (number != 0).then_some(number)
        }
    }

    unsafe fn head(&self, bucket: usize) -> *const Field<u32> {
        // SAFETY: there are so many.
        unsafe { self.heads.get().add(bucket) }
    }

    unsafe fn link(&self, number: u32) -> *const Link {
        // SAFETY: they lie behind the heads.
        unsafe { self.heads.get().add(BUCKETS).cast::<Link>().add(number as usize) }
    }
}

/// Bytes for numbers below one.
fn size(numbers: usize) -> usize {
    (BUCKETS * size_of::<u32>() + numbers * size_of::<Link>()).next_multiple_of(GRANULE)
}
