//! x86-64: thread pointer, clock, counters, system calls.

#[cfg(not(test))] // where `std` brings its own
mod memory;
mod stubs;

pub(crate) use stubs::*;

use crate::thread::Thread;
use core::arch::{asm, global_asm, naked_asm};

/// The words that stubs jump by, as those of a module that a linker has filled in.
static EMPTY_HOOK: unsafe extern "C" fn(usize, usize) = empty;

/// A loop of calls of a function that does nothing but call two hooks, which do nothing: by these two instructions, with these stubs.
macro_rules! call_empty {
    ($name:ident, $doc:literal, $enter:literal, $exit:literal $(, $stub:literal)*) => {
        #[doc = $doc]
        #[unsafe(naked)]
        pub extern "C" fn $name(_times: u64) {
            naked_asm!(
                "2:",
                "call 3f",
                "dec rdi",
                "jnz 2b",
                "ret",
                ".p2align 4",
                "3:",
                "sub rsp, 8",
                $enter,
                $exit,
                "add rsp, 8",
                "ret",
                $(".p2align 4", $stub,)*
                hook = sym EMPTY_HOOK,
            )
        }
    };
}

call_empty!(
    call_empty,
    "As often calls a function whose hooks, called directly, do nothing.",
    "call [rip + {hook}]",
    "call [rip + {hook}]"
);
call_empty!(
    call_empty_by_stub,
    "The same, where calls lead to stubs that jump on.",
    "call 4f",
    "call 5f",
    "4: jmp [rip + {hook}]",
    "5: jmp [rip + {hook}]"
);

/// A hook that does nothing, as libc's.
#[unsafe(naked)]
pub unsafe extern "C" fn empty(_function: usize, _site: usize) {
    naked_asm!("ret")
}

// The thread's state, in static thread-local storage: never allocates, unlike `__tls_get_addr`.
global_asm!(
    ".section .tbss.diytrace_thread,\"awT\",@nobits",
    ".globl diytrace_thread",
    ".hidden diytrace_thread",
    ".type diytrace_thread, @object",
    ".size diytrace_thread, 8",
    ".balign 8",
    "diytrace_thread:",
    ".zero 8",
    ".text",
);

/// The calling thread's state; null before its first call.
#[inline(always)]
pub fn thread() -> *mut Thread {
    let thread: *mut Thread;
    // SAFETY: reads a thread-local variable that nothing but this module names.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + diytrace_thread@GOTTPOFF]",
            "mov {0}, qword ptr fs:[{0}]",
            out(reg) thread,
            options(nostack, preserves_flags, readonly),
        );
    }
    thread
}

/// Whether the loader has filled in where the thread's state is found. Before that, [`thread`] returns the thread pointer:
/// not null, and not the address of a state either.
pub fn is_relocated() -> bool {
    let offset: usize;
    // SAFETY: reads a word of the library's own.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + diytrace_thread@GOTTPOFF]",
            out(reg) offset,
            options(nostack, preserves_flags, readonly),
        );
    }
    offset != 0
}

/// Sets the calling thread's state.
pub fn set_thread(thread: *mut Thread) {
    // SAFETY: writes a thread-local variable that nothing but this module names.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + diytrace_thread@GOTTPOFF]",
            "mov qword ptr fs:[{0}], {1}",
            out(reg) _,
            in(reg) thread,
            options(nostack, preserves_flags),
        );
    }
}

/// Sets the calling thread's state, unless a signal handler has been faster.
pub fn set_thread_if_none(thread: *mut Thread) -> bool {
    let found: usize;
    // SAFETY: writes a thread-local variable that nothing but this module names.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + diytrace_thread@GOTTPOFF]",
            "cmpxchg qword ptr fs:[{0}], {1}",
            out(reg) _,
            in(reg) thread,
            inout("rax") 0usize => found,
            options(nostack),
        );
    }
    found == 0
}

/// Where the stack is.
#[inline(always)]
pub fn stack_pointer() -> usize {
    let sp: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) sp, options(nomem, nostack, preserves_flags)) };
    sp
}

/// Where code is, its stack pointer and its frame pointer, as they are in whoever this is part of.
#[inline(always)]
pub fn registers() -> [usize; 3] {
    let (address, stack_pointer, frame_pointer): (usize, usize, usize);
    // SAFETY: reads registers.
    unsafe {
        asm!(
            "lea {}, [rip]",
            "mov {}, rsp",
            "mov {}, rbp",
            out(reg) address,
            out(reg) stack_pointer,
            out(reg) frame_pointer,
            options(nomem, nostack, preserves_flags)
        );
    }
    [address, stack_pointer, frame_pointer]
}

/// Has the stack end here, if it has not so many bytes left, and not later, where something would be left half done.
#[inline(always)]
pub fn need_stack<const BYTES: i32>() {
    // SAFETY: the stack pointer is as it was; where there is no more, the program's own handler is called, as in any other place.
    unsafe {
        asm!(
            "sub rsp, {bytes}", // as a call does: nothing may read below it
            "mov {word}, qword ptr [rsp]",
            "add rsp, {bytes}",
            bytes = const BYTES,
            word = out(reg) _,
        );
    }
}

