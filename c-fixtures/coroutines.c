/* Coroutines: two stacks beside the thread's own, and control goes from one to the other a hundred times each.
 *
 *   cc -g -finstrument-functions -o coroutines coroutines.c
 *
 * `ping` and `pong` call `leaf` each time; main calls `leaf` too, each time it is back. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t at_main, at_ping, at_pong;
static volatile int sum;

static void leaf(void) { sum++; }

static void ping(void)
{
    for (int i = 0; i < 100; i++) {
        leaf();
        swapcontext(&at_ping, &at_pong);
    }
}

static void pong(void)
{
    for (int i = 0; i < 100; i++) {
        leaf();
        swapcontext(&at_pong, &at_main);
    }
}

static void make(ucontext_t *context, void (*function)(void))
{
    getcontext(context);
    context->uc_stack.ss_size = 1 << 16;
    context->uc_stack.ss_sp = malloc(1 << 16);
    context->uc_link = &at_main;
    makecontext(context, function, 0);
}

int main(void)
{
    make(&at_ping, ping);
    make(&at_pong, pong);
    for (int i = 0; i < 100; i++) {
        swapcontext(&at_main, &at_ping);
        leaf();
    }
    printf("%d\n", sum);
    return 0;
}
