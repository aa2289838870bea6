/* Runs a program in which the first time that each thread but the first blocks signals and lets them in again, that takes 20 ms, as if
 * handlers ran then, or others had the processor.
 *
 *   cc -g -o slow-unblocking slow-unblocking.c
 *
 *   slow-unblocking PROGRAM [ARGUMENT]... */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static struct thread {
    pid_t tid;
    int is_inside, has_blocked, is_done;
} threads[100];

static struct thread *thread_of(pid_t tid)
{
    for (struct thread *thread = threads; thread < threads + 100; thread++)
        if (thread->tid == tid || !thread->tid) {
            thread->tid = tid;
            return thread;
        }
    _exit(125);
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    pid_t child = fork(), tid;
    if (!child) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0)) _exit(125);
        raise(SIGSTOP);
        execv(argv[1], argv + 1);
        _exit(126);
    }
    int status, result = 125;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return 125;
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, child, 0, options) || ptrace(PTRACE_SYSCALL, child, 0, 0)) return 125;
    while ((tid = waitpid(-1, &status, __WALL)) > 0) {
        if (!WIFSTOPPED(status)) {
            if (tid == child) result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        struct thread *thread = thread_of(tid);
        struct user_regs_struct now;
        int signal = 0;
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
            thread->is_inside = !thread->is_inside;
            if (thread->is_inside && tid != child && !ptrace(PTRACE_GETREGS, tid, 0, &now) &&
                now.orig_rax == SYS_rt_sigprocmask && now.rsi) {
                if (now.rdi == SIG_SETMASK && thread->has_blocked && !thread->is_done) {
                    thread->is_done = 1;
                    usleep(20000);
                }
                thread->has_blocked |= now.rdi == SIG_BLOCK;
            }
        } else if (!(status >> 16) && WSTOPSIG(status) != SIGSTOP) {
            signal = WSTOPSIG(status);
        }
        ptrace(PTRACE_SYSCALL, tid, 0, signal);
    }
    return result;
}
