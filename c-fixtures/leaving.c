/* Ways to end a program without returning: main → outer → step, a thousand times, then last, which does it.
 *
 *   cc -g -finstrument-functions -o leaving leaving.c
 *
 *   leaving exit|_exit|_Exit|quick_exit|abort|noreturn|fault|handled|trap
 *
 * exit, quick_exit and noreturn (a function that never returns calls exit) run `goodbye`, which was registered. Of a
 * fault the kernel makes an end; where it is handled, `on_fault` calls `step` once more and ends by _exit. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static volatile int sum;
static int *volatile nowhere;

APART static void step(void) { sum++; }
APART static void goodbye(void) { step(); }

APART static void on_fault(int signal)
{
    (void)signal;
    step();
    _exit(7);
}

__attribute__((noreturn)) APART static void never(void)
{
    step();
    exit(5);
}

APART static void last(const char *how)
{
    if (!strcmp(how, "exit")) exit(3);
    if (!strcmp(how, "_exit")) _exit(3);
    if (!strcmp(how, "_Exit")) _Exit(3);
    if (!strcmp(how, "quick_exit")) quick_exit(4);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "noreturn")) never();
    if (!strcmp(how, "trap")) __builtin_trap();
    *nowhere = 1;
}

APART static void outer(const char *how)
{
    for (int i = 0; i < 1000; i++) step();
    last(how);
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    atexit(goodbye);
    at_quick_exit(goodbye);
    if (!strcmp(argv[1], "handled")) signal(SIGSEGV, on_fault);
    outer(argv[1]);
    return 0;
}
