//! Functions that gcc has split (`-fpartial-inlining`): the head, with the enter hook, is inlined into callers, and the rest is a part of its
//! own (`f.part.0`), with the exit hook. What that tells is of the part's frame: it lies lower, and was called from elsewhere.

use crate::code;
use crate::family::Family;
use profile::ring::Event;

/// Whether an exit lies in a part that was called by the code which an enter hook of the same function lies in. What lies in the function's own
/// code is the exit of another call of it, whose entry was missed.
///
/// # Safety
/// Both hooks lie in code that is running.
pub unsafe fn is_exit_of_part(family: &Family, exit: &Event, enter_hook: usize) -> bool {
    // SAFETY: the caller's promise; the site is where the exit hook's code was called from.
    unsafe {
        let part = code::start_of(family, exit.hook as usize);
        part.is_some_and(|part| part != exit.function as usize) && is_called_by(family, exit.site as usize, enter_hook)
    }
}

/// Whether a call was made by the code that an enter hook lies in, by its return address.
///
/// # Safety
/// Both lie in code that is running.
pub unsafe fn is_called_by(family: &Family, site: usize, enter_hook: usize) -> bool {
    // SAFETY: the caller's promise.
    let start = |address| unsafe { code::start_of(family, address) };
    start(site.wrapping_sub(1)).is_some_and(|caller| start(enter_hook) == Some(caller))
}
