/* Threads, one after the other, of which each takes the 8,191 call paths of many-paths.h.
 *
 *   cc -g -finstrument-functions -pthread -o threads-in-turn threads-in-turn.c
 *
 *   threads-in-turn [THREADS] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "many-paths.h"

static void *in_thread(void *unused)
{
    level_0();
    return unused;
}

int main(int argc, char **argv)
{
    for (int left = argc > 1 ? atoi(argv[1]) : 20; left > 0; left--) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, in_thread, NULL) || pthread_join(thread, NULL)) abort();
    }
    printf("%d\n", leaves);
    return 0;
}
