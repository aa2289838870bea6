/* Coroutines that resume each other in the midst of their calls, at random, on stacks of different sizes, some with large frames.
 *
 *   cc -g -finstrument-functions -o random-stacks random-stacks.c
 *
 *   random-stacks SEED
 *
 * Says for each function how often it was called, and for each pair of functions how often the first called the second, as it has
 * counted itself: lines `CALLS NAME` and `CALLS CALLER → CALLEE`. Who called `fiber` is left out: it is the first on its stack. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

enum { STACKS = 60, SWITCHES = 20000, DEPTH = 9 };
enum { MAIN, FIBER, NARROW, WIDE, LEAF, FUNCTIONS };

static const char *const names[FUNCTIONS] = {"main", "fiber", "narrow", "wide", "leaf"};
static long calls[FUNCTIONS][FUNCTIONS], fibers;
static ucontext_t home, coroutines[STACKS];
static int current = -1, switches;
static unsigned state;
static volatile int sum;

UNSEEN static unsigned chance(unsigned among)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % among;
}

UNSEEN static void switch_at_random(void)
{
    if (chance(3) || switches == SWITCHES) return;
    ucontext_t *from = current < 0 ? &home : &coroutines[current];
    current = ++switches == SWITCHES ? -1 : (int)chance(STACKS + 1) - 1; /* home last, and in between */
    ucontext_t *to = current < 0 ? &home : &coroutines[current];
    if (to != from) swapcontext(from, to);
}

APART static void leaf(int caller)
{
    calls[caller][LEAF]++;
    switch_at_random();
    sum++;
}

UNSEEN static void go_on(int caller, int depth);

APART static void narrow(int caller, int depth)
{
    calls[caller][NARROW]++;
    go_on(NARROW, depth);
    sum++;
}

APART static void wide(int caller, int depth)
{
    char volatile room[6000];
    room[depth] = 1;
    calls[caller][WIDE]++;
    go_on(WIDE, depth);
    sum += room[depth];
}

/* Part of whoever calls it. */
UNSEEN static void go_on(int caller, int depth)
{
    for (unsigned times = 1 + chance(3); times > 0 && switches < SWITCHES; times--) {
        switch_at_random();
        if (depth == DEPTH || !chance(3)) leaf(caller);
        else if (chance(2)) narrow(caller, depth + 1);
        else wide(caller, depth + 1);
    }
}

static void fiber(void)
{
    fibers++;
    for (;;) go_on(FIBER, 0);
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    state = (unsigned)strtoul(argv[1], NULL, 10);
    for (int who = 0; who < STACKS; who++) {
        size_t size = (size_t)(80 + 16 * chance(4)) << 10;
        char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (stack == MAP_FAILED) return 1;
        getcontext(&coroutines[who]);
        coroutines[who].uc_stack.ss_sp = stack;
        coroutines[who].uc_stack.ss_size = size;
        makecontext(&coroutines[who], fiber, 0);
    }
    while (switches < SWITCHES) go_on(MAIN, 0);
    printf("1 main\n%ld fiber\n", fibers);
    for (int to = NARROW; to < FUNCTIONS; to++) {
        long all = 0;
        for (int from = 0; from < FUNCTIONS; from++) {
            all += calls[from][to];
            if (calls[from][to] > 0) printf("%ld %s → %s\n", calls[from][to], names[from], names[to]);
        }
        printf("%ld %s\n", all, names[to]);
    }
    return 0;
}
