/* Calls that are left by `longjmp`, and what takes their place on the stack switches to a coroutine.
 *
 *   cc -g -finstrument-functions -o jump-to-coroutine jump-to-coroutine.c
 *
 *   jump-to-coroutine TURNS */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define APART __attribute__((noinline))
#define STACK (128 << 10)

static ucontext_t at_main, at_coroutine;
static jmp_buf out;
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

/* Its frame is large: it reaches further down than that of the call that was left. */
APART void resume(int turn)
{
    volatile char room[2000];
    memset((char *)room, turn, sizeof room);
    swapcontext(&at_main, &at_coroutine);
    sum += room[turn % 1000];
}

APART void shallow(int turn)
{
    for (int call = 0; call <= turn % 7; call++)
        leaf();
    longjmp(out, 1);
}

APART void work(void)
{
    leaf();
    sum++;
}

int main(int count, char **arguments)
{
    volatile int turns = count > 1 ? (int)strtol(arguments[1], NULL, 10) : 700, turn;
    getcontext(&at_coroutine);
    at_coroutine.uc_stack.ss_sp = malloc(STACK);
    at_coroutine.uc_stack.ss_size = STACK;
    makecontext(&at_coroutine, coroutine, 0);
    for (turn = 1; turn <= turns; turn++) {
        if (setjmp(out) == 0)
            shallow(turn);
        resume(turn);
        work();
    }
    return 0;
}
