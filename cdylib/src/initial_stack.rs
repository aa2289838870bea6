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

/// What the kernel told the program of this kind (`AT_…`). Asked of the stack, as `getauxval` may be the program's own.
pub fn auxiliary(kind: u64) -> Option<usize> {
    // SAFETY: the kernel's words, which end with a null and with an entry of kind 0: a program that writes a title over its arguments
    // and environment writes over what these words lead to.
    unsafe {
        let mut word = environment().cast::<usize>();
        while *word != 0 {
            word = word.add(1);
        }
        let mut entry = word.add(1);
        while *entry != 0 {
            if *entry as u64 == kind {
                return Some(*entry.add(1));
            }
            entry = entry.add(2);
        }
        None
    }
}

/// The environment as the kernel laid it out.
///
/// # Safety
/// The program must not have overwritten it yet.
pub unsafe fn environment() -> *const *const c_char {
    // SAFETY: the loader's word.
    unsafe { __libc_stack_end.add(*__libc_stack_end + 2).cast() }
}
