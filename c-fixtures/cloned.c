/* A child that `fork` knows nothing of, of a parent that is in the middle of many calls: it waits until its parent has gone
 * on for a while, and then makes calls of its own where its parent was.
 *
 *   cc -g -finstrument-functions -o cloned cloned.c
 *
 *   cloned N     `outer` calls `step` N times, then `inner`, which makes the child; the parent calls `step` N % 7 times more */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sum;
static int ends[2];

static void step(void) { sum++; }

static void in_the_child(void) { sum--; }

static long inner(void)
{
    long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        char byte;
        if (read(ends[0], &byte, 1) != 1) _exit(1);
        in_the_child();
        _exit(0);
    }
    return child;
}

static int outer(int n)
{
    for (int i = 0; i < n; i++) step();
    long child = inner();
    for (int i = 0; i < n % 7; i++) step();
    if (write(ends[1], "", 1) != 1) return 1;
    int status = 1;
    waitpid((pid_t)child, &status, 0);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 2 || pipe(ends)) return 2;
    return outer((int)strtol(argv[1], NULL, 10));
}
