/* Processes that cannot tell each other by their numbers, at once.
 *
 *   cc -D_GNU_SOURCE -g -finstrument-functions -o namespaces namespaces.c
 *
 *   namespaces apart N CALLS      N children, each in a PID namespace of its own, where it has another number than the others
 *   namespaces sealed N CALLS     N children of a process that has restricted its system calls
 *
 * Each calls `work` once, and so often when all are there, as far as they come in time. Status 77: not permitted. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sum;

static void work(void) { sum++; }

static void run(long calls)
{
    for (long i = 0; i < calls; i++) work();
}

static int seal(void)
{
    struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {1, allow};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    int apart = !strcmp(argv[1], "apart"), children = (int)strtol(argv[2], NULL, 10);
    volatile int *there = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!apart && seal()) return 3;
    for (int i = 0; i < children; i++) {
        long child = apart ? syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0) : fork();
        if (child < 0) return 77;
        if (child == 0 && apart) {
            /* The first process of a namespace has number 1, and others had the next ones. */
            for (int before = 0; before < i; before++) {
                pid_t gone = fork();
                if (gone == 0) _exit(0);
                waitpid(gone, NULL, 0);
            }
            child = fork();
            int status;
            if (child != 0) _exit(waitpid(child, &status, 0) == child && status == 0 ? 0 : 6);
        }
        if (child == 0) {
            work();
            __atomic_add_fetch(there, 1, __ATOMIC_SEQ_CST);
            for (long spins = 0; *there < children && spins < 200000000; spins++) {}
            run(strtol(argv[3], NULL, 10));
            _exit(0);
        }
    }
    for (int i = 0, status; i < children; i++)
        if (wait(&status) < 0 || status != 0) return 5;
    return 0;
}
