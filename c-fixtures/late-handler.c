/* A program of many paths that installs a signal handler after it has made 37449 of them, and goes on to make as many three
 * times more while signals come.
 *
 *   cc -g -finstrument-functions -o late-handler late-handler.c
 *
 * Each function of the tree calls the next from eight places: 8^0 + 8^1 + … + 8^5 calls, on as many paths, and `tree` is called
 * from four. `on_tick` calls `in_handler` twice. It prints how often `on_tick` was called. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile int ticks, sum;

static void in_handler(void) { sum++; }

static void on_tick(int signal)
{
    (void)signal;
    ticks++;
    in_handler();
    in_handler();
}

static void tree_5(void) { sum++; }
#define TREE(name, below)                                                                                              \
    static void name(void) { below(), below(), below(), below(), below(), below(), below(), below(); }
TREE(tree_4, tree_5) TREE(tree_3, tree_4) TREE(tree_2, tree_3) TREE(tree_1, tree_2) TREE(tree, tree_1)

int main(void)
{
    struct sigaction action = {.sa_handler = on_tick};
    struct itimerval timer = {{0, 50}, {0, 50}}, none = {{0, 0}, {0, 0}};
    tree();
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    tree();
    tree();
    tree();
    setitimer(ITIMER_REAL, &none, NULL);
    printf("%d\n", ticks);
    return 0;
}
