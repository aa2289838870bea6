/* A server that forks for every request and never executes another program: `serve` forks N children, BATCH at a time;
 * each calls `handle`, which calls `leaf` twice. Every other child ends by _exit in `quit`, the others by exit.
 *
 *   cc -g -finstrument-functions -o forks forks.c
 *
 *   forks N BATCH */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sum;

static void leaf(void) { sum++; }

static void quit(void) { _exit(0); }

static void handle(int request)
{
    leaf();
    leaf();
    if (request % 2) quit();
    exit(0);
}

static void serve(int requests, int batch)
{
    for (int i = 0; i < requests; i++) {
        pid_t child = fork();
        if (child < 0) abort();
        if (child == 0) handle(i);
        if ((i + 1) % batch == 0 || i + 1 == requests)
            while (wait(NULL) > 0) {}
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    serve((int)strtol(argv[1], NULL, 10), (int)strtol(argv[2], NULL, 10));
    return 0;
}
