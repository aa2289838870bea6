/* A stack that ends a little later each turn, and a handler on a stack of its own that goes on by `longjmp`, which keeps no mask of signals.
 * In each turn the last function is called for the first time.
 *
 *   cc -D_GNU_SOURCE -g -pthread -finstrument-functions -o end-of-stack end-of-stack.c
 *
 *   end-of-stack           prints how often the thread had signals blocked afterwards
 *   end-of-stack ROUNDS    so many recursions to the end of the stack, instead; the handler keeps the mask */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noinline))
#define TURNS 200
#define STEP 16

static volatile long sum;
static jmp_buf before;
static sigjmp_buf before_round;
static int rounds;
static char *lowest;

#define ONE(n) APART static void function_##n(void) { sum++; }
#define TEN(what, n) what(n##0) what(n##1) what(n##2) what(n##3) what(n##4) what(n##5) what(n##6) what(n##7) what(n##8) what(n##9)
#define HUNDRED(what, n) TEN(what, n##0) TEN(what, n##1) TEN(what, n##2) TEN(what, n##3) TEN(what, n##4) TEN(what, n##5) TEN(what, n##6) TEN(what, n##7) TEN(what, n##8) TEN(what, n##9)
HUNDRED(ONE, 1)
HUNDRED(ONE, 2)
#define NAME(n) function_##n,
static void (*const functions[TURNS])(void) = {HUNDRED(NAME, 1) HUNDRED(NAME, 2)};

static void leave(int signal)
{
    (void)signal;
    if (rounds > 0)
        siglongjmp(before_round, 1);
    longjmp(before, 1);
}

APART static void leaf(void) { sum++; }

APART static long descend(long depth)
{
    volatile char taken[256];
    taken[depth & 255] = (char)depth;
    leaf();
    return descend(depth + 1) + taken[depth & 255];
}

/* Calls a function where so much of the stack is left. */
APART static void call_with_room(int room, int turn)
{
    long above = (char *)__builtin_frame_address(0) - lowest - room;
    volatile char *taken = alloca(above > 0 ? above : 1);
    taken[0] = 1;
    functions[turn]();
}

static void *thread(void *none)
{
    static volatile int turn, blocked;
    pthread_attr_t attributes;
    void *start;
    size_t size;
    stack_t own = {.ss_sp = malloc(64 << 10), .ss_size = 64 << 10};
    sigset_t mask;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &start, &size);
    lowest = start;
    sigaltstack(&own, NULL);
    for (turn = 0; turn < rounds; turn++)
        if (sigsetjmp(before_round, 1) == 0)
            descend(0);
    if (rounds > 0)
        return none;
    for (turn = 0; turn < TURNS; turn++) {
        if (setjmp(before) == 0)
            call_with_room(200 + turn * STEP, turn);
        pthread_sigmask(SIG_SETMASK, NULL, &mask);
        blocked += sigismember(&mask, SIGTERM);
        sigemptyset(&mask);
        pthread_sigmask(SIG_SETMASK, &mask, NULL);
    }
    printf("%d\n", blocked);
    return none;
}

int main(int count, char **arguments)
{
    rounds = count > 1 ? (int)strtol(arguments[1], NULL, 10) : 0;
    struct sigaction action = {.sa_handler = leave};
    pthread_attr_t attributes;
    pthread_t one;
    action.sa_flags = rounds > 0 ? SA_ONSTACK : SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &action, NULL);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    pthread_create(&one, &attributes, thread, NULL);
    pthread_join(one, NULL);
    return 0;
}
