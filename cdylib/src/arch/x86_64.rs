//! x86-64: entry points, thread pointer, clock, counters, system calls.

use crate::hooks;
use crate::noting;
use crate::ring;
use crate::thread::{Thread, live};
use core::arch::{asm, global_asm, naked_asm};
use core::mem::offset_of;
use profile::Header;
use profile::ring::{RingSlot, tag};

/// Called by instrumented code on entry to `function`, which was called from before `site`.
///
/// Passes on what a compiler's function could not see: its own return address and the stack pointer.
///
/// What follows the jump never runs: it makes the section, and so the hook, begin on a cache line of its own.
#[unsafe(naked)]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".text.diytrace_enter")]
pub unsafe extern "C" fn __cyg_profile_func_enter(_function: usize, _site: usize) {
    naked_asm!("mov rdx, [rsp]", "mov rcx, rsp", "jmp {}", ".p2align 6", sym crate::hooks::enter)
}

/// Called by instrumented code on exit from `function`; a tail call has its caller's stack pointer.
#[unsafe(naked)]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".text.diytrace_exit")]
pub unsafe extern "C" fn __cyg_profile_func_exit(_function: usize, _site: usize) {
    naked_asm!("mov rdx, [rsp]", "mov rcx, rsp", "jmp {}", ".p2align 6", sym crate::hooks::exit)
}

/// The enter hook under a name that no other preloaded library can take.
#[unsafe(naked)]
pub unsafe extern "C" fn enter(_function: usize, _site: usize) {
    naked_asm!("mov rdx, [rsp]", "mov rcx, rsp", "jmp {}", sym crate::hooks::enter)
}

/// The exit hook in the same way.
#[unsafe(naked)]
pub unsafe extern "C" fn exit(_function: usize, _site: usize) {
    naked_asm!("mov rdx, [rsp]", "mov rcx, rsp", "jmp {}", sym crate::hooks::exit)
}

/// What a hook does to note something: where it goes on if the stack pointer is not below the base's, the label behind that, where
/// if there is no slot left, what is noted beside the stack pointer, and where if the stretch has ended meanwhile.
macro_rules! note {
    ($beyond:literal, $below:literal, $next:literal, $limit:literal, $full:literal, $tag:literal, $late:literal) => {
        concat!(
            // On the stack and inside the frame of the call that all that is noted here is made from.
            "mov rax, rcx\n",
            "sub rax, [r8 + {low}]\n",
            "cmp rax, [r8 + {span}]\n",
            concat!("jae ", $beyond, "\n"),
            concat!($below, ":\n"),
            // No usual hook has come between.
            "mov r9, [r8 + {top}]\n",
            "cmp r9, [r8 + {base}]\n",
            "jne 7f\n",
            // The thread was not switched out.
            "mov r9, [r8 + {switches}]\n",
            "mov r9d, [r9]\n",
            "cmp r9d, [r8 + {seen}]\n",
            "jne 7f\n",
            // Nothing new in the control words, which exits do not ask.
            ".if {tag} == {entry}\n",
            "mov r9, [r8 + {file}]\n",
            "mov r9, [r9 + {paused}]\n",
            "cmp r9, [r8 + {control}]\n",
            "jne 7f\n",
            ".endif\n",
            "mov eax, {size}\n",
            concat!("xadd [r8 + ", $next, "], rax\n"),
            concat!("cmp rax, [r8 + ", $limit, "]\n"),
            concat!("jae ", $full, "\n"),
            concat!("lea r10, [rcx + ", $tag, "]\n"),
            "mov [rax + {at_sp}], r10\n",
            "mov [rax + {at_site}], rsi\n",
            "mov [rax + {at_hook}], rdx\n",
            "mov [rax + {at_function}], rdi\n",
            concat!("cmp rax, [r8 + ", $limit, "]\n"),
            concat!("jae ", $late),
        )
    };
}

