// What a call costs a thread alone, and beside another that makes as many at the same time.
//   ./threads N REPEATS   prints, REPEATS times each and in turn: alone|first|second, then wall and processor time of
//                         one thread's fib(N) in ns
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define UNSEEN __attribute__((no_instrument_function))

static int size;
static pthread_barrier_t start;

struct run {
    int number;
    int64_t wall, processor;
};

static int fib(int n) {
    if (n < 2) return n;
    int a = fib(n - 1);
    int b = fib(n - 2);
    return a + b;
}

UNSEEN static int64_t now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// The n-th processor this process may use, so that two threads never share one while another is free.
UNSEEN static void settle(int n) {
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    n %= CPU_COUNT(&all);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all) || n-- > 0) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
        return;
    }
}

UNSEEN static void *work(void *argument) {
    struct run *run = argument;
    settle(run->number);
    fib(size < 20 ? size : 20); // its first calls are another matter
    pthread_barrier_wait(&start);
    run->processor = now(CLOCK_THREAD_CPUTIME_ID);
    run->wall = now(CLOCK_MONOTONIC);
    volatile int result = fib(size);
    (void)result;
    run->wall = now(CLOCK_MONOTONIC) - run->wall;
    run->processor = now(CLOCK_THREAD_CPUTIME_ID) - run->processor;
    return NULL;
}

UNSEEN static void together(int threads, const char *const *names) {
    pthread_t thread[2];
    struct run run[2] = {{0}};
    pthread_barrier_init(&start, NULL, threads);
    for (int i = 0; i < threads; i++) {
        run[i].number = i;
        pthread_create(&thread[i], NULL, work, &run[i]);
    }
    for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&start);
    for (int i = 0; i < threads; i++)
        printf("%s\t%lld\t%lld\n", names[i], (long long)run[i].wall, (long long)run[i].processor);
}

UNSEEN int main(int argc, char **argv) {
    size = argc > 1 ? atoi(argv[1]) : 30;
    int repeats = argc > 2 ? atoi(argv[2]) : 9;
    for (int i = 0; i < repeats; i++) {
        // Alone goes first and last by turns, so that a machine that drifts favours neither.
        if (i % 2 == 0) together(1, (const char *const[]){"alone"});
        together(2, (const char *const[]){"first", "second"});
        if (i % 2 != 0) together(1, (const char *const[]){"alone"});
    }
    return 0;
}
