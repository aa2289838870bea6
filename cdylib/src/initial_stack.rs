//! What the kernel put on the program's first stack.

use core::ffi::c_char;

unsafe extern "C" {
    /// Where the kernel put the program's arguments: argument count, arguments, null, environment, null. Set by the
    /// loader before any code of the program runs, unlike `environ`.
    static __libc_stack_end: *const usize;
}

/// An address in the program's first stack.
pub fn program_stack() -> usize {
    // SAFETY: the loader's word.
    unsafe { __libc_stack_end.addr() }
}

/// The environment as the kernel laid it out.
///
/// # Safety
/// The program must not have overwritten it yet.
pub unsafe fn environment() -> *const *const c_char {
    // SAFETY: the loader's word.
    unsafe { __libc_stack_end.add(*__libc_stack_end + 2).cast() }
}