/// A hook in a thread whose calls are not timed one by one, with its thread: notes what it is told ([`crate::ring`]) if there is
/// nothing else to do, and goes another way if there is.
///
/// A slot is taken by one instruction, so a signal handler's hooks take those behind it; the function is written last, and
/// then it is looked whether the stretch has ended meanwhile. Where the thread notes twice, all that a hook does is done twice,
/// and the first note goes where nobody reads it. It has a counter of its own: with one for both, each note would wait for the
/// other's, which a note alone does not.
macro_rules! noting_hook {
    ($name:ident, $tag:expr, $otherwise:path, $full:path, $late:path, $doc:literal) => {
        #[doc = $doc]
        ///
        /// # Safety
        /// The thread must be the calling one's, or null.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(_function: usize, _site: usize, _hook: usize, _sp: usize, _thread: *mut Thread) {
            naked_asm!(
                "test r8, r8",
                "je 7f",
                "cmp qword ptr [r8 + {live}], {noting}",
                "jne 6f",
                "5:",
                note!("31f", "32", "{next}", "{limit}", "8f", "{tag}", "9f"),
                "ret",
                "6:",
                "cmp qword ptr [r8 + {live}], {twice}",
                "jne 7f",
                note!("30f", "20", "{spare_next}", "{spare_limit}", "2f", "{tag}", "2f"),
                // What has led here, for what it takes: rdx and rcx are known.
                "2:",
                "mov r10, [rsp]",
                "mov r11, rsp",
                "mov r8, [rip + diytrace_thread@GOTTPOFF]",
                "mov r8, fs:[r8]",
                "test r8, r8",
                "je 7f",
                "cmp qword ptr [r8 + {live}], {timing}",
                "jne 5b",
                "7:",
                "jmp {otherwise}",
                // The base's own stack pointer: that of bodies inlined into it, which are counted, and of tail exits from its calls.
                "31:",
                "jne 7b",
                ".if {tag} == {entry}",
                "cmp rsi, [r8 + {base_site}]",
                "jne 7b",
                "cmp edx, [r8 + {base_hook}]",
                "je 7b",
                "mov rax, [r8 + {bodies}]",
                "cmp rax, {most_bodies}",
                "jae 7b",
                "mov [r8 + 8 * rax + {body_functions}], rdi",
                "inc qword ptr [r8 + {bodies}]",
                ".else",
                "cmp rdx, rsi",
                "je 32b",
                "mov rax, [r8 + {bodies}]",
                "sub rax, 1",
                "jb 7b",
                "cmp rdi, [r8 + 8 * rax + {body_functions}]",
                "jne 7b",
                "dec qword ptr [r8 + {bodies}]",
                ".endif",
                "jmp 32b",
                "30:",
                "je 20b",
                "jmp 7b",
                "8:",
                "mov r9, rax",
                "jmp {full}",
                "9:",
                "mov r9, rax",
                "jmp {late}",
                live = const offset_of!(Thread, live),
                noting = const live::RING,
                twice = const live::RING_TWICE,
                timing = const live::TSC,
                low = const offset_of!(Thread, ring_low),
                span = const offset_of!(Thread, ring_span),
                top = const offset_of!(Thread, top),
                base = const offset_of!(Thread, ring_base),
                switches = const offset_of!(Thread, switches),
                seen = const offset_of!(Thread, seen),
                file = const offset_of!(Thread, base),
                paused = const offset_of!(Header, paused),
                control = const offset_of!(Thread, control),
                base_site = const offset_of!(Thread, ring_site),
                base_hook = const offset_of!(Thread, ring_hook),
                bodies = const offset_of!(Thread, ring_bodies),
                body_functions = const offset_of!(Thread, ring_body_functions),
                most_bodies = const ring::BODIES,
                size = const size_of::<RingSlot>(),
                next = const offset_of!(Thread, ring_next),
                limit = const offset_of!(Thread, ring_limit),
                spare_next = const offset_of!(Thread, spare_next),
                spare_limit = const offset_of!(Thread, spare_limit),
                tag = const $tag,
                entry = const tag::ENTER,
                at_sp = const offset_of!(RingSlot, sp),
                at_site = const offset_of!(RingSlot, site),
                at_hook = const offset_of!(RingSlot, hook),
                at_function = const offset_of!(RingSlot, function),
                otherwise = sym $otherwise,
                full = sym $full,
                late = sym $late,
            )
        }
    };
}

