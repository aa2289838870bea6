//! Code that only an assembler can write for what the program calls: the hooks' entry points and their noting path, and
//! functions of libc's that are passed on.

// All have unwind information: who unwinds a thread that is cancelled in one of them, or shows a backtrace from a handler, finds the program behind it.

/// A hook that instrumented code calls. It passes on what a compiler's function could not see: its own return address and
/// the stack pointer. Where the stack is not aligned as is agreed on (by a thunk, a JIT, `-mpreferred-stack-boundary=3`), it is made so.
///
/// What follows never runs: it makes the section, and so the hook, begin on a cache line of its own.
macro_rules! entry_hook {
    ($name:ident, $section:literal, $to:path, $doc:literal) => {
        #[doc = $doc]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        #[unsafe(link_section = $section)]
        pub unsafe extern "C" fn $name(_function: usize, _site: usize) {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "mov rdx, [rsp]",
                "mov rcx, rsp",
                "test cl, 8",
                "jz 2f",
                "jmp {to}",
                "2:",
                "push rbp",
                ".cfi_adjust_cfa_offset 8",
                ".cfi_rel_offset rbp, 0",
                "mov rbp, rsp",
                ".cfi_def_cfa_register rbp",
                "and rsp, -16",
                "call {to}",
                "mov rsp, rbp",
                "pop rbp",
                ".cfi_def_cfa rsp, 8",
                ".cfi_restore rbp",
                "ret",
                ".cfi_endproc",
                ".p2align 6",
                to = sym $to
            )
        }
    };
}

/// The same, called by the recorder itself.
macro_rules! own_hook {
    ($name:ident, $to:path, $doc:literal) => {
        #[doc = $doc]
        #[unsafe(naked)]
        unsafe extern "C" fn $name(_function: usize, _site: usize) {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "mov rdx, [rsp]",
                "mov rcx, rsp",
                "jmp {}",
                ".cfi_endproc",
                sym $to
            )
        }
    };
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
        pub unsafe extern "C" fn $name(_function: usize, _site: usize, _hook: usize, _sp: usize, _thread: *mut $crate::thread::Thread) {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "test r8, r8",
                "je 7f",
                "cmp qword ptr [r8 + {live}], {noting}",
                "jne 6f",
                "5:",
                $crate::arch::note!("31f", "32", "{next}", "{limit}", "8f", "{tag}", "9f"),
                "ret",
                "6:",
                "cmp qword ptr [r8 + {live}], {twice}",
                "jne 7f",
                $crate::arch::note!("30f", "20", "{spare_next}", "{spare_limit}", "2f", "{tag}", "2f"),
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
                ".cfi_endproc",
                live = const core::mem::offset_of!($crate::thread::Thread, live),
                noting = const $crate::thread::live::RING,
                twice = const $crate::thread::live::RING_TWICE,
                timing = const $crate::thread::live::TSC,
                low = const core::mem::offset_of!($crate::thread::Thread, ring_low),
                span = const core::mem::offset_of!($crate::thread::Thread, ring_span),
                top = const core::mem::offset_of!($crate::thread::Thread, top),
                base = const core::mem::offset_of!($crate::thread::Thread, ring_base),
                switches = const core::mem::offset_of!($crate::thread::Thread, switches),
                seen = const core::mem::offset_of!($crate::thread::Thread, seen),
                file = const core::mem::offset_of!($crate::thread::Thread, base),
                paused = const core::mem::offset_of!(profile::Header, paused),
                control = const core::mem::offset_of!($crate::thread::Thread, control),
                base_site = const core::mem::offset_of!($crate::thread::Thread, ring_site),
                base_hook = const core::mem::offset_of!($crate::thread::Thread, ring_hook),
                bodies = const core::mem::offset_of!($crate::thread::Thread, ring_bodies),
                body_functions = const core::mem::offset_of!($crate::thread::Thread, ring_body_functions),
                most_bodies = const $crate::stretch::BODIES,
                size = const size_of::<profile::RingSlot>(),
                next = const core::mem::offset_of!($crate::thread::Thread, ring_next),
                limit = const core::mem::offset_of!($crate::thread::Thread, ring_limit),
                spare_next = const core::mem::offset_of!($crate::thread::Thread, spare_next),
                spare_limit = const core::mem::offset_of!($crate::thread::Thread, spare_limit),
                tag = const $tag,
                entry = const profile::ring::tag::ENTER,
                at_sp = const core::mem::offset_of!(profile::RingSlot, sp),
                at_site = const core::mem::offset_of!(profile::RingSlot, site),
                at_hook = const core::mem::offset_of!(profile::RingSlot, hook),
                at_function = const core::mem::offset_of!(profile::RingSlot, function),
                otherwise = sym $otherwise,
                full = sym $full,
                late = sym $late,
            )
        }
    };
}

/// A function of libc's that ends the process, and tells `$before` first, which returns the address to go on to.
macro_rules! exit_by {
    ($name:ident, $before:path, $doc:literal) => {
        #[doc = $doc]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(_status: i32) -> ! {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "push rdi",
                ".cfi_adjust_cfa_offset 8",
                "call {}",
                "pop rdi",
                ".cfi_adjust_cfa_offset -8",
                "jmp rax",
                ".cfi_endproc",
                sym $before
            )
        }
    };
}

/// A function of libc's that passes its arguments on as they came, whatever they are, to the address that `$before`
/// returns; `$before` may look at them first.
macro_rules! pass_on {
    ($name:ident, $before:path, $doc:literal) => {
        #[doc = $doc]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "push rax",
                ".cfi_adjust_cfa_offset 8",
                "push rdi",
                ".cfi_adjust_cfa_offset 8",
                "push rsi",
                ".cfi_adjust_cfa_offset 8",
                "push rdx",
                ".cfi_adjust_cfa_offset 8",
                "push rcx",
                ".cfi_adjust_cfa_offset 8",
                "push r8",
                ".cfi_adjust_cfa_offset 8",
                "push r9",
                ".cfi_adjust_cfa_offset 8",
                "call {}",
                "mov r11, rax",
                "pop r9",
                ".cfi_adjust_cfa_offset -8",
                "pop r8",
                ".cfi_adjust_cfa_offset -8",
                "pop rcx",
                ".cfi_adjust_cfa_offset -8",
                "pop rdx",
                ".cfi_adjust_cfa_offset -8",
                "pop rsi",
                ".cfi_adjust_cfa_offset -8",
                "pop rdi",
                ".cfi_adjust_cfa_offset -8",
                "pop rax",
                ".cfi_adjust_cfa_offset -8",
                "jmp r11",
                ".cfi_endproc",
                sym $before,
            )
        }
    };
}

pub(crate) use {entry_hook, exit_by, note, noting_hook, own_hook, pass_on};