/// Takes what calls that are over have left below the stack pointer away: return addresses of the program's, which would be found where a call
/// of its own has that place later, and no value there yet. So much of the stack there must be: see [`need_stack`].
#[inline(always)]
pub fn clear_stack<const BYTES: i32>() {
    // SAFETY: the stack pointer is as it was, and nothing below it is anybody's.
    unsafe {
        asm!(
            "sub rsp, {bytes}",
            "mov rdi, rsp",
            "rep stosq",
            "add rsp, {bytes}",
            bytes = const BYTES,
            inout("rcx") BYTES as usize / size_of::<u64>() => _,
            in("rax") 0,
            out("rdi") _,
        );
    }
}

/// Where libc keeps its own record of the calling thread.
pub fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: the word at the segment's start holds its own address, by the ABI.
    unsafe { asm!("mov {}, qword ptr fs:[0]", out(reg) pointer, options(nostack, preserves_flags, readonly)) };
    pointer
}

/// The time stamp counter. Memory accesses stay on their side of it, as far as the compiler goes.
#[inline(always)]
pub fn ticks() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: reads a counter that user code may read wherever the recorder chose this clock.
    unsafe { asm!("rdtsc", out("rax") low, out("rdx") high, options(nostack, preserves_flags)) };
    high << 32 | low
}

/// Adds to the counter `OFFSET` bytes into a record that only this thread writes, in one instruction: a signal
/// handler's additions are not lost.
///
/// # Safety
/// The counter must be valid for reads and writes.
#[inline(always)]
pub unsafe fn add_at<const OFFSET: usize, T>(record: *mut T, value: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "add qword ptr [{record} + {offset}], {value}",
            record = in(reg) record,
            offset = const OFFSET,
            value = in(reg) value,
            options(nostack),
        );
    }
}

/// Adds 1 to a counter in the same way.
///
/// # Safety
/// As for [`add_at`].
#[inline(always)]
pub unsafe fn count_at<const OFFSET: usize, T>(record: *mut T) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "add qword ptr [{record} + {offset}], 1",
            record = in(reg) record,
            offset = const OFFSET,
            options(nostack),
        );
    }
}

/// Adds to a counter in the same way.
///
/// # Safety
/// As for [`add_at`].
#[inline(always)]
pub unsafe fn add(counter: *mut u64, value: u64) {
    // SAFETY: the caller's promise.
    unsafe { add_at::<0, u64>(counter, value) };
}

/// Adds to a word that only this thread writes, in one instruction, and gives what it was.
///
/// # Safety
/// As for [`add_at`].
#[inline(always)]
pub unsafe fn fetch_add(word: *mut u64, value: u64) -> u64 {
    let mut was = value;
    // SAFETY: the caller's promise.
    unsafe { asm!("xadd qword ptr [{}], {}", in(reg) word, inout(reg) was, options(nostack)) };
    was
}

/// Adds to one of the counters of a row, in the same way.
///
/// # Safety
/// As for [`add_at`].
#[inline(always)]
pub unsafe fn add_nth(counters: *mut u64, index: usize, value: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "add qword ptr [{counters} + 8 * {index}], {value}",
            counters = in(reg) counters,
            index = in(reg) index,
            value = in(reg) value,
            options(nostack),
        );
    }
}

/// Replaces `old` by `new` in a word that only this thread writes, unless a signal handler has changed it.
///
/// # Safety
/// `word` must be valid for reads and writes.
#[inline(always)]
pub unsafe fn replace(word: *mut u64, old: u64, new: u64) -> bool {
    let found: u64;
    // SAFETY: the caller's promise.
    unsafe {
        asm!("cmpxchg qword ptr [{}], {}", in(reg) word, in(reg) new, inout("rax") old => found, options(nostack));
    }
    found == old
}

/// Asks for a cache line that will be used soon.
#[inline(always)]
pub fn prefetch(address: *const u8) {
    // SAFETY: an address that leads nowhere does no harm.
    unsafe { asm!("prefetcht0 [{}]", in(reg) address, options(nostack, preserves_flags, readonly)) };
}

/// Whether the processor says that its time stamp counter runs at one rate, whatever it does.
pub fn has_invariant_ticks() -> bool {
    use core::arch::x86_64::__cpuid;
    __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & 1 << 8 != 0
}

/// A system call, raw: libc's would set `errno`. Returns the kernel's answer, negative for an error.
///
/// # Safety
/// As the call demands.
pub unsafe fn kernel(number: i64, args: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the caller's promise; the kernel changes rcx and r11 beside the result.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") args[0], in("rsi") args[1], in("rdx") args[2],
            in("r10") args[3], in("r8") args[4], in("r9") args[5],
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Calls `work(argument)` on another stack, after storing at `saved` where [`abandon`] would go on. True if it returned.
///
/// # Safety
/// `stack_end` must be the end, aligned to 16 bytes, of memory that is large enough for the work.
#[unsafe(naked)]
pub unsafe extern "C" fn call_on_stack(
    _stack_end: *mut u8,
    _work: unsafe extern "C" fn(*mut u8),
    _argument: *mut u8,
    _saved: *mut usize,
) -> bool {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rcx], rsp",
        "mov rbx, rsp", // the work keeps it
        "mov rsp, rdi",
        "mov rdi, rdx",
        "call rsi",
        "mov rsp, rbx",
        "mov eax, 1",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// Leaves the work of [`call_on_stack`], which then returns false.
///
/// # Safety
/// The call that stored `saved` must not have returned, and what its work owns is not dropped.
#[unsafe(naked)]
pub unsafe extern "C" fn abandon(_saved: usize) -> ! {
    naked_asm!("mov rsp, rdi", "xor eax, eax", "pop r15", "pop r14", "pop r13", "pop r12", "pop rbx", "pop rbp", "ret",)
}
