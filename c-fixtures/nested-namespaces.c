/* Process 1 of a PID namespace forks, and makes a process in another namespace by `clone`, which has number 1 there and
 * calls nothing, and whose child, by `clone`, works while the first forks others that do. Prints how often they called `leaf`.
 *
 *   cc -g -finstrument-functions -o nested-namespaces nested-namespaces.c */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function, noinline))

static long *calls, mine;

APART static void leaf(void) { mine++; }
APART static void work(int n) { for (int i = 0; i < n; i++) leaf(); }

UNSEEN static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

APART static void work_for(long ms)
{
    long until = now_ms() + ms;
    do work(1000); while (now_ms() < until);
}

UNSEEN static void end(void)
{
    __atomic_fetch_add(calls, mine, __ATOMIC_RELAXED);
    _exit(0);
}

UNSEEN static pid_t cloned(int flags) { return syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0); }

APART static void first(void)
{
    pid_t child = fork();
    if (child == 0) { work(1); end(); }
    waitpid(child, NULL, 0);
    pid_t other = cloned(CLONE_NEWPID);
    if (other == 0) {
        pid_t its = cloned(0);
        if (its == 0) { work_for(1000); end(); }
        waitpid(its, NULL, 0);
        _exit(0);
    }
    usleep(200000);
    for (int i = 0; i < 5; i++) {
        child = fork();
        if (child == 0) { work_for(100); end(); }
        waitpid(child, NULL, 0);
    }
    waitpid(other, NULL, 0);
}

int main(void)
{
    calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (calls == MAP_FAILED || unshare(CLONE_NEWPID)) abort();
    pid_t child = fork();
    if (child == 0) { first(); end(); }
    waitpid(child, NULL, 0);
    printf("%ld\n", *calls);
    return 0;
}
