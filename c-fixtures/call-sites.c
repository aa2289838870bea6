/* More call sites than a small profile has room for, after more paths than it has, in a program that handles a signal:
 * 4,096 calls of `leaf`, each made from a place of its own, ROUNDS times (16), after the tree of many-paths.h.
 *
 *   cc -g -finstrument-functions -o call-sites call-sites.c
 *
 *   call-sites [ROUNDS] */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "many-paths.h"

static volatile int calls;

__attribute__((noinline)) static void leaf(void) { calls++; }
static void on_interrupt(int number) { (void)number; }

#define CALL leaf();
#define FOUR(what) what what what what
static void from_everywhere(void) { FOUR(FOUR(FOUR(FOUR(FOUR(FOUR(CALL)))))) }

int main(int argc, char **argv)
{
    signal(SIGINT, on_interrupt);
    level_0();
    for (int round = argc > 1 ? atoi(argv[1]) : 16; round > 0; round--) from_everywhere();
    printf("%d %d\n", leaves, calls);
    return 0;
}
