//! A word of a thread's state.

use core::cell::UnsafeCell;
use core::ptr;

/// A word that a signal handler may change between any two instructions of the hook that it interrupts: each access
/// happens where it is written, and no value is taken for what it was before.
#[repr(transparent)]
pub struct Field<T>(UnsafeCell<T>);

impl<T: Copy> Field<T> {
    /// What it is now.
    #[inline(always)]
    pub fn get(&self) -> T {
        // SAFETY: only the thread whose state it is reads and writes it, a word at a time.
        unsafe { ptr::read_volatile(self.0.get()) }
    }

    /// Where it is.
    pub const fn as_ptr(&self) -> *const T {
        self.0.get().cast_const()
    }

    /// Changes it.
    #[inline(always)]
    pub fn set(&self, value: T) {
        // SAFETY: only the thread whose state it is reads and writes it.
        unsafe { ptr::write_volatile(self.0.get(), value) };
    }
}
