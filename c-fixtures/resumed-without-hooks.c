/* Coroutines that give way in code without hooks, as that of a library is: two, resumed by turns, and calls of `main` in between.
 *
 *   cc -g -finstrument-functions -o resumed-without-hooks resumed-without-hooks.c
 *
 *   resumed-without-hooks ROUNDS LEAVES */
#include <stdlib.h>
#include <ucontext.h>

#define APART __attribute__((noinline))
#define WITHOUT_HOOKS __attribute__((noinline, no_instrument_function))

static volatile long sum;
static ucontext_t at_home, coroutines[2];
static int now;

APART static void leaf(void) { sum++; }
WITHOUT_HOOKS static void give_way(void) { swapcontext(&coroutines[now], &at_home); }

APART static void step(void)
{
    for (int i = 0; i < 7; i++) leaf();
    give_way();
    leaf();
}

APART static void body(void)
{
    for (;;) {
        leaf();
        step();
        leaf();
    }
}

APART static void resume(int which)
{
    now = which;
    swapcontext(&at_home, &coroutines[which]);
}

int main(int argc, char **argv)
{
    long rounds = argc > 2 ? strtol(argv[1], NULL, 10) : 1, leaves = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    for (int which = 0; which < 2; which++) {
        getcontext(&coroutines[which]);
        coroutines[which].uc_stack.ss_sp = malloc(256 << 10);
        coroutines[which].uc_stack.ss_size = 256 << 10;
        makecontext(&coroutines[which], body, 0);
    }
    for (long round = 0; round < rounds; round++) {
        for (long i = 0; i < leaves; i++) leaf();
        resume((int)(round % 2));
    }
    return 0;
}
