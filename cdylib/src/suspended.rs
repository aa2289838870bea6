//! Where on stacks that are not run on calls are open: of coroutines that have given way, or below a signal handler that runs on a
//! stack of its own.
//!
//! A call that is made there, once that stack is run on again, must not count as one of the latest open call: to look all open
//! calls through whenever a stack pointer is far from the last one would take too long for a function with a large frame.

use core::sync::atomic::{AtomicU64, Ordering};

/// How far apart two open calls on one coroutine's stack may be. Several such stacks may be carved out of one block of
/// memory, which the mapping does not tell; they are larger than this.
pub const NEAR: usize = 4 << 10;

const WORDS: usize = 64;

/// Pages, as a set that may say too many. All zeros, it is empty.
pub struct Suspended([AtomicU64; WORDS]);

impl Suspended {
    /// Adds the page that a stack pointer lies in.
    pub fn add(&self, sp: usize) {
        let (word, bit) = place(sp);
        self.0[word].fetch_or(bit, Ordering::Relaxed);
    }

    /// Whether a stack pointer that was added may lie near this one; false if none does.
    pub fn may_be_near(&self, sp: usize) -> bool {
        [sp.wrapping_sub(NEAR), sp, sp.wrapping_add(NEAR)].into_iter().any(|sp| {
            let (word, bit) = place(sp);
            self.0[word].load(Ordering::Relaxed) & bit != 0
        })
    }

    /// Forgets all.
    pub fn clear(&self) {
        self.0.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }
}

fn place(sp: usize) -> (usize, u64) {
    let bits = (sp / NEAR).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
    (bits / 64 % WORDS, 1 << (bits % 64))
}
