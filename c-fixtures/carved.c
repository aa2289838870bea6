/* Stacks made by hand: sixteen coroutines whose stacks lie side by side in one heap block, the smallest that are usual,
 * and switches in the middle of calls. `turn` calls `before`, gives way three levels down, and calls `behind` when it is
 * its turn again, two hundred times; then all calls return, in the order they came.
 *
 *   cc -g -finstrument-functions -o carved carved.c
 *
 *   carved SIZE     bytes of each stack */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))
#define COROUTINES 16
#define TURNS 200

static ucontext_t at_main, at[COROUTINES];
static int current;
static volatile int sum;

APART static void before(void) { sum++; }
APART static void behind(void) { sum++; }

UNSEEN static void give_way(void)
{
    int me = current;
    current = (current + 1) % COROUTINES;
    swapcontext(&at[me], &at[current]);
}

APART static void level_3(void)
{
    before();
    give_way();
    behind();
}

APART static void level_2(void)
{
    level_3();
    sum++;
}

APART static void turn(void)
{
    level_2();
    sum++;
}

UNSEEN static void run(void)
{
    for (int i = 0; i < TURNS; i++) turn();
    int me = current;
    current = (current + 1) % COROUTINES;
    if (me == COROUTINES - 1) setcontext(&at_main);
    setcontext(&at[current]);
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    size_t size = (size_t)strtol(argv[1], NULL, 10);
    char *block = malloc(COROUTINES * size);
    for (int i = 0; i < COROUTINES; i++) {
        getcontext(&at[i]);
        at[i].uc_stack.ss_size = size;
        at[i].uc_stack.ss_sp = block + (size_t)i * size;
        makecontext(&at[i], run, 0);
    }
    swapcontext(&at_main, &at[0]);
    before();
    printf("%d\n", sum);
    return 0;
}
