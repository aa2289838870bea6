/* Threads: each runs `work`, which calls `leaf` a given number of times.
 *
 *   cc -g -finstrument-functions -pthread -o threads threads.c
 *
 *   threads together N LEAVES   N threads at once
 *   threads in-turn N LEAVES    N threads, each begun when the one before has ended
 *   threads left N LEAVES       N threads that end by pthread_exit inside `leave`, called by `work` in the end
 *   threads cancelled N LEAVES  N threads that wait in `leave` until they are cancelled
 *   threads exit 1 LEAVES       a thread that ends the process by exit in `leave`, with status 3 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int leaves, is_ended;
static const char *how;
static pthread_barrier_t all_wait;
static __thread volatile int sum;

static void leaf(void) { sum++; }

static void leave(void)
{
    if (!strcmp(how, "left")) pthread_exit(NULL);
    if (!strcmp(how, "exit")) exit(3);
    pthread_barrier_wait(&all_wait);
    for (;;) pause();
}

static void *work(void *unused)
{
    for (int i = 0; i < leaves; i++) leaf();
    if (is_ended) leave();
    return unused;
}

static void together(int n)
{
    pthread_t threads[n];
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, work, NULL)) abort();
    if (!strcmp(how, "cancelled")) {
        pthread_barrier_wait(&all_wait);
        for (int i = 0; i < n; i++) pthread_cancel(threads[i]);
    }
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
}

static void in_turn(int n)
{
    for (int i = 0; i < n; i++) together(1);
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    int n = (int)strtol(argv[2], NULL, 10);
    leaves = (int)strtol(argv[3], NULL, 10);
    how = argv[1];
    is_ended = strcmp(how, "together") && strcmp(how, "in-turn");
    pthread_barrier_init(&all_wait, NULL, (unsigned)n + 1);
    if (!strcmp(how, "in-turn")) in_turn(n);
    else together(n);
    printf("%d threads\n", n);
    return 0;
}
