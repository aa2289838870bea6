/* Jumps out of signal handlers, and over many frames, in a loop: what is left open must not pile up.
 *
 *   cc -g -finstrument-functions -o jumps jumps.c
 *
 *   jumps own N          `turn` sends itself a signal N times; `on_signal` calls `in_handler`, which jumps to `loop`
 *   jumps alternate N    the same on a stack of the handler's own
 *   jumps deep N         no signal: `down` calls itself 49 times, and the innermost call jumps
 *
 * Each round ends with a call of `after`. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

static sigjmp_buf back;
static volatile int sum;

APART static void after(void) { sum++; }
APART static void in_handler(void) { siglongjmp(back, 1); }

APART static void on_signal(int signal)
{
    (void)signal;
    in_handler();
}

APART static void down(int n)
{
    if (n) down(n - 1);
    else siglongjmp(back, 1);
    sum++; /* no tail call */
}

APART static void turn(int is_deep)
{
    if (is_deep) down(49);
    else raise(SIGUSR1);
    sum++;
}

static void loop(int is_deep, int n)
{
    for (volatile int i = 0; i < n; i++) {
        if (!sigsetjmp(back, 1)) turn(is_deep);
        after();
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    static char room[1 << 16];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction action = {.sa_handler = on_signal};
    if (!strcmp(argv[1], "alternate")) {
        if (sigaltstack(&stack, NULL)) return 2;
        action.sa_flags = SA_ONSTACK;
    }
    sigaction(SIGUSR1, &action, NULL);
    loop(!strcmp(argv[1], "deep"), (int)strtol(argv[2], NULL, 10));
    printf("%d\n", sum);
    return 0;
}
