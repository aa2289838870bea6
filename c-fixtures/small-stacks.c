/* Threads on the smallest stacks that there may be, all at the same time.
 *
 *   cc -g -finstrument-functions -pthread -o small-stacks small-stacks.c
 *
 *   small-stacks THREADS
 *
 * Each calls `work`, which calls `leaf` a hundred times, waits until all have, and calls it again. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

static pthread_barrier_t all_there;

APART static long leaf(long n) { return n + 1; }

APART static long work(void)
{
    long sum = 0;
    for (long n = 0; n < 100; n++) sum += leaf(n);
    return sum;
}

UNSEEN static void *run(void *unused)
{
    (void)unused;
    long sum = work();
    pthread_barrier_wait(&all_there);
    return (void *)(sum + work());
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    int count = (int)strtol(argv[1], NULL, 10);
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    pthread_attr_t small;
    pthread_attr_init(&small);
    if (!threads || pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN)) return 2;
    pthread_barrier_init(&all_there, NULL, (unsigned)count);
    for (int n = 0; n < count; n++)
        if (pthread_create(&threads[n], &small, run, NULL)) return 2;
    for (int n = 0; n < count; n++) pthread_join(threads[n], NULL);
    return 0;
}
