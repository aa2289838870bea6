/* A program that others hardly let through: it runs on one processor with a child that never stops, and is nice to it.
 *
 *   cc -g -finstrument-functions -o preempted preempted.c
 *
 *   preempted N            N calls of `slow`, then eight times as many of `quick`
 *   preempted N often      the child has the processor in short turns, five in a row
 *
 * Most of the time that passes, the child has. `slow` takes several times what `quick` does, and both the same in all of
 * their calls. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

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
    if (nice(5) < 0) exit(3);
    return rival;
}

/* What is recorded begins here: to be moved to that processor is to wait for it. */
APART static void serve(int n)
{
    for (int i = 0; i < n; i++) slow();
    for (int i = 0; i < 8 * n; i++) quick();
}

UNSEEN int main(int argc, char **argv)
{
    pid_t rival = begin_rival(argc > 2);
    serve(argc > 1 ? atoi(argv[1]) : 1000);
    kill(rival, SIGKILL);
    waitpid(rival, NULL, 0);
    return 0;
}
