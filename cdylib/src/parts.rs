//! Functions that gcc has split (`-fpartial-inlining`): the head, with the enter hook, is inlined into callers, and the rest is a part of its
//! own (`f.part.0`), with the exit hook. What that tells is of the part's frame: it lies lower, and was called from elsewhere.

use crate::code;
use crate::family::Family;

/// A hook of a split function, or what may be one.
pub struct Exit {
    /// The function.
    pub function: usize,
    /// The call site that the exit hook was told: of the part, if it is one.
    pub site: usize,
    /// Its return address.
    pub hook: usize,
}

impl Exit {
    /// Whether it lies in a part that was called by the code which an enter hook of the same function lies in. What lies in the function's own
    /// code is the exit of another call of it, whose entry was missed.
    ///
    /// # Safety
    /// Both hooks lie in code that is running.
    pub unsafe fn is_of_part_of(&self, family: &Family, enter_hook: usize) -> bool {
        // SAFETY: the caller's promise; the site is where the exit hook's code was called from.
        let start = |address| unsafe { code::start_of(family, address) };
        let Some((part, caller)) = start(self.hook).zip(start(self.site.wrapping_sub(1))) else { return false };
        part != self.function && start(enter_hook) == Some(caller)
    }
}
