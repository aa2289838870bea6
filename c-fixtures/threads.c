/* Threads: each runs `work`, which calls `leaf` a given number of times.
 *
 *   cc -g -finstrument-functions -pthread -o threads threads.c
 *
 *   threads together N LEAVES   N threads at once
 *   threads in-turn N LEAVES    N threads, each begun when the one before has ended
 *   threads left N LEAVES       N threads that end by pthread_exit inside `leave`, called by `work` in the end */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int leaves, is_left;
static __thread volatile int sum;

static void leaf(void) { sum++; }

static void leave(void) { pthread_exit(NULL); }

static void *work(void *unused)
{
    for (int i = 0; i < leaves; i++) leaf();
    if (is_left) leave();
    return unused;
}

static void together(int n)
{
    pthread_t threads[n];
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, work, NULL)) abort();
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
    is_left = !strcmp(argv[1], "left");
    if (!strcmp(argv[1], "in-turn")) in_turn(n);
    else together(n);
    printf("%d threads\n", n);
    return 0;
}
