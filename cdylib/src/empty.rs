//! What an instrumented call takes without the recorder if its function does nothing: three calls and returns.

use crate::arch;
use crate::clock::{Clock, Tsc};

/// Calls of a loop.
const CALLS: u64 = 128;

/// The first loop has yet to come into the caches.
const LOOPS: usize = 3;

/// What such a call takes here and now, in 1/1024 ticks, where hooks are called as they are before `hook`.
///
/// # Safety
/// The address must be one that a hook has returned to or will return to.
pub unsafe fn call_ticks(hook: usize) -> u32 {
    /// The code of a call to a place that lies so many bytes from here. Hooks are in another module, so that place has but a jump to
    /// them (PLT). Other calls (`-fno-plt`) lead there at once.
    const NEAR_CALL: u8 = 0xe8;
    const NEAR_CALL_LEN: usize = 5;
    let code: *const u8 = core::ptr::with_exposed_provenance(hook.wrapping_sub(NEAR_CALL_LEN));
    // SAFETY: five bytes before an address that a call returns to lie in the code of the caller's module.
    let calls = match unsafe { code.read() } {
        NEAR_CALL => arch::call_empty_by_stub,
        _ => arch::call_empty,
    };
    let ticks = [(); LOOPS].map(|()| {
        let start = Tsc::now();
        calls(CALLS);
        Tsc::now().saturating_sub(start)
    });
    let least = ticks.into_iter().min().unwrap_or(0);
    (least * 1024 / CALLS).min(u32::MAX.into()) as u32
}
