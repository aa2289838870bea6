/* A program that forbids itself the time stamp counter, and so every clock: reading one would kill it.
 *
 *   cc -g -finstrument-functions -o timeless timeless.c
 *
 * `known` is called a thousand times before and a thousand times after, and a child then calls `fresh` a thousand times. */
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static volatile int sum;

APART static void known(void) { sum++; }
APART static void fresh(void) { sum++; }

int main(void)
{
    for (int i = 0; i < 1000; i++) known();
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0)) return 2;
    for (int i = 0; i < 1000; i++) known();
    pid_t child = fork();
    if (!child) {
        for (int i = 0; i < 1000; i++) fresh();
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return status != 0;
}
