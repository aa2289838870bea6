/* How stepped.c, which has the compile lines, comes between two instructions.
 *
 * With the trap flag set the processor raises SIGTRAP after each instruction. The handler counts those at which the
 * recorder is at work, and at the wanted one it clears the flag and does what a program's handler might have done there.
 * A signal that the recorder has blocked waits until it is let through: so a step inside such a stretch is no step. The
 * handler sees the system calls that block and unblock, since it makes every system call in its interrupted code's place;
 * SIGTRAP blocked would be the process's end. While SIGUSR2 is blocked it lets the code run at full speed, and a pending
 * SIGUSR2 brings it back when the kernel would deliver any other signal. (It is also where the trap flag alone misses an
 * instruction: the one after a system call.) */
#define _GNU_SOURCE
#include "stepped.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { TRAP_FLAG = 0x100, SYSCALL_INSTRUCTION = 0x050f };

static uintptr_t code_start, code_end, enter_hook, exit_hook;
static enum stepper kind;
static long wanted;
static volatile int is_stepping;

/* The call of the recorder that is being stepped through. */
static struct { int is_open; uintptr_t entry, sp, back, function; } inside;
static uintptr_t last_rip;
static int repeats;

static int find_code(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;
        if (part->p_type == PT_LOAD && part->p_flags & PF_X && start <= enter_hook && enter_hook < end) {
            code_start = start, code_end = end;
            return 1;
        }
    }
    return 0;
}

void find_recorder(void)
{
    enter_hook = (uintptr_t)dlsym(RTLD_DEFAULT, "__cyg_profile_func_enter");
    exit_hook = (uintptr_t)dlsym(RTLD_DEFAULT, "__cyg_profile_func_exit");
    dl_iterate_phdr(find_code, NULL);
}

static int is_recorders(uintptr_t rip) { return code_start <= rip && rip < code_end; }

/* Whether the recorder is at work, whoever's function runs for it. What its other entries pass on to is not its own. */
static int is_at_work(const greg_t *registers)
{
    uintptr_t rip = registers[REG_RIP], sp = registers[REG_RSP];
    if (inside.is_open && rip == inside.back && sp == inside.sp + sizeof(void *)) inside.is_open = 0;
    if (!inside.is_open && is_recorders(rip)) {
        inside.is_open = 1, inside.entry = rip, inside.sp = sp, inside.function = registers[REG_RDI];
        inside.back = *(uintptr_t *)sp;
    }
    return inside.is_open && (inside.entry == enter_hook || inside.entry == exit_hook || is_recorders(rip));
}

/* One step at which a handler may come. What is repeated in one instruction (`rep stosq`) is looked at twice. */
static void step(greg_t *registers)
{
    repeats = last_rip == (uintptr_t)registers[REG_RIP] ? repeats + 1 : 0;
    last_rip = registers[REG_RIP];
    if (repeats > 1) return;
    long number = shared->steps++;
    if (kind != EVERY && number != wanted) return;
    if (kind != EVERY) {
        is_stepping = 0;
        registers[REG_EFL] &= ~TRAP_FLAG;
    }
    act(inside.entry == enter_hook ? (void *)inside.function : NULL);
}

static long ask_kernel(long number, greg_t *registers)
{
    register long a4 __asm__("r10") = registers[REG_R10], a5 __asm__("r8") = registers[REG_R8],
                                    a6 __asm__("r9") = registers[REG_R9];
    long answer;
    __asm__ volatile("syscall"
                     : "=a"(answer)
                     : "a"(number), "D"(registers[REG_RDI]), "S"(registers[REG_RSI]), "d"(registers[REG_RDX]), "r"(a4),
                       "r"(a5), "r"(a6)
                     : "rcx", "r11", "memory");
    return answer;
}

/* The mask is the interrupted code's, not the handler's. */
static long change_mask(uint64_t *mask, int how, const uint64_t *set, uint64_t *before)
{
    uint64_t old = *mask, bits = set ? *set : 0;
    if (set) *mask = how == SIG_BLOCK ? old | bits : how == SIG_UNBLOCK ? old & ~bits : bits;
    if (before) *before = old;
    return 0;
}

static int is_blocked(const uint64_t *mask, int number) { return *mask >> (number - 1) & 1; }

