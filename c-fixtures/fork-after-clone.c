/* A task that shares everything with the thread that made it is over, and so is the call that made it; then that thread forks.
 *
 *   cc -g -finstrument-functions -o fork-after-clone fork-after-clone.c
 *
 * `fork_one` is called ten times, and calls `work` in the child, which calls `leaf` a hundred times. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static volatile long sum;

APART static long leaf(long x) { return x + 1; }

APART static int task(void *unused)
{
    (void)unused;
    sum += leaf(4);
    return 0;
}

APART static void clone_one(void)
{
    static char stack[1 << 16];
    pid_t child = clone(task, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL);
    if (child < 0 || waitpid(child, NULL, 0) != child) exit(2);
    sum += leaf(2);
}

APART static void work(void)
{
    for (int i = 0; i < 100; i++) sum += leaf(i);
}

APART static void fork_one(void)
{
    pid_t child = fork();
    if (child == 0) {
        work();
        _exit(0);
    }
    if (waitpid(child, NULL, 0) != child) exit(3);
    sum += leaf(7);
}

int main(void)
{
    clone_one();
    work();
    for (int i = 0; i < 10; i++) fork_one();
    printf("%ld\n", sum);
    return 0;
}
