/* A program that is killed in the middle of its work: `outer` calls `step` a thousand times and then `last`, which kills
 * its own process.
 *
 *   cc -g -finstrument-functions -o killed killed.c
 *
 *   killed SIGNAL     by this signal */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int sum;

static void step(void) { sum++; }

static void last(int signal)
{
    kill(getpid(), signal);
    for (;;) pause();
}

static void outer(int signal)
{
    for (int i = 0; i < 1000; i++) step();
    last(signal);
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    outer((int)strtol(argv[1], NULL, 10));
    return 0;
}
