/* A coroutine that is begun inside a short call, `start`, and resumed by main from then on: `work` takes a hundred times a millisecond
 * of the processor.
 *
 *   cc -g -finstrument-functions -o resumed-elsewhere resumed-elsewhere.c */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

#define UNINSTRUMENTED __attribute__((no_instrument_function))

static ucontext_t in_main, in_coroutine;
static int is_done;

UNINSTRUMENTED static long long processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void work(void)
{
    for (long long began = processor_ns(); processor_ns() - began < 1000000;) {}
}

static void yield(void) { swapcontext(&in_coroutine, &in_main); }

static void body(void)
{
    yield();
    for (int i = 0; i < 100; i++) {
        work();
        yield();
    }
    is_done = 1;
    yield();
}

static void start(void)
{
    enum { SIZE = 256 << 10 };
    getcontext(&in_coroutine);
    in_coroutine.uc_stack.ss_sp = aligned_alloc(4096, SIZE);
    in_coroutine.uc_stack.ss_size = SIZE;
    makecontext(&in_coroutine, body, 0);
    swapcontext(&in_main, &in_coroutine);
}

int main(void)
{
    start();
    while (!is_done) swapcontext(&in_main, &in_coroutine);
    puts("done");
    return 0;
}