/* Makes the system call that comes next. Not where there is none, or where it is about this very process, thread or
 * handler; and not if steps pause until signals come through. */
static int pass_system_call(ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    uint64_t *mask = (uint64_t *)&context->uc_sigmask;
    if (*(uint16_t *)registers[REG_RIP] != SYSCALL_INSTRUCTION) return 0;
    long number = registers[REG_RAX];
    switch (number) {
    case SYS_rt_sigreturn: case SYS_sigaltstack: case SYS_clone: case SYS_clone3: case SYS_fork: case SYS_vfork:
    case SYS_execve: case SYS_exit: case SYS_exit_group: case SYS_prctl: case SYS_seccomp: case SYS_arch_prctl:
        return 0;
    case SYS_rt_sigprocmask:
        if (registers[REG_RDI] <= SIG_SETMASK) {
            registers[REG_RAX] = change_mask(mask, (int)registers[REG_RDI], (uint64_t *)registers[REG_RSI],
                                             (uint64_t *)registers[REG_RDX]);
            break;
        } /* fall through */
    default: registers[REG_RAX] = ask_kernel(number, registers);
    }
    registers[REG_RIP] += 2;
    if (!is_blocked(mask, kind == SYNC ? SIGTRAP : SIGUSR2)) return 1;
    registers[REG_EFL] &= ~TRAP_FLAG;
    syscall(SYS_tgkill, getpid(), (int)syscall(SYS_gettid), SIGUSR2);
    return 0;
}

static void on_step(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    int saved_errno = errno;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (is_stepping) registers[REG_EFL] |= TRAP_FLAG;
    else registers[REG_EFL] &= ~TRAP_FLAG;
    while (is_stepping) {
        if (is_at_work(registers)) step(registers);
        if (!is_stepping || !pass_system_call(context)) break;
    }
    errno = saved_errno;
}

/* What a parent that steps has sent. */
static void on_signal_sent(int number)
{
    (void)number;
    int saved_errno = errno;
    act((void *)shared->waiting_for);
    errno = saved_errno;
}

void set_stepper(enum stepper how, long at, int is_on_alternate_stack)
{
    kind = how, wanted = at;
    struct sigaction handling = {.sa_flags = SA_SIGINFO | (is_on_alternate_stack ? SA_ONSTACK : 0)};
    int signals[] = {SIGTRAP, SIGUSR1, SIGUSR2};
    for (int i = 0; i < 3; i++) sigaddset(&handling.sa_mask, signals[i]);
    handling.sa_sigaction = on_step;
    sigaction(SIGTRAP, &handling, NULL);
    sigaction(SIGUSR2, &handling, NULL);
    handling.sa_flags &= ~SA_SIGINFO;
    handling.sa_handler = on_signal_sent;
    sigaction(SIGUSR1, &handling, NULL);
    static __thread char *room;
    if (!room) room = malloc(1 << 20);
    stack_t stack = {.ss_sp = room, .ss_size = 1 << 20};
    sigaltstack(&stack, NULL);
}

void start_stepping(void)
{
    if (kind == PTRACE) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        return;
    }
    inside.is_open = 0;
    is_stepping = 1;
    __asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n orq %0, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp"
                     :: "i"(TRAP_FLAG) : "memory", "cc");
}

void stop_stepping(void)
{
    is_stepping = 0;
    shared->is_window_over = 1;
    __asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n andq %0, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp"
                     :: "i"(~TRAP_FLAG) : "memory", "cc");
}

int step_by_ptrace(int pid, long steps)
{
    int status;
    uintptr_t sp = 0;
    if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status)) return status;
    for (; steps > 0 && !shared->is_window_over; steps--) {
        if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0)) return 0;
        if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) return status;
        struct user_regs_struct registers;
        if (ptrace(PTRACE_GETREGS, pid, 0, &registers)) return 0;
        if (sp && registers.rsp > sp) sp = 0, shared->waiting_for = 0;
        if (!sp && registers.rip == enter_hook) sp = registers.rsp, shared->waiting_for = (long)registers.rdi;
    }
    if (!shared->is_window_over) syscall(SYS_tgkill, pid, pid, SIGUSR1);
    ptrace(PTRACE_DETACH, pid, 0, 0);
    return 0;
}
