/* A coroutine that goes on in another thread each time: what it enters in one thread it leaves in the next.
 *
 *   cc -g -finstrument-functions -pthread -o wandering wandering.c
 *
 * `body` calls `inner` a hundred times, which calls `leaf` before it changes threads and `last` after; each of the threads
 * in turn goes on with it, and main calls `own` in between. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

static ucontext_t coroutine, back;
static volatile int sum, is_done;

APART static void leaf(void) { sum++; }
APART static void last(void) { sum++; }
APART static void own(void) { sum++; }

APART static void inner(void)
{
    leaf();
    swapcontext(&coroutine, &back);
    last();
}

APART static void body(void)
{
    for (int i = 0; i < 100; i++) inner();
    is_done = 1;
}

UNSEEN static void *go_on(void *unused)
{
    swapcontext(&back, &coroutine);
    return unused;
}

int main(void)
{
    getcontext(&coroutine);
    coroutine.uc_stack.ss_size = 1 << 16;
    coroutine.uc_stack.ss_sp = malloc(1 << 16);
    coroutine.uc_link = &back;
    makecontext(&coroutine, body, 0);
    while (!is_done) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, go_on, NULL)) abort();
        pthread_join(thread, NULL);
        own();
    }
    return 0;
}
