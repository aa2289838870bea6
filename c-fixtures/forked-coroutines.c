/* Coroutines that are suspended as a process forks, and whose resumers have returned.
 *
 *   cc -g -finstrument-functions -o forked-coroutines forked-coroutines.c
 *
 * Each of three coroutines calls `yield` for ever: once for each that resumes it. The child resumes the second, its parent the first. */
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define APART __attribute__((noinline))

enum { COROUTINES = 3, STACK = 64 << 10 };

static ucontext_t own, contexts[COROUTINES];
static char stacks[COROUTINES][STACK];
static volatile int sum;

APART static void yield(int which)
{
    swapcontext(&contexts[which], &own);
    sum++;
}

APART static void entry(int which)
{
    for (;;) yield(which);
}

APART static void resume(int which)
{
    swapcontext(&own, &contexts[which]);
    sum++;
}

APART static void work(void)
{
    for (int i = 0; i < 1000; i++) sum++;
}

int main(void)
{
    for (int which = 0; which < COROUTINES; which++) {
        getcontext(&contexts[which]);
        contexts[which].uc_stack.ss_sp = stacks[which];
        contexts[which].uc_stack.ss_size = STACK;
        makecontext(&contexts[which], (void (*)(void))entry, 1, which);
        resume(which);
    }
    if (fork() == 0) {
        work();
        resume(1);
        work();
        exit(0);
    }
    wait(NULL);
    resume(0);
    work();
    return 0;
}
