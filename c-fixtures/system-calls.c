/* How often a program asks the kernel for room, or to block signals: runs it to its end, and then says how many calls of each kind it made.
 *
 *   cc -g -o system-calls system-calls.c
 *
 *   system-calls PROGRAM [ARGUMENT]...
 *
 * It is a parent that traces: what it counts cannot be hidden from it, and what it runs sees nothing of it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static const struct { const char *name; long number; } asked[] = {
        {"openat", SYS_openat}, {"prlimit64", SYS_prlimit64}, {"fallocate", SYS_fallocate}, {"mmap", SYS_mmap},
        {"rt_sigprocmask", SYS_rt_sigprocmask},
    };
    enum { KINDS = sizeof asked / sizeof *asked };
    long counts[KINDS] = {0};
    if (argc < 2) return 2;
    pid_t child = fork();
    if (!child) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0)) _exit(125);
        raise(SIGSTOP);
        execv(argv[1], argv + 1);
        _exit(126);
    }
    int status, signal = 0, is_inside = 0;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return 125;
    if (ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) return 125;
    for (;;) {
        if (ptrace(PTRACE_SYSCALL, child, 0, signal) || waitpid(child, &status, 0) != child) return 125;
        if (!WIFSTOPPED(status)) break;
        signal = 0;
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
            struct user_regs_struct registers;
            if ((is_inside = !is_inside) && !ptrace(PTRACE_GETREGS, child, 0, &registers))
                for (int i = 0; i < KINDS; i++) counts[i] += (long)registers.orig_rax == asked[i].number;
        } else if (status >> 8 != (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
            signal = WSTOPSIG(status);
        }
    }
    for (int i = 0; i < KINDS; i++) printf("%s %ld\n", asked[i].name, counts[i]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
