/* A program that needs most of a limited address space itself: it takes so many megabytes, and a stack for a thread, and
 * calls on the 8191 paths of many-paths.h.
 *
 *   cc -g -finstrument-functions -pthread -o address-space address-space.c
 *
 *   address-space MEGABYTES */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "many-paths.h"

static void *run(void *unused)
{
    level_0();
    return unused;
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    char *memory = malloc(strtoul(argv[1], NULL, 10) << 20);
    pthread_t thread;
    if (!memory || pthread_create(&thread, NULL, run, NULL)) {
        puts("there is not enough memory");
        return 1;
    }
    pthread_join(thread, NULL);
    printf("%d\n", leaves);
    return 0;
}
