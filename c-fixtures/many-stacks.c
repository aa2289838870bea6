/* More coroutines than stacks that the recorder remembers, each with a dozen calls open, resumed in turn.
 *
 *   cc -g -finstrument-functions -o many-stacks many-stacks.c
 *
 * 100 stacks, each a mapping of its own; 20 rounds of 100 times `resume`. Each coroutine is `fiber`, 11 times `deep` inside each
 * other, and `pause_here` for each time that it is resumed, which calls `leaf` before it switches away, and again, but for
 * the last time, when it goes on. */
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define APART __attribute__((noinline))

enum { STACKS = 100, ROUNDS = 20, SIZE = 64 << 10, GUARD = 4 << 10 };

static ucontext_t home, coroutines[STACKS];
static volatile int sum;

APART static void leaf(int n) { sum = sum + n; }

APART static void pause_here(int who)
{
    leaf(1);
    swapcontext(&coroutines[who], &home);
    leaf(2);
}

APART static void deep(int who, int left)
{
    if (left == 0)
        for (;;) pause_here(who);
    deep(who, left - 1);
    leaf(left); /* no tail call */
}

static void fiber(int who) { deep(who, 10); }

APART static void resume(int who) { swapcontext(&home, &coroutines[who]); }

int main(void)
{
    for (int who = 0; who < STACKS; who++) {
        char *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (stack == MAP_FAILED || mprotect(stack, GUARD, PROT_NONE) != 0) return 1;
        getcontext(&coroutines[who]);
        coroutines[who].uc_stack.ss_sp = stack;
        coroutines[who].uc_stack.ss_size = SIZE;
        makecontext(&coroutines[who], (void (*)(void))fiber, 1, who);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int who = 0; who < STACKS; who++) resume(who);
}
