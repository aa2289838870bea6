/* How stepped.c, which has the compile lines, comes between two instructions.
 *
 * With the trap flag set the processor raises SIGTRAP after each instruction. The handler counts those at which the
 * recorder is at work, and at the wanted one it clears the flag and does what a program's handler might have done there.
 * A signal that the recorder has blocked waits until it is let through: so a step inside such a stretch is no step. The
 * handler sees the system calls that block and unblock, since it makes every system call in its interrupted code's place;
 * SIGTRAP blocked would be the process's end. While SIGUSR2 is blocked it lets the code run at full speed, and a pending
 * SIGUSR2 brings it back when the kernel would deliver any other signal. (It is also where the trap flag alone misses an
 * instruction: the one after a system call.)
 *
 * Steps take microseconds each, and most trials take as many as the one before, and one. So a first walk notes which
 * instruction each step was at, and how often that had been reached; trials then run at full speed to a breakpoint there.
 * Not at instructions that also run while signals are blocked, nor within one that repeats itself: there they step. */
#define _GNU_SOURCE
#include "stepped-parts.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
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

/* Where the wanted step is, as the first walk has seen it. */
static struct { uintptr_t at; long wanted, hits; int memory, is_set; unsigned char byte; void *function; } leap;
enum { BREAKPOINT = 0xcc, BLOCKED_STEPS = 3000 };
static long blocked_steps;
static int is_trap_blocked; /* as the interrupted code has it */

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

/* How often an instruction has been reached, and whether ever with signals blocked. */
static struct reached *reached_at(uintptr_t rip)
{
    for (uintptr_t i = rip * 0x9e3779b97f4a7c15u >> 46;; i++) {
        struct reached *entry = &shared->reached[i % PLACES];
        if (!entry->at) entry->at = rip;
        if (entry->at == rip) return entry;
    }
}

/* One step at which a handler may come. What is repeated in one instruction (`rep stosq`) is looked at twice. */
static void step(greg_t *registers)
{
    if (repeats > 1) return;
    long number = shared->steps++;
    if (wanted == FIRST_WALK && number < STEPS) {
        struct place *place = &shared->places[shared->walked = number];
        place->at = repeats || !is_recorders(registers[REG_RIP]) ? 0 : registers[REG_RIP];
        place->times = place->at ? reached_at(place->at)->times : 0;
        place->function = inside.entry == enter_hook ? (void *)inside.function : NULL;
    }
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
    uint64_t trap = 1u << (SIGTRAP - 1), old = *mask | (is_trap_blocked ? trap : 0), bits = set ? *set : 0;
    if (set) *mask = how == SIG_BLOCK ? old | bits : how == SIG_UNBLOCK ? old & ~bits : bits;
    else *mask = old;
    if (before) *before = old;
    is_trap_blocked = (*mask & trap) != 0;
    return 0;
}

static int is_blocked(const uint64_t *mask, int number) { return *mask >> (number - 1) & 1; }

static void run_until_unblocked(ucontext_t *context)
{
    if (is_trap_blocked) *(uint64_t *)&context->uc_sigmask |= 1u << (SIGTRAP - 1);
    context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    syscall(SYS_tgkill, getpid(), (int)syscall(SYS_gettid), SIGUSR2);
}

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
    if (wanted == FIRST_WALK && blocked_steps < BLOCKED_STEPS) {
        *mask &= ~(1ul << (SIGTRAP - 1));
        return 1;
    }
    run_until_unblocked(context);
    return 0;
}

/* Notes where the first walk comes by. */
static void note(const greg_t *registers, const uint64_t *mask)
{
    repeats = last_rip == (uintptr_t)registers[REG_RIP] ? repeats + 1 : 0;
    last_rip = registers[REG_RIP];
    if (wanted != FIRST_WALK) return;
    shared->instructions++;
    if (repeats) return;
    struct reached *reached = reached_at(last_rip);
    reached->times++;
    reached->is_blocked |= is_blocked(mask, SIGUSR2);
}

static void set_breakpoint(int is_set)
{
    unsigned char byte = is_set ? BREAKPOINT : leap.byte;
    if (pwrite(leap.memory, &byte, 1, (off_t)leap.at) != 1) abort();
    leap.is_set = is_set;
}

/* At the breakpoint: this is the time, or the instruction is passed and the breakpoint set again. */
static void on_leap(greg_t *registers)
{
    if (leap.is_set) {
        set_breakpoint(0);
        registers[REG_RIP] = (greg_t)leap.at;
        registers[REG_EFL] |= TRAP_FLAG;
        if (++leap.hits < leap.wanted) return;
        registers[REG_EFL] &= ~TRAP_FLAG;
        is_stepping = 0;
        act(leap.function);
    } else if ((uintptr_t)registers[REG_RIP] != leap.at) {
        set_breakpoint(1);
        registers[REG_EFL] &= ~TRAP_FLAG;
    }
}

static void on_step(int number, siginfo_t *info, void *context)
{
    (void)info;
    int saved_errno = errno;
    if (number == SIGUSR2) is_trap_blocked = 0; /* unblocked, out of our sight */
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint64_t *mask = (uint64_t *)&((ucontext_t *)context)->uc_sigmask;
    if (is_stepping && leap.at) {
        on_leap(registers);
    } else if (is_stepping) {
        registers[REG_EFL] |= TRAP_FLAG;
        do {
            note(registers, mask);
            int is_between = is_blocked(mask, SIGUSR2) && kind != SYNC;
            if (is_at_work(registers) && !is_between) step(registers);
            if (is_between && ++blocked_steps == BLOCKED_STEPS) {
                run_until_unblocked(context);
                break;
            }
        } while (is_stepping && pass_system_call(context));
    } else {
        registers[REG_EFL] &= ~TRAP_FLAG;
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

void step_in_this_thread(void)
{
    long at = trial.at;
    kind = trial.stepper, wanted = at;
    struct place *place = &shared->places[at >= 0 && at <= shared->walked ? at : 0];
    leap.at = 0;
    if (shared->may_leap && at >= 0 && at <= shared->walked && place->at && !reached_at(place->at)->is_blocked)
        shared->has_leapt = 1, leap.at = place->at, leap.wanted = place->times, leap.function = place->function;
    struct sigaction handling = {.sa_flags = SA_SIGINFO | (trial.is_alternate ? SA_ONSTACK : 0)};
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
    is_trap_blocked = 0;
    blocked_steps = 0;
    is_stepping = 1;
    if (leap.at) {
        leap.memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
        leap.byte = *(unsigned char *)leap.at;
        set_breakpoint(1);
        return;
    }
    __asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n orq %0, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp"
                     :: "i"(TRAP_FLAG) : "memory", "cc");
}

void stop_stepping(void)
{
    is_stepping = 0;
    shared->is_window_over = 1;
    if (leap.is_set) set_breakpoint(0);
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
        if (sp && registers.rsp > sp) sp = 0; /* the hook is done, and the function has not counted itself yet */
        if (!sp && registers.rip == enter_hook) sp = registers.rsp, shared->waiting_for = (long)registers.rdi;
    }
    if (!shared->is_window_over) syscall(SYS_tgkill, pid, pid, SIGUSR1);
    ptrace(PTRACE_DETACH, pid, 0, 0);
    return 0;
}
