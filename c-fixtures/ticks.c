/* A timer's handler interrupts calls, hooks, and the making of new paths, a thousand times or as often as can be; it sets
 * errno, as handlers do, and puts it back, and the calls it interrupts must find theirs.
 *
 *   cc -g -finstrument-functions -o ticks ticks.c
 *
 *   ticks own|alternate TICKS      the stack that the handler runs on; so many ticks, or for SECONDSs
 *
 * `on_tick` calls `in_handler`, which calls `leaf`. `round_trip` calls `leaf` and `climb`, a recursion over eight functions.
 * It prints how often `on_tick` and `round_trip` were called, and where errno changed. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

static volatile long ticks, rounds, sum, changes;

APART static void leaf(void) { sum++; }

APART static void in_handler(void)
{
    leaf();
    errno = EPROTO;
}

APART static void on_tick(int signal)
{
    (void)signal;
    int saved = errno;
    errno = EDOM;
    in_handler();
    if (errno != EPROTO) changes++;
    ticks++;
    errno = saved;
}

APART static void climb_0(int n) { sum += n; }
#define CLIMB(n, below)                                                                                                \
    APART static void climb_##n(int i)                                                                                 \
    {                                                                                                                  \
        climb_##below(i);                                                                                              \
        sum++;                                                                                                         \
    }
CLIMB(1, 0) CLIMB(2, 1) CLIMB(3, 2) CLIMB(4, 3) CLIMB(5, 4) CLIMB(6, 5) CLIMB(7, 6)

APART static void round_trip(void)
{
    rounds++;
    errno = (int)rounds;
    leaf();
    climb_7((int)rounds);
    if (errno != (int)rounds) changes++;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    char *unit;
    long wanted = strtol(argv[2], &unit, 10);
    time_t end = *unit == 's' ? time(NULL) + wanted : 0;
    static char room[1 << 16];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction action = {.sa_handler = on_tick};
    if (!strcmp(argv[1], "alternate")) {
        if (sigaltstack(&stack, NULL)) return 2;
        action.sa_flags = SA_ONSTACK;
    }
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {{0, 50}, {0, 50}}, none = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
    while (end ? time(NULL) < end : ticks < wanted)
        for (int i = 0; i < 1000 && (end || ticks < wanted); i++) round_trip();
    setitimer(ITIMER_REAL, &none, NULL);
    if (changes) printf("errno changed %ld times\n", changes);
    printf("%ld %ld\n", ticks, rounds);
    return 0;
}
