/* A coroutine that is suspended most of the time, while the thread's own stack goes on: from `main`, which has no hooks and so is no open
 * call, in a function for atexit, when all that `main` has called has returned, and in a child that is forked meanwhile.
 *
 *   cc -g -finstrument-functions -o suspended suspended.c
 *
 *   suspended TURNS */
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))
#define STACK (128 << 10)

static ucontext_t at_main, at_coroutine;
static volatile long sum;

APART void leaf(void) { sum++; }

APART void give_way(void)
{
    swapcontext(&at_coroutine, &at_main);
    sum++;
}

APART void coroutine(void)
{
    for (;;) {
        leaf();
        give_way();
    }
}

APART void resume(void)
{
    swapcontext(&at_main, &at_coroutine);
    sum++;
}

APART void work(void)
{
    leaf();
    sum++;
}

APART void server(int turns)
{
    resume();
    if (fork() == 0) {
        for (int turn = 1; turn <= turns; turn++) {
            work();
            if (turn % 10 == 0)
                resume();
        }
        _exit(0);
    }
    wait(NULL);
    work();
}

APART void at_the_end(void) { sum++; }

UNSEEN int main(int count, char **arguments)
{
    int turns = count > 1 ? (int)strtol(arguments[1], NULL, 10) : 100;
    atexit(at_the_end);
    getcontext(&at_coroutine);
    at_coroutine.uc_stack.ss_sp = malloc(STACK);
    at_coroutine.uc_stack.ss_size = STACK;
    makecontext(&at_coroutine, coroutine, 0);
    for (int turn = 1; turn <= turns; turn++) {
        work();
        if (turn % 10 == 0)
            resume();
    }
    server(turns);
    return 0;
}
