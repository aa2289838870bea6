/* A program of many paths that has a signal handler only now and then: it has none while it makes 37449 paths, and then makes
 * as many three times more, with a handler for each 73 of them, which is gone once it was called.
 *
 *   cc -g -finstrument-functions -o late-handler late-handler.c
 *
 * Each function of the tree calls the next from eight places: 8^0 + 8^1 + … + 8^5 calls, on as many paths, and `tree` is called
 * from four. `on_tick` calls `in_handler` twice. It prints how often `on_tick` was called. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#define UNSEEN __attribute__((no_instrument_function))

static volatile int ticks, sum, is_armed;

static void in_handler(void) { sum++; }

static void on_tick(int number)
{
    ticks++;
    in_handler();
    in_handler();
    signal(number, SIG_IGN);
}

/* Somewhere in the next microseconds a signal comes. */
UNSEEN static void arm(void)
{
    static int turn;
    struct itimerval once = {{0, 0}, {0, 1 + turn++ % 40}};
    if (!is_armed) return;
    signal(SIGALRM, on_tick);
    setitimer(ITIMER_REAL, &once, NULL);
}

#define EIGHT(below) below(), below(), below(), below(), below(), below(), below(), below()
static void tree_5(void) { sum++; }
static void tree_4(void) { EIGHT(tree_5); }
static void tree_3(void)
{
    arm();
    EIGHT(tree_4);
}
static void tree_2(void) { EIGHT(tree_3); }
static void tree_1(void) { EIGHT(tree_2); }
static void tree(void) { EIGHT(tree_1); }

int main(void)
{
    tree();
    is_armed = 1;
    tree();
    tree();
    tree();
    signal(SIGALRM, SIG_IGN);
    printf("%d\n", ticks);
    return 0;
}
