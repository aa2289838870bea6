/* A program that others hardly let through: it runs on one processor with a child that never stops, and is nice to it.
 *
 *   cc -g -finstrument-functions -o preempted preempted.c
 *
 *   preempted N            N calls of `slow`, then eight times as many of `quick`
 *   preempted N often      the child has the processor in short turns, five in a row
 *   preempted N paths      the same, and N call paths are met, each once; says how long the child had the processor meanwhile, in
 *                          nanoseconds
 *
 * Most of the time that passes, the child has. `slow` takes several times what `quick` does, and both the same in all of
 * their calls. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

#include "numbered-paths.h"

static volatile int sink;

APART static void slow(void)
{
    for (int i = 0; i < 200; i++) sink++;
}

APART static void quick(void) { sink++; }

/* Wakes, takes the processor from whoever has it, and sleeps; after every fifth time for long enough to let a thousand calls
 * pass. */
UNSEEN static void take_turns(void)
{
    struct timespec pause = {0, 60000}, long_pause = {0, 2000000};
    for (int turn = 0;; turn++) {
        for (int i = 0; i < 100000; i++) sink++;
        nanosleep(turn % 5 == 4 ? &long_pause : &pause, NULL);
    }
}

UNSEEN static pid_t begin_rival(int often)
{
    cpu_set_t first;
    CPU_ZERO(&first);
    int cpu = sched_getcpu();
    CPU_SET(cpu < 0 ? 0 : cpu, &first);
    if (sched_setaffinity(0, sizeof first, &first) != 0) exit(3);
    pid_t parent = getpid(), rival = fork();
    if (rival < 0) exit(3);
    if (rival == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(0);
        if (often) take_turns();
        for (;;) sink++;
    }
    errno = 0;
    if (nice(5) < 0 && errno != 0) exit(3); /* it may be below nothing after that, too */
    return rival;
}

/* What is recorded begins here: to be moved to that processor is to wait for it. */
APART static void serve(int n)
{
    for (int i = 0; i < n; i++) slow();
    for (int i = 0; i < 8 * n; i++) quick();
}

/* How long this thread could have gone on, and others had the processor. */
UNSEEN static unsigned long long waited_for_others(void)
{
    unsigned long long ran = 0, waited = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (!file || fscanf(file, "%llu %llu", &ran, &waited) != 2) exit(4);
    fclose(file);
    return waited;
}

APART static void meet_paths(int n)
{
    for (int i = 0; i < n; i++) numbered_path(i);
}

UNSEEN int main(int argc, char **argv)
{
    pid_t rival = begin_rival(argc > 2);
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    if (argc > 2 && strcmp(argv[2], "paths") == 0) {
        unsigned long long before = waited_for_others();
        meet_paths(n);
        printf("%llu\n", waited_for_others() - before);
    } else {
        serve(n);
    }
    kill(rival, SIGKILL);
    waitpid(rival, NULL, 0);
    return 0;
}