noting_hook!(
    enter_noting,
    tag::ENTER,
    hooks::enter_otherwise,
    noting::full::<true>,
    noting::late::<true>,
    "Entry in a thread whose calls are not timed one by one."
);
noting_hook!(
    exit_noting,
    tag::EXIT,
    hooks::exit_otherwise,
    noting::full::<false>,
    noting::late::<false>,
    "Exit in such a thread."
);

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

// The standard library's code is compiled to unwind, and names these where it would. Nothing here unwinds: a panic ends
// before it would come to them.
#[cfg(not(test))]
global_asm!(
    ".globl rust_eh_personality",
    ".hidden rust_eh_personality",
    ".globl _Unwind_Resume",
    ".hidden _Unwind_Resume",
    ".text",
    "rust_eh_personality:",
    "_Unwind_Resume:",
    "ud2",
);

// What the compiler calls to copy, fill and compare memory. Libc's would be the program's own where it has some, and those may
// be instrumented: the hooks must not call them. Hidden, so that nobody else's calls come here.
#[cfg(not(test))] // where `std` brings its own
global_asm!(
    ".macro diytrace_function name",
    ".globl \\name",
    ".hidden \\name",
    ".type \\name, @function",
    "\\name:",
    ".endm",
    ".text",
    "diytrace_function memmove",
    "mov rax, rdi",
    "sub rax, rsi",
    "cmp rax, rdx",
    "jae memcpy", // does not begin inside what is copied
    "mov rax, rdi",
    "mov rcx, rdx",
    "lea rdi, [rdi + rdx - 1]",
    "lea rsi, [rsi + rdx - 1]",
    "std",
    "rep movsb",
    "cld",
    "ret",
    "diytrace_function memcpy",
    "mov rax, rdi",
    "mov rcx, rdx",
    "shr rcx, 3",
    "rep movsq",
    "mov ecx, edx",
    "and ecx, 7",
    "rep movsb",
    "ret",
    "diytrace_function memset",
    "mov r8, rdi",
    "mov eax, esi",
    "mov rcx, rdx",
    "rep stosb",
    "mov rax, r8",
    "ret",
    "diytrace_function bcmp",
    "diytrace_function memcmp",
    "xor ecx, ecx",
    "2: cmp rcx, rdx",
    "je 3f",
    "movzx eax, byte ptr [rdi + rcx]",
    "movzx r8d, byte ptr [rsi + rcx]",
    "inc rcx",
    "sub eax, r8d",
    "je 2b",
    "ret",
    "3: xor eax, eax",
    "ret",
    "diytrace_function strlen",
    "xor eax, eax",
    "2: cmp byte ptr [rdi + rax], 0",
    "je 3f",
    "inc rax",
    "jmp 2b",
    "3: ret",
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

/// `_exit` of the program: says in the profile that the process ended by itself, then goes on to the next `_exit`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _exit(_status: i32) -> ! {
    naked_asm!("push rdi", "call {}", "pop rdi", "jmp rax", sym crate::lifecycle::leaving)
}

/// The same under its C99 name.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _Exit(_status: i32) -> ! {
    naked_asm!("push rdi", "call {}", "pop rdi", "jmp rax", sym crate::lifecycle::leaving)
}

/// A function of libc's that passes its arguments on as they came, whatever they are, to the address that `$before`
/// returns; `$before` may look at them first.
macro_rules! pass_on {
    ($name:ident, $before:path, $doc:literal) => {
        #[doc = $doc]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            naked_asm!(
                "push rax",
                "push rdi",
                "push rsi",
                "push rdx",
                "push rcx",
                "push r8",
                "push r9",
                "call {}",
                "mov r11, rax",
                "pop r9",
                "pop r8",
                "pop rcx",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                "pop rax",
                "jmp r11",
                sym $before,
            )
        }
    };
}

pass_on!(prctl, crate::seccomp::on_prctl, "`prctl` of the program, which may restrict its system calls.");
pass_on!(
    pthread_setname_np,
    crate::seccomp::on_setname,
    "`pthread_setname_np` of the program: the report tells threads by name."
);
pass_on!(fork, crate::ring::on_fork, "`fork` of the program: what was noted is counted before.");
pass_on!(syscall, crate::seccomp::on_syscall, "`syscall` of the program, which may restrict its system calls.");
